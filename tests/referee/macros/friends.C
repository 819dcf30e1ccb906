// A tree with friends: in its own file, in another one in a folder below, under an alias, shorter, with an index, and one
// absent friend. seen.root has ROOT's values of the friends, under other names.
void make() {
  const int n = 5000;
  gSystem->mkdir("below");
  {
    TFile file("below/other.root", "RECREATE");
    TTree other("other", "in a file of its own");
    int y = 0;
    double x = 0;
    std::vector<float> v;
    other.Branch("y", &y);
    other.Branch("x", &x);
    other.Branch("v", &v);
    other.SetAutoFlush(700);
    for (int i = 0; i < n; i++) {
      y = i * 3;
      x = -i;
      v.assign(i % 4, i / 2.f);
      other.Fill();
    }
    other.Write();
    TTree brief("brief", "fewer entries");
    brief.Branch("b", &y);
    for (int i = 0; i < 10; i++) brief.Fill();
    brief.Write();
    TTree indexed("indexed", "with an index");
    indexed.Branch("key", &y);
    for (y = 0; y < n; y++) indexed.Fill();
    indexed.BuildIndex("key");
    indexed.Write();
    TTree gone("gone", "in a file that will be taken away");
    gone.Branch("g", &y);
    for (y = 0; y < n; y++) gone.Fill();
    TFile away("below/away.root", "RECREATE");
    gone.CloneTree()->Write();
  }
  {
    TFile file("main.root", "RECREATE");
    TTree same("same", "in the same file, and longer");
    int z = 0, counter = 0;
    float many[3] = {};
    same.Branch("z", &z);
    same.Branch("n", &counter, "n/I");
    same.Branch("many", many, "many[n]/F");
    for (int i = 0; i < n + 7; i++) {
      z = 100 + i;
      counter = i % 3;
      many[0] = many[1] = i;
      same.Fill();
    }
    same.Write();
    TTree tree("tree", "has friends");
    double x = 0;
    tree.Branch("x", &x);
    tree.SetAutoFlush(1000);
    for (int i = 0; i < n; i++) {
      x = i;
      tree.Fill();
    }
    tree.AddFriend("other", "below/other.root");
    tree.AddFriend("same");
    auto lent = TFile::Open("below/other.root");
    tree.AddFriend(static_cast<TTree *>(lent->Get("other")), "alias");
    file.cd();
    tree.Write();
    TTree odd("odd", "has friends that cannot be read beside it");
    odd.Branch("x", &x);
    for (int i = 0; i < n; i++) odd.Fill();
    odd.AddFriend("brief", "below/other.root");
    odd.AddFriend("indexed", "below/other.root");
    odd.AddFriend("gone", "below/away.root");
    odd.Write();
  }
  ROOT::RDataFrame frame("tree", "main.root");
  frame.Define("a", "x")
      .Define("b", "alias.x")
      .Define("c", "y")
      .Define("d", "same.z")
      .Define("e", "other.v")
      .Define("f", "same.many")
      .Snapshot("seen", "seen.root", {"a", "b", "c", "d", "e", "f"});
  gSystem->Unlink("below/away.root");
}
