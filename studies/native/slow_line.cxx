// slow_line: preloaded into a program (LD_PRELOAD), makes storage slow, over all its threads. Reads of the file LINE_FILE are
// limited to LINE_BYTES in a second, like `basketry readspeed --throttle`, and writes to all files to DISK_BYTES. With NO_FSYNC
// flushes to the disk do nothing.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <sys/stat.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

namespace {
using Clock = std::chrono::steady_clock;
// Oversleeping is compensated up to this amount.
constexpr std::chrono::milliseconds SLACK{5};

class Line {
  std::mutex lock;
  Clock::time_point free_at = Clock::now();
  const double bytes_a_second;

public:
  explicit Line(const char *name) : bytes_a_second(getenv(name) ? atof(getenv(name)) : 0) {}
  bool limited() const { return bytes_a_second > 0; }
  void bring(ssize_t bytes) {
    Clock::time_point there;
    {
      std::lock_guard<std::mutex> held(lock);
      const auto takes = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bytes / bytes_a_second));
      there = free_at = std::max(free_at, Clock::now() - SLACK) + takes;
    }
    std::this_thread::sleep_until(there);
  }
};

bool is_far(int fd) {
  static const auto far = [] {
    struct stat about = {};
    const char *path = getenv("LINE_FILE");
    if (path && stat(path, &about) != 0) about.st_ino = 0;
    return about;
  }();
  struct stat about;
  return far.st_ino && fstat(fd, &about) == 0 && about.st_ino == far.st_ino && about.st_dev == far.st_dev;
}

// Pipes and terminals are no storage.
bool is_file(int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

ssize_t brought(int fd, ssize_t bytes) {
  static Line line("LINE_BYTES");
  if (bytes > 0 && line.limited() && is_far(fd)) line.bring(bytes);
  return bytes;
}

ssize_t taken(int fd, ssize_t bytes) {
  static Line disk("DISK_BYTES");
  if (bytes > 0 && disk.limited() && is_file(fd)) disk.bring(bytes);
  return bytes;
}

template <class Function> Function *next(const char *name) { return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name)); }

int flushed(const char *name, int fd) {
  static const bool skipped = getenv("NO_FSYNC");
  return skipped ? 0 : next<int(int)>(name)(fd);
}
} // namespace

extern "C" {
ssize_t read(int fd, void *to, size_t bytes) {
  static const auto real = next<ssize_t(int, void *, size_t)>("read");
  return brought(fd, real(fd, to, bytes));
}
ssize_t pread(int fd, void *to, size_t bytes, off_t at) {
  static const auto real = next<ssize_t(int, void *, size_t, off_t)>("pread");
  return brought(fd, real(fd, to, bytes, at));
}
ssize_t pread64(int fd, void *to, size_t bytes, off64_t at) {
  static const auto real = next<ssize_t(int, void *, size_t, off64_t)>("pread64");
  return brought(fd, real(fd, to, bytes, at));
}
ssize_t write(int fd, const void *from, size_t bytes) {
  static const auto real = next<ssize_t(int, const void *, size_t)>("write");
  return taken(fd, real(fd, from, bytes));
}
ssize_t writev(int fd, const struct iovec *from, int parts) {
  static const auto real = next<ssize_t(int, const struct iovec *, int)>("writev");
  return taken(fd, real(fd, from, parts));
}
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at) {
  static const auto real = next<ssize_t(int, const void *, size_t, off_t)>("pwrite");
  return taken(fd, real(fd, from, bytes, at));
}
ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at) {
  static const auto real = next<ssize_t(int, const void *, size_t, off64_t)>("pwrite64");
  return taken(fd, real(fd, from, bytes, at));
}
ssize_t pwritev(int fd, const struct iovec *from, int parts, off_t at) {
  static const auto real = next<ssize_t(int, const struct iovec *, int, off_t)>("pwritev");
  return taken(fd, real(fd, from, parts, at));
}
ssize_t pwritev64(int fd, const struct iovec *from, int parts, off64_t at) {
  static const auto real = next<ssize_t(int, const struct iovec *, int, off64_t)>("pwritev64");
  return taken(fd, real(fd, from, parts, at));
}
// The C library writes buffered bytes by calls of its own, which cannot be replaced: they wait when they are handed over.
size_t fwrite(const void *from, size_t size, size_t count, FILE *to) {
  static const auto real = next<size_t(const void *, size_t, size_t, FILE *)>("fwrite");
  const size_t done = real(from, size, count, to);
  taken(fileno(to), static_cast<ssize_t>(done * size));
  return done;
}
int fsync(int fd) { return flushed("fsync", fd); }
int fdatasync(int fd) { return flushed("fdatasync", fd); }
}
