// Circular trees: old entries were moved out at the front of the basket, so displacements are stored.

void make() {
  TH1::AddDirectory(false);
  TFile file("displaced.root", "RECREATE", "", 101);
  TTree tree("tree", "the last 50 entries of 500");
  tree.SetDirectory(nullptr);
  tree.SetCircular(50);
  auto array = new TObjArray();
  int i = 0, n = 0; float x[8];
  tree.Branch("array", "TObjArray", &array, 2000000, 0);
  tree.Branch("i", &i, "i/I", 2000000);
  tree.Branch("n", &n, "n/I", 2000000);
  tree.Branch("x", x, "x[n]/F", 2000000);
  auto named = new TNamed("n", "t");
  for (i = 0; i < 500; i++) {
    n = i % 8; for (int k = 0; k < n; k++) x[k] = i * 10 + k;
    array->Clear(); named->SetTitle(Form("entry %d", i));
    for (int k = 0; k <= i % 3; k++) { array->Add(named); array->Add(new TObjString(Form("%d", i + k))); }
    tree.Fill();
  }
  tree.SetDirectory(&file);
  file.cd();
  tree.Write();
}
