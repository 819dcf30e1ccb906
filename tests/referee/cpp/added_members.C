// A tree with classes whose later versions (NEW) add members: numbers, arrays, texts, containers, objects and collections, in split
// objects, nested objects, collections and objects that are not split. make() writes it, and dump() tells what ROOT reads, with the later versions.
#include <TClonesArray.h>
#include <TFile.h>
#include <TRef.h>
#include <TTree.h>

#include <string>
#include <vector>

#ifdef NEW
const int kVersion = 3;
#else
const int kVersion = 2;
#endif

class Track : public TObject {
public:
  int i = 0;
#ifdef NEW
  double late = 0;
  std::vector<short> list;
  std::vector<std::string> words;
  std::string text;
  TString name;
  int array[3] = {0, 0, 0};
#endif
  float x = 0;
  void set(int k) {
    i = k;
    x = k / 2.;
#ifdef NEW
    late = k * 3;
    list.assign(k % 3, k);
    words.assign(k % 2, "w");
    text = Form("t%d", k);
    name = Form("s%d", k);
    array[1] = k;
#endif
  }
  ClassDef(Track, kVersion)
};

class Hit {
public:
  int a = 0;
#ifdef NEW
  float b = 0;
  std::vector<int> l;
#endif
  void set(int k) {
    a = k;
#ifdef NEW
    b = k * 2;
    l.assign(k % 3, k);
#endif
  }
  ClassDefNV(Hit, kVersion)
};

class Base {
public:
  int z = 0;
  virtual ~Base() {}
  ClassDef(Base, 1)
};

class Event : public Base {
public:
  int id = 0;
  Track track;
  std::vector<Hit> hits;
  Hit one;
#ifdef NEW
  Hit two;
  std::vector<Hit> more;
#endif
  ClassDef(Event, kVersion)
};

// Its version stays, but objects inside of it have others.
class Holder {
public:
  int n = 0;
  Hit hit;
  std::vector<Hit> hits;
  virtual ~Holder() {}
  ClassDef(Holder, 1)
};

#ifdef __ROOTCLING__
#pragma link C++ class Track+;
#pragma link C++ class Hit+;
#pragma link C++ class Base+;
#pragma link C++ class Event+;
#pragma link C++ class Holder+;
#pragma link C++ class std::vector<Hit>+;
#endif

int make(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  TTree tree("t", "t");
  TClonesArray tracks("Track");
  std::vector<Hit> hits;
  Track track;
  Event event;
  Holder holder;
  tree.Branch("tracks", &tracks, 32000, 99);
  tree.Branch("track.", &track, 32000, 99);
  tree.Branch("hits", &hits, 32000, 99);
  tree.Branch("event.", &event, 32000, 99);
  tree.Branch("whole", &hits, 32000, 0);
  tree.Branch("track0.", &track, 32000, 0);
  tree.Branch("event0.", &event, 32000, 0);
  tree.Branch("holder0.", &holder, 32000, 0);
  tree.Branch("holder1.", &holder, 32000, 1);
  for (int e = 0; e < 6; e++) {
    tracks.Delete();
    for (int k = 0; k < e % 4; k++) ((Track *)tracks.ConstructedAt(k))->set(10 * e + k);
    hits.clear();
    hits.resize(e % 3);
    for (auto &hit : hits) hit.set(e);
    track.set(e);
    event.id = e;
    event.z = e + 100;
    event.track.set(e);
    event.hits = hits;
    event.one.set(e);
#ifdef NEW
    event.two.set(e);
    event.more = hits;
#endif
    holder.n = e;
    holder.hit.set(e);
    holder.hits = hits;
    track.SetBit(BIT(14), e % 2);
    // From the fourth entry on a reference leads to the object.
    if (e == 3) TRef(&track).GetObject();
    tree.Fill();
  }
  tree.Write();
  return 1;
}

#ifdef NEW
std::string text(const Track &t) {
  std::string out = Form(" T%d:%g:%g[", t.i, t.x, t.late);
  for (auto k : t.list) out += Form("%d,", k);
  for (auto &word : t.words) out += word + ",";
  return out + Form("]%s/%s/%d%d%d", t.text.c_str(), t.name.Data(), t.array[0], t.array[1], t.array[2]);
}

std::string text(const Hit &h) {
  std::string out = Form(" H%d:%g[", h.a, h.b);
  for (auto k : h.l) out += Form("%d,", k);
  return out + "]";
}

std::string dump(const char *path) {
  TFile file(path);
  auto tree = file.Get<TTree>("t");
  auto tracks = new TClonesArray("Track");
  auto track = new Track;
  auto hits = new std::vector<Hit>, whole = new std::vector<Hit>;
  auto event = new Event, event0 = new Event;
  auto holder0 = new Holder, holder1 = new Holder;
  auto track0 = new Track;
  tree->SetBranchAddress("tracks", &tracks);
  tree->SetBranchAddress("track.", &track);
  tree->SetBranchAddress("hits", &hits);
  tree->SetBranchAddress("whole", &whole);
  tree->SetBranchAddress("event.", &event);
  tree->SetBranchAddress("track0.", &track0);
  tree->SetBranchAddress("event0.", &event0);
  tree->SetBranchAddress("holder0.", &holder0);
  tree->SetBranchAddress("holder1.", &holder1);
  std::string out;
  for (int e = 0; e < tree->GetEntries(); e++) {
    tree->GetEntry(e);
    for (auto one : *tracks) out += text(*(Track *)one);
    out += " |" + text(*track) + " |";
    for (auto &hit : *hits) out += text(hit);
    out += " |";
    for (auto &hit : *whole) out += text(hit);
    for (auto one : {event, event0}) {
      out += Form(" | %d %d", one->id, one->z) + text(one->track);
      for (auto &hit : one->hits) out += text(hit);
      out += " |" + text(one->one) + text(one->two);
      for (auto &hit : one->more) out += text(hit);
    }
    for (auto one : {holder0, holder1}) {
      out += Form(" | %d", one->n) + text(one->hit);
      for (auto &hit : one->hits) out += text(hit);
    }
    bool referenced = track0->TestBit(kIsReferenced) && track0->GetUniqueID();
    out += " |" + text(*track0) + Form(" %d%d\n", track0->TestBit(BIT(14)), referenced);
  }
  return out;
}
#endif
