// Trees in a tree's user info: baskets in the file, in the record, in a list; and lists of other things there.

void make() {
  TFile file("inner.root", "RECREATE", "", 101);
  TTree* saved = new TTree("saved", "baskets in the file");
  float c = 0;
  saved->Branch("c", &c, "c/F", 1000);
  for (int i = 0; i < 3000; i++) { c = i; saved->Fill(); }
  saved->Write();
  TTree* memory = new TTree("memory", "baskets in the record");
  memory->SetDirectory(nullptr);
  memory->Branch("c", &c, "c/F");
  for (int i = 0; i < 7; i++) { c = 10 * i; memory->Fill(); }
  TTree* tree = new TTree("tree", "outer");
  int b = 0;
  tree->Branch("b", &b, "b/I");
  for (b = 0; b < 1000; b++) tree->Fill();
  tree->GetUserInfo()->Add(saved);
  TList* list = new TList;
  list->SetName("list");
  list->Add(memory);
  list->Add(new TNamed("one", "two"));
  list->Add(new TParameter<double>("lumi", 1.5));
  tree->GetUserInfo()->Add(list);
  TH1F* h = new TH1F("h", "h", 3, 0, 3);
  h->SetDirectory(nullptr);
  h->Fill(1.5, 4);
  tree->GetUserInfo()->Add(h);
  // A list as a key of its own, with a tree whose baskets lie in the file.
  TList key;
  key.SetName("key");
  key.Add(saved);
  key.Add(new TNamed("one", "two"));
  key.Write("key", TObject::kSingleKey);
  tree->SetAlias("twice", "2*b");
  tree->Write();
  tree->GetUserInfo()->Clear("nodelete");
}
