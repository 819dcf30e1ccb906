// write_merger: a TTree for each thread, merged into one file by TBufferMerger whenever a thread writes.
#include "merging.h"
#include <ROOT/TBufferMerger.hxx>

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    ROOT::EnableThreadSafety();
    Account account;
    uint64_t bytes = 0;
    if (job.fill) {
      auto output = job.output(true);
      auto file = output.get();
      ROOT::TBufferMerger merger(std::move(output));
      merge_trees(job, merger);
      bytes = file->GetEND();
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, bytes);
  });
}
