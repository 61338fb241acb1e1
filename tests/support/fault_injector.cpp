// Lets one call of a chosen kind fail: an allocation, a read, a write or the start of a thread. Preload it (LD_PRELOAD);
// tests/support/engine_faults.py arms it. Allocations count when pixelmill's core makes them, or libjpeg, libpng or libstdc++;
// reads and writes when the core makes them or the file is below the watched folder; threads always.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Kind { nothing, memory, reading, writing, thread, interrupted, conversion };

struct Range {
    uintptr_t begin, end;
    bool runtime;  // libstdc++, whose operator new calls malloc: only the outer call counts
};

Range ranges[16];
size_t range_count = 0;
char folder[PATH_MAX] = "";
std::atomic<int> armed = nothing;
std::atomic<long> calls = 0, target = 0;
std::atomic<uintptr_t> place = 0;

const Range* range_of(void* caller) {
    const auto address = reinterpret_cast<uintptr_t>(caller);
    for (size_t i = 0; i < range_count; ++i) {
        if (address >= ranges[i].begin && address < ranges[i].end) return &ranges[i];
    }
    return nullptr;
}

bool due(void* caller) {
    if (calls.fetch_add(1) + 1 != target) return false;
    const Range* range = range_of(caller);
    place = reinterpret_cast<uintptr_t>(caller) - (range == nullptr ? 0 : range->begin);
    return true;
}

bool holds_gil() {
    static const auto check = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return check != nullptr && check() != 0;
}

// Allocations with the GIL are those of arguments and results, which nanobind converts, and of building a graph; the
// engine works without the GIL.
bool fails(void* caller, bool by_new) {
    if (armed != memory && armed != conversion) return false;
    const Range* range = range_of(caller);
    if (range == nullptr || (range->runtime && !by_new)) return false;
    return holds_gil() == (armed == conversion) && due(caller);
}

bool below(const char* path) { return folder[0] != 0 && std::strncmp(path, folder, std::strlen(folder)) == 0; }

bool below(int descriptor) {
    char name[64], path[PATH_MAX];
    std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    const ssize_t length = ::readlink(name, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = 0;
    return below(path);
}

// Sets errno if the call must fail.
template <class File>
bool fails(Kind kind, void* caller, File file, int error) {
    const int now = armed;
    if (now != kind && !(now == interrupted && kind != thread)) return false;
    const Range* range = range_of(caller);
    if ((range == nullptr || range->runtime) && !below(file)) return false;
    if (!due(caller)) return false;
    errno = now == interrupted ? EINTR : error;
    return true;
}

int add_range(dl_phdr_info* info, size_t, void*) {
    for (const char* name : {"/pixelmill/_core", "/libjpeg", "/libpng", "/libstdc++"}) {
        if (std::strstr(info->dlpi_name, name) == nullptr) continue;
        for (int i = 0; i < info->dlpi_phnum && range_count < 16; ++i) {
            const auto& part = info->dlpi_phdr[i];
            if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
            const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            ranges[range_count++] = {begin, begin + part.p_memsz, std::strcmp(name, "/libstdc++") == 0};
        }
    }
    return 0;
}

void* checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

size_t fault_watch(const char* below_folder) {
    std::snprintf(folder, sizeof folder, "%s", below_folder);
    range_count = 0;
    dl_iterate_phdr(add_range, nullptr);
    return range_count;
}

// Counts calls of a kind from now on, and lets call `number` fail; 0 for none.
void fault_arm(int kind, long number) {
    armed = nothing;
    calls = 0;
    place = 0;
    target = number;
    armed = kind;
}

// Stops; returns how many calls there were.
long fault_disarm() {
    armed = nothing;
    return calls;
}

unsigned long fault_place() { return place; }

void* malloc(size_t bytes) {
    if (!fails(CALLER, false)) return __libc_malloc(bytes);
    errno = ENOMEM;
    return nullptr;
}

void* calloc(size_t count, size_t bytes) {
    if (!fails(CALLER, false)) return __libc_calloc(count, bytes);
    errno = ENOMEM;
    return nullptr;
}

void* realloc(void* old, size_t bytes) {
    if (!fails(CALLER, false)) return __libc_realloc(old, bytes);
    errno = ENOMEM;
    return nullptr;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
    if (!fails(CALLER, false)) return __libc_memalign(alignment, bytes);
    errno = ENOMEM;
    return nullptr;
}

int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
    static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    if (armed == thread && due(CALLER)) return EAGAIN;
    return real(made, attributes, run, argument);
}

#define OPEN(name)                                                                                           \
    int name(const char* path, int flags, ...) {                                                             \
        va_list rest;                                                                                        \
        va_start(rest, flags);                                                                               \
        const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : mode_t{0};           \
        va_end(rest);                                                                                        \
        const Kind kind = (flags & O_ACCMODE) == O_RDONLY ? reading : writing;                               \
        if (fails(kind, CALLER, path, EMFILE)) return -1;                                                    \
        return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode));             \
    }
OPEN(open)
OPEN(open64)

ssize_t read(int file, void* out, size_t bytes) {
    if (fails(reading, CALLER, file, EIO)) return -1;
    return syscall(SYS_read, file, out, bytes);
}

ssize_t pread(int file, void* out, size_t bytes, off_t offset) {
    if (fails(reading, CALLER, file, EIO)) return -1;
    return syscall(SYS_pread64, file, out, bytes, offset);
}

ssize_t pread64(int file, void* out, size_t bytes, off64_t offset) {
    if (fails(reading, CALLER, file, EIO)) return -1;
    return syscall(SYS_pread64, file, out, bytes, offset);
}

int fstat(int file, struct stat* out) noexcept {
    if (armed != interrupted && fails(reading, CALLER, file, EIO)) return -1;
    return static_cast<int>(syscall(SYS_fstat, file, out));
}

ssize_t write(int file, const void* data, size_t bytes) {
    if (fails(writing, CALLER, file, ENOSPC)) return -1;
    return syscall(SYS_write, file, data, bytes);
}

}  // extern "C"

void* operator new(size_t bytes) {
    if (fails(CALLER, true)) throw std::bad_alloc();
    return checked(__libc_malloc(bytes));
}

void* operator new[](size_t bytes) {
    if (fails(CALLER, true)) throw std::bad_alloc();
    return checked(__libc_malloc(bytes));
}

void* operator new(size_t bytes, std::align_val_t alignment) {
    if (fails(CALLER, true)) throw std::bad_alloc();
    return checked(__libc_memalign(static_cast<size_t>(alignment), bytes));
}

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return fails(CALLER, true) ? nullptr : __libc_malloc(bytes);
}

void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
    return fails(CALLER, true) ? nullptr : __libc_malloc(bytes);
}
