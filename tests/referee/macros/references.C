// TRef and TRefArray with a TBranchRef, aliases, an index, user info, friends inside and outside the file.

void make() {
  {
    TFile other("friend.root", "RECREATE", "", 404);
    TTree tree("outer", "friend in another file"); int z = 0; tree.Branch("z", &z, "z/I");
    for (z = 0; z < 300; z++) tree.Fill();
    tree.Write();
  }
  TFile file("references.root", "RECREATE", "", 101);
  TTree inner("inner", "friend in the same file"); int y = 0; inner.Branch("y", &y, "y/I");
  for (y = 0; y < 300; y++) inner.Fill();
  inner.Write();
  TTree tree("tree", "related to others");
  int run = 0, event = 0; auto objects = new TClonesArray("TNamed", 5); auto refs = new TRefArray(); auto ref = new TRef();
  tree.Branch("run", &run, "run/I");
  tree.Branch("event", &event, "event/I");
  tree.Branch("objects", &objects, 4000, 2);
  tree.Branch("refs", "TRefArray", &refs, 4000, 1);
  tree.Branch("ref", "TRef", &ref, 4000, 0);
  tree.BranchRef();
  for (int i = 0; i < 300; i++) {
    run = i / 50; event = (i * 37) % 300;
    auto count = TProcessID::GetObjectCount();
    objects->Clear("C"); refs->Clear();
    for (int k = 0; k < 3; k++) { auto named = (TNamed *)objects->ConstructedAt(k); named->SetNameTitle(Form("n%d", k), Form("%d", i)); refs->Add(named); *ref = named; }
    tree.Fill();
    TProcessID::SetObjectCount(count);
  }
  tree.BuildIndex("run", "event");
  tree.SetAlias("sum", "run+event");
  tree.SetAlias("scaled", "event*0.5");
  tree.GetUserInfo()->Add(new TNamed("campaign", "Run2018"));
  tree.GetUserInfo()->Add(new TParameter<double>("luminosity", 59.7));
  tree.GetUserInfo()->Add(new TObjString("free text"));
  tree.AddFriend("inner");
  tree.AddFriend("outer", "friend.root");
  tree.SetWeight(2.5);
  tree.Write();
}
