// A TTree of a data set, to be filled by the caller.
#pragma once
#include "data.h"
#include <TTree.h>

inline std::unique_ptr<TTree> new_tree(const Job &job, Data &data, uint64_t share, TDirectory *directory) {
  auto tree = std::make_unique<TTree>("Events", job.multi ? "multi" : job.mix ? "mix" : "single", job.split, directory);
  if (job.single()) tree->Branch("x", &data.x, "x/D", job.basket);
  for (int f = 0; f < Mix::FLOATS && job.mix; f++) tree->Branch(Data::name('f', f).c_str(), &data.mix.floats[f], job.basket, job.split);
  for (int i = 0; i < Mix::INTS && job.mix; i++) tree->Branch(Data::name('i', i).c_str(), &data.mix.ints[i], job.basket);
  for (int b = 0; b < Mix::BITS && job.mix; b++) tree->Branch(Data::name('b', b).c_str(), &data.mix.bits[b], job.basket);
  for (size_t b = 0; b < data.branches.size(); b++)
    if (!tree->Branch(Data::name(b).c_str(), &data.branches[b], job.basket, job.split)) throw std::runtime_error("no branch");
  if (job.flush) tree->SetAutoFlush(job.flush.as_root(share));
  return tree;
}
