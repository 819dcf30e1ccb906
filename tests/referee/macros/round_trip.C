// Trees with all that an RNTuple has no place for: class, weight, title, aliases, friends, user info, an index, titles and order of
// branches, leaf lists, split classes and arrays of objects, no branches, no name; and numbers of 8 bits below zero.

template <class F> void fill(TTree &tree, int entries, F set) {
  for (int i = 0; i < entries; i++) { set(i); tree.Fill(); }
  tree.ResetBranchAddresses(); tree.Write();
}
// In the test's folder: "known.root" has these; "pair0.root" and "pair1.root" are to be merged: "same" has equal metadata in both.
void known(const char *path) {
  TFile file(path, "RECREATE", "", 101);
  int i, n; Char_t small[3], one; UChar_t byte; Long_t wide; double x, list[8]; float f;
  {
    TTree friendly("friendly", "a friend"); friendly.Branch("y", &x, "y/D"); fill(friendly, 30, [&](int k) { x = -k; });
  }
  TTree special("special", "a title; with / and : in it");
  special.SetWeight(2.5);
  special.Branch("i", &i, "i/I"); special.Branch("n", &n, "n/I"); special.Branch("late", list, "late[n]/D"); special.Branch("x", &x, "x/D");
  special.GetBranch("x")->SetTitle("the energy in GeV");
  special.SetAlias("twice", "x*2"); special.SetAlias("sum", "twice+i"); special.AddFriend("friendly"); special.AddFriend("other", "elsewhere.root");
  auto histogram = new TH1D("inside", "of the user info", 4, 0, 1); histogram->SetDirectory(nullptr); histogram->Fill(0.3);
  auto map = new TMap; map->Add(new TObjString("run"), new TObjString("42"));
  for (TObject *o : {(TObject *)new TNamed("what", "Monte Carlo"), (TObject *)new TParameter<double>("lumi", 1.5), (TObject *)histogram, (TObject *)map}) special.GetUserInfo()->Add(o);
  for (int k = 0; k < 30; k++) { i = 100 - k; n = k % 5; x = k * 0.1; for (auto &v : list) v = k; special.Fill(); }
  special.BuildIndex("i", "n"); special.ResetBranchAddresses(); special.Write();
  TTree bytes("bytes", "signs");
  bytes.Branch("one", &one, "one/B"); bytes.Branch("small", small, "small[3]/B"); bytes.Branch("n", &one, "n/B"); bytes.Branch("byte", &byte, "byte/b"); bytes.Branch("wide", &wide, "wide/G");
  std::vector<char> letters; std::vector<Char_t> chars; bytes.Branch("letters", &letters);
  fill(bytes, 20, [&](int k) { one = -15 + k; for (auto &v : small) v = -128 + k; byte = 255 - k; wide = -k; letters.assign(k % 4, -k); });
  struct { float pt[6]; int id; double mass; } leaves{}; TTree lists("lists", "leaf lists");
  lists.Branch("spaced", &leaves, "pt[6]/F :id/I :mass/D"); lists.Branch("leaf.with.dots", &f, "other/F"); lists.Branch("plain", &i, "plain");
  fill(lists, 10, [&](int k) { leaves.pt[k % 6] = k; leaves.id = k; leaves.mass = -k; f = k; i = k; });
  TNtuple ntuple("ntuple", "rows of floats", "a:b:c"); for (int k = 0; k < 12; k++) ntuple.Fill(k, -k, 0.5f * k); ntuple.Write();
  TNtupleD ntupled("ntupled", "rows of doubles", "a:b"); for (int k = 0; k < 12; k++) ntupled.Fill(k * 0.1, -k); ntupled.Write();
  TTree objects("objects", "objects"); TClonesArray clones("TLorentzVector"), whole("TNamed"); TLorentzVector vector; std::vector<TLorentzVector> many;
  std::vector<std::vector<std::string>> words; std::map<std::string, int> table; TNamed text; std::string word;
  objects.Branch("clones", &clones, 32000, 99); objects.Branch("whole.", &whole, 32000, 99);
  objects.Branch("split.", "TLorentzVector", &vector, 32000, 99); objects.Branch("vector", "TLorentzVector", &vector, 32000, 0); objects.Branch("many", &many);
  objects.Branch("words", &words); objects.Branch("table", &table); objects.Branch("text", "TNamed", &text); objects.Branch("word", &word);
  fill(objects, 15, [&](int k) {
    clones.Clear(); whole.Clear(); for (int j = 0; j < k % 3 + 1; j++) { new (clones[j]) TLorentzVector(k, j, 1, 2); new (whole[j]) TNamed(Form("n%d", k), "t"); }
    vector.SetPxPyPzE(k, 2, 3, 4); many.assign(k % 3, vector); words.assign(k % 3, {"a", std::string(k, 'b')}); table = {{"k", k}}; text.SetNameTitle(Form("name%d", k), "title"); word = std::string(k * 20, 'w');
  });
  TTree none("none", "no branches"); none.GetUserInfo()->Add(new TNamed("kept", "all the same")); none.Write();
  auto folder = file.mkdir("folder"); folder->cd(); TTree below("below", "in a directory"); below.SetWeight(0.5); below.Branch("i", &i, "i/I"); fill(below, 5, [&](int k) { i = k; });
  file.cd(); TTree plain("plain", "nothing special"); plain.Branch("i", &i, "i/I"); plain.Branch("f", &f, "f/F"); fill(plain, 5, [&](int k) { i = k; f = k; });
}
void unnamed() {
  TFile file("unnamed.root", "RECREATE", "", 101); int i; TTree tree("", "without a name"); tree.Branch("i", &i, "i/I"); fill(tree, 7, [&](int k) { i = k; });
}
void twin(int number) {
  TFile file(Form("pair%d.root", number), "RECREATE", "", 101); int i, n; double list[4];
  for (bool equal : {true, false}) {
    TTree tree(equal ? "same" : "apart", "to merge"); tree.Branch("n", &n, "n/I"); tree.Branch("list", list, "list[n]/D"); tree.Branch("i", &i, "i/I");
    tree.SetWeight(equal ? 3 : 3 + number); tree.SetAlias("a", equal || !number ? "i*2" : "i*3"); tree.GetUserInfo()->Add(new TNamed("u", equal || !number ? "one" : "two"));
    for (int k = 0; k < 8; k++) { i = k + 10 * number; n = k % 4; for (auto &v : list) v = k; tree.Fill(); }
    if (equal) tree.BuildIndex("i"); tree.ResetBranchAddresses(); tree.Write();
  }
}
void make() { known("known.root"); unnamed(); twin(0); twin(1); }
