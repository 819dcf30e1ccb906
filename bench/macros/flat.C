// A flat ntuple: 50 floats, 30 integers and 10 flags, with the precision that analyses keep.
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

void make(const char *path, double megabytes, int seed) {
  TFile file(path, "RECREATE", "", 101);
  TTree tree("ntuple", "flat");
  TTree::SetMaxTreeSize(1LL << 42);
  TRandom3 random(seed);
  float f[50]; int n[30]; bool b[10];
  for (int k = 0; k < 50; k++) tree.Branch(Form("f%d", k), &f[k], Form("f%d/F", k));
  for (int k = 0; k < 30; k++) tree.Branch(Form("n%d", k), &n[k], Form("n%d/I", k));
  for (int k = 0; k < 10; k++) tree.Branch(Form("b%d", k), &b[k], Form("b%d/O", k));
  while (file.GetEND() < megabytes * 1e6) {
    for (int i = 0; i < 64; i++) {
      for (int k = 0; k < 50; k++) f[k] = std::round(random.Gaus(0, 1 + k) * 1024) / 1024;
      for (int k = 0; k < 30; k++) n[k] = random.Poisson(1 + k);
      for (int k = 0; k < 10; k++) b[k] = random.Uniform() < 0.1;
      tree.Fill();
    }
  }
  tree.Write();
}
