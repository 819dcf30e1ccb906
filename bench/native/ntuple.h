// The model of an RNTuple of a data set, its options, and its entries. There is no AutoSave; AutoFlush in bytes is the
// compressed size of a cluster, as in a TTree.
#pragma once
#include "data.h"
#include <ROOT/REntry.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>

inline std::unique_ptr<ROOT::RNTupleModel> new_model(const Job &job) {
  auto model = ROOT::RNTupleModel::CreateBare();
  if (job.single()) model->MakeField<double>("x");
  for (int f = 0; f < Mix::FLOATS && job.mix; f++) model->MakeField<std::vector<float>>(Data::name('f', f));
  for (int i = 0; i < Mix::INTS && job.mix; i++) model->MakeField<int>(Data::name('i', i));
  for (int b = 0; b < Mix::BITS && job.mix; b++) model->MakeField<bool>(Data::name('b', b));
  for (int b = 0; b < (job.mix ? Mix::OBJECTS : job.branches) && !job.single(); b++) model->MakeField<std::vector<Event>>(Data::name(b));
  return model;
}

inline ROOT::RNTupleWriteOptions options_of(const Job &job) {
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(job.compression);
  if (job.flush.bytes) options.SetApproxZippedClusterSize(job.flush.bytes);
  return options;
}

// A writer of the job's file, or of one that discards everything.
template <class Writer> std::unique_ptr<Writer> new_ntuple(const Job &job, TFile *nowhere) {
  return nowhere ? Writer::Append(new_model(job), "Events", *nowhere, options_of(job))
                 : Writer::Recreate(new_model(job), "Events", job.path, options_of(job));
}

// Fills a part of the entries: by a writer or by a fill context.
template <class Filler> void fill_ntuple(const Job &job, Filler &filler, uint64_t first, uint64_t last) {
  Data data(job);
  auto entry = filler.CreateEntry();
  if (job.single()) entry->BindRawPtr("x", &data.x);
  for (int f = 0; f < Mix::FLOATS && job.mix; f++) entry->BindRawPtr(Data::name('f', f), &data.mix.floats[f]);
  for (int i = 0; i < Mix::INTS && job.mix; i++) entry->BindRawPtr(Data::name('i', i), &data.mix.ints[i]);
  for (int b = 0; b < Mix::BITS && job.mix; b++) entry->BindRawPtr(Data::name('b', b), &data.mix.bits[b]);
  for (size_t b = 0; b < data.branches.size(); b++) entry->BindRawPtr(Data::name(b), &data.branches[b]);
  const uint64_t every = job.flush.bytes ? 0 : job.flush.in_entries(last - first, job.entry_bytes());
  for (uint64_t i = first; i < last; i++) {
    data.fill(i);
    filler.Fill(*entry);
    if (every && (i - first + 1) % every == 0) filler.FlushCluster();
  }
}

// Runs `fill` with a writer, closes it, and returns the length of what was discarded.
template <class Writer, class Fill> uint64_t write_ntuple(const Job &job, Fill fill) {
  std::unique_ptr<TFile> nowhere;
  if (!job.write) nowhere = job.output();
  auto writer = new_ntuple<Writer>(job, nowhere.get());
  fill(*writer);
  writer.reset();
  if (!nowhere) return 0;
  const uint64_t bytes = nowhere->GetEND();
  nowhere->Close();
  return bytes;
}
