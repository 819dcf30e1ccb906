/* Ends a program at one of its writes, as a kill would: loaded before the C library (LD_PRELOAD), it counts the writes, syncs and changes
   of the size of files under the folder CUT_IN. At number CUT_AT the program ends, before the call or, with CUT_HALF, after half of a
   write; the first bytes of a file are written whole, as a disk writes a sector. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int is_due(int fd) {
    char link[64], path[4096];
    const char *folder = getenv("CUT_IN"), *at = getenv("CUT_AT");
    ssize_t len;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    len = readlink(link, path, sizeof path - 1);
    if (!folder || !at || len < 0) return 0;
    path[len] = 0;
    if (strncmp(path, folder, strlen(folder)) != 0) return 0;
    return ++calls == atol(at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (is_due(fd)) {
        if (getenv("CUT_HALF") && at > 0) real(fd, bytes, len / 2, at);
        _exit(137);
    }
    return real(fd, bytes, len, at);
}

int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    if (is_due(fd)) _exit(137);
    return real(fd);
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    if (is_due(fd)) _exit(137);
    return real(fd);
}

int ftruncate64(int fd, off64_t len) {
    int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
    if (is_due(fd)) _exit(137);
    return real(fd, len);
}
