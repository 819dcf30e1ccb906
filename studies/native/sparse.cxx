// sparse: preloaded into a program (LD_PRELOAD), leaves holes in files where blocks of zeros are appended, so that a file of 100 GB fits
// on any disk. Readers get the same bytes. What overwrites bytes is written as it is.
#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {
// The smallest block that file systems leave out.
constexpr off64_t BLOCK = 4096;
using Write = ssize_t(int, const void *, size_t, off64_t);
// The end of a file is looked at and moved: one write at a time.
std::mutex lock;

bool is_zero(const char *bytes, size_t size) { return size == 0 || (!*bytes && !memcmp(bytes, bytes + 1, size - 1)); }

bool put(int fd, const char *from, size_t bytes, off64_t at) {
  static const auto real = reinterpret_cast<Write *>(dlsym(RTLD_NEXT, "pwrite64"));
  while (bytes > 0) {
    const ssize_t done = real(fd, from, bytes, at);
    if (done <= 0) return false;
    from += done, at += done, bytes -= done;
  }
  return true;
}

// Appends some bytes; only blocks that are not zero are written.
bool append(int fd, const char *from, size_t bytes, off64_t at) {
  size_t begin = 0, end = 0;
  while (end < bytes) {
    const size_t size = std::min<size_t>(BLOCK - (at + end) % BLOCK, bytes - end);
    if (is_zero(from + end, size)) {
      if (!put(fd, from + begin, end - begin, at + begin)) return false;
      begin = end + size;
    }
    end += size;
  }
  return put(fd, from + begin, end - begin, at + begin);
}

ssize_t written(int fd, const struct iovec *from, int parts, off64_t at) {
  std::lock_guard<std::mutex> held(lock);
  struct stat64 about;
  const bool appends = fstat64(fd, &about) == 0 && S_ISREG(about.st_mode) && at >= about.st_size;
  off64_t end = at;
  for (int part = 0; part < parts; part++) {
    const auto bytes = static_cast<const char *>(from[part].iov_base);
    if (!(appends ? append : put)(fd, bytes, from[part].iov_len, end)) return -1;
    end += from[part].iov_len;
  }
  return appends && ftruncate64(fd, end) != 0 ? -1 : end - at;
}
} // namespace

extern "C" {
ssize_t pwritev(int fd, const struct iovec *from, int parts, off_t at) { return written(fd, from, parts, at); }
ssize_t pwritev64(int fd, const struct iovec *from, int parts, off64_t at) { return written(fd, from, parts, at); }
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at) {
  const iovec part{const_cast<void *>(from), bytes};
  return written(fd, &part, 1, at);
}
ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at) {
  const iovec part{const_cast<void *>(from), bytes};
  return written(fd, &part, 1, at);
}
}
