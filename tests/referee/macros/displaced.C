// A circular tree: entries were moved forward in the basket, so displacements are stored. Moved once only, since ROOT
// keeps the last displacement and not their sum.

void make() {
  TH1::AddDirectory(false);
  TFile file("displaced.root", "RECREATE", "", 101);
  TTree tree("tree", "entries 20 to 217");
  tree.SetDirectory(nullptr);
  tree.SetCircular(200);
  auto array = new TObjArray();
  int i = 0, n = 0; float x[8];
  tree.Branch("array", "TObjArray", &array, 2000000, 0);
  tree.Branch("i", &i, "i/I", 2000000);
  tree.Branch("n", &n, "n/I", 2000000);
  tree.Branch("x", x, "x[n]/F", 2000000);
  auto named = new TNamed("n", "t");
  for (i = 0; i < 218; i++) {
    n = i % 8; for (int k = 0; k < n; k++) x[k] = i * 10 + k;
    array->Clear(); named->SetTitle(Form("entry %d", i));
    for (int k = 0; k <= i % 3; k++) { array->Add(named); array->Add(new TObjString(Form("%d", i + k))); }
    tree.Fill();
  }
  tree.SetDirectory(&file);
  file.cd();
  tree.Write();
}
