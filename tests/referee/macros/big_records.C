// 24 MB of histogram and a 20 MB entry: both take two or more compressed blocks of at most 16 MiB - 1.

void make(int compression) {
  TFile file("big.root", "RECREATE", "", compression);
  TRandom3 random(1);
  TH1D h("h", "three million bins", 3000000, 0, 1);
  for (int i = 0; i < 3000000; i++) h.SetBinContent(i, random.Integer(1000));
  h.Write();
  TTree tree("tree", "one entry is larger than a block");
  std::vector<int> values(5000000);
  int n = 0;
  tree.Branch("n", &n, "n/I");
  tree.Branch("values", values.data(), "values[5000000]/I");
  tree.Branch("jagged", values.data(), "jagged[n]/I");
  for (int entry = 0; entry < 3; entry++) {
    n = entry == 1 ? 4500000 : 1000;
    for (auto &v : values) v = random.Integer(64);
    tree.Fill();
  }
  tree.Write();
}
