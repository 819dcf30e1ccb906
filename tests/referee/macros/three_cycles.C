// Three trees under one name, of which the second is in no way like the newest: sizes that are worth a layout.

void fill(const char* branch, int entries, int step) {
  TTree tree("t", branch);
  tree.SetAutoFlush(100);
  int number = 0;
  float values[8];
  tree.Branch(branch, &number, (std::string(branch) + "/I").c_str(), 1000);
  tree.Branch("values", values, "values[8]/F", 1000);
  for (int i = 0; i < entries; i++) {
    number = i * step;
    for (int k = 0; k < 8; k++) values[k] = (i * step * (k + 1)) % 977;
    tree.Fill();
  }
  tree.Write();
}

void make() {
  TFile file("three.root", "RECREATE", "", 101);
  fill("first", 500, 1);
  fill("second", 20000, 3);
  fill("third", 700, 5);
}
