// slow_line: preloaded into a program (LD_PRELOAD), limits reads of the file LINE_FILE to LINE_BYTES in a second, over all
// its threads: like `basketry readspeed --throttle`, for programs without that option.
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace {
using Clock = std::chrono::steady_clock;
// Oversleeping is compensated up to this amount.
constexpr std::chrono::milliseconds SLACK{5};

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

ssize_t brought(int fd, ssize_t bytes) {
  static std::mutex lock;
  static Clock::time_point free_at = Clock::now();
  static const char *const text = getenv("LINE_BYTES");
  static const double bytes_a_second = text ? atof(text) : 0;
  if (bytes <= 0 || bytes_a_second <= 0 || !is_far(fd)) return bytes;
  Clock::time_point there;
  {
    std::lock_guard<std::mutex> held(lock);
    const auto takes = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bytes / bytes_a_second));
    there = free_at = std::max(free_at, Clock::now() - SLACK) + takes;
  }
  std::this_thread::sleep_until(there);
  return bytes;
}

template <class Function> Function *next(const char *name) { return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name)); }
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
}
