// write_arrow: basketry's fill contexts, one for each thread, by batches of Arrow's C data interface. Objects are columns of their members.
#include "arrow_batch.h"
#include "data.h"
#include <basketry.hpp>

static const int64_t ROWS = 512;

static ArrowBatch batch_of(const Job &job) {
  ArrowBatch batch;
  auto add = [&](std::string name, const char *format, bool lists) { batch.columns.push_back({std::move(name), format, lists}); };
  if (job.single()) add("x", "g", false);
  for (int f = 0; f < Mix::FLOATS && job.mix; f++) add(Data::name('f', f), "f", true);
  for (int i = 0; i < Mix::INTS && job.mix; i++) add(Data::name('i', i), "i", false);
  for (int b = 0; b < Mix::BITS && job.mix; b++) add(Data::name('b', b), "b", false);
  for (int b = 0; b < (job.mix ? Mix::OBJECTS : job.branches) && !job.single(); b++) {
    for (const char *member : {"px", "py", "pz", "dx", "dy", "dz", "mx", "my", "mz", "energy", "mass", "time"})
      add(Data::name(b) + "_" + member, "g", true);
    for (const char *member : {"id", "status", "mother"}) add(Data::name(b) + "_" + member, "i", true);
  }
  return batch;
}

static void add(const Job &job, const Data &data, ArrowBatch &batch) {
  ArrowColumn *at = batch.columns.data();
  if (job.single()) (at++)->add(data.x);
  for (int f = 0; f < Mix::FLOATS && job.mix; f++, at++) {
    for (float one : data.mix.floats[f]) at->add(one);
    at->end_list();
  }
  for (int i = 0; i < Mix::INTS && job.mix; i++) (at++)->add(int32_t(data.mix.ints[i]));
  for (int b = 0; b < Mix::BITS && job.mix; b++) (at++)->add_bit(data.mix.bits[b]);
  for (const auto &events : data.branches) {
    for (const Event &e : events) {
      const double numbers[] = {e.position.x, e.position.y, e.position.z, e.direction.x, e.direction.y, e.direction.z,
                                e.momentum.x, e.momentum.y, e.momentum.z, e.energy,      e.mass,        e.time};
      for (int k = 0; k < 12; k++) at[k].add(numbers[k]);
      at[12].add(int32_t(e.id)), at[13].add(int32_t(e.status)), at[14].add(int32_t(e.mother));
    }
    for (int k = 0; k < 15; k++) (at++)->end_list();
  }
  batch.rows++;
}

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    Account account;
    if (job.fill) {
      basketry::writer writer(job.path, "overwrite=true," + job.settings);
      ArrowSchema schema = batch_of(job).schema();
      const auto table = writer.add_table("Events", &schema);
      job.in_threads([&](uint64_t first, uint64_t last) {
        Data data(job);
        ArrowBatch batch = batch_of(job);
        auto context = writer.fill_context(table);
        for (uint64_t i = first; i < last; i++) {
          data.fill(i);
          add(job, data, batch);
          if (batch.rows == ROWS || i + 1 == last) {
            ArrowArray array = batch.take();
            context.fill_arrow(&array, &schema);
          }
        }
        context.finish();
      });
      schema.release(&schema);
      writer.finish();
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, 0);
  });
}
