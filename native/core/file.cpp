#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "fault.h"

namespace pixelmill {

namespace {

std::atomic<uint64_t> delivered{0};

[[noreturn]] void fail() { throw Fault(FaultKind::io, std::strerror(errno)); }

struct stat status_of(int descriptor) {
    struct stat status{};
    if (::fstat(descriptor, &status) != 0) fail();
    return status;
}

// The same words as in src/pixelmill/storage/local.py.
void check_regular(const struct stat& status) {
    if (S_ISREG(status.st_mode)) return;
    if (S_ISDIR(status.st_mode)) throw Fault(FaultKind::io, std::strerror(EISDIR));
    const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
    const char* kind = S_ISFIFO(status.st_mode) ? "a FIFO" : is_device ? "a device" : "something else";
    throw Fault(FaultKind::io, std::string("Not a regular file but ") + kind);
}

[[noreturn]] void missing(int64_t bytes) {
    throw Fault(FaultKind::truncated, std::to_string(bytes) + " bytes are missing at its end");
}

}  // namespace

File::File(const std::string& path) {
    // Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
    do {
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0 && errno == ENXIO) throw Fault(FaultKind::io, "Not a regular file but a socket");
    if (descriptor_ < 0) fail();
    try {
        check_regular(status_of(descriptor_));
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

File::~File() { ::close(descriptor_); }

int64_t File::size() const { return status_of(descriptor_).st_size; }

uint64_t bytes_read() { return delivered.load(std::memory_order_relaxed); }

void File::read(std::byte* out, int64_t bytes, int64_t offset) const {
    while (bytes > 0) {
        const ssize_t got = ::pread(descriptor_, out, static_cast<size_t>(bytes), offset);
        if (got < 0 && errno == EINTR) continue;
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

void reserve([[maybe_unused]] int descriptor, [[maybe_unused]] int64_t offset, [[maybe_unused]] int64_t bytes) {
#if defined(FALLOC_FL_KEEP_SIZE)
    (void)::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, bytes);
#endif
}

void release(int descriptor) {
    struct stat status{};
    // Truncating a file to its own size frees the blocks after its end.
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) (void)!::ftruncate(descriptor, status.st_size);
}

int write_all(int descriptor, Bytes bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return 0;
}

}  // namespace pixelmill
