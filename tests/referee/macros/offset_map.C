// Baskets without stored entry offsets (kGenerateOffsetMap): the counter branch says where entries begin. The same
// content lies in plain.root with offsets, since ROOT 6.40 misreads y of its own file: it counts the inner dimension out.

void fill(const char *name, bool leave_out) {
  TFile file(name, "RECREATE", "", 101);
  TTree tree("tree", "entry offsets are generated");
  if (leave_out) {
    ROOT::TIOFeatures features;
    features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
    tree.SetIOFeatures(features);
  }
  tree.SetAutoFlush(300);
  int n = 0; float x[20]; double y[20][3]; char text[20] = "";
  tree.Branch("n", &n, "n/I");
  tree.Branch("x", x, "x[n]/F", 1000);
  tree.Branch("y", y, "y[n][3]/D", 2000);
  tree.Branch("text", text, "text/C", 500);
  for (int i = 0; i < 2000; i++) {
    n = (i * 7) % 20;
    for (int k = 0; k < n; k++) { x[k] = i + k; for (int j = 0; j < 3; j++) y[k][j] = i * 100 + k * 10 + j; }
    snprintf(text, 20, "entry %d", i * i);
    tree.Fill();
  }
  tree.Write();
}

void make() {
  fill("offset_map.root", true);
  fill("plain.root", false);
}
