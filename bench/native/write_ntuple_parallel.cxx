// write_ntuple_parallel: an RNTuple, by RNTupleParallelWriter with a fill context for each thread.
#include "ntuple.h"
#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    ROOT::EnableThreadSafety();
    Account account;
    uint64_t bytes = 0;
    if (job.fill) {
      bytes = write_ntuple<ROOT::RNTupleParallelWriter>(job, [&](auto &writer) {
        job.in_threads([&](uint64_t first, uint64_t last) {
          auto context = writer.CreateFillContext();
          fill_ntuple(job, *context, first, last);
        });
      });
    } else {
      job.in_threads([&](uint64_t first, uint64_t last) { make_numbers(job, first, last); });
    }
    account.report(job, bytes);
  });
}
