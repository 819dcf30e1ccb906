// resplit IN OUT SPLIT: reads the events of a tree and fills another tree with them, split to that level, compressed as the
// first: the loop that ROOT's users write for it.
#include "Event.h"
#include "clock.h"
#include <TFile.h>
#include <TTree.h>
#include <memory>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  TFile::Open(argv[1])->Close(); // One-time setup of ROOT.
  Clock clock;
  std::unique_ptr<TFile> in(TFile::Open(argv[1]));
  auto from = in->Get<TTree>("Events");
  if (!from) return 1;
  TFile out(argv[2], "RECREATE", "", in->GetCompressionSettings());
  auto to = std::make_unique<TTree>("Events", from->GetTitle());
  const int count = from->GetListOfBranches()->GetEntries();
  std::vector<std::vector<Event> *> events(count, nullptr);
  for (int b = 0; b < count; b++) {
    const char *name = from->GetListOfBranches()->At(b)->GetName();
    from->SetBranchAddress(name, &events[b]);
    to->Branch(name, &events[b], 32000, std::stoi(argv[3]));
  }
  for (Long64_t i = 0; i < from->GetEntries(); i++) {
    from->GetEntry(i);
    to->Fill();
  }
  to->Write(nullptr, TObject::kOverwrite);
  to.reset();
  out.Close();
  clock.report();
}
