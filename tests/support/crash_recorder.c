/* Records what a process does to the files below $CRASH_ROOT, in order, into the file $CRASH_LOG.

   Preload it (LD_PRELOAD). Each record is `kind fd offset length path-length other-length`, a newline, then the path, the
   other path and `length` bytes of data. tests/support/crash_states.py replays the log. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int log_file = -1;
static char root[PATH_MAX];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void put(const void* data, size_t length) {
    const char* at = data;
    while (length > 0) {
        const long done = syscall(SYS_write, log_file, at, length);
        if (done <= 0) abort();
        at += done;
        length -= (size_t)done;
    }
}

static void record(char kind, int fd, long long offset, const void* data, size_t length, const char* path,
                   const char* other) {
    char head[128];
    const int size = snprintf(head, sizeof head, "%c %d %lld %zu %zu %zu\n", kind, fd, offset, length, strlen(path),
                              strlen(other));
    put(head, (size_t)size);
    put(path, strlen(path));
    put(other, strlen(other));
    put(data, length);
}

__attribute__((constructor)) static void start(void) {
    const char* log = getenv("CRASH_LOG");
    const char* below = getenv("CRASH_ROOT");
    if (log == NULL || below == NULL) return;
    snprintf(root, sizeof root, "%s/", below);
    log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Writes the absolute path into `out`; returns whether it is below the root. */
static int inside(int folder, const char* path, char* out) {
    if (log_file < 0) return 0;
    char base[PATH_MAX] = "";
    if (path[0] != '/') {
        char name[64];
        snprintf(name, sizeof name, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        const ssize_t length = readlink(name, base, sizeof base - 2);
        if (length < 0) return 0;
        base[length] = '/';
        base[length + 1] = 0;
    }
    if ((size_t)snprintf(out, PATH_MAX, "%s%s", base, path) >= PATH_MAX) return 0;
    return strncmp(out, root, strlen(root)) == 0 || strncmp(out, root, strlen(root) - 1) == 0;
}

static int of_descriptor(int fd, char* out) {
    if (log_file < 0) return 0;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(name, out, PATH_MAX - 1);
    if (length < 0) return 0;
    out[length] = 0;
    return strncmp(out, root, strlen(root)) == 0 || strncmp(out, root, strlen(root) - 1) == 0;
}

#define WITH_LOCK(type, call, logged)      \
    do {                                   \
        pthread_mutex_lock(&lock);         \
        const type result = (call);        \
        const int kept = errno;            \
        if (result >= 0) {                 \
            logged;                        \
        }                                  \
        pthread_mutex_unlock(&lock);       \
        errno = kept;                      \
        return result;                     \
    } while (0)

static int opened(int folder, const char* path, int flags, mode_t mode) {
    char full[PATH_MAX];
    const int ours = inside(folder, path, full);
    WITH_LOCK(int, (int)syscall(SYS_openat, folder, path, flags | O_LARGEFILE, mode),
              if (ours) record('O', result, flags, "", 0, full, ""));
}

#define MODE(flags)                             \
    mode_t mode = 0;                            \
    if ((flags) & (O_CREAT | O_TMPFILE)) {      \
        va_list rest;                           \
        va_start(rest, flags);                  \
        mode = va_arg(rest, mode_t);            \
        va_end(rest);                           \
    }

int open(const char* path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char* path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char* path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char* path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }

ssize_t write(int fd, const void* data, size_t length) {
    char full[PATH_MAX];
    if (!of_descriptor(fd, full)) return syscall(SYS_write, fd, data, length);
    WITH_LOCK(ssize_t, syscall(SYS_write, fd, data, length),
              record('W', fd, lseek(fd, 0, SEEK_CUR) - result, data, (size_t)result, full, ""));
}

static ssize_t written_at(int fd, const void* data, size_t length, off_t offset) {
    char full[PATH_MAX];
    if (!of_descriptor(fd, full)) return syscall(SYS_pwrite64, fd, data, length, offset);
    WITH_LOCK(ssize_t, syscall(SYS_pwrite64, fd, data, length, offset),
              record('W', fd, offset, data, (size_t)result, full, ""));
}

ssize_t pwrite(int fd, const void* data, size_t length, off_t offset) { return written_at(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void* data, size_t length, off64_t offset) { return written_at(fd, data, length, offset); }

ssize_t writev(int fd, const struct iovec* parts, int count) {
    char full[PATH_MAX];
    if (!of_descriptor(fd, full)) return syscall(SYS_writev, fd, parts, count);
    ssize_t total = 0;
    for (int part = 0; part < count; part++) {
        const ssize_t done = write(fd, parts[part].iov_base, parts[part].iov_len);
        if (done < 0) return total > 0 ? total : done;
        total += done;
    }
    return total;
}

#define SYNC(name, number)                                                                       \
    int name(int fd) {                                                                           \
        char full[PATH_MAX];                                                                     \
        const int ours = of_descriptor(fd, full);                                                \
        WITH_LOCK(int, (int)syscall(number, fd), if (ours) record('S', fd, 0, "", 0, full, "")); \
    }
SYNC(fsync, SYS_fsync)
SYNC(fdatasync, SYS_fdatasync)

static int truncated(int fd, off_t length) {
    char full[PATH_MAX];
    const int ours = of_descriptor(fd, full);
    WITH_LOCK(int, (int)syscall(SYS_ftruncate, fd, length), if (ours) record('T', fd, length, "", 0, full, ""));
}
int ftruncate(int fd, off_t length) { return truncated(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncated(fd, length); }

int close(int fd) {
    char full[PATH_MAX];
    const int ours = of_descriptor(fd, full);
    WITH_LOCK(int, (int)syscall(SYS_close, fd), if (ours) record('C', fd, 0, "", 0, full, ""));
}

static int renamed(int from_folder, const char* from, int to_folder, const char* to) {
    char old[PATH_MAX], new[PATH_MAX];
    const int ours = inside(from_folder, from, old) & inside(to_folder, to, new);
    WITH_LOCK(int, (int)syscall(SYS_renameat, from_folder, from, to_folder, to),
              if (ours) record('R', -1, 0, "", 0, old, new));
}
int rename(const char* from, const char* to) { return renamed(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int a, const char* from, int b, const char* to) { return renamed(a, from, b, to); }
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
    (void)flags;
    return renamed(a, from, b, to);
}

static int linked(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    char old[PATH_MAX], new[PATH_MAX];
    const int ours = inside(from_folder, from, old) & inside(to_folder, to, new);
    WITH_LOCK(int, (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags),
              if (ours) record('L', -1, 0, "", 0, old, new));
}
int link(const char* from, const char* to) { return linked(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int a, const char* from, int b, const char* to, int flags) { return linked(a, from, b, to, flags); }

static int unlinked(int folder, const char* path, int flags) {
    char full[PATH_MAX];
    const int ours = inside(folder, path, full);
    WITH_LOCK(int, (int)syscall(SYS_unlinkat, folder, path, flags),
              if (ours) record(flags & AT_REMOVEDIR ? 'D' : 'U', -1, 0, "", 0, full, ""));
}
int unlink(const char* path) { return unlinked(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char* path, int flags) { return unlinked(folder, path, flags); }
int rmdir(const char* path) { return unlinked(AT_FDCWD, path, AT_REMOVEDIR); }

static int made(int folder, const char* path, mode_t mode) {
    char full[PATH_MAX];
    const int ours = inside(folder, path, full);
    WITH_LOCK(int, (int)syscall(SYS_mkdirat, folder, path, mode), if (ours) record('M', -1, 0, "", 0, full, ""));
}
int mkdir(const char* path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char* path, mode_t mode) { return made(folder, path, mode); }
