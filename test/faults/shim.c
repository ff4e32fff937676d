/*
 * Records the writes and syncs of a process under FAULTS_DIR into FAULTS_TRACE, and makes one of them fail. Preloaded:
 * cc -shared -fPIC -O2 -o shim.so shim.c -ldl -lpthread; LD_PRELOAD=shim.so. A sync does not reach the disk: what a crash
 * leaves is computed from the trace (disk.ts). Without FAULTS_TRACE it only leaves out the syncs.
 *
 * An event is a header and `length` bytes of data. Events of several processes share one trace, in the order in which the
 * system saw them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#undef fwrite_unlocked
#define MOST_FILES 65536
#define HIGH_DESCRIPTOR 900
#define REAL(name) ((__typeof__(&name))real(#name))

struct header {
  uint32_t type, length;
  uint64_t file, at, size;
};
struct descriptor {
  uint64_t file;
  int synchronous;
};

static struct descriptor descriptors[MOST_FILES];
static const char *root;
static size_t root_length;
static int trace = -1, lock = -1;
static int records;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The fault: the `fault_at`th sync or write from now on fails, alone or with all that follow. */
enum { NO_FAULT, FAILS_SYNC, FAILS_WRITE, CUTS_WRITE };
static int fault, fault_at, fault_error, fault_stays, seen;

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

static int high(int descriptor) {
  int moved = syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
  syscall(SYS_close, descriptor);
  return moved;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FAULTS_TRACE");
  root = getenv("FAULTS_DIR");
  if (!path || !root) return;
  root_length = strlen(root);
  trace = high(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  lock = high(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
  if (trace < 0 || lock < 0) abort();
  records = 1;
}

static void enter(void) {
  pthread_mutex_lock(&mutex);
  syscall(SYS_flock, lock, LOCK_EX);
}
static void leave(void) {
  int error = errno;
  syscall(SYS_flock, lock, LOCK_UN);
  pthread_mutex_unlock(&mutex);
  errno = error;
}

static void emit(char type, uint64_t file, uint64_t at, uint64_t size, const void *data, uint32_t length) {
  struct header header = {(uint32_t)type, length, file, at, size};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)data, length}};
  if (syscall(SYS_writev, trace, parts, 2) != (long)(sizeof header + length)) abort();
}

/* Below the root, and kept over a power loss: locks and LevelDB's journal for people are not. */
static const char *below(const char *path) {
  if (!records || strncmp(path, root, root_length)) return NULL;
  if (!path[root_length]) return "";
  if (path[root_length] != '/') return NULL;
  const char *name = strrchr(path, '/') + 1;
  if (!strcmp(name, "lock.mdb") || !strcmp(name, "LOCK") || !strcmp(name, "LOG") || !strcmp(name, "LOG.old"))
    return NULL;
  return path + root_length + 1;
}

static int exists(const char *path) { return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0; }

static void forget(int fd) {
  if (fd >= 0 && fd < MOST_FILES) descriptors[fd].file = 0;
}
/* The C library closes some descriptors without saying so, and the system gives them out again. */
static int tracked(int fd) {
  struct stat found;
  if (fd < 0 || fd >= MOST_FILES || descriptors[fd].file == 0) return 0;
  if (fstat(fd, &found) == 0 && found.st_ino == descriptors[fd].file) return 1;
  forget(fd);
  return 0;
}

static void opened(int fd, const char *name, int existed, int truncates, int synchronous) {
  struct stat found;
  forget(fd);
  if (!name || fd >= MOST_FILES || fstat(fd, &found)) return;
  descriptors[fd] = (struct descriptor){found.st_ino, synchronous};
  if (!existed) emit('C', found.st_ino, 0, 0, name, strlen(name));
  else if (truncates) emit('T', found.st_ino, 0, 0, "", 0);
}

static int do_open(int directory, const char *path, int flags, mode_t mode) {
  int synchronous = (flags & O_DSYNC) != 0;
  const char *name = below(path);
  if (getenv("FAULTS_TRACE") || getenv("FAULTS_UNSYNCED")) flags &= ~O_SYNC;
  if (!records) return syscall(SYS_openat, directory, path, flags, mode);
  enter();
  int existed = !name || exists(path);
  int fd = syscall(SYS_openat, directory, path, flags, mode);
  if (fd >= 0) opened(fd, name, existed, (flags & O_TRUNC) != 0, synchronous);
  leave();
  return fd;
}

#define MODE                          \
  mode_t mode = 0;                    \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list rest;                     \
    va_start(rest, flags);            \
    mode = va_arg(rest, mode_t);      \
    va_end(rest);                     \
  }
int open(const char *path, int flags, ...) { MODE return do_open(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return do_open(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int at, const char *path, int flags, ...) { MODE return do_open(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE return do_open(at, path, flags | O_LARGEFILE, mode); }

int close(int fd) {
  if (records && (fd == trace || fd == lock)) return 0;
  forget(fd);
  return syscall(SYS_close, fd);
}

/* Whether the fault comes now. */
static int strikes(int kind) {
  int is_sync = fault == FAILS_SYNC;
  if (fault == NO_FAULT || is_sync != (kind == FAILS_SYNC)) return 0;
  seen++;
  if (seen != fault_at && !(fault_stays && seen > fault_at)) return 0;
  emit('I', 0, seen, 0, "", 0);
  return 1;
}

static ssize_t write_at(int fd, const struct iovec *parts, int count, off_t at, int moves) {
  struct iovec half;
  enter();
  off_t from = moves ? (descriptors[fd].file ? syscall(SYS_lseek, fd, 0, SEEK_CUR) : 0) : at;
  if (strikes(FAILS_WRITE)) {
    if (fault == FAILS_WRITE || seen > fault_at) {
      leave();
      errno = fault_error;
      return -1;
    }
    half = (struct iovec){parts[0].iov_base, (parts[0].iov_len + 1) / 2};
    parts = &half;
    count = 1;
  }
  ssize_t written = moves ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, from, 0);
  if (written > 0) {
    char *whole = malloc(written), *to = whole;
    if (!whole) abort();
    for (int i = 0; i < count && to < whole + written; i++) {
      size_t left = whole + written - to, length = parts[i].iov_len < left ? parts[i].iov_len : left;
      to = mempcpy(to, parts[i].iov_base, length);
    }
    emit('W', descriptors[fd].file, from, 0, whole, written);
    free(whole);
  }
  if (written > 0 && descriptors[fd].synchronous) {
    int fails = strikes(FAILS_SYNC);
    emit(fails ? 'F' : 'S', descriptors[fd].file, from, written, "", 0);
    if (fails) {
      written = -1;
      errno = fault_error;
    }
  }
  leave();
  return written;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  return tracked(fd) ? write_at(fd, parts, count, at, 0) : syscall(SYS_pwritev, fd, parts, count, at, 0);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) { return pwritev(fd, parts, count, at); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
  struct iovec part = {(void *)data, length};
  return tracked(fd) ? write_at(fd, &part, 1, at, 0) : syscall(SYS_pwrite64, fd, data, length, at);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) { return pwrite(fd, data, length, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return tracked(fd) ? write_at(fd, parts, count, 0, 1) : syscall(SYS_writev, fd, parts, count);
}

/* `! none`, or `! sync|write|cut AT ERRNO once|on`: a line that a process prints to order a fault. */
static void order(const char *line) {
  char kind[8] = "", until[8] = "";
  fault = NO_FAULT;
  seen = 0;
  if (sscanf(line, "! %7s %d %d %7s", kind, &fault_at, &fault_error, until) < 4) return;
  fault = !strcmp(kind, "sync") ? FAILS_SYNC : !strcmp(kind, "write") ? FAILS_WRITE : CUTS_WRITE;
  fault_stays = !strcmp(until, "on");
}

ssize_t write(int fd, const void *data, size_t length) {
  struct iovec part = {(void *)data, length};
  if (tracked(fd)) return write_at(fd, &part, 1, 0, 1);
  if (records && fd == 1 && length > 0) {
    char line[64] = "";
    memcpy(line, data, length < 63 ? length : 63);
    enter();
    if (line[0] == '!') order(line);
    else emit('A', 0, 0, 0, data, length);
    leave();
    if (line[0] == '!') return length;
  }
  return syscall(SYS_write, fd, data, length);
}

/* LevelDB writes through streams. Unbuffered, so that each write is one here. */
static FILE *do_fopen(const char *path, const char *how) {
  const char *name = below(path);
  if (!name) return REAL(fopen64)(path, how);
  enter();
  int existed = exists(path);
  FILE *file = REAL(fopen64)(path, how);
  if (file) opened(fileno(file), name, existed, how[0] == 'w', 0);
  leave();
  return file;
}
FILE *fopen(const char *path, const char *how) { return do_fopen(path, how); }
FILE *fopen64(const char *path, const char *how) { return do_fopen(path, how); }
int fclose(FILE *file) {
  forget(fileno(file));
  return REAL(fclose)(file);
}
static size_t do_fwrite(const void *data, size_t size, size_t count, FILE *file) {
  size_t done = 0;
  while (done < size * count) {
    ssize_t written = write(fileno(file), (const char *)data + done, size * count - done);
    if (written < 0) break;
    done += written;
  }
  return size ? done / size : 0;
}
size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  return tracked(fileno(file)) ? do_fwrite(data, size, count, file) : REAL(fwrite)(data, size, count, file);
}
size_t fwrite_unlocked(const void *data, size_t size, size_t count, FILE *file) {
  return tracked(fileno(file)) ? do_fwrite(data, size, count, file) : REAL(fwrite_unlocked)(data, size, count, file);
}

static int do_sync(int fd, long call) {
  if (!tracked(fd)) return getenv("FAULTS_UNSYNCED") ? 0 : syscall(call, fd);
  enter();
  int fails = strikes(FAILS_SYNC);
  emit(fails ? 'F' : 'S', descriptors[fd].file, 0, 0, "", 0);
  leave();
  if (!fails) return 0;
  errno = fault_error;
  return -1;
}
int fdatasync(int fd) { return do_sync(fd, SYS_fdatasync); }
int fsync(int fd) { return do_sync(fd, SYS_fsync); }

/* Not replayed: the replay refuses a trace that has one. */
int msync(void *from, size_t length, int flags) {
  if (records) {
    enter();
    emit('!', 0, 0, length, "msync", 5);
    leave();
  }
  return syscall(SYS_msync, from, length, flags);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t count) {
  if (tracked(to)) {
    enter();
    emit('!', 0, 0, count, "sendfile", 8);
    leave();
  }
  return syscall(SYS_sendfile, to, from, at, count);
}

int ftruncate(int fd, off_t size) {
  if (!tracked(fd)) return syscall(SYS_ftruncate, fd, size);
  enter();
  int result = syscall(SYS_ftruncate, fd, size);
  if (result == 0) emit('T', descriptors[fd].file, size, 0, "", 0);
  leave();
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

/* Names: the data is one name, or two with a zero byte between them. */
static void emit_names(char type, uint64_t file, const char *from, const char *to) {
  char names[8192];
  if (!from && !to) return;
  int length = snprintf(names, sizeof names, "%s%c%s", from ? from : "", 0, to ? to : "");
  emit(type, file, 0, 0, names, length);
}

static uint64_t file_at(const char *path) {
  struct stat found;
  return lstat(path, &found) ? 0 : found.st_ino;
}

#define NAMED(name, type, path, ...)                                  \
  if (!records) return syscall(SYS_##name, __VA_ARGS__);              \
  enter();                                                            \
  int result = syscall(SYS_##name, __VA_ARGS__);                      \
  if (result == 0 && below(path)) emit(type, file_at(path), 0, 0, below(path), strlen(below(path))); \
  leave();                                                            \
  return result;

int mkdir(const char *path, mode_t mode) { NAMED(mkdir, 'M', path, path, mode) }
int rmdir(const char *path) { NAMED(rmdir, 'U', path, path) }
int unlink(const char *path) { NAMED(unlink, 'U', path, path) }

char *mkdtemp(char *template) {
  if (!records) return REAL(mkdtemp)(template);
  enter();
  char *made = REAL(mkdtemp)(template);
  if (made && below(made)) emit('M', file_at(made), 0, 0, below(made), strlen(below(made)));
  leave();
  return made;
}

/* From the C++ library; names come relative to an open directory. */
int unlinkat(int at, const char *name, int flags) {
  char link[64], path[8192];
  if (!records) return syscall(SYS_unlinkat, at, name, flags);
  snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  ssize_t length = at == AT_FDCWD || name[0] == '/' ? 0 : readlink(link, path, 4000);
  snprintf(path + (length > 0 ? length : 0), 4096, "%s%s", length > 0 ? "/" : "", name);
  enter();
  int result = syscall(SYS_unlinkat, at, name, flags);
  if (result == 0 && below(path)) emit('U', 0, 0, 0, below(path), strlen(below(path)));
  leave();
  return result;
}

int rename(const char *from, const char *to) {
  if (!records) return syscall(SYS_rename, from, to);
  enter();
  int result = syscall(SYS_rename, from, to);
  if (result == 0) emit_names('R', 0, below(from), below(to));
  leave();
  return result;
}
int link(const char *from, const char *to) {
  if (!records) return syscall(SYS_link, from, to);
  enter();
  int result = syscall(SYS_link, from, to);
  if (result == 0) emit_names('L', 0, below(from), below(to));
  leave();
  return result;
}
