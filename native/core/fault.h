// Errors of samples. A fault concerns one sample and never the process.
#pragma once

#include <stdexcept>
#include <string>

namespace pixelmill {

enum class FaultKind {
    not_an_image,  // content that no decoder recognizes
    truncated,     // the data ends before the image does
    corrupt,       // the decoder refused the content
    too_large,     // a limit was exceeded; nothing was allocated
    unsupported,   // a valid file with a feature that is not supported
    checksum,      // the bytes are not those that were written
    wrong_format,  // a container of another kind than requested
    io,            // the operating system could not read it
    argument,      // an argument of an operator does not fit this sample
};

const char* name_of(FaultKind kind);
FaultKind fault_kind_named(const std::string& name);  // corrupt, where there is no such kind

class Fault : public std::runtime_error {
   public:
    Fault(FaultKind kind, const std::string& message) : std::runtime_error(message), kind(kind) {}
    FaultKind kind;
};

}  // namespace pixelmill
