// get_entry FILE TREE [ENTRIES]: reads all branches of all entries, or of those whose numbers a file lists.
#include "clock.h"
#include <TFile.h>
#include <TTree.h>
#include <fstream>
#include <memory>
#include <vector>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::vector<Long64_t> chosen;
  if (argc > 3) {
    std::ifstream list(argv[3]);
    for (Long64_t entry; list >> entry;) chosen.push_back(entry);
  }
  TFile::Open(argv[1])->Close(); // One-time setup of ROOT.
  Clock clock;
  std::unique_ptr<TFile> file(TFile::Open(argv[1]));
  auto tree = file->Get<TTree>(argv[2]);
  if (!tree) return 1;
  Long64_t bytes = 0, entries = argc > 3 ? (Long64_t)chosen.size() : tree->GetEntries();
  for (Long64_t i = 0; i < entries; i++) bytes += tree->GetEntry(argc > 3 ? chosen[i] : i);
  clock.report();
  printf("%lld entries, %lld bytes\n", entries, bytes);
}
