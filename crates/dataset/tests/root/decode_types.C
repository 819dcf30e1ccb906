// Writes decode_types.root: every kind of member that dataset::decode reads, in two trees of the same entries, one
// split as far as ROOT goes, one not split. Values follow from the entry's number.
//   root -l -b -q 'decode_types.C+'
#include <TArrayD.h>
#include <TArrayI.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TMatrixDSym.h>
#include <TList.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TTree.h>
#include <TVector3.h>
#include <array>
#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

enum Colour { kRedish = 1, kGreenish = 5 };

struct Inner {
   int i = 0;
   float f = 0;
   std::string s;
   std::vector<short> v;
   Inner(int k = 0) : i(k), f(k / 2.f), s(k % 3, 'a' + k % 26), v(k % 4, k) {}
   virtual ~Inner() {}
   bool operator<(const Inner &o) const { return i < o.i; }
   ClassDef(Inner, 3)
};

struct Bare { // no class version: known by its checksum
   int x = 0;
   double y = 0;
};

struct Left { int left = 0; virtual ~Left() {} ClassDef(Left, 1) };
struct Right : public TObject { double right = 0; ClassDef(Right, 2) };
struct Derived : public Left, public Right { int own = 0; ClassDef(Derived, 1) };

struct Hit : public TObject {
   int id = 0;
   float q[2] = {0, 0};
   TString name;
   Hit(int k = 0) : id(k), name(TString::Format("hit%d", k)) { q[0] = k; q[1] = -k; }
   ClassDef(Hit, 1)
};

struct Event : public TNamed {
   bool b; char c; unsigned char uc; short sh; unsigned short us; int i; unsigned int ui; long l; unsigned long ul;
   Long64_t ll; ULong64_t ull; float f; double d;
   Double32_t d32; Double32_t d32r; //[0,100,12]
   Double32_t d32b; //[0,0,8]
   Double32_t d32p; //[-pi,2*pi,16]
   Float16_t f16; Float16_t f16r; //[-10,10,10]
   Double32_t d32a[3]; //[0,10,8]
   int a3[3]; float m23[2][3]; char text[8];
   int n = 0; float *p = nullptr; //[n]
   Double32_t *q = nullptr; //[n]
   Inner *objs = nullptr; //[n]
   std::string str; TString ts; TString ts2[2]; std::string str2[2];
   Colour colour; std::vector<Colour> colours;
   std::vector<int> vi; std::vector<bool> vb; std::vector<Double32_t> vd32; std::vector<std::vector<float>> vvf;
   std::vector<std::string> vs; std::vector<TString> vts; std::vector<std::vector<std::string>> vvs;
   std::list<int> li; std::deque<double> dq; std::set<short> ss; std::multiset<int> ms; std::unordered_set<int> us2;
   std::vector<Inner> vin; std::vector<Bare> vbare; std::list<Inner> lin; std::set<Inner> sin; std::vector<std::vector<Inner>> vvin;
   std::vector<Derived> vder; Derived der; Bare bare; Inner in; Inner in2[2];
   std::map<int, std::string> mis; std::map<std::string, std::vector<Inner>> msvi; std::map<int, Bare> mib; std::multimap<int, float> mmif;
   std::unordered_map<int, float> umif; std::map<int, std::map<int, double>> mimid; std::map<std::string, std::string> mss;
   std::pair<int, float> pif; std::pair<int, std::string> pis; std::vector<std::pair<int, std::string>> vpis; std::pair<Inner, Bare> pib;
   std::bitset<10> bits; std::array<int, 3> ai3; std::array<Inner, 2> ain2; std::vector<int> vi2[2]; std::vector<std::array<int, 2>> vai;
   TDatime when; TArrayD tad; TArrayI tai; TLorentzVector p4; TVector3 v3; TMatrixDSym sym; TNamed named;
   Bare *pbare = nullptr; Inner *pin = nullptr; Inner *always; //->
   std::vector<Bare *> vpbare; std::vector<int> *pvi = nullptr; TClonesArray *hits;
   Event() : sym(2), hits(new TClonesArray("Hit")) { always = new Inner; }
   void fill(int k)
   {
      SetName(TString::Format("event%d", k)); SetTitle("t");
      b = k % 2; c = 'a' + k; uc = 200 + k; sh = -k; us = 60000 + k; i = -1000 * k; ui = 4000000000u + k; l = -5000000000l * k; ul = 5000000000ul * k;
      ll = -7000000000ll * k; ull = 1ull << (60 + k % 4); f = k / 4.f; d = k / 8.;
      d32 = k / 2.; d32r = k * 3.; d32b = k * 1.5; d32p = k * 0.25; f16 = k * 0.5f; f16r = k - 5.f;
      for (int j = 0; j < 3; j++) { d32a[j] = j + k % 5; a3[j] = 10 * k + j; for (int h = 0; h < 2; h++) m23[h][j] = k + h / 2.f + j / 8.f; }
      snprintf(text, 8, "t%d", k);
      n = k % 4; delete[] p; delete[] q; delete[] objs; p = new float[n]; q = new Double32_t[n]; objs = new Inner[n];
      for (int j = 0; j < n; j++) { p[j] = k + j; q[j] = k - j; objs[j] = Inner(k + j); }
      str = std::string(k * 30, 'x'); ts = TString('y', k * 40); ts2[0] = "one"; ts2[1] = TString('z', k); str2[0] = "first"; str2[1] = std::string(k, 's');
      colour = k % 2 ? kRedish : kGreenish; colours.assign(k % 3, kGreenish);
      vi.assign(k % 4, k); vb.clear(); vd32.assign(k % 3, k / 4.); vvf.clear(); vs.clear(); vts.clear(); vvs.clear(); li.clear(); dq.clear(); ss.clear(); ms.clear(); us2.clear();
      vin.clear(); vbare.clear(); lin.clear(); sin.clear(); vvin.clear(); vder.clear(); mis.clear(); msvi.clear(); mib.clear(); mmif.clear(); umif.clear(); mimid.clear(); mss.clear(); vpis.clear(); vai.clear();
      for (auto x : vpbare) delete x; 
      vpbare.clear(); hits->Clear("C");
      for (int j = 0; j < k % 5; j++) {
         vb.push_back(j % 2); vvf.emplace_back(j, k + j); vs.emplace_back(j, 'v'); vts.push_back(TString('w', j)); vvs.emplace_back(j, "in" + std::to_string(k));
         li.push_back(k * j); dq.push_back(k / 2. + j); ss.insert(k + j); ms.insert(j / 2); us2.insert(k);
         vin.emplace_back(k + j); lin.emplace_back(2 * k + j); sin.emplace(k + j); vvin.emplace_back(j, Inner(k)); Bare x; x.x = k; x.y = j / 4.; vbare.push_back(x);
         Derived dd; dd.left = k; dd.right = j; dd.own = k * j; vder.push_back(dd);
         mis[j] = std::string(j, 'm'); msvi["key" + std::to_string(j)] = std::vector<Inner>(j, Inner(k)); mib[j] = x; mmif.emplace(k, j); umif[j] = k; mimid[j][k] = j / 2.; mss["k" + std::to_string(j)] = std::string(k, 'v');
         vpis.emplace_back(j, std::string(j, 'p')); vai.push_back({k, j}); vpbare.push_back(new Bare(x)); new ((*hits)[j]) Hit(k + j);
      }
      der.left = -k; der.right = k / 2.; der.own = k; bare.x = k; bare.y = -k; in = Inner(k); in2[0] = Inner(k + 1); in2[1] = Inner(k + 2); *always = Inner(3 * k);
      pif = {k, k / 2.f}; pis = {k, std::string(k, 'q')}; pib.first = Inner(k); pib.second = bare; bits = k * 37; ai3 = {k, k + 1, k + 2}; ain2 = {Inner(k), Inner(2 * k)}; vi2[0].assign(k % 3, k); vi2[1].assign(k % 2, -k);
      when.Set(2000 + k, 1, 2, 3, 4, 5); tad.Set(k); tai.Set(k % 3); for (int j = 0; j < k; j++) tad[j] = j / 2.; for (int j = 0; j < k % 3; j++) tai[j] = j;
      p4.SetPxPyPzE(k, k + 1, k + 2, k + 3); v3.SetXYZ(-k, k, 2 * k); sym(0, 0) = k; sym(0, 1) = sym(1, 0) = k / 2.; sym(1, 1) = -k; named.SetName(TString::Format("n%d", k)); named.SetTitle("title");
      delete pbare; pbare = k % 2 ? new Bare(bare) : nullptr; delete pin; pin = k % 3 ? new Inner(k) : nullptr; delete pvi; pvi = new std::vector<int>(k % 3, k);
   }
   ClassDef(Event, 2)
};

struct Nest : public TObject { // arrays in arrays
   int id = 0;
   TClonesArray hits;
   Nest(int k = 0) : id(k), hits("Hit") { for (int j = 0; j < k % 3; j++) new (hits[j]) Hit(k + j); }
   ClassDef(Nest, 1)
};

struct Arrays { // what says its class in its bytes, and pointers to one object
   int n = 0;
   TClonesArray *hits; TClonesArray *gaps; //|| which may be missing: not to be split
   TClonesArray nests; TObjArray objs; TList list; TObjArray mixed; TObjArray *none;
   std::vector<Bare *> same; Bare *pa = nullptr; Bare *pb = nullptr;
   Bare *fixed[2] = {nullptr, nullptr}; //[n]
   Bare **fixedp[2] = {nullptr, nullptr}; //[n]
   Arrays() : hits(new TClonesArray("Hit")), gaps(new TClonesArray("Hit")), nests("Nest"), none(new TObjArray) { gaps->BypassStreamer(false); }
   virtual ~Arrays() {}
   void fill(int k)
   {
      n = k % 3; hits->Clear("C"); gaps->Clear("C"); nests.Clear("C"); objs.Clear(); list.Clear(); mixed.Clear(); same.clear();
      for (int j = 0; j < k % 3; j++) new ((*hits)[j]) Hit(k + j);
      for (int j = 0; j < k % 4; j += 2) new ((*gaps)[j]) Hit(k + j);
      for (int j = 0; j < k % 3; j++) new (nests[j]) Nest(k + j);
      for (int j = 0; j < k % 3; j++) { objs.AddAtAndExpand(new Hit(k + j), 2 * j); list.Add(new Hit(k - j), j ? std::string(300, 'o').c_str() : ""); }
      mixed.Add(new Hit(k)); mixed.Add(new TNamed("n", "t"));
      auto a = new Bare; a->x = k; a->y = k / 2.; auto b = new Bare; b->x = -k; pa = a; pb = k % 2 ? a : b; same = {a, b, nullptr, a};
      for (int h = 0; h < 2; h++) {
         fixed[h] = new Bare[n]; fixedp[h] = new Bare *[n];
         for (int j = 0; j < n; j++) { fixed[h][j].x = 10 * k + h + j; fixedp[h][j] = j ? a : b; }
      }
   }
   ClassDef(Arrays, 1)
};

void decode_types()
{
   TFile file("decode_types.root", "recreate", "", 101);
   auto *event = new Event;
   auto split = new TTree("split", "split as far as it goes");
   auto whole = new TTree("whole", "not split");
   split->Branch("e.", "Event", &event, 32000, 99);
   whole->Branch("e", "Event", &event, 32000, 0);
   auto vin = &event->vin; auto vbare = &event->vbare; auto mis = &event->mis; auto vvf = &event->vvf; auto str = &event->str; auto vb = &event->vb; auto vvin = &event->vvin;
   whole->Branch("vin", "vector<Inner>", &vin, 32000, 0); whole->Branch("vbare", "vector<Bare>", &vbare, 32000, 0); whole->Branch("mis", "map<int,string>", &mis, 32000, 0);
   whole->Branch("vvf", "vector<vector<float>>", &vvf); whole->Branch("str", "string", &str); whole->Branch("vb", "vector<bool>", &vb); whole->Branch("vvin", "vector<vector<Inner>>", &vvin);
   for (int k = 0; k < 12; k++) { event->fill(k); split->Fill(); whole->Fill(); }
   auto *arrays = new Arrays;
   auto arrays_split = new TTree("arrays_split", "split as far as it goes");
   auto arrays_whole = new TTree("arrays_whole", "not split");
   arrays_split->Branch("e.", "Arrays", &arrays, 32000, 99);
   arrays_whole->Branch("e", "Arrays", &arrays, 32000, 0);
   for (int k = 0; k < 12; k++) { arrays->fill(k); arrays_split->Fill(); arrays_whole->Fill(); }
   file.Write();
}
#ifdef __ROOTCLING__
#pragma link C++ class Inner+;
#pragma link C++ class Bare+;
#pragma link C++ class Left+;
#pragma link C++ class Right+;
#pragma link C++ class Derived+;
#pragma link C++ class Hit+;
#pragma link C++ class Event+;
#pragma link C++ class Nest+;
#pragma link C++ class Arrays+;
#pragma link C++ class std::vector<Inner>+;
#pragma link C++ class std::vector<Bare>+;
#pragma link C++ class std::vector<Bare*>+;
#pragma link C++ class std::list<Inner>+;
#pragma link C++ class std::set<Inner>+;
#pragma link C++ class std::vector<std::vector<Inner>>+;
#pragma link C++ class std::vector<Derived>+;
#pragma link C++ class std::map<std::string,std::vector<Inner>>+;
#pragma link C++ class std::map<int,Bare>+;
#pragma link C++ class std::map<int,std::string>+;
#pragma link C++ class std::map<std::string,std::string>+;
#pragma link C++ class std::multimap<int,float>+;
#pragma link C++ class std::unordered_map<int,float>+;
#pragma link C++ class std::map<int,std::map<int,double>>+;
#pragma link C++ class std::vector<std::pair<int,std::string>>+;
#pragma link C++ class std::pair<Inner,Bare>+;
#pragma link C++ class std::vector<std::vector<std::string>>+;
#pragma link C++ class std::vector<std::array<int,2>>+;
#pragma link C++ class std::vector<Colour>+;
#pragma link C++ class std::vector<TString>+;
#pragma link C++ class std::multiset<int>+;
#pragma link C++ class std::unordered_set<int>+;
#pragma link C++ class std::deque<double>+;
#endif
