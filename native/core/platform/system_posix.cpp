#if !defined(_WIN32)
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "system.h"

namespace pixelmill {

namespace {

template <class Call>
auto uninterrupted(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

FileKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return FileKind::regular;
    if (S_ISDIR(mode)) return FileKind::folder;
    if (S_ISFIFO(mode)) return FileKind::fifo;
    return S_ISCHR(mode) || S_ISBLK(mode) ? FileKind::device : FileKind::other;
}

}  // namespace

FileHandle open_to_read(const std::string& path) {
    return uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
}

FileHandle open_new(const std::string& path) {
    return uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
}

bool close_file(FileHandle file) { return ::close(file) == 0; }

bool status_of(FileHandle file, FileStatus& status) {
    struct stat found{};
    if (::fstat(file, &found) != 0) return false;
    status = {kind_of(found.st_mode), found.st_size};
    return true;
}

int64_t read_at(FileHandle file, std::byte* out, size_t bytes, int64_t offset) {
    return uninterrupted([&] { return ::pread(file, out, bytes, offset); });
}

int64_t read_next(FileHandle file, std::byte* out, size_t bytes) {
    return uninterrupted([&] { return ::read(file, out, bytes); });
}

int64_t write_next(FileHandle file, const std::byte* bytes, size_t count) {
    return uninterrupted([&] { return ::write(file, bytes, count); });
}

void reserve([[maybe_unused]] FileHandle file, [[maybe_unused]] int64_t offset, [[maybe_unused]] int64_t bytes) {
#if defined(FALLOC_FL_KEEP_SIZE)
    (void)::fallocate(file, FALLOC_FL_KEEP_SIZE, offset, bytes);
#endif
}

void release(FileHandle file) {
    struct stat found{};
    // Truncating a file to its own size frees the blocks after its end.
    if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode)) (void)!::ftruncate(file, found.st_size);
}

std::byte* allocate_aligned(size_t alignment, size_t bytes) {
    return static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
}

void free_aligned(std::byte* memory) { std::free(memory); }

#if defined(__SANITIZE_ADDRESS__)  // which watches the ends of what it allocates itself
std::byte* map_pages(size_t bytes) { return static_cast<std::byte*>(std::malloc(bytes)); }
void unmap_pages(std::byte* memory, size_t) { std::free(memory); }
void drop_pages(std::byte*, size_t) {}
#else
std::byte* map_pages(size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void unmap_pages(std::byte* memory, size_t bytes) { ::munmap(memory, bytes); }

void drop_pages(std::byte* memory, size_t bytes) {
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)), start = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t first = (start + page - 1) / page * page, end = (start + bytes) / page * page;
    if (first < end) ::madvise(memory + (first - start), end - first, MADV_DONTNEED);
}
#endif

void prefer_huge_pages([[maybe_unused]] std::byte* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
    ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

#if defined(__linux__)
std::byte* map_shared(size_t bytes, FileHandle& file) {
    file = ::memfd_create("pixelmill", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file == no_file) return nullptr;
    const auto size = static_cast<off_t>(bytes);
    // Sealed, because reading memory after the end of its file ends a process.
    if (::fchmod(file, S_IRUSR | S_IWUSR) == 0 && ::fallocate(file, 0, 0, size) == 0 &&
        ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
        if (memory != MAP_FAILED) return static_cast<std::byte*>(memory);
    }
    close_file(file);
    file = no_file;
    return nullptr;
}

void unmap_shared(std::byte* memory, size_t bytes, FileHandle file) {
    ::munmap(memory, bytes);
    close_file(file);
}
#else
std::byte* map_shared(size_t, FileHandle&) { return nullptr; }
void unmap_shared(std::byte*, size_t, FileHandle) {}
#endif

int64_t thread_nanoseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t process_id() { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
    ::pthread_atfork(before, in_parent, in_child);
}

}  // namespace pixelmill
#endif
