// A tree of common types and the RNTuple that ROOT's importer makes of it; and the same with another value in entry 70.
#include <ROOT/RNTupleImporter.hxx>
#include <TFile.h>
#include <TTree.h>
#include <string>
#include <vector>

void tree(const char *path, bool changed) {
  TFile file(path, "RECREATE");
  TTree tree("events", "of common types");
  char c = 0; short s = 0; int i = 0; Long64_t l = 0; unsigned char uc = 0; unsigned u = 0; bool flag = false;
  float f = 0; double d = 0; int fixed[3]; double matrix[2][2]; int n = 0; float pt[10]; int charge[10];
  struct { int a; float b; } leaves;
  std::string text; std::vector<float> points; std::vector<std::string> words;
  std::vector<bool> flags; char chars[8] = "";
  tree.Branch("c", &c, "c/B"); tree.Branch("s", &s); tree.Branch("i", &i); tree.Branch("l", &l); tree.Branch("uc", &uc);
  tree.Branch("u", &u); tree.Branch("flag", &flag); tree.Branch("f", &f); tree.Branch("d", &d);
  tree.Branch("fixed", fixed, "fixed[3]/I"); tree.Branch("matrix", matrix, "matrix[2][2]/D");
  tree.Branch("n", &n); tree.Branch("pt", pt, "pt[n]/F"); tree.Branch("charge", charge, "charge[n]/I");
  tree.Branch("leaves", &leaves, "a/I:b/F"); tree.Branch("text", &text); tree.Branch("points", &points);
  tree.Branch("words", &words); tree.Branch("flags", &flags);
  tree.Branch("chars", chars, "chars/C");
  for (int e = 0; e < 200; ++e) {
    c = e % 100; s = -e; i = e * e; l = (Long64_t)e << 33; uc = e; u = 3000000000u + e; flag = e % 3 == 0; f = 0.5f * e; d = -0.25 * e;
    for (int k = 0; k < 3; ++k) fixed[k] = e + k;
    for (int k = 0; k < 4; ++k) matrix[k / 2][k % 2] = e * k;
    n = e % 5;
    for (int k = 0; k < n; ++k) { pt[k] = e + 0.1f * k; charge[k] = k % 2 ? 1 : -1; }
    leaves.a = e; leaves.b = 2.f * e; text = std::string(e % 7, 't'); points.assign(e % 4, e);
    if (changed && e == 70) points.back() = 0;
    words.assign(e % 2, std::string(e % 4, 'w'));
    flags.assign(e % 3, e % 2); snprintf(chars, 8, "c%d", e % 50);
    tree.Fill();
  }
  tree.Write();
  tree.SetDirectory(nullptr);
}

void make() {
  for (bool changed : {false, true}) {
    auto source = changed ? "other_tree.root" : "tree.root", target = changed ? "other.root" : "ntuple.root";
    tree(source, changed);
    auto importer = ROOT::Experimental::RNTupleImporter::Create(source, "events", target);
    importer->SetIsQuiet(true);
    importer->Import();
  }
}
