// Many branches, one in four jagged: like the output of a production job with 10,000 columns.
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <vector>

void make(const char *path, int branches, int entries, int seed) {
  TFile file(path, "RECREATE", "", 101);
  TTree tree("Events", "many branches");
  tree.SetAutoFlush(entries / 2);
  TRandom3 random(seed);
  std::vector<float> values(branches * 8); std::vector<int> counts(branches / 100 + 1);
  for (size_t k = 0; k < counts.size(); k++) tree.Branch(Form("n%zu", k), &counts[k], Form("n%zu/I", k));
  for (int k = (int)counts.size(); k < branches; k++) {
    if (k % 4) tree.Branch(Form("s%d", k), &values[k * 8], Form("s%d/F", k), 4000);
    else tree.Branch(Form("j%d", k), &values[k * 8], Form("j%d[n%zu]/F", k, k % counts.size()), 8000);
  }
  for (int i = 0; i < entries; i++) {
    for (auto &c : counts) c = random.Integer(8);
    for (auto &v : values) v = random.Integer(1000) * 0.25f;
    tree.Fill();
  }
  tree.Write();
}
