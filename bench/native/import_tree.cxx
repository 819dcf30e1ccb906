// import_tree TREE_FILE NAME OUT [SETTING]: the RNTuple that ROOT's importer makes of a tree, in that compression setting or in
// ROOT's default, zstd; prints the cost.
#include "clock.h"
#include <ROOT/RNTupleImporter.hxx>
#include <TFile.h>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 4 || argc > 5) return 2;
  TFile::Open(argv[1])->Close(); // One-time setup of ROOT.
  Clock clock;
  {
    auto importer = ROOT::Experimental::RNTupleImporter::Create(argv[1], argv[2], argv[3]);
    if (argc == 5) {
      auto options = importer->GetWriteOptions();
      options.SetCompression(atoi(argv[4]));
      importer->SetWriteOptions(options);
    }
    importer->SetIsQuiet(true);
    importer->Import();
  }
  clock.report();
}
