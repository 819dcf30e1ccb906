// Names and titles with characters that control a terminal, hide text or turn it around; and lists nested deep.

void make() {
  TFile file("names.root", "RECREATE", "", 101);
  const char* names[] = {"esc\x1b[31mred", "bell\x07", "c1\xc2\x9b" "2J", "bidi\xe2\x80\xae" "txt", "zero\xe2\x80\x8bwidth",
                         "new\nline", "ret\rurn", "plain"};
  TTree tree("tree\x1b]0;title\x07", "title\x1b[2J");
  int i = 0;
  for (auto name : names) tree.Branch(name, &i, "i/I");
  for (i = 0; i < 100; i++) tree.Fill();
  tree.SetAlias("alias\x1b[1m", "i*2");
  tree.Write();
  for (auto name : names) TNamed(name, "title\x1b[5m").Write(name);
  file.mkdir("dir\x1b[4m")->cd();
  TNamed("in it", "").Write();
  for (int depth : {20, 90, 300}) {
    TFile deep(TString::Format("deep%d.root", depth), "RECREATE", "", 101);
    TList* list = new TList;
    list->Add(new TObjString("innermost"));
    for (int i = 0; i < depth; i++) { TList* outer = new TList; outer->Add(list); list = outer; }
    list->Write("deep", TObject::kSingleKey);
  }
}
