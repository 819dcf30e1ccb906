// get_ntuple FILE NTUPLE: reads all fields of all entries.
#include "clock.h"
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <cstdio>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  ROOT::RNTupleReader::Open(argv[2], argv[1]); // One-time setup of ROOT.
  Clock clock;
  auto reader = ROOT::RNTupleReader::Open(argv[2], argv[1]);
  auto entry = reader->GetModel().CreateEntry();
  for (auto i : reader->GetEntryRange()) reader->LoadEntry(i, *entry);
  clock.report();
  printf("%llu entries\n", (unsigned long long)reader->GetNEntries());
}
