// Resources of a program since the construction of `Clock`, in one line for bench/measure.py, without ROOT's start.
#pragma once
#include <cstdio>
#include <ctime>

class Clock {
  static double now(clockid_t id) {
    timespec time;
    clock_gettime(id, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
  }
  double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);

public:
  void report() const {
    printf("inside %f %f\n", now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  }
};
