// Jobs that were killed while they filled an RNTuple: `beside` had closed another RNTuple before, `alone` had not.
#include <sys/wait.h>
#include <signal.h>

std::unique_ptr<ROOT::RNTupleWriter> open_in(TFile& file, const char* name, std::shared_ptr<float>& x) {
  auto model = ROOT::RNTupleModel::Create();
  x = model->MakeField<float>("x");
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(505);
  return ROOT::RNTupleWriter::Append(std::move(model), name, file, options);
}

void one(const char* path, bool beside) {
  if (fork() == 0) {
    auto file = new TFile(path, "RECREATE");
    std::shared_ptr<float> x;
    if (beside) {
      TNamed("note", "written first").Write();
      auto closed = open_in(*file, "closed", x);
      for (int i = 0; i < 3000; i++) {
        *x = i * 0.5f; closed->Fill();
        if (i % 1000 == 999) closed->CommitCluster();
      }
    }
    auto open = open_in(*file, "open", x);
    for (int i = 0; i < 5000; i++) {
      *x = i; open->Fill();
      if (i % 1000 == 999) open->CommitCluster();
    }
    kill(getpid(), SIGKILL);
  }
  int status; wait(&status);
}
void make() { one("beside.root", true); one("alone.root", false); }
