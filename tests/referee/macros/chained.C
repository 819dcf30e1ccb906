// Results of TChain: a merged tree, a fast clone, and a TChain object in a file.

void make() {
  for (int k = 0; k < 3; k++) {
    TFile file(Form("part%d.root", k), "RECREATE", "", 101);
    TTree tree("tree", "a part"); tree.SetAutoFlush(60 + 10 * k);
    int i = 0, n = 0; float x[6]; std::string s;
    tree.Branch("i", &i, "i/I"); tree.Branch("n", &n, "n/I"); tree.Branch("x", x, "x[n]/F"); tree.Branch("s", &s);
    for (i = 1000 * k; i < 1000 * k + 200; i++) { n = i % 6; for (int j = 0; j < n; j++) x[j] = i + j; s = std::to_string(i); tree.Fill(); }
    tree.Write();
  }
  TChain chain("tree"); chain.Add("part0.root"); chain.Add("part1.root"); chain.Add("part2.root");
  chain.Merge("merged.root", "fast");
  TFile file("chained.root", "RECREATE");
  chain.Write("chain");
  auto clone = chain.CloneTree(-1, "fast SortBasketsByBranch"); clone->Write();
}
