// NanoAOD-like: jagged collections and scalars. Stands in for the corpus' make_large.py where the corpus is absent.
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <cstring>

float keep(double value) {
  float f = value; uint32_t bits; memcpy(&bits, &f, 4); bits &= 0xFFFFE000u; memcpy(&f, &bits, 4);
  return f;
}

void make(const char *path, double megabytes, int seed, int codec = 101) {
  TFile file(path, "RECREATE", "", codec);
  TTree tree("Events", "jagged");
  TTree::SetMaxTreeSize(1LL << 42);
  TRandom3 random(seed);
  const char *names[] = {"Jet", "Muon", "Electron", "Photon", "Tau", "GenPart"};
  const double means[] = {6, 1.5, 1, 0.7, 1, 30};
  int counts[6]; std::vector<std::vector<float>> columns(6 * 25, std::vector<float>(200)); float scalars[60]; bool flags[200];
  for (int c = 0; c < 6; c++) {
    tree.Branch(Form("n%s", names[c]), &counts[c], Form("n%s/I", names[c]));
    for (int k = 0; k < 25; k++) tree.Branch(Form("%s_v%d", names[c], k), columns[c * 25 + k].data(), Form("%s_v%d[n%s]/F", names[c], k, names[c]));
  }
  for (int k = 0; k < 60; k++) tree.Branch(Form("s%d", k), &scalars[k], Form("s%d/F", k));
  for (int k = 0; k < 200; k++) tree.Branch(Form("HLT_%d", k), &flags[k], Form("HLT_%d/O", k));
  while (file.GetEND() < megabytes * 1e6) {
    for (int i = 0; i < 64; i++) {
      for (int c = 0; c < 6; c++) {
        counts[c] = std::min(199, (int)random.Poisson(means[c]));
        for (int k = 0; k < 25; k++) for (int j = 0; j < counts[c]; j++) columns[c * 25 + k][j] = k % 5 == 4 ? random.Integer(4) : keep(random.Gaus(0, 1 + k));
      }
      for (auto &s : scalars) s = keep(random.Exp(30));
      for (auto &f : flags) f = random.Uniform() < 0.02;
      tree.Fill();
    }
  }
  tree.Write();
}
