// Every leaf type: scalars, fixed and variable arrays, leaf lists, strings, truncated floats, STL.

template <class T> void add(TTree &tree, const char *code, std::vector<void *> &keep) {
  auto values = new T[24](); keep.push_back(values);
  tree.Branch(Form("scalar_%s", code), (void *)values, Form("scalar_%s/%s", code, code));
  tree.Branch(Form("fixed_%s", code), (void *)values, Form("fixed_%s[2][3]/%s", code, code));
  tree.Branch(Form("jagged_%s", code), (void *)values, Form("jagged_%s[n]/%s", code, code));
}
void make() {
  TFile file("leaves.root", "RECREATE", "", 101);
  TTree tree("tree", "every leaf type"); tree.SetAutoFlush(111);
  int n = 0; std::vector<void *> keep; tree.Branch("n", &n, "n/I");
  add<Char_t>(tree, "B", keep); add<UChar_t>(tree, "b", keep); add<Short_t>(tree, "S", keep); add<UShort_t>(tree, "s", keep);
  add<Int_t>(tree, "I", keep); add<UInt_t>(tree, "i", keep); add<Long64_t>(tree, "L", keep); add<ULong64_t>(tree, "l", keep);
  add<Long_t>(tree, "G", keep); add<ULong_t>(tree, "g", keep); add<Float_t>(tree, "F", keep); add<Double_t>(tree, "D", keep);
  add<Bool_t>(tree, "O", keep);
  Float16_t half = 0; Double32_t thirty = 0; tree.Branch("half", &half, "half/f"); tree.Branch("thirty", &thirty, "thirty/d");
  tree.Branch("half_range", &half, "half_range/f[0,1000,12]"); tree.Branch("thirty_range", &thirty, "thirty_range/d[0,1000,20]");
  struct { int a; float b; double c; } list{}; tree.Branch("list", &list, "a/I:b/F:c/D");
  char text[40] = ""; tree.Branch("text", text, "text/C"); char longer[600]; tree.Branch("longer", longer, "longer/C");
  std::vector<float> vf; std::string s; std::vector<std::string> vs; std::vector<bool> vb; TLorentzVector p;
  tree.Branch("vf", &vf); tree.Branch("s", &s); tree.Branch("vs", &vs); tree.Branch("vb", &vb);
  tree.Branch("p0", "TLorentzVector", &p, 32000, 0); tree.Branch("p", "TLorentzVector", &p, 32000, 99);
  TRandom3 random(3);
  for (int i = 0; i < 1000; i++) {
    n = i % 24;
    for (auto block : keep) for (int k = 0; k < 24; k++) ((unsigned char *)block)[k] = (i + k) % 2;
    half = i; thirty = i * 0.1; list = {i, i * 0.5f, i * 0.25};
    snprintf(text, 40, "%d", i); memset(longer, 'a' + i % 26, 599); longer[(i * 13) % 600] = 0;
    vf.assign(n, i); s = std::string(i % 300, 'x'); vs.assign(i % 3, s); vb.assign(n, i % 2);
    p.SetPxPyPzE(i, 1, 2, 3);
    tree.Fill();
  }
  tree.ResetBranchAddresses();
  tree.Write();
}
