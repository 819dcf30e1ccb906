// A tree with names for expressions: one of another, and one that only C++ can read.
void make() {
  TFile file("aliases.root", "RECREATE");
  TTree tree("t", "aliases");
  float x, y;
  tree.Branch("x", &x);
  tree.Branch("y", &y);
  for (int i = 0; i < 100; i++) {
    x = 0.02f * i;
    y = 0.5f;
    tree.Fill();
  }
  tree.SetAlias("r", "sqrt(x*x + y*y)");
  tree.SetAlias("far", "r > 1");
  tree.SetAlias("not_python", "x > 0 && y > 0");
  tree.Write();
}
