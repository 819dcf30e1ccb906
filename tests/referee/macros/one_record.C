// One entry in 60 branches with 32 kB buffers, never flushed: every basket is inside the tree's record.

void make() {
  TFile file("one_record.root", "RECREATE", "", 101);
  TTree tree("FSR", "file summary record");
  std::vector<double> values(60); int n = 3; float x[3] = {1, 2, 3}; char text[12] = "summary"; std::vector<int> v{4, 5};
  for (int k = 0; k < 60; k++) tree.Branch(Form("b%d", k), &values[k], Form("b%d/D", k), 32000);
  tree.Branch("n", &n, "n/I", 32000); tree.Branch("x", x, "x[n]/F", 32000); tree.Branch("text", text, "text/C", 32000); tree.Branch("v", &v, 32000);
  for (int k = 0; k < 60; k++) values[k] = k * 1.5;
  tree.Fill();
  tree.Write();
  // Baskets on disk, and the last one inside the record of the tree.
  TTree mixed("mixed", "flushed, then filled on"); mixed.SetAutoFlush(0); int i = 0; mixed.Branch("i", &i, "i/I", 400); mixed.Branch("w", x, "w[3]/F", 1000);
  for (; i < 1000; i++) mixed.Fill();
  file.WriteTObject(&mixed);
}
