#pragma once

// Classes that both real ROOT and basketry describe: make_described.py compiles this header and keeps in
// described.root what ROOT says of it, and the tests of streamer::describe read it as it is.
// Members are of every kind that has rules of its own; those without a comment are so on purpose.

#include <TObject.h>
#include <TNamed.h>
#include <TString.h>
#include <TClonesArray.h>
#include <TRef.h>
#include <TObjArray.h>
#include <vector>
#include <map>
#include <set>
#include <list>
#include <deque>
#include <string>
#include <array>
#include <memory>
#include <bitset>
#include <unordered_map>
#include <unordered_set>
#include <complex>
#include <cstdint>
#include <forward_list>
#include <ROOT/RVec.hxx>

struct Plain {
   int a;
   double b;
   char c;
};  // no ClassDef
class Hit {
public:
   float fX;
   float fY;
   short fA[2][3];
   unsigned char fFlag;
   ClassDef(Hit,3)  // A hit in a plane
};
class Track : public TObject {
public:
   Int_t fN;
   Float_t *fV;  //[fN] the values
   int fM;  //! transient
   Long64_t fBig;
   ULong64_t fUBig;
   long fLong;
   unsigned long fULong;
   bool fB;
   signed char fSC;
   char fC;
   UShort_t fUS;
   UInt_t fUI;
   ClassDef(Track,2)
};
enum EColour { kRed1, kGreen1 };
enum class ESmall : unsigned char { kA, kB };
namespace ns {
   struct Inner {
      std::vector<int> v;
      std::string s;
   };
   class Deep : public Hit {
   public:
      Inner fIn;
      Inner *fPtr;
      std::vector<Inner> fIns;
      std::vector<Inner*> fPs;
      ClassDef(Deep, 7)
   };
}
class Event : public TNamed, public Hit {
public:
   Int_t fNtrack;  // how many
   Double32_t fE;  //[0,100,12] energy
   Double32_t fE2;  // free
   Float16_t fF16;  //[0,0,8]
   Float16_t fF16b;  //
   Double32_t fEa[4];  //[0,1]
   Double32_t *fEp;  //[fNtrack]
   Double32_t *fEpr;  //[fNtrack][0,1,8]
   Track *fTracks;  //[fNtrack]
   Plain *fPlains;  //[fNtrack]
   Track **fTrackPP;  //[fNtrack]
   Track *fTrack;  //-> always
   Track *fTrackN;  // maybe null
   Plain *fPlainP;
   Plain *fPlainI;  //->
   Plain fPlain;
   Plain fPlainA[3];
   Track fTrackO;
   Track fTrackOA[2];
   Hit fHit;
   TString fS;
   TString fSA[2];
   TString *fSP;
   std::string fStd;
   std::string fStdA[2];
   std::string *fStdP;
   std::vector<float> fVf;
   std::vector<Hit> fVh;
   std::vector<Hit*> fVhp;
   std::vector<Track*> fVtp;
   std::vector<float> fVfA[2];
   std::vector<float> *fVfP;
   std::vector<std::vector<int> > fVvi;
   std::vector<std::string> fVs;
   std::vector<bool> fVb;
   std::vector<Double32_t> fVd32;  //[0,1,8]
   std::map<int,float> fMap;
   std::map<std::string,std::vector<Hit> > fMap2;
   std::multimap<int,int> fMM;
   std::set<int> fSet;
   std::multiset<int> fMS;
   std::list<int> fList;
   std::deque<double> fDq;
   std::unordered_map<int,int> fUM;
   std::unordered_set<int> fUS;
   std::bitset<16> fBs;
   std::array<int,3> fArr;
   std::array<Plain,2> fArrP;
   std::array<float,5> fArrA[2];
   std::pair<int,float> fPair;
   std::vector<std::pair<int,float> > fVpair;
   std::unique_ptr<Plain> fUq;
   std::complex<double> fCx;
   std::vector<EColour> fVe;
   EColour fCol;
   EColour fColA[2];
   ESmall fSm;
   TClonesArray *fCl;
   TClonesArray fClo;
   TRef fRef;
   TObjArray fOA;
   char fName2[8];
   char *fCstr;
   int fMat[2][3][4];
   size_t fSz;
   uint8_t fU8;
   int32_t fI32;
   int64_t fI64;
   uint64_t fU64;
   uint16_t fU16;
   int8_t fI8;
   uint32_t fU32;
   std::int16_t fI16;
   long long fLL;
   unsigned long long fULL;
   ULong_t fUl;
   Long_t fL;
   Text_t fT;
   Byte_t fBy;
   Bool_t fBo;
   Size_t fSiz;
   Seek_t fSeek;
   Style_t fSt;
   Color_t fCo;
   const int fConst = 3;
   std::vector<unsigned long> fVul;
   std::vector<Long64_t> fVl64;
   std::vector<ULong64_t> fVul64;
   std::vector<unsigned char> fVuc;
   std::vector<long> fVl;
   std::vector<ns::Inner> fVin;
   std::map<std::string, ns::Inner> fMin;
   std::vector<TString> fVts;
   std::vector<std::vector<std::vector<Hit> > > fV3;
   std::vector<std::map<int, std::string>> fVm;
   std::map<int, Hit*> fMhp;
   std::set<std::string> fSs;
   ClassDef(Event,5)
};
class FromVec : public std::vector<int> {
public:
   int fI;
};
class FromPlain : public Plain {
public:
   int fZ;
};
struct NoMembers {};
struct OnEmpty : public NoMembers {
   char a;
   double b;
   char c;
};
struct Padded : public Plain {
   char z;
};
class Unversioned : public TObject {
public:
   int x;
   ClassDef(Unversioned,0)
};
class OnUnversioned : public Unversioned {
public:
   int y;
   ClassDef(OnUnversioned,1)
};
struct Counted {
   int n;
   float *p = nullptr;  //[n] hey [0,1]
   double q;  //  [0,1]
   double r;  // [abc]
};
class CountedInBase : public Counted {
public:
   short *s = nullptr;  //[n] by base
   ClassDef(CountedInBase,1)
};
struct EnumArray {
   EColour fColA[2];
};
struct EnumAlone {
   EColour fCol;
};
struct StdArray {
   std::array<int,3> fArr;
};
struct ArrayOfArrays {
   std::array<std::array<int,2>,3> fArr;
};
struct Unique {
   std::unique_ptr<Plain> fUq;
};
struct Constant {
   const int fC = 3;
   const Hit *fH = nullptr;
   std::vector<const Hit*> fV;
};
struct Comments {
   int a;  ///< doxygen
   int b;  //!< trans dox
   int c;  //   spaces
   int d;  /// three
   int e;  //|| nosplit
   int f;
   int g;
   float h[3];  //[0,1,2] array
   float *i = nullptr;  // [a]
   float j[2], k;  // both
   unsigned short int l;
   long int m;
   long long int n;
   unsigned o;
   signed p;
   unsigned long int q;
   unsigned long long int r;
   signed long s;
   short unsigned int t;
   int u = 3;  //= init
   static int w;
   mutable int v;  //->mut
   volatile int x;
   Double32_t y;  //[-pi,pi,10]
   Double32_t z;  //[1,0]
   Double32_t aa;  //[0,0,14]
   Double32_t ab;  //[0,0,16]
   Double32_t ac[2];  //[2][0,1]
   Double32_t *ad = nullptr;  //[a][0,1]
   Float16_t ae;  //[10]
   Double32_t af;  //[ 0 , 1 , 3 ] spaced
};
struct Vectors {
   std::vector<Long64_t> a;
   std::vector<long long> b;
   std::vector<unsigned long long> c;
   std::vector<size_t> d;
   std::vector<int8_t> e;
   std::vector<uint16_t> f;
   std::vector<std::int64_t> g;
   std::vector<signed char> h;
   std::vector<char> i;
   std::vector<const char*> j;
   std::vector<EColour> l;
   std::vector<ESmall> m;
   std::vector<int*> n;
   std::vector<TObject*> o;
   std::vector<std::array<int,3>> q;
   std::vector<Bool_t> r;
   std::vector<Int_t> s;
   std::vector<Char_t> t;
   std::vector<Byte_t> u;
   std::map<Int_t,std::vector<Long64_t>> v;
   std::vector<TString*> x;
   std::vector<std::string*> y;
   std::vector<std::vector<int>*> z;
   std::vector<std::unique_ptr<Plain>> ab;
   std::vector<std::pair<const int,float>> ac;
   std::list<Hit> *ad = nullptr;
   std::vector<int> ae[2][3];
};
class HasEmpty {
public:
   NoMembers a;
   NoMembers b[3];
   int c;
   ClassDef(HasEmpty,1)
};
struct TwoBases : Plain, Counted {
   char z;
};
struct Containers {
   std::forward_list<int> f;
   std::unordered_multimap<int,float> g;
   std::unordered_multiset<int> h;
   std::bitset<16> i;
   std::bitset<100> j;
   ROOT::RVec<int> k;
   std::multimap<int,Hit> l;
   std::set<Hit*> s;
};
struct Pointers {
   int n;
   Plain *a[3];  //[n]
   Plain *b[4];
   float *c[3];  //[n]
   std::string *d[2];
   std::vector<int> *e[2];
   TObject *f[5];
   char *g[2];
   const char *h;
   std::vector<int> *i;  //[n]
   std::string *j;  //[n]
   char *k;  //[n]
   char **l;  //[n]
};
struct CountedByUnsigned {
   unsigned nu;
   float *c;  //[nu]
};

// What ROOT makes a dictionary of.
// dictionary: Plain
// dictionary: Hit
// dictionary: Track
// dictionary: ns::Inner
// dictionary: ns::Deep
// dictionary: Event
// dictionary: FromVec
// dictionary: FromPlain
// dictionary: NoMembers
// dictionary: OnEmpty
// dictionary: Padded
// dictionary: Unversioned
// dictionary: OnUnversioned
// dictionary: Counted
// dictionary: CountedInBase
// dictionary: EnumArray
// dictionary: EnumAlone
// dictionary: StdArray
// dictionary: ArrayOfArrays
// dictionary: Unique
// dictionary: Constant
// dictionary: Comments
// dictionary: Vectors
// dictionary: HasEmpty
// dictionary: TwoBases
// dictionary: Containers
// dictionary: Pointers
// dictionary: CountedByUnsigned
// dictionary: std::map<std::string,std::vector<Hit> >
// dictionary: std::map<std::string,ns::Inner>
// dictionary: std::map<int,std::string>
// dictionary: std::map<int,Hit*>
// dictionary: std::map<int,float>
// dictionary: std::multimap<int,int>
// dictionary: std::multiset<int>
// dictionary: std::deque<double>
// dictionary: std::unordered_map<int,int>
// dictionary: std::unordered_set<int>
// dictionary: std::list<Hit>
// dictionary: std::map<int,std::vector<Long64_t> >
// dictionary: std::forward_list<int>
// dictionary: std::unordered_multimap<int,float>
// dictionary: std::unordered_multiset<int>
// dictionary: std::multimap<int,Hit>
// dictionary: std::set<Hit*>
// dictionary: std::bitset<16>
