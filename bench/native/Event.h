// The class of ROOT's own benchmark of parallel writing (G. Amadio, TBufferMerger): three vectors, three double, three int.
#pragma once
#include <vector>

struct Vector3D {
  double x = 0, y = 0, z = 0;
};

struct Event {
  Vector3D position, direction, momentum;
  double energy = 0, mass = 0, time = 0;
  int id = 0, status = 0, mother = 0;
};
