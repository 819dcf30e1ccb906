// write_merger: a TTree for each thread, merged into one file by TBufferMerger whenever a thread writes.
#include "tree.h"
#include <ROOT/TBufferMerger.hxx>

// Default: the size of the tree's own default cluster.
static const uint64_t SAVE = 30'000'000;

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    ROOT::EnableThreadSafety();
    Account account;
    uint64_t bytes = 0;
    if (job.fill) {
      auto output = job.output(true);
      auto file = output.get();
      ROOT::TBufferMerger merger(std::move(output));
      job.in_threads([&](uint64_t first, uint64_t last) {
        Data data(job);
        auto buffer = merger.GetFile();
        auto tree = new_tree(job, data, last - first, buffer.get());
        tree->ResetBit(kMustCleanup);
        uint64_t every = job.save.in_entries(last - first, job.entry_bytes());
        if (!every) every = std::max<uint64_t>(1, SAVE / job.entry_bytes());
        for (uint64_t i = first; i < last; i++) {
          data.fill(i);
          tree->Fill();
          if ((i - first + 1) % every == 0) buffer->Write();
        }
        buffer->Write();
        tree.release(); // The file's, as TBufferMerger's own documentation has it.
      });
      bytes = file->GetEND();
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, bytes);
  });
}
