"""Makes the files in fixtures/ with real ROOT: small, and each with something that others lack.

Run here: python make_fixtures.py. The results are committed, since the tests must run where ROOT is not.
"""

from pathlib import Path

import ROOT

FOLDER = Path(__file__).parent / "fixtures"

ROOT.gInterpreter.Declare("""
#include "TClonesArray.h"
#include "TFile.h"
#include "TLine.h"
#include "TNamed.h"
#include "TRandom3.h"
#include "TTree.h"

// Scalars, counted arrays, strings and vectors in several clusters, under a folder, beside another object.
void plain(const char* name, int compression) {
  TFile file(name, "RECREATE", "", compression);
  file.mkdir("folder")->cd();
  TTree tree("tree", "title");
  tree.SetAutoFlush(40);
  int n;
  float x[10];
  double d;
  char text[32];
  std::vector<short> v;
  tree.Branch("n", &n);
  tree.Branch("x", x, "x[n]/F");
  tree.Branch("d", &d);
  tree.Branch("text", text, "text/C");
  tree.Branch("v", &v);
  tree.SetAlias("twice", "2*d");
  TRandom3 random(1);
  for (int i = 0; i < 100; i++) {
    n = i % 7;
    for (int k = 0; k < n; k++) x[k] = random.Gaus();
    d = i;
    snprintf(text, sizeof text, "%d", i * i);
    v.assign(i % 3, i);
    tree.Fill();
  }
  tree.Write();
  file.cd();
  TNamed("other", "object").Write();
}

// Objects with class tags, split and unsplit, a TClonesArray, and baskets left in the tree's record.
void objects(const char* name) {
  TFile file(name, "RECREATE", "", 101);
  TTree tree("tree", "");
  TNamed* named = new TNamed("name", "title");
  TObjArray* list = new TObjArray;
  list->SetOwner();
  TClonesArray* lines = new TClonesArray("TLine", 10);
  tree.Branch("named", &named);
  tree.Branch("list", &list, 4000, 0);
  tree.Branch("lines", &lines, 4000, 99);
  for (int i = 0; i < 10; i++) {
    named->SetTitle(TString('x', i));
    list->Delete();
    for (int k = 0; k < i % 3; k++) list->Add(new TNamed("a", "b"));
    lines->Clear();
    for (int k = 0; k < i % 4; k++) new ((*lines)[k]) TLine(0, 1, k, i);
    tree.Fill();
  }
  tree.Write();
}
""")

for name, compression in (("plain_zlib", 109), ("plain_zstd", 509)):
    ROOT.plain(str(FOLDER / f"{name}.root"), compression)
ROOT.objects(str(FOLDER / "objects.root"))
