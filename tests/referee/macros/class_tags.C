// Unsplit polymorphic objects: entries hold class tags and object references, which are offsets in the buffer.

void fill(TTree &tree, int entries) {
  auto array = new TObjArray(); array->SetOwner(false);
  auto list = new TList();
  tree.Branch("array", "TObjArray", &array, 3000, 0);
  tree.Branch("list", "TList", &list, 5000, 0);
  int i = 0; tree.Branch("i", &i, "i/I");
  std::vector<TObject *> all;
  for (i = 0; i < entries; i++) {
    array->Clear(); list->Clear("nodelete");
    auto named = new TNamed(Form("name%d", i), "title"); all.push_back(named);
    auto text = new TObjString(Form("text %d", i * 3)); all.push_back(text);
    auto other = new TNamed("other", Form("%d", i)); all.push_back(other);
    for (int k = 0; k < i % 4; k++) { array->Add(named); array->Add(text); array->Add(other); }
    array->Add(named); list->Add(text); list->Add(named);
    if (i % 3) list->Add(new TH1C("h", "small", 4, 0, 4));
    tree.Fill();
  }
  tree.ResetBranchAddresses();
}
void make() {
  TH1::AddDirectory(false);
  TFile file("class_tags.root", "RECREATE", "", 101);
  TTree tree("tree", "class tags in entries"); tree.SetAutoFlush(77); fill(tree, 700); tree.Write();
}
