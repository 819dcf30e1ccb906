// Threads that fill trees in memory, and a merger that joins them: ROOT's TBufferMerger, or what takes its place.
#pragma once

#include "tree.h"

// Default: the size of the tree's own default cluster.
static const uint64_t SAVE = 30'000'000;

template <class Merger> void merge_trees(const Job &job, Merger &merger) {
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
}
