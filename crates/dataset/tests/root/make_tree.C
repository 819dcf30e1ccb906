// Writes make_tree.root: columns of every kind, in a tree for each of the split levels 0, 1, 2 and 99, with one entry.
//   root -l -b -q 'make_tree.C+'
#include <TClonesArray.h>
#include <TFile.h>
#include <TH1F.h>
#include <TLorentzVector.h>
#include <TTree.h>
#include <list>
#include <map>
#include <string>
#include <vector>

struct Point {
   float fX = 0;
   int fN = 0;
   float *fP = nullptr; //[fN]
   float fC[2][3];
   std::string fS;
   std::vector<int> fV;
   virtual ~Point() {}
   ClassDef(Point, 1)
};

struct Track : public TObject {
   float fX = 0;
   int fN = 0;
   float *fP = nullptr; //[fN]
   float fC[2][3];
   TString fS;
   std::vector<int> fV;
   ClassDef(Track, 1)
};

struct Quiet : public TObject { // its TObject is not written
   int fQ = 0;
   Quiet() { Class()->IgnoreTObjectStreamer(); }
   ClassDef(Quiet, 1)
};

struct Nothing {
   virtual ~Nothing() {}
   ClassDef(Nothing, 1)
};

struct Bare { // no class version
   int a;
   Quiet quiet;
};

struct First {
   int fFirst = 0;
   Point fPoint;
   virtual ~First() {}
   ClassDef(First, 1)
};

struct Second : public TNamed {
   int fSecond = 0;
   std::vector<Point> fPoints;
   ClassDef(Second, 1)
};

struct Event : public First, public Second, public Nothing {
   int own = 0;
   Point one;
   std::vector<Point> many;
   std::vector<Track> tracks;
   TClonesArray clones;
   TClonesArray *pclones;
   Point array[2];
   Point *pointer = nullptr;
   std::vector<Point *> pointers;
   std::map<int, Point> map;
   std::map<int, float> numbers;
   std::pair<int, float> pair;
   std::vector<std::pair<int, float>> pairs;
   Bare bare;
   std::vector<Bare> bares;
   TLorentzVector p4;
   std::vector<TLorentzVector> p4s;
   std::string text;
   std::vector<std::vector<Point>> nested;
   std::vector<Point> *pvector;
   std::vector<Point> vectors[2];
   std::list<Point> list;
   int matrix[2][2];
   TObject object;
   TNamed named;
   std::vector<TNamed> nameds;
   Point whole; //|| not to be split
   TString tstring;
   Double32_t d32; //[0,1,8]
   Float16_t f16;
   unsigned long ulong;
   bool flag;
   int k = 0;
   double *counted = nullptr; //[k]
   Event() : clones("Track")
   {
      pclones = new TClonesArray("Track");
      pvector = new std::vector<Point>;
   }
   ClassDef(Event, 2)
};

#ifdef __ROOTCLING__
#pragma link C++ class vector < Event> + ;
#pragma link C++ class vector < First> + ;
#pragma link C++ class vector < Second> + ;
#pragma link C++ class vector < Quiet> + ;
#pragma link C++ class vector < vector < int>> + ;
#pragma link C++ class vector < Point *> + ;
#pragma link C++ class list < Point> + ;
#endif

void make_tree()
{
   TFile f("make_tree.root", "RECREATE", "", 207);
   Event event;
   First first;
   Second second;
   Bare bare;
   TNamed named;
   TLorentzVector p4;
   TH1F h("h", "h", 1, 0, 1);
   std::string text = "abc";
   std::vector<Point> points;
   std::vector<Track> tracks;
   std::vector<Event> events;
   std::vector<First> firsts;
   std::vector<Second> seconds;
   std::vector<Quiet> quiets;
   std::vector<float> floats;
   std::vector<TLorentzVector> p4s;
   std::vector<std::vector<int>> nested;
   std::vector<std::pair<int, float>> pairs;
   std::vector<Point *> pointers;
   std::list<Point> list;
   std::map<int, Point> map;
   std::map<int, float> numbers;
   std::pair<int, float> pair;
   auto clones = new TClonesArray("Track"), clones4 = new TClonesArray("TLorentzVector");
   for (int level : {0, 1, 2, 99}) {
      TTree t(TString::Format("split%d", level), "columns of every kind");
      auto add = [&](const char *name, auto *object, int size = 32000) { t.Branch(name, object, size, level); };
      add("event", &event);
      add("first", &first);
      add("First", &first);
      add("dot.", &first);
      add("folder.first", &first);
      add("second.", &second);
      add("folder.second", &second);
      add("bare", &bare);
      add("named", &named);
      add("p4", &p4);
      add("h", &h);
      add("text", &text);
      add("points", &points);
      add("tracks", &tracks, 1000);
      add("events", &events);
      add("firsts", &firsts);
      add("seconds", &seconds);
      add("quiets", &quiets);
      add("floats", &floats, 50);
      add("p4s", &p4s);
      add("nested", &nested);
      add("pairs", &pairs);
      add("pointers", &pointers);
      add("list", &list);
      add("map", &map);
      add("numbers", &numbers);
      add("pair", &pair);
      add("clones", &clones);
      add("clones.", &clones);
      add("clones4", &clones4);
      int n = 2;
      float x[10] = {};
      double m[10][2][3] = {};
      char string[10] = "hi";
      Double32_t d = 0;
      unsigned char byte = 0;
      struct { int a; double b; float c[3]; } parts = {};
      t.Branch("n", &n, "n/I");
      t.Branch("x", x, "x[n]/F");
      t.Branch("x2", x, "x2[n]/F", 100);
      t.Branch("m", m, "m[n][2][3]/D");
      t.Branch("string", string, "string/C");
      t.Branch("strings", string, "strings[10]/C");
      t.Branch("parts", &parts, "a/I:b/D:c[3]/F");
      t.Branch("d", &d, "d/d[0,1,8]");
      t.Branch("f", &d, "f/f");
      t.Branch("g", m, "g/G:h/g:o/O:bb/b:cc/B:ss/s:ll/L:l1/l:l2/S");
      t.Branch("k", &parts, "kk/I:y[kk]/F:z/I");
      t.Branch("byte", &byte);
      t.Branch("dotted", &n, "dotted.a/I");
      t.Fill();
      t.Write();
   }
}
