// 1,500 branches, scalar and jagged, in several clusters.

void make() {
  TFile file("wide.root", "RECREATE", "", 101);
  TTree tree("Events", "1,500 branches");
  tree.SetAutoFlush(100);
  TRandom3 random(2);
  int n[50]; float scalars[500]; float jagged[950][8];
  for (int k = 0; k < 50; k++) tree.Branch(Form("n%d", k), &n[k], Form("n%d/I", k));
  for (int k = 0; k < 500; k++) tree.Branch(Form("s%d", k), &scalars[k], Form("s%d/F", k));
  for (int k = 0; k < 950; k++) tree.Branch(Form("j%d", k), jagged[k], Form("j%d[n%d]/F", k, k % 50));
  for (int i = 0; i < 300; i++) {
    for (auto &c : n) c = random.Integer(8);
    for (auto &s : scalars) s = random.Integer(1000) * 0.25f;
    for (auto &row : jagged) for (auto &x : row) x = random.Integer(100) * 0.5f;
    tree.Fill();
  }
  tree.Write();
}
