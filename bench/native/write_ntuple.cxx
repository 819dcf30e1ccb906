// write_ntuple: an RNTuple, by RNTupleParallelWriter with a context for each thread. It has no AutoSave; AutoFlush in
// bytes is the compressed size of a cluster, as in a TTree.
#include "data.h"
#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    ROOT::EnableThreadSafety();
    Account account;
    uint64_t bytes = 0;
    if (job.fill) {
      auto model = ROOT::RNTupleModel::CreateBare();
      if (!job.multi) model->MakeField<double>("x");
      for (int b = 0; b < job.branches && job.multi; b++) model->MakeField<std::vector<Event>>(Data::name(b));
      ROOT::RNTupleWriteOptions options;
      options.SetCompression(job.compression);
      if (job.flush.bytes) options.SetApproxZippedClusterSize(job.flush.bytes);
      std::unique_ptr<TFile> nowhere;
      if (!job.write) nowhere = job.output();
      auto writer = nowhere ? ROOT::RNTupleParallelWriter::Append(std::move(model), "Events", *nowhere, options)
                            : ROOT::RNTupleParallelWriter::Recreate(std::move(model), "Events", job.path, options);
      job.in_threads([&](uint64_t first, uint64_t last) {
        Data data(job);
        auto context = writer->CreateFillContext();
        auto entry = context->CreateEntry();
        if (!job.multi) entry->BindRawPtr("x", &data.x);
        for (size_t b = 0; b < data.branches.size(); b++) entry->BindRawPtr(Data::name(b), &data.branches[b]);
        const uint64_t every = job.flush.bytes ? 0 : job.flush.in_entries(last - first, job.entry_bytes());
        for (uint64_t i = first; i < last; i++) {
          data.fill(i);
          context->Fill(*entry);
          if (every && (i - first + 1) % every == 0) context->FlushCluster();
        }
      });
      writer.reset();
      if (nowhere) {
        bytes = nowhere->GetEND();
        nowhere->Close();
      }
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) {
        Data data(job);
        for (uint64_t i = first; i < last; i++) data.fill(i);
      });
    }
    account.report(job, bytes);
  });
}
