// Inputs for the cases of ROOT's own tests of hadd, of its merger and of cloning: one or more small files for each case.

#include <THStack.h>
#include <THnSparse.h>
#include <TSystem.h>
#include <TTreeCloner.h>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>

struct MergedEvent { int run, event; float value; };
struct MergedBottom { int i, j; };
struct MergedTop { int a; MergedBottom b; };
struct MergedBase { int i = 1; virtual ~MergedBase() {} };
struct MergedMiddle : MergedBase { virtual int get() = 0; };
struct MergedDerived : MergedMiddle { int j = 2; int get() override { return j; } };
struct MergedHolder { MergedBase *b = nullptr; };

using File = std::unique_ptr<TFile>;
File create(const std::string &path, int compression = 101) { return File(TFile::Open(path.c_str(), "RECREATE", "", compression)); }
template <class T> void tree_of(const char *name, std::vector<std::pair<const char *, T>> columns, int entries) {
  TTree tree(name, name);
  std::vector<T> values(columns.size());
  for (size_t k = 0; k < columns.size(); k++) tree.Branch(columns[k].first, &values[k]);
  for (int n = 0; n < entries; n++) {
    for (size_t k = 0; k < columns.size(); k++) values[k] = columns[k].second + n;
    tree.Fill();
  }
  tree.Write();
}
void filled(TDirectory *at, const char *name, std::vector<double> values, int bins = 10) {
  TH1F h(name, name, bins, 0, 10);
  for (double value : values) h.Fill(value);
  at->WriteTObject(&h, name);
}

void listed() {
  for (int k = 0; k < 4; k++) {
    auto file = create(Form("listed%d.root", k));
    if (k > 0) tree_of<int>("tree", {{"x", 42}}, 1);
    if (k < 2) filled(file.get(), "hist", {1, 2, 3});
    if (k > 1) filled(file->mkdir("dir"), "hist", {4, 5});
    if (k == 3) { TFormula form("form", "sin(x)"); file->WriteTObject(&form); }
    if (k == 2) {
      auto model = ROOT::RNTupleModel::Create();
      auto c = model->MakeField<char>("c");
      auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntpl", *file);
      *c = 22;
      writer->Fill();
    }
  }
}
void named() {
  for (int k = 0; k < 4; k++) {
    auto file = create(Form("named%d.root", k));
    TNamed(Form("apart%d", k), "of its own").Write();
    TNamed("same", Form("in file %d", k)).Write();
    filled(file->mkdir("hist"), "Gaus", {1.0 + k, 2.0 * k});
    TNamed here("MyNamed", Form("%d", k));
    file->mkdir("named")->WriteTObject(&here);
    TList list;
    list.SetOwner();
    for (auto word : {"uno", "due", "tre"}) list.Add(new TObjString(word));
    file->cd();
    list.Write("MyList", TObject::kSingleKey);
    filled(file->mkdir("A"), "H1", {1});
    filled(file->mkdir("B")->mkdir("A"), "H2", {1, 2});
    filled(file->mkdir("C")->mkdir("D")->mkdir("A"), "H3", {1, 2, 3});
  }
  auto file = create("key_order.root");
  TNamed other("other", ""), first("first", "first");
  other.Write("other_01"); first.Write();
  for (auto title : {"second", "third"}) { first.SetTitle(title); first.Write(); }
  other.Write("other_02"); first.SetTitle("fourth"); first.Write(); other.Write("other_03");
}
void mixed() {
  for (int k = 0; k < 4; k++) {
    auto file = create(Form("mixed%d.root", k));
    filled(file.get(), "h1", {1.5, 2.5});
    int bins[5]; double low[5], high[5], at[5];
    for (int d = 0; d < 5; d++) { bins[d] = 10; low[d] = 0; high[d] = 10; at[d] = d + 0.5; }
    THnSparseF sparse("sparse", "sparse", 5, bins, low, high);
    sparse.Fill(at);
    file->WriteTObject(&sparse);
    THStack stack("stack", "");
    auto one = new TH1F("hs_1", "", 10, 0, 100), two = new TH1F("hs_2", "", 10, 0, 100);
    for (double x : {10.5, 20.5}) { one->Fill(x); two->Fill(20 + x); }
    stack.Add(one); stack.Add(two);
    file->WriteTObject(&stack);
    double points[] = {1, 2, 3};
    TGraph graph(3, points, points);
    file->WriteTObject(&graph, "exgraph");
    file->cd();
    tree_of<int>("tree", {{"data", 0}}, 2);
  }
}
void simple() {
  auto file = create("simple.root");
  TH1F hpx("hpx", "px", 100, -4, 4);
  TH2F hpxpy("hpxpy", "py over px", 40, -4, 4, 40, -4, 4);
  TProfile hprof("hprof", "pz over px", 100, -4, 4, 0, 20);
  TNtuple ntuple("ntuple", "a small ntuple", "px:py:pz:random:i");
  TRandom3 random(65);
  for (int i = 0; i < 25000; i++) {
    double px = random.Gaus(), py = random.Gaus(), pz = px * px + py * py;
    hpx.Fill(px); hpxpy.Fill(px, py); hprof.Fill(px, pz);
    ntuple.Fill(px, py, pz, random.Rndm(), i);
  }
  for (TObject *object : std::vector<TObject *>{&hpx, &hpxpy, &hprof, &ntuple}) file->WriteTObject(object);
}
void indexed() {
  for (int k = 0; k < 4; k++) {
    auto file = create(Form("indexed%d.root", k));
    TTree tree("tree", "with index");
    MergedEvent event, *address = &event;
    tree.Branch("event.", &address);
    for (int i = 0; i < 10; i++) {
      event.run = 4 - k; event.event = k % 2 ? i : 10 - i; event.value = 1000 * event.run + event.event;
      tree.Fill();
    }
    tree.BuildIndex("run", "event");
    tree.Write();
  }
}
void counted() {
  for (int count : {3, 5}) {
    auto file = create(Form("counted%d.root", count));
    TTree tree("ntuple", "");
    float values[5] = {0.25, 1.25, 2.25, 3.25, 4.25};
    tree.Branch("count", &count);
    tree.Branch("values", values, "values[count]");
    for (int e = 0; e < 2; e++) tree.Fill();
    tree.Write();
  }
}
void befriended() {
  for (int k = 0; k < 2; k++) {
    auto file = create(Form("befriended%d.root", k));
    TTree tree("tree", ""), friendly("friendly", "");
    int a = k, b = 10 * k;
    tree.Branch("a", &a); friendly.Branch("b", &b);
    for (; a < k + 5; a++, b++) { tree.Fill(); friendly.Fill(); }
    tree.AddFriend(&friendly);
    tree.Write(); friendly.Write();
    file->mkdir("CBNT")->cd();
    tree_of<int>("t3333", {{"x", k}}, 3);
  }
}
void hits() {
  auto file = create("hits.root");
  TTree tree("tree", "");
  std::vector<float> hits, x;
  tree.Branch("Hits", &hits); tree.Branch("HitsX", &x); tree.Branch("Other", &x);
  for (int n = 0; n < 300; n++) {
    hits.assign(n % 4, 0.5f * n); x.assign(n % 3, 2.f * n);
    tree.Fill();
  }
  tree.Write();
}
void ranges() {
  for (int flush : {50, 30}) {
    auto file = create(Form("ranges%d.root", flush));
    TTree tree("t1", "");
    int v1 = 1;
    tree.Branch("v1", &v1);
    tree.SetAutoFlush(flush);
    for (int i = 0; i < 300; i++) tree.Fill();
    tree.Write();
  }
}
void unlike() {
  { auto file = create("unlike_char.root"); tree_of<char>("mix", {{"values", 'a'}}, 2); }
  { auto file = create("unlike_int.root"); tree_of<int>("mix", {{"values", 'c'}}, 2); }
  { auto file = create("unlike_j.root"); tree_of<int>("tree", {{"i", 1}, {"j", 2}}, 3); }
  { auto file = create("unlike_i.root"); tree_of<int>("tree", {{"i", 1}}, 3); }
  for (int split : {1, 99}) {
    auto file = create(Form("unlike_split%d.root", split));
    TTree tree("T", "");
    MergedTop top{100 + split, {200 + split, 300 + split}}, *address = &top;
    tree.Branch("obj.", &address, 32000, split);
    tree.Fill();
    tree.Write();
  }
}
void abstract_base() {
  auto file = create("abstract.root");
  TTree tree("tree", "");
  MergedHolder holder, *address = &holder;
  MergedDerived derived;
  holder.b = &derived;
  tree.Branch("obj.", &address, 32000, 0);
  tree.Fill();
  tree.Write();
  holder.b = nullptr;
}
void saved() {
  for (int k = 0; k < 2; k++) {
    auto file = create(Form("saved%d.root", k));
    TTree tree("TestTree", "");
    TRandom3 random(k + 1);
    int i; double d;
    tree.Branch("iout", &i, "iout/I"); tree.Branch("dout", &d, "dout/D");
    for (i = 0; i < 1000; i++) { d = random.Rndm(); tree.Fill(); }
    tree.AutoSave();
    tree.SetDirectory(nullptr);
  }
}
// Branches that were not filled side by side: their baskets lie in another order than their entries.
void out_of_order() {
  for (int k = 0; k < 2; k++) {
    auto file = create(Form("out_of_order%d.root", k));
    TTree tree("tree", "");
    int a = 0, b = 0;
    auto first = tree.Branch("a", &a, "a/I", 1000), last = tree.Branch("b", &b, "b/I", 4000);
    for (a = 0; a < 5000; a++) first->Fill();
    for (b = 0; b < 5000; b++) last->Fill();
    tree.SetEntries(5000);
    tree.Write();
  }
}
void changed_file() {
  auto file = TFile::Open("changed.root", "RECREATE", "", 101);
  auto tree = new TTree("T", "that goes on in other files");
  int x;
  tree->Branch("x", &x, "x/I");
  TTree::SetMaxTreeSize(1000);
  for (x = 0; x < 20000; x++) tree->Fill();
  file = tree->GetCurrentFile();
  file->Write();
  delete file;
  TTree::SetMaxTreeSize(100000000000LL);
}
void branches() {
  { auto file = create("branches_none.root"); TTree("tree", "").Write(); }
  { auto file = create("branches_a.root"); tree_of<int>("tree", {{"a", 0}}, 0); }
  { auto file = create("branches_ab.root"); tree_of<int>("tree", {{"a", 11}, {"b", 42}}, 2); }
}
void folders() {
  for (int k = 0; k < 2; k++) {
    auto file = create(Form("folders%d.root", k));
    for (int n = 1; n < 5; n++) filled(file.get(), Form("hist%d", n), std::vector<double>(n, 1));
    auto a = file->mkdir("A"), f = file->mkdir("E")->mkdir("F");
    for (int n : {1, 2 + k}) { filled(a, Form("Histo_A%d", n), {1}); filled(f, Form("Histo_F%d", n), {1}); }
    filled(file->mkdir("B"), "Histo_B", {1});
    filled(file->mkdir("C")->mkdir("D"), "Histo_D", {1});
    filled(file.get(), k ? "only1" : "only0", {1});
    file->cd();
    tree_of<double>(k ? "b_tree" : "a_tree", {{"value", 1.0 + k}}, 1);
  }
}

void make() {
  TH1::AddDirectory(false);
  listed(); named(); mixed(); simple(); indexed(); counted(); befriended(); hits(); ranges(); unlike(); abstract_base();
  saved(); out_of_order(); changed_file(); branches(); folders();
}
