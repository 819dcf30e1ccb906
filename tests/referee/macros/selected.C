// A tree with an index, a friend and a list of entries, and the result of ROOT's own CopyTree.

void make() {
  gRandom = new TRandom3(42);
  {
    TFile file("all.root", "RECREATE", "", 101);
    TTree more("more", "a friend"); int k = 0; more.Branch("k", &k); more.SetAutoFlush(450);
    for (; k < 3000; k++) more.Fill();
    TTree few("few", "of another length"); few.Branch("k", &k);
    for (k = 0; k < 10; k++) few.Fill();
    TTree tree("events", "some are good"); tree.SetAutoFlush(300);
    bool good = false, late = false; int run = 0, n = 0; short stream = 0; long long event = 0; float x[8]; double d = 0;
    std::vector<float> pt; std::string name; TObjArray objects(3); objects.SetOwner();
    tree.Branch("good", &good); tree.Branch("late", &late); tree.Branch("run", &run); tree.Branch("event", &event);
    tree.Branch("stream", &stream); tree.Branch("n", &n, "n/I"); tree.Branch("x", x, "x[n]/F"); tree.Branch("d", &d);
    tree.Branch("pt", &pt); tree.Branch("name", &name);
    auto *pointer = &objects; tree.Branch("objects", "TObjArray", &pointer, 3000, 0);
    for (int i = 0; i < 3000; i++) {
      // Clusters 3 and 4 are good as a whole, 6 has nothing good.
      good = (i / 300 == 3 || i / 300 == 4) || (i / 300 != 6 && gRandom->Rndm() < 0.2); late = i > 2000;
      run = i / 1000; event = 7 * (2999 - i); stream = i % 3; n = i % 9 % 8; d = gRandom->Gaus(); name = std::to_string(i);
      pt.assign(i % 4, i); for (int j = 0; j < n; j++) x[j] = i + j;
      objects.Delete(); for (int j = 0; j < i % 3; j++) objects.Add(j ? (TObject *)new TNamed("a", "b") : new TObjString("c"));
      tree.Fill();
    }
    tree.BuildIndex("run", "event");
    tree.AddFriend("more"); tree.AddFriend("few");
    tree.Draw(">>list", "good", "entrylist");
    gDirectory->Get<TEntryList>("list")->Write();
    more.Write(); few.Write(); tree.Write();
  }
  TFile file("all.root");
  for (auto [name, cut] : {std::pair{"good.root", "good"}, {"both.root", "good && stream && Entry$ >= 500 && Entry$ < 2900"}}) {
    TFile out(name, "RECREATE");
    auto *tree = file.Get<TTree>("events"); tree->SetBranchStatus("*", true);
    auto *copy = tree->CopyTree(cut); copy->Write();
  }
}
