// The random numbers of crates/lab/src/synthetic/models, value for value, so that rivals write the same bytes: SplitMix64 by position.
#pragma once
#include <cstdint>
#include <cstring>

struct Stream {
  uint64_t key = 0;
  // The word at a position.
  uint64_t operator()(uint64_t position) const {
    uint64_t z = key + (position + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

namespace draw {
inline double uniform(uint64_t word) {
  const uint64_t bits = 0x3ff0000000000000 | (word >> 12);
  double value;
  memcpy(&value, &bits, 8);
  return value - 1;
}
inline double bell(uint64_t word) {
  const double x = 2 * uniform(word) - 1;
  return x * (4 + 12 * (x * x));
}
inline double steps(uint64_t word) {
  return (int32_t(((word >> 32) + (word & 0xffffffff)) >> 19) - 8192) / 256.;
}
inline double falling(uint64_t word) { return 8 / (uniform(word) + 1 / 64.); }
inline double fraction(uint64_t word) { return int32_t(word >> 52) / 4096.; }
inline double decay(uint64_t word) { return int32_t(((word >> 32) * (word & 0xffffffff)) >> 45) / 4096.; }
inline uint32_t below(uint64_t word, uint32_t n) { return ((word >> 32) * n) >> 32; }
} // namespace draw
