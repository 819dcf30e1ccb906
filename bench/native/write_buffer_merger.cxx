// write_buffer_merger: as write_merger, by basketry::BufferMerger: another include, another type. --memory is that of parts.
#include "merging.h"
#include <basketry_root.hpp>

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    ROOT::EnableThreadSafety();
    Account account;
    if (job.fill) {
      basketry::BufferMerger merger(job.path.c_str(), "RECREATE", job.compression, {job.settings, "", nullptr});
      merge_trees(job, merger);
      merger.close();
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, 0);
  });
}
