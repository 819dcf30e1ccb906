// Files of one tree whose branches differ: one more, one less, another type, and no entries at all.

void one(const char *path, int kind, int entries) {
  TFile file(path, "RECREATE", "", 101);
  TTree tree("tree", "schemas"); int i = 0; float x = 0; double extra = 0; long long big = 0;
  tree.Branch("i", &i, "i/I");
  if (kind == 3) tree.Branch("x", &extra, "x/D"); else if (kind != 2) tree.Branch("x", &x, "x/F");
  if (kind == 1) tree.Branch("extra", &extra, "extra/D");
  for (i = 0; i < entries; i++) { x = i; extra = i * 2; tree.Fill(); }
  tree.Write();
}
void make() {
  one("base.root", 0, 100); one("more.root", 1, 100); one("less.root", 2, 100); one("other.root", 3, 100); one("none.root", 0, 0);
  TFile file("bare.root", "RECREATE"); TTree tree("tree", "no branches at all"); tree.Write();
}
