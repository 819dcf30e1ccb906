// The data sets `single`, `multi` and `mix`: their columns in memory, and filling them for an entry. `mix` is as events of CMS are: many
// collections of floats, numbers, bits of triggers, and a few collections of objects.
#pragma once
#include "Event.h"
#include "draws.h"
#include "job.h"
#include <string>
#include <vector>

struct Mix {
  static constexpr int FLOATS = 40, INTS = 60, BITS = 200, OBJECTS = 2;
  std::vector<float> floats[FLOATS];
  int ints[INTS] = {};
  bool bits[BITS] = {};
};

class Data {
  struct Leaves {
    Stream position[3], direction[3], momentum[3], energy, mass, time, id, status, mother;
  };
  const Job &job;
  Stream keys, single;
  std::vector<Leaves> streams;
  // Entries so far, for a job that computes its events: its threads share the rate.
  uint64_t made = 0;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  void wait() {
    using namespace std::chrono;
    const auto due = started + duration_cast<nanoseconds>(duration<double>(made++ * job.entry_bytes() * job.threads / job.rate));
    if (due - steady_clock::now() > milliseconds(2)) std::this_thread::sleep_until(due);
  }
  void fill_mix(uint64_t entry) {
    uint64_t at = entry * 512 + 16;
    for (int f = 0; f < Mix::FLOATS; f++) {
      // Collections of four columns each.
      const uint32_t items = draw::below(single(entry * 64 + f / 4 + 2), 12);
      mix.floats[f].resize(items);
      for (float &one : mix.floats[f]) one = draw::falling(single(at++));
    }
    for (int &one : mix.ints) one = draw::below(single(at++), 1000);
    for (int b = 0; b < Mix::BITS; b += 50) {
      const uint64_t word = single(at++) & single(at++) & single(at++);
      for (int k = 0; k < 50; k++) mix.bits[b + k] = word >> k & 1;
    }
  }
  static void vector(Vector3D &v, const Stream (&s)[3], uint64_t at) {
    v.x = draw::steps(s[0](at));
    v.y = draw::steps(s[1](at));
    v.z = draw::bell(s[2](at));
  }

public:
  double x = 0;
  Mix mix;
  std::vector<std::vector<Event>> branches;

  explicit Data(const Job &job) : job(job), keys{job.seed} {
    single.key = keys(0);
    uint64_t id = 0;
    for (int b = 0; b < (job.mix ? Mix::OBJECTS : job.branches) && !job.single(); b++) {
      id++; // The one for the number of events, which is fixed.
      Leaves leaves;
      for (auto *part : {leaves.position, leaves.direction, leaves.momentum})
        for (int k = 0; k < 3; k++) part[k].key = keys(id++);
      for (auto *one : {&leaves.energy, &leaves.mass, &leaves.time, &leaves.id, &leaves.status, &leaves.mother}) one->key = keys(id++);
      streams.push_back(leaves);
      branches.emplace_back(job.events);
    }
  }

  static std::string name(size_t branch) { return "ev" + std::to_string(branch); }
  static std::string name(char kind, int number) { return kind + std::to_string(number); }

  void fill(uint64_t entry) {
    if (job.rate) wait();
    if (job.single()) {
      x = draw::uniform(single(entry));
      return;
    }
    if (job.mix) fill_mix(entry);
    for (size_t b = 0; b < branches.size(); b++) {
      const Leaves &s = streams[b];
      uint64_t at = entry * job.events;
      if (job.mix) branches[b].resize(draw::below(single(entry * 64 + b), 4));
      for (Event &event : branches[b]) {
        vector(event.position, s.position, at);
        vector(event.direction, s.direction, at);
        vector(event.momentum, s.momentum, at);
        event.energy = draw::falling(s.energy(at));
        event.mass = draw::fraction(s.mass(at));
        event.time = draw::decay(s.time(at));
        event.id = draw::below(s.id(at), 25);
        event.status = draw::below(s.status(at), 3);
        event.mother = draw::below(s.mother(at), 1000);
        at++;
      }
    }
  }
};

// Makes the numbers of some entries, which no writer gets.
inline void make_numbers(const Job &job, uint64_t first, uint64_t last) {
  Data data(job);
  for (uint64_t i = first; i < last; i++) data.fill(i);
}
