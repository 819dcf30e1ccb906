// A TTree of a data set, to be filled by the caller.
#pragma once
#include "data.h"
#include <TTree.h>

inline std::unique_ptr<TTree> new_tree(const Job &job, Data &data, uint64_t share, TDirectory *directory) {
  auto tree = std::make_unique<TTree>("Events", job.multi ? "multi" : "single", job.split, directory);
  if (!job.multi) tree->Branch("x", &data.x, "x/D", job.basket);
  for (size_t b = 0; b < data.branches.size(); b++)
    if (!tree->Branch(Data::name(b).c_str(), &data.branches[b], job.basket, job.split)) throw std::runtime_error("no branch");
  if (job.flush) tree->SetAutoFlush(job.flush.as_root(share));
  return tree;
}
