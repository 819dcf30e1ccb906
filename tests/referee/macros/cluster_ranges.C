// AutoFlush changed on the way, clusters flushed by hand, and baskets that cross cluster boundaries.

void make() {
  TFile file("clusters.root", "RECREATE", "", 101);
  TTree tree("tree", "several cluster ranges"); int i = 0; double d = 0; int n = 0; float x[5];
  tree.Branch("i", &i, "i/I"); tree.Branch("d", &d, "d/D"); tree.Branch("n", &n, "n/I"); tree.Branch("x", x, "x[n]/F");
  auto fill = [&](int count) { for (int k = 0; k < count; k++, i++) { d = i; n = i % 5; for (int j = 0; j < n; j++) x[j] = j; tree.Fill(); } };
  tree.SetAutoFlush(100); fill(450); tree.FlushBaskets();
  tree.SetAutoFlush(33); fill(200);
  tree.SetAutoFlush(-3000); fill(900);
  tree.SetAutoFlush(0); fill(500);
  tree.Write();
  TTree never("never", "no AutoFlush: baskets end where they are full"); never.SetAutoFlush(0); i = 0;
  never.Branch("i", &i, "i/I", 333); never.Branch("d", &d, "d/D", 1000); never.Branch("n", &n, "n/I", 77); never.Branch("x", x, "x[n]/F", 500);
  for (; i < 2000; i++) { n = i % 5; never.Fill(); }
  never.Write();
}
