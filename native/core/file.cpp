#include "file.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "fault.h"

namespace pixelmill {

namespace {

std::atomic<uint64_t> delivered{0};

[[noreturn]] void fail() { throw Fault(FaultKind::io, std::strerror(errno)); }

// The same words as in src/pixelmill/storage/local.py.
void check_regular(FileKind kind) {
    if (kind == FileKind::regular) return;
    if (kind == FileKind::folder) throw Fault(FaultKind::io, std::strerror(EISDIR));
    const char* name = kind == FileKind::fifo ? "a FIFO" : kind == FileKind::device ? "a device" : "something else";
    throw Fault(FaultKind::io, std::string("Not a regular file but ") + name);
}

[[noreturn]] void missing(int64_t bytes) {
    throw Fault(FaultKind::truncated, std::to_string(bytes) + " bytes are missing at its end");
}

}  // namespace

File::File(const std::string& path) : file_(open_to_read(path)) {
    if (file_ == no_file && errno == ENXIO) throw Fault(FaultKind::io, "Not a regular file but a socket");
    if (file_ == no_file) fail();
    try {
        FileStatus status;
        if (!status_of(file_, status)) fail();
        check_regular(status.kind);
    } catch (...) {
        close_file(file_);
        throw;
    }
}

File::~File() { close_file(file_); }

int64_t File::size() const {
    FileStatus status;
    if (!status_of(file_, status)) fail();
    return status.size;
}

uint64_t bytes_read() { return delivered.load(std::memory_order_relaxed); }

void File::read(std::byte* out, int64_t bytes, int64_t offset) const {
    while (bytes > 0) {
        const int64_t got = read_at(file_, out, static_cast<size_t>(bytes), offset);
        if (got < 0) fail();
        if (got == 0) missing(bytes);
        delivered.fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
        out += got;
        offset += got;
        bytes -= got;
    }
}

void Memory::read(std::byte* out, int64_t bytes, int64_t offset) const {
    // An offset before `begin_` becomes a huge unsigned number, which no memory holds.
    const int64_t at = offset - begin_;
    if (!holds(bytes_, static_cast<uint64_t>(at), static_cast<uint64_t>(bytes))) missing(bytes);
    if (bytes > 0) std::memcpy(out, bytes_.data() + at, static_cast<size_t>(bytes));
}

int write_all(FileHandle file, Bytes bytes) {
    while (!bytes.empty()) {
        const int64_t written = write_next(file, bytes.data(), bytes.size());
        if (written < 0) return errno;
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return 0;
}

}  // namespace pixelmill
