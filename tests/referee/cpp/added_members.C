// A tree with classes whose later versions (NEW) add members: numbers, arrays, texts, containers, objects and collections, in split
// objects, nested objects and collections. make() writes it, and dump() tells what ROOT reads, with the later versions.
#include <TClonesArray.h>
#include <TFile.h>
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

#ifdef __ROOTCLING__
#pragma link C++ class Track+;
#pragma link C++ class Hit+;
#pragma link C++ class Base+;
#pragma link C++ class Event+;
#pragma link C++ class std::vector<Hit>+;
#endif

int make(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  TTree tree("t", "t");
  TClonesArray tracks("Track");
  std::vector<Hit> hits;
  Track track;
  Event event;
  tree.Branch("tracks", &tracks, 32000, 99);
  tree.Branch("track.", &track, 32000, 99);
  tree.Branch("hits", &hits, 32000, 99);
  tree.Branch("event.", &event, 32000, 99);
  tree.Branch("whole", &hits, 32000, 0);
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
  auto event = new Event;
  tree->SetBranchAddress("tracks", &tracks);
  tree->SetBranchAddress("track.", &track);
  tree->SetBranchAddress("hits", &hits);
  tree->SetBranchAddress("whole", &whole);
  tree->SetBranchAddress("event.", &event);
  std::string out;
  for (int e = 0; e < tree->GetEntries(); e++) {
    tree->GetEntry(e);
    for (auto one : *tracks) out += text(*(Track *)one);
    out += " |" + text(*track) + " |";
    for (auto &hit : *hits) out += text(hit);
    out += " |";
    for (auto &hit : *whole) out += text(hit);
    out += Form(" | %d %d", event->id, event->z) + text(event->track);
    for (auto &hit : event->hits) out += text(hit);
    out += " |" + text(event->one) + text(event->two);
    for (auto &hit : event->more) out += text(hit);
    out += "\n";
  }
  return out;
}
#endif
