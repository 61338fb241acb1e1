// What the core asks of the operating system: files, memory, processor time and processes. Nothing else includes the
// system's headers; system_posix.cpp and system_windows.cpp hold the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pixelmill {

#if defined(_WIN32)
// A HANDLE. Numbers of open files belong to one C library each, and Python's may be another one than ours.
using FileHandle = intptr_t;
#else
using FileHandle = int;
#endif
constexpr FileHandle no_file = -1;

enum class FileKind : uint8_t { regular, folder, fifo, device, other };

struct FileStatus {
    FileKind kind = FileKind::other;
    int64_t size = 0;
};

// Paths are UTF-8 on Windows and bytes elsewhere. Functions return no_file, -1 or false after an error, with the reason
// in errno; none is interrupted by signals.

// Never waits: opening a FIFO would, for a writer that may never come.
FileHandle open_to_read(const std::string& path);
// For writing; an existing file is EEXIST.
FileHandle open_new(const std::string& path);
bool close_file(FileHandle file);
bool status_of(FileHandle file, FileStatus& status);

// Up to `bytes` bytes; 0 at the end of the file. `read_at` needs no lock between threads.
int64_t read_at(FileHandle file, std::byte* out, size_t bytes, int64_t offset);
int64_t read_next(FileHandle file, std::byte* out, size_t bytes);
int64_t write_next(FileHandle file, const std::byte* bytes, size_t count);

// Asks the file system for space after the end of an open file, so that it is allocated at once and not page by page.
// A file system that cannot do this ignores it.
void reserve(FileHandle file, int64_t offset, int64_t bytes);
// Frees what was reserved and is not needed.
void release(FileHandle file);

// Memory at a multiple of `alignment`, of which `bytes` is one too; null when there is none.
std::byte* allocate_aligned(size_t alignment, size_t bytes);
void free_aligned(std::byte* memory);
// Pages of the system's own: they take memory when they are first touched, and give it back at once. Null when there is
// none. `bytes` is the same for both.
std::byte* map_pages(size_t bytes);
void unmap_pages(std::byte* memory, size_t bytes);
// Gives back the memory of the whole pages among these bytes, whose values are lost; they can be used again. A hint.
void drop_pages(std::byte* memory, size_t bytes);
// A hint that one page fault should do for 512 pages.
void prefer_huge_pages(std::byte* memory, size_t bytes);

// Memory that other processes of the same user can map by its file, of `bytes` bytes that are taken at once: using it
// later cannot fail. The file has no name, cannot shrink, and is gone with the last process that has it. Null when the
// system has no such files or no memory for this one.
std::byte* map_shared(size_t bytes, FileHandle& file);
void unmap_shared(std::byte* memory, size_t bytes, FileHandle file);

// Processor time of the calling thread.
int64_t thread_nanoseconds();

// Identifies this process; a forked child has another number.
int64_t process_id();
// Calls these before a fork, and after it in the parent and in the child. Without forks they are never called.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace pixelmill
