// write_tree: one TTree, filled in one thread; with more, ROOT's implicit threads compress its baskets.
#include "tree.h"

int main(int argc, char **argv) {
  return writes(argc, argv, [](const Job &job) {
    if (job.threads > 1) ROOT::EnableImplicitMT(job.threads);
    Account account;
    Data data(job);
    uint64_t bytes = 0;
    if (job.fill) {
      auto file = job.output();
      auto tree = new_tree(job, data, job.entries(), file.get());
      if (job.save) tree->SetAutoSave(job.save.as_root(job.entries()));
      for (uint64_t i = 0; i < job.entries(); i++) {
        data.fill(i);
        tree->Fill();
      }
      tree->Write(nullptr, TObject::kOverwrite);
      tree.reset();
      file->Close();
      bytes = file->GetEND();
    } else {
      for (uint64_t i = 0; i < job.entries(); i++) data.fill(i);
    }
    account.report(job, bytes);
  });
}
