// Older cycles: other trees under one name, earlier saves in baskets and in the record, branches that came later.

void fill(const char* name, const char* branch, int n, float step) {
  TTree tree(name, name);
  float value = 0;
  tree.Branch(branch, &value, (std::string(branch) + "/F").c_str());
  for (int i = 0; i < n; i++) { value = step * i; tree.Fill(); }
  tree.Write();
}

// A tree that is saved with its entries in the record, and continues with the same values or with others.
void in_record(const char* name, bool same) {
  TTree tree(name, name);
  float value = 0;
  tree.Branch("x", &value, "x/F");
  for (int i = 0; i < 5; i++) { value = same ? i : 100 + i; tree.Fill(); }
  TTree* copy = (TTree*)tree.Clone();
  copy->SetName(name);
  gDirectory->WriteTObject(copy, name);
  if (same) {
    for (int i = 5; i < 9; i++) { value = i; tree.Fill(); }
    gDirectory->WriteTObject(&tree, name);
  } else {
    TTree other(name, name);
    other.Branch("x", &value, "x/F");
    for (int i = 0; i < 9; i++) { value = i; other.Fill(); }
    gDirectory->WriteTObject(&other, name);
    other.SetDirectory(nullptr);
  }
}

void one(const char* path, int seed) {
  TFile file(path, "RECREATE", "", 101);
  fill("other", "x", 10 + seed, 1);
  fill("other", "q", 3, 2);
  fill("alike", "x", 50, 1);
  fill("alike", "x", 60 + seed, 2);
  file.mkdir("d")->cd();
  TTree saved("saved", "saved in the middle");
  int n = 0;
  saved.Branch("n", &n, "n/I");
  saved.SetAutoFlush(100);
  for (n = 0; n < 250; n++) saved.Fill();
  saved.AutoSave("FlushBaskets");
  for (; n < 600; n++) saved.Fill();
  saved.Write();
  file.cd();
  TTree grown("grown", "a branch came later");
  float a = 0, b = 0;
  grown.Branch("a", &a, "a/F");
  for (int i = 0; i < 20; i++) { a = i; grown.Fill(); }
  grown.Write();
  TBranch* late = grown.Branch("b", &b, "b/F");
  for (int i = 0; i < 20; i++) { b = 2 * i; late->Fill(); }
  grown.Write();
  TH1F h("h", "h", 4, 0, 4);
  h.Fill(1);
  h.Write();
  h.Fill(2, 10);
  h.Write();
  // Keys of one name and several classes: the newest is no tree, or is one.
  fill("mixed", "x", 4, 1);
  TNamed("mixed", "the newest").Write("mixed");
  TNamed("mixed2", "the oldest").Write("mixed2");
  fill("mixed2", "x", 4, 1);
  TNamed("four", "1").Write("four");
  fill("four", "x", 4, 1);
  TObjString("3").Write("four");
  TNamed("four", "4").Write("four");
}

void make() {
  one("cycles0.root", 0);
  one("cycles1.root", 1);
  TFile file("record.root", "RECREATE", "", 101);
  in_record("same", true);
  in_record("not", false);
}
