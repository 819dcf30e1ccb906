// Classes with members that other members count, and classes with a TNamed base, in collections of every kind. make() writes trees of
// them, old() one in the form of ROOT 5.15/08, and dump() tells what ROOT reads. Compiled, since ROOT streams such members only with
// a dictionary.
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TTree.h>

#include <bitset>
#include <cstdio>
#include <string>
#include <vector>

class Nm : public TNamed {
public:
  int i = 0;
  double d = 0;
  void set(int k) {
    SetName(Form("n%d", k));
    i = k;
    d = k / 2.;
  }
  std::string text() const { return Form(" %s:%d:%g", GetName(), i, d); }
  ClassDef(Nm, 1)
};

class Plain {
public:
  int v = 0;
  ClassDefNV(Plain, 1)
};

class Counted : public TObject {
public:
  int n = 0;
  Nm *a = nullptr;       //[n]
  Nm **p = nullptr;      //[n]
  Nm *fa[2];             //[n]
  Nm **fp[2];            //[n]
  Plain *fq[2][3];       //[n]
  float *x = nullptr;    //[n]
  Counted() {
    for (int k = 0; k < 2; k++) {
      fa[k] = nullptr;
      fp[k] = nullptr;
      for (int j = 0; j < 3; j++) fq[k][j] = nullptr;
    }
  }
  void set(int e) {
    n = e % 3;
    if (n == 0) return;
    a = new Nm[n];
    p = new Nm *[n];
    x = new float[n];
    for (int q = 0; q < n; q++) {
      x[q] = e + q;
      a[q].set(10 * e + q);
      (p[q] = new Nm)->set(100 * e + q);
    }
    for (int k = 0; k < 2; k++) {
      fa[k] = new Nm[n];
      fp[k] = new Nm *[n];
      for (int q = 0; q < n; q++) {
        fa[k][q].set(e + q + 50 * k);
        (fp[k][q] = new Nm)->set(e + q + 60 * k);
      }
      for (int j = 0; j < 3; j++) {
        fq[k][j] = new Plain[n];
        for (int q = 0; q < n; q++) fq[k][j][q].v = 1000 * e + 100 * k + 10 * j + q;
      }
    }
  }
  std::string text() const {
    std::string out = Form(" n%d", n);
    for (int q = 0; q < n; q++) {
      out += Form(" %g", x[q]) + a[q].text() + (p[q] ? p[q]->text() : " null");
      for (int k = 0; k < 2; k++) {
        out += fa[k][q].text() + (fp[k][q] ? fp[k][q]->text() : " null");
        for (int j = 0; j < 3; j++) out += Form(" %d", fq[k][j][q].v);
      }
    }
    return out;
  }
  ClassDef(Counted, 1)
};

class Bits : public TObject {
public:
  int i = 0;
  std::bitset<24> b;
  ClassDef(Bits, 1)
};

class Holder {
public:
  int i = 0;
  std::vector<Nm> w;
  virtual ~Holder() {}
  ClassDef(Holder, 1)
};

class Outer {
public:
  std::vector<Nm> w;
  TClonesArray c{"Nm"};
  Nm one;
  virtual ~Outer() {}
  ClassDef(Outer, 1)
};

#ifdef __ROOTCLING__
#pragma link C++ class Nm+;
#pragma link C++ class Plain+;
#pragma link C++ class Counted+;
#pragma link C++ class Bits+;
#pragma link C++ class Holder+;
#pragma link C++ class Outer+;
#pragma link C++ class std::vector<Nm>+;
#pragma link C++ class std::vector<Holder>+;
#endif

// What the entries hold, and the branches that are filled from it or read into it.
struct Entry {
  TClonesArray counted{"Counted"}, named{"Nm"}, bits{"Bits"};
  Counted alone;
  std::vector<Nm> names;
  std::vector<Holder> holders;
  Outer outer;
  void set(int e) {
    counted.Delete();
    named.Delete();
    bits.Delete();
    names.clear();
    holders.clear();
    outer.w.clear();
    outer.c.Delete();
    for (int k = 0; k < e % 4; k++) {
      ((Counted *)counted.ConstructedAt(k))->set(e + k);
      auto named_one = (Nm *)named.ConstructedAt(k);
      named_one->set(10 * e + k);
      auto one = (Bits *)bits.ConstructedAt(k);
      one->i = e;
      one->b = 5 + e + k;
      names.push_back(*named_one);
      ((Nm *)outer.c.ConstructedAt(k))->set(20 * e + k);
    }
    holders.resize(e % 3);
    for (auto &holder : holders) {
      holder.i = e;
      holder.w = names;
    }
    outer.w = names;
    outer.one.set(e);
    alone.set(e);
  }
};

class OldFile : public TFile {
public:
  OldFile(const char *path) : TFile(path, "RECREATE", "", 0) { fVersion = 51508; }
};

int make(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  TTree tree("t", "t");
  Entry entry;
  tree.Branch("counted", &entry.counted, 32000, 99);
  tree.Branch("alone.", &entry.alone, 32000, 99);
  tree.Branch("bits", &entry.bits, 32000, 99);
  tree.Branch("whole", &entry.named, 32000, 0);
  tree.Branch("names", &entry.names, 32000, 0);
  tree.Branch("holders", &entry.holders, 32000, 99);
  tree.Branch("unsplit", &entry.holders, 32000, 0);
  tree.Branch("outer.", &entry.outer, 32000, 0);
  for (int e = 0; e < 7; e++) {
    entry.set(e);
    tree.Fill();
  }
  tree.Write();
  return 1;
}

int old(const char *path) {
  OldFile file(path);
  TTree tree("t", "t");
  Entry entry;
  tree.Branch("alone.", &entry.alone, 32000, 99);
  tree.Branch("outer.", &entry.outer, 32000, 0);
  for (int e = 0; e < 7; e++) {
    entry.set(e);
    tree.Fill();
  }
  tree.Write();
  return 1;
}

std::string dump(const char *path) {
  TFile file(path);
  auto tree = file.Get<TTree>("t");
  Entry entry;
  auto counted = &entry.counted, named = &entry.named, bits = &entry.bits;
  auto alone = &entry.alone;
  auto names = &entry.names;
  auto holders = new std::vector<Holder>, unsplit = new std::vector<Holder>;
  auto outer = &entry.outer;
  auto set = [&](const char *branch, auto &address) {
    if (tree->GetBranch(branch)) tree->SetBranchAddress(branch, &address);
  };
  set("counted", counted);
  set("alone.", alone);
  set("bits", bits);
  set("whole", named);
  set("names", names);
  set("holders", holders);
  set("unsplit", unsplit);
  set("outer.", outer);
  std::string out;
  for (int e = 0; e < tree->GetEntries(); e++) {
    tree->GetEntry(e);
    out += Form("%d counted", e);
    for (auto one : *counted) out += ((Counted *)one)->text();
    out += " alone" + alone->text() + " bits";
    for (auto one : *bits) out += Form(" %d:%s", ((Bits *)one)->i, ((Bits *)one)->b.to_string().c_str());
    out += " whole";
    for (auto one : *named) out += ((Nm *)one)->text();
    out += " names";
    for (auto &one : *names) out += one.text();
    for (auto all : {holders, unsplit}) {
      out += " holders";
      for (auto &holder : *all) {
        out += Form(" %d", holder.i);
        for (auto &one : holder.w) out += one.text();
      }
    }
    out += " outer" + outer->one.text();
    for (auto &one : outer->w) out += one.text();
    for (auto one : outer->c) out += ((Nm *)one)->text();
    out += "\n";
  }
  return out;
}
