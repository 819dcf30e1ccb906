// count_writes: preloaded into a program (LD_PRELOAD), says at its end on stderr how many bytes it wrote to files by calls of the C library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_llong total;

static ssize_t count(int fd, ssize_t bytes) {
  struct stat about;
  if (bytes > 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) atomic_fetch_add(&total, bytes);
  return bytes;
}

__attribute__((destructor)) static void say(void) { fprintf(stderr, "%lld bytes written\n", (long long)total); }

ssize_t write(int fd, const void *from, size_t bytes) {
  return count(fd, ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, from, bytes));
}
ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at) {
  return count(fd, ((ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64"))(fd, from, bytes, at));
}
ssize_t pwritev64(int fd, const struct iovec *from, int parts, off64_t at) {
  return count(fd, ((ssize_t(*)(int, const struct iovec *, int, off64_t))dlsym(RTLD_NEXT, "pwritev64"))(fd, from, parts, at));
}
