// A tree with a branch whose baskets are in another file, and a friend in a third. Their names are long, and nothing is
// compressed, so that tests can put addresses of the same length in their places.


void make() {
  const std::string pad(120, '_');
  const std::string far = "far" + pad + ".root", friendly = "friendly" + pad + ".root";
  {
    TFile file(friendly.c_str(), "RECREATE", "", 0);
    TTree tree("friendly", "a friend");
    int y = 0;
    tree.Branch("y", &y, "y/I");
    for (y = 0; y < 3000; y += 3) tree.Fill();
    tree.Write();
  }
  TFile file("main.root", "RECREATE", "", 0);
  TTree tree("tree", "names two other files");
  tree.SetAutoFlush(100);
  int i = 0;
  float value = 0;
  tree.Branch("i", &i, "i/I");
  tree.Branch("far", &value, "far/F")->SetFile(far.c_str());
  for (i = 0; i < 1000; i++) {
    value = i * 0.5f;
    tree.Fill();
  }
  tree.AddFriend("friendly", friendly.c_str());
  tree.Write();
  tree.GetBranch("far")->GetFile(0)->Write();
}
