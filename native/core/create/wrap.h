// Image files copied into record files: read, framed, checked and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../platform/system.h"

namespace pixelmill {

enum class RecordKind : uint8_t { tfrecord, recordio };

struct WrapItem {
    std::string path;
    int64_t label = 0;
    uint64_t identifier = 0;
};

// Which file could not be read, or that the output could not be written, and why.
struct WrapFailure {
    static constexpr int64_t none = -1, output = -2;
    int64_t item = none;
    int error = 0;  // errno
};

struct Wrapped {
    std::vector<int64_t> offsets;  // of each record
    int64_t image_bytes = 0;
    WrapFailure failure;
};

// Appends a record for each file to `output`, which stands at its beginning. A TFRecord holds a tf.train.Example with
// `image/class/label` and `image/encoded`.
Wrapped wrap_files(RecordKind kind, FileHandle output, std::span<const WrapItem> items);

// Writes a file that must not exist yet. 0, or errno.
int write_new_file(const std::string& path, std::span<const std::byte> content);

}  // namespace pixelmill
