// write_tree: one TTree, filled in one thread; with more, ROOT's implicit threads compress its baskets. With --save-self AutoSave
// also writes the header and the list of keys, as it does for other processes that read the file meanwhile.
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
      const uint64_t every = job.save_self ? job.save.in_entries(job.entries(), job.entry_bytes()) : 0;
      if (every) tree->SetAutoSave(0);
      else if (job.save) tree->SetAutoSave(job.save.as_root(job.entries()));
      for (uint64_t i = 0; i < job.entries(); i++) {
        data.fill(i);
        tree->Fill();
        if (every && (i + 1) % every == 0) tree->AutoSave("FlushBaskets;SaveSelf");
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
