// write_buffer_merger: as write_merger, by basketry::BufferMerger: another include, another type. --memory is that of parts.
#include "tree.h"
#include <basketry_root.hpp>

// Default: the size of the tree's own default cluster.
static const uint64_t SAVE = 30'000'000;

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    ROOT::EnableThreadSafety();
    Account account;
    if (job.fill) {
      basketry::BufferMerger merger(job.path.c_str(), "RECREATE", job.compression, {job.settings, "", nullptr});
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
        tree.release(); // The file's, as with TBufferMerger.
      });
      merger.close();
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, 0);
  });
}
