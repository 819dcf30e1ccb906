// The events of a job of a framework, and its three outputs: RECO has all columns, AOD fewer, MINIAOD few. Every tier has what the smaller
// ones have. All numbers are multiples of 1/256, so that their sums are exact in any order.
#pragma once
#include "Event.h"
#include "draws.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

enum Tier { RECO, AOD, MINIAOD, TIERS };
static constexpr const char *TIER_NAMES[TIERS] = {"RECO", "AOD", "MINIAOD"};

// Columns of floats that have equally many items, in the mean so many, and the smallest tier that has them.
struct Collection {
  const char *name;
  int columns;
  uint32_t items;
  Tier last;
};
static constexpr Collection COLLECTIONS[] = {
    {"hit", 6, 3000, RECO},       {"cluster", 8, 600, RECO}, {"track", 20, 200, AOD},   {"tower", 6, 300, AOD},
    {"candidate", 8, 100, MINIAOD}, {"jet", 30, 12, MINIAOD},  {"muon", 40, 3, MINIAOD}, {"electron", 40, 3, MINIAOD},
};

struct Column {
  std::string name;
  const Collection *of;
};
// The columns of floats of a tier; those of a smaller tier are the last ones of a larger.
inline std::vector<Column> columns_of(Tier tier) {
  std::vector<Column> columns;
  for (const Collection &one : COLLECTIONS)
    for (int number = 0; number < one.columns && one.last >= tier; number++) columns.push_back({one.name + std::to_string(number), &one});
  return columns;
}

// What a thread has of the event in work.
struct Products {
  static constexpr int BITS = 100;
  static constexpr uint32_t VERTICES = 4;
  int number = 0, quality = 0;
  std::array<bool, BITS> bits = {};
  std::vector<std::vector<float>> floats{columns_of(RECO).size()};
  std::vector<Event> vertices;

  // Makes an event, by so many steps of a computation that nobody can leave out.
  void make(int event, uint64_t steps) {
    const Stream stream{uint64_t(event) + 1};
    double x = 0.25 + draw::uniform(stream(0)) / 2;
    for (uint64_t step = 0; step < steps; step++) x = 3.99 * x * (1 - x);
    number = event;
    quality = int(1000 * x);
    uint64_t at = 1;
    for (bool &bit : bits) bit = stream(at++) % 8 == 0;
    size_t column = 0;
    for (const Collection &one : COLLECTIONS) {
      const uint32_t items = draw::below(stream(at++), 2 * one.items + 1);
      for (int number = 0; number < one.columns; number++) {
        floats[column].resize(items);
        for (float &value : floats[column]) value = float(draw::steps(stream(at++)));
        column++;
      }
    }
    vertices.resize(draw::below(stream(at++), 2 * VERTICES + 1));
    for (Event &vertex : vertices) {
      for (Vector3D *vector : {&vertex.position, &vertex.direction, &vertex.momentum})
        for (double *part : {&vector->x, &vector->y, &vector->z}) *part = draw::steps(stream(at++));
      for (double *part : {&vertex.energy, &vertex.mass, &vertex.time}) *part = draw::steps(stream(at++));
      for (int *part : {&vertex.id, &vertex.status, &vertex.mother}) *part = int(draw::below(stream(at++), 100));
    }
  }
  // The place of the first column of a tier.
  size_t first(Tier tier) const { return floats.size() - columns_of(tier).size(); }
  // The sum of all numbers that a tier has of the event.
  double sum(Tier tier) const {
    double all = number + quality;
    for (const bool bit : bits) all += bit;
    for (size_t column = first(tier); column < floats.size(); column++)
      for (const float value : floats[column]) all += value;
    for (const Event &vertex : vertices) {
      for (const Vector3D *vector : {&vertex.position, &vertex.direction, &vertex.momentum}) all += vector->x + vector->y + vector->z;
      all += vertex.energy + vertex.mass + vertex.time + vertex.id + vertex.status + vertex.mother;
    }
    return all;
  }
};
