// Three files with a tree of runs and events, and branches of other types. The first alone, the second alone, or all have an index.

void one(const char *name, int k, bool index, const char *major = "run", const char *minor = "event") {
  TTree tree(name, name);
  UInt_t run = 0;
  ULong64_t event = 0;
  float time = 0;
  Short_t block[2] = {0, 0};
  tree.Branch("run", &run); tree.Branch("event", &event); tree.Branch("time", &time); tree.Branch("block", block, "block[2]/S");
  for (int i = 0; i < 50; i++) {
    run = 10 - k; event = (7ull * i) % 50 + (1ull << 40) * (i % 3); time = 3.9f * i - 20; block[0] = block[1] = short(i);
    tree.Fill();
  }
  if (index) tree.BuildIndex(major, minor);
  tree.Write();
}
void make() {
  for (int k = 0; k < 3; k++) {
    TFile file(Form("indexed_some%d.root", k), "RECREATE");
    one("first", k, k == 0);
    one("second", k, k == 1);
    one("all", k, true);
    one("none", k, false);
    one("minor_0", k, k == 2, "run", "0");
    one("fractions", k, k == 0, "time", "event");
    one("computed", k, k == 0, "run+1", "event");
    one("other", k, k < 2, "run", k == 0 ? "event" : "0");
  }
}
