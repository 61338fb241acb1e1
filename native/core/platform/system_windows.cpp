#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <malloc.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "per_thread.h"
#include "system.h"

namespace pixelmill {

namespace {

HANDLE handle_of(FileHandle file) { return reinterpret_cast<HANDLE>(file); }

int number_of(DWORD error) {
    switch (error) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_DRIVE:
        case ERROR_BAD_NETPATH: return ENOENT;
        case ERROR_ACCESS_DENIED:
        case ERROR_SHARING_VIOLATION:
        case ERROR_LOCK_VIOLATION:
        case ERROR_WRITE_PROTECT: return EACCES;
        case ERROR_FILE_EXISTS:
        case ERROR_ALREADY_EXISTS: return EEXIST;
        case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
        case ERROR_INVALID_HANDLE: return EBADF;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY: return ENOMEM;
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL: return ENOSPC;
        case ERROR_INVALID_NAME:
        case ERROR_INVALID_PARAMETER: return EINVAL;
        case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
        default: return EIO;
    }
}

// Sets errno; returns what the caller returns for an error.
int failed() {
    errno = number_of(GetLastError());
    return -1;
}

std::wstring wide(const std::string& text) {
    if (text.find('\0') != std::string::npos) return {};
    const auto bytes = static_cast<int>(std::min<size_t>(text.size(), std::numeric_limits<int>::max()));
    const int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, nullptr, 0);
    std::wstring path(static_cast<size_t>(count), L'\0');
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, path.data(), count);
    return path;
}

// Longer paths are opened only with this prefix, which takes absolute ones with backslashes.
std::wstring openable(const std::wstring& path) {
    constexpr size_t longest = MAX_PATH - 12;
    if (path.size() < longest || path.starts_with(L"\\\\?\\")) return path;
    std::wstring full(GetFullPathNameW(path.c_str(), 0, nullptr, nullptr), L'\0');
    full.resize(GetFullPathNameW(path.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
    if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC" + full.substr(1);
    return L"\\\\?\\" + full;
}

FileHandle opened(const std::string& path, DWORD access, DWORD disposition) {
    const std::wstring name = openable(wide(path));
    if (name.empty()) return errno = path.empty() ? ENOENT : EINVAL, no_file;
    // All sharing: others may rename and remove the file while it is open, as they may elsewhere.
    constexpr DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const HANDLE file = CreateFileW(name.c_str(), access, shared, nullptr, disposition, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file != INVALID_HANDLE_VALUE) return reinterpret_cast<FileHandle>(file);
    failed();
    const DWORD found = errno == EACCES ? GetFileAttributesW(name.c_str()) : INVALID_FILE_ATTRIBUTES;
    if (found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY) != 0) errno = EISDIR;
    return no_file;
}

DWORD at_once(size_t bytes) { return static_cast<DWORD>(std::min<size_t>(bytes, 1 << 30)); }

int64_t read_into(FileHandle file, std::byte* out, size_t bytes, OVERLAPPED* place) {
    DWORD got = 0;
    if (ReadFile(handle_of(file), out, at_once(bytes), &got, place)) return got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : failed();
}

}  // namespace

FileHandle open_to_read(const std::string& path) { return opened(path, GENERIC_READ, OPEN_EXISTING); }

FileHandle open_new(const std::string& path) { return opened(path, GENERIC_WRITE, CREATE_NEW); }

bool close_file(FileHandle file) { return CloseHandle(handle_of(file)) || failed() == 0; }

bool status_of(FileHandle file, FileStatus& status) {
    status = {};
    const DWORD type = GetFileType(handle_of(file));
    if (type == FILE_TYPE_PIPE) return status.kind = FileKind::fifo, true;
    if (type == FILE_TYPE_CHAR) return status.kind = FileKind::device, true;
    BY_HANDLE_FILE_INFORMATION found{};
    if (!GetFileInformationByHandle(handle_of(file), &found)) return failed() == 0;
    const bool folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    status.kind = folder ? FileKind::folder : FileKind::regular;
    status.size = static_cast<int64_t>(uint64_t{found.nFileSizeHigh} << 32 | found.nFileSizeLow);
    return true;
}

int64_t read_at(FileHandle file, std::byte* out, size_t bytes, int64_t offset) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(static_cast<uint64_t>(offset) >> 32);
    return read_into(file, out, bytes, &place);
}

int64_t read_next(FileHandle file, std::byte* out, size_t bytes) { return read_into(file, out, bytes, nullptr); }

int64_t write_next(FileHandle file, const std::byte* bytes, size_t count) {
    DWORD written = 0;
    return WriteFile(handle_of(file), bytes, at_once(count), &written, nullptr) ? int64_t{written} : failed();
}

void reserve(FileHandle file, int64_t offset, int64_t bytes) {
    FILE_ALLOCATION_INFO size{};
    size.AllocationSize.QuadPart = offset + bytes;
    SetFileInformationByHandle(handle_of(file), FileAllocationInfo, &size, sizeof size);
}

void release(FileHandle) {}  // closing a file frees it

std::byte* allocate_aligned(size_t alignment, size_t bytes) {
    return static_cast<std::byte*>(_aligned_malloc(bytes, alignment));
}

void free_aligned(std::byte* memory) { _aligned_free(memory); }

std::byte* map_pages(size_t bytes) {
    return static_cast<std::byte*>(::VirtualAlloc(nullptr, bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
}

void unmap_pages(std::byte* memory, size_t) { ::VirtualFree(memory, 0, MEM_RELEASE); }

void drop_pages(std::byte*, size_t) {}  // the memory stays until the pages are unmapped

void prefer_huge_pages(std::byte*, size_t) {}  // needs a privilege that users do not have

std::byte* map_shared(size_t, FileHandle&) { return nullptr; }
void unmap_shared(std::byte*, size_t, FileHandle) {}

int64_t thread_nanoseconds() {
    FILETIME created, ended, kernel{}, user{};
    GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user);
    const auto ticks = [](FILETIME time) { return int64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime; };
    return (ticks(kernel) + ticks(user)) * 100;
}

unsigned long new_thread_slot(void (*destroy)(void*)) { return FlsAlloc(destroy); }

void* thread_value(unsigned long slot) { return FlsGetValue(slot); }

void set_thread_value(unsigned long slot, void* value) { FlsSetValue(slot, value); }

int64_t process_id() { return GetCurrentProcessId(); }

void at_fork(void (*)(), void (*)(), void (*)()) {}

}  // namespace pixelmill
#endif
