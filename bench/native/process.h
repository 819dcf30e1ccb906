// What a process has used so far: CPU seconds, and the kernel's lines about its memory.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace process {
// User and system, of all threads.
inline double cpu() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](timeval t) { return t.tv_sec + 1e-6 * t.tv_usec; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}
// A size of /proc/self/status in bytes, such as VmHWM: the peak RSS, which getrusage's would take over from the process that started this one.
inline uint64_t status(const std::string &key) {
  std::ifstream lines("/proc/self/status");
  for (std::string word; lines >> word;)
    if (word == key + ":") {
      uint64_t kilobytes = 0;
      lines >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}
} // namespace process
