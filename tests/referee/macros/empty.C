// Trees without entries, without branches, and an empty folder.

void make() {
  TFile file("empty.root", "RECREATE", "", 101);
  file.mkdir("nothing");
  TTree none("none", "branches, no entries"); int n = 0; float x[4]; std::vector<float> v;
  none.Branch("n", &n, "n/I"); none.Branch("x", x, "x[n]/F"); none.Branch("v", &v); none.Write();
  TTree bare("bare", "entries, no branches"); bare.SetEntries(7); bare.Write();
  TTree both("both", "neither"); both.Write();
  std::vector<float> never; TTree hollow("hollow", "entries without bytes"); hollow.Branch("never", x, "never[n]/F");
  hollow.Branch("n", &n, "n/I"); for (int i = 0; i < 10; i++) hollow.Fill(); hollow.Write();
}
