// Two trees under one name in a directory, written one after the other, and a tree that was saved halfway.
void same_name_tree(const char *name, int from, int entries) {
  TTree tree(name, "one of several");
  double x = 0;
  tree.Branch("x", &x, "x/D");
  tree.SetAutoFlush(20);
  for (int i = 0; i < entries; i++) { x = from + i; tree.Fill(); }
  tree.Write();
}

void make() {
  TFile file("same_name.root", "RECREATE", "", 101);
  file.mkdir("d")->cd();
  same_name_tree("t", 0, 50);
  same_name_tree("t", 1000, 60);
  file.cd();
  TTree tree("saved", "saved halfway");
  double x = 0;
  tree.Branch("x", &x, "x/D");
  tree.SetAutoFlush(100);
  for (int i = 0; i < 300; i++) {
    x = i;
    tree.Fill();
    if (i == 149) tree.AutoSave("FlushBaskets");
  }
  tree.Write();
  file.Close();
}
