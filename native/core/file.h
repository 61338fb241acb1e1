// Random access to bytes: a file of the operating system, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "codecs/bytes.h"
#include "platform/system.h"

namespace pixelmill {

class ByteSource {
   public:
    virtual ~ByteSource() = default;
    virtual int64_t size() const = 0;
    // Reads exactly `bytes` bytes, or throws a Fault.
    virtual void read(std::byte* out, int64_t bytes, int64_t offset) const = 0;
};

class File : public ByteSource {
   public:
    explicit File(const std::string& path);
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() override;

    int64_t size() const override;
    void read(std::byte* out, int64_t bytes, int64_t offset) const override;

   private:
    FileHandle file_;
};

// Bytes that are in memory: all of a file, or those from `begin` on.
class Memory : public ByteSource {
   public:
    explicit Memory(Bytes bytes, int64_t begin = 0) : bytes_(bytes), begin_(begin) {}
    int64_t size() const override { return begin_ + static_cast<int64_t>(bytes_.size()); }
    void read(std::byte* out, int64_t bytes, int64_t offset) const override;

   private:
    Bytes bytes_;
    int64_t begin_;
};

// Bytes that files have been asked for and have delivered, in this process.
uint64_t bytes_read();

// Writes all of it to an open file. 0, or errno.
int write_all(FileHandle file, Bytes bytes);

}  // namespace pixelmill
