// A branch whose baskets lie in another file (TBranch::SetFile).

void make() {
  TFile file("external.root", "RECREATE", "", 101);
  TTree tree("tree", "one branch lies elsewhere");
  tree.SetAutoFlush(100);
  int i = 0; float far = 0, near = 0;
  tree.Branch("i", &i, "i/I");
  tree.Branch("far", &far, "far/F")->SetFile("external_far.root");
  tree.Branch("near", &near, "near/F");
  for (i = 0; i < 1000; i++) { far = i * 0.5f; near = i * 0.25f; tree.Fill(); }
  tree.Write();
  tree.GetBranch("far")->GetFile(0)->Write();
}
