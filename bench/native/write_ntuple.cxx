// write_ntuple: an RNTuple, by RNTupleWriter in one thread; with more, ROOT's implicit threads compress its pages.
#include "ntuple.h"
#include <ROOT/RNTupleWriter.hxx>

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    if (job.threads > 1) ROOT::EnableImplicitMT(job.threads);
    Account account;
    uint64_t bytes = 0;
    if (job.fill) {
      bytes = write_ntuple<ROOT::RNTupleWriter>(job, [&](auto &writer) { fill_ntuple(job, writer, 0, job.entries()); });
    } else {
      make_numbers(job, 0, job.entries());
    }
    account.report(job, bytes);
  });
}
