// write_addresses: basketry's fill contexts, one for each thread, by the addresses of the program's own variables.
#include "data.h"
#include <basketry.hpp>
#include <cstddef>

static std::vector<basketry::column> columns_of(const Job &job) {
  using basketry::column;
  const std::vector<column> parts = {column::of<double>("x", offsetof(Vector3D, x)), column::of<double>("y", offsetof(Vector3D, y)),
                                     column::of<double>("z", offsetof(Vector3D, z))};
  const std::vector<column> members = {
      column("position", "Vector3D", offsetof(Event, position), parts, sizeof(Vector3D)),
      column("direction", "Vector3D", offsetof(Event, direction), parts, sizeof(Vector3D)),
      column("momentum", "Vector3D", offsetof(Event, momentum), parts, sizeof(Vector3D)),
      column::of<double>("energy", offsetof(Event, energy)),
      column::of<double>("mass", offsetof(Event, mass)),
      column::of<double>("time", offsetof(Event, time)),
      column::of<int>("id", offsetof(Event, id)),
      column::of<int>("status", offsetof(Event, status)),
      column::of<int>("mother", offsetof(Event, mother)),
  };
  std::vector<column> all;
  if (job.single()) all.push_back(column::of<double>("x"));
  for (int f = 0; f < Mix::FLOATS && job.mix; f++) all.push_back(column::of<std::vector<float>>(Data::name('f', f)));
  for (int i = 0; i < Mix::INTS && job.mix; i++) all.push_back(column::of<int>(Data::name('i', i)));
  for (int b = 0; b < Mix::BITS && job.mix; b++) all.push_back(column::of<bool>(Data::name('b', b)));
  for (int b = 0; b < (job.mix ? Mix::OBJECTS : job.branches) && !job.single(); b++)
    all.emplace_back(Data::name(b), "std::vector<Event>", 0, members, sizeof(Event));
  return all;
}

static void bind(const Job &job, const Data &data, basketry::context &context) {
  size_t at = 0;
  if (job.single()) context.bind(at++, &data.x);
  for (int f = 0; f < Mix::FLOATS && job.mix; f++) context.bind(at++, &data.mix.floats[f]);
  for (int i = 0; i < Mix::INTS && job.mix; i++) context.bind(at++, &data.mix.ints[i]);
  for (int b = 0; b < Mix::BITS && job.mix; b++) context.bind(at++, &data.mix.bits[b]);
  for (const auto &branch : data.branches) context.bind(at++, &branch);
}

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    Account account;
    if (job.fill) {
      basketry::writer writer(job.path, "overwrite=true," + job.settings);
      const auto table = writer.add_table("Events", columns_of(job));
      job.in_threads([&](uint64_t first, uint64_t last) {
        Data data(job);
        auto context = writer.fill_context(table);
        bind(job, data, context);
        for (uint64_t i = first; i < last; i++) {
          data.fill(i);
          context.fill();
        }
        context.finish();
      });
      writer.finish();
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, 0);
  });
}
