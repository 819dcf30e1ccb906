// Inputs that take much memory unless it is counted: many branches, huge entries, a huge basket (of numbers, and of
// objects), many clusters, trees.
#include "Math/Vector4D.h"
void branches() {
  TFile file("branches.root", "RECREATE", "", 101);
  TTree tree("t", "10,000 branches");
  std::vector<double> values(10000);
  for (int i = 0; i < 10000; i++) tree.Branch(Form("b%05d", i), &values[i], Form("b%05d/D", i), 1600);
  tree.SetAutoFlush(100);
  for (int i = 0; i < 200; i++) {
    for (int k = 0; k < 10000; k++) values[k] = (i * 7919 + k * 104729) % 10007;
    tree.Fill();
  }
  tree.Write();
}
void huge(const char *name, int entries, int items, int basket, int flush) {
  TFile file(name, "RECREATE", "", 101);
  TTree tree("t", "huge");
  std::vector<float> v;
  tree.Branch("v", &v, basket);
  tree.SetAutoFlush(flush);
  for (int i = 0; i < entries; i++) {
    v.assign(items, i);
    tree.Fill();
  }
  tree.Write();
}
void clusters() {
  TFile file("clusters.root", "RECREATE", "", 101);
  TTree tree("t", "60,000 clusters");
  int x;
  tree.Branch("x", &x, "x/I", 512);
  tree.SetAutoFlush(1);
  for (x = 0; x < 60000; x++) tree.Fill();
  tree.Write();
}
void trees() {
  TFile file("trees.root", "RECREATE", "", 101);
  for (int n = 0; n < 200; n++) {
    TTree tree(Form("t%d", n), "one of many");
    float values[20];
    for (int i = 0; i < 20; i++) tree.Branch(Form("b%d", i), &values[i], Form("b%d/F", i));
    for (int k = 0; k < 50; k++) {
      for (int i = 0; i < 20; i++) values[i] = k * i + n;
      tree.Fill();
    }
    tree.Write();
  }
}
void objects() {
  TFile file("objects.root", "RECREATE", "", 101);
  TTree tree("t", "a huge basket of objects");
  std::vector<ROOT::Math::PxPyPzEVector> v;
  tree.Branch("v", &v, 40000000, 0);
  tree.SetAutoFlush(0);
  for (int i = 0; i < 4000; i++) {
    v.assign(200, ROOT::Math::PxPyPzEVector(i, 2, 3, 4));
    tree.Fill();
  }
  tree.Write();
}
void make() {
  objects();
  branches();
  huge("entries.root", 3, 10000000, 32000, 1);
  huge("basket.root", 2000, 10000, 400000000, 0);
  clusters();
  trees();
}
