// merger_cases CASE OUTPUT THREADS [SETTINGS]: fills OUTPUT in a way that ROOT's tests and tutorials of TBufferMerger fill theirs, and
// merger_cases check CASE OUTPUT says whether it holds every entry once, with its values. Compiled twice: with -DOURS the merger is
// basketry's. The lines under OURS are all that a program changes.
#ifdef OURS
#include <basketry_root.hpp>
using Merger = basketry::BufferMerger;
#else
#include <ROOT/TBufferMerger.hxx>
using Merger = ROOT::TBufferMerger;
#endif

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TClonesArray.h>
#include <TFile.h>
#include <TGraph.h>
#include <TH1.h>
#include <TH2.h>
#include <TList.h>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TParameter.h>
#include <TProfile.h>
#include <TROOT.h>
#include <TTree.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int entries = 4000;

/// The values of an entry: all follow from its number.
struct Values {
  int id = 0;
  double x = 0;
  std::vector<float> v;
  std::string s;
  TLorentzVector p;

  void set(int number) {
    id = number;
    x = number * 0.5;
    v.assign(number % 5, number * 0.25f);
    s = "entry " + std::to_string(number);
    p.SetPxPyPzE(number, number + 1, number + 2, 2 * number + 3);
  }
  bool operator==(const Values &o) const { return id == o.id && x == o.x && v == o.v && s == o.s && p == o.p; }
};

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

/// A tree with all kinds of branches, filled from one number on. Pointers live as long as this.
struct Filled {
  Values values;
  std::vector<float> *v = &values.v;
  std::string *s = &values.s;
  TLorentzVector *p = &values.p;
  TClonesArray tracks{"TLorentzVector", 4};
  TClonesArray *tracksAddress = &tracks;
  TTree *tree;

  Filled(TFile *file, const char *name, bool classes) {
    tree = new TTree(name, "a title", 99, file);
    tree->ResetBit(kMustCleanup);
    tree->Branch("id", &values.id);
    tree->Branch("x", &values.x);
    tree->Branch("v", &v);
    if (!classes) return;
    tree->Branch("s", &s);
    tree->Branch("p", "TLorentzVector", &p);
    tree->Branch("tracks", &tracksAddress);
  }
  void fill(int first, int last) {
    for (int i = first; i < last; ++i) {
      values.set(i);
      tracks.Clear("C");
      for (int k = 0; k < i % 3; ++k) new (tracks[k]) TLorentzVector(i, k, 0, 0);
      tree->Fill();
    }
  }
};

void in_threads(int threads, const std::function<void(int, int, int)> &work) {
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back(work, t, entries * t / threads, entries * (t + 1) / threads);
  for (auto &one : running) one.join();
}

/// Histograms of a file, one of each family. A file does not reset them when it is written.
struct Histograms {
  TH1I *h = new TH1I("h", "counts", 100, 0, entries);
  TH2D *w = new TH2D("w", "weights", 10, 0, entries, 10, 0, 1);
  TProfile *p = new TProfile("p", "profile", 20, 0, entries);

  explicit Histograms(TFile *file) {
    for (TH1 *one : {static_cast<TH1 *>(h), static_cast<TH1 *>(w), static_cast<TH1 *>(p)}) {
      one->ResetBit(kMustCleanup);
      one->SetDirectory(file);
    }
  }
  void reset() {
    for (TH1 *one : {static_cast<TH1 *>(h), static_cast<TH1 *>(w), static_cast<TH1 *>(p)}) one->Reset();
  }
  void fill(int first, int last) {
    for (int i = first; i < last; ++i) {
      h->Fill(i);
      w->Fill(i, 0.5, 2.0);
      p->Fill(i, i * 2.0);
    }
  }
};

#ifdef OURS
std::unique_ptr<Merger> begin(const char *output, const char *settings) {
  Merger::options more;
  more.settings = settings;
  return std::make_unique<Merger>(output, "RECREATE", ROOT::RCompressionSetting::EDefaults::kUseCompiledDefault, more);
}
std::shared_ptr<basketry::BufferMergerFile> file_of(Merger &merger, int task) { return merger.GetFile(task); }
#else
std::unique_ptr<Merger> begin(const char *output, const char *) { return std::make_unique<Merger>(output); }
std::shared_ptr<ROOT::TBufferMergerFile> file_of(Merger &merger, int) { return merger.GetFile(); }
#endif

void write(const std::string &which, const char *output, int threads, const char *settings) {
  auto merger = begin(output, settings);
  if (which == "sequential") {
    auto file = file_of(*merger, 0);
    Filled filled(file.get(), "t", false);
    filled.fill(0, entries);
    file->Write();
  } else if (which == "parallel" || which == "classes") {
    in_threads(threads, [&](int t, int first, int last) {
      auto file = file_of(*merger, t);
      Filled filled(file.get(), "t", which == "classes");
      filled.fill(first, last);
      file->Write();
    });
  } else if (which == "often" || which == "tasks") {
    // Many writes; with tasks each file is one, whatever thread fills it.
    const int pieces = 40;
    std::atomic<int> next{0};
    in_threads(threads, [&](int t, int, int) {
      auto own = which == "often" ? file_of(*merger, t) : nullptr;
      std::unique_ptr<Filled> filled;
      for (int piece; (piece = next++) < pieces;) {
        auto file = own ? own : file_of(*merger, piece);
        if (!filled || !own) filled = std::make_unique<Filled>(file.get(), "t", true);
        filled->fill(entries * piece / pieces, entries * (piece + 1) / pieces);
        if (which == "tasks") Histograms(file.get()).fill(entries * piece / pieces, entries * (piece + 1) / pieces);
        file->Write();
      }
    });
  } else if (which == "histograms") {
    in_threads(threads, [&](int t, int first, int last) {
      auto file = file_of(*merger, t);
      Histograms all(file.get());
      all.fill(first, (first + last) / 2);
      file->Write();
      all.reset();
      all.fill((first + last) / 2, last);
      file->Write();
    });
  } else if (which == "several") {
    in_threads(threads, [&](int t, int first, int last) {
      auto file = file_of(*merger, t);
      Filled one(file.get(), "t", false);
      auto *below = file->mkdir("d/e", "", true);
      auto *two = new TTree("u", "another", 99, below);
      two->ResetBit(kMustCleanup);
      int number = 0;
      two->Branch("n", &number);
      for (number = first; number < last; ++number) two->Fill();
      one.fill(first, last);
      file->Write();
    });
  } else if (which == "objects") {
    in_threads(threads, [&](int t, int first, int last) {
      auto file = file_of(*merger, t);
      file->cd();
      TGraph graph(1);
      graph.SetPoint(0, t, t);
      TParameter<Long64_t> sum("sum", last - first, '+');
      file->WriteTObject(&graph, "graph");
      file->WriteTObject(&sum, "sum");
      TNamed note("note", "the same in all");
      file->WriteTObject(&note);
      Filled filled(file.get(), "t", false);
      filled.fill(first, last);
      file->Write();
    });
  } else if (which == "ntuple") {
    in_threads(threads, [&](int t, int first, int last) {
      auto file = file_of(*merger, t);
      for (int half : {0, 1}) {
        auto model = ROOT::RNTupleModel::Create();
        auto id = model->MakeField<int>("id");
        auto v = model->MakeField<std::vector<float>>("v");
        auto s = model->MakeField<std::string>("s");
        {
          auto writer = ROOT::RNTupleWriter::Append(std::move(model), "t", *file);
          const int middle = (first + last) / 2;
          for (int i = half ? middle : first; i < (half ? last : middle); ++i) {
            Values values;
            values.set(i);
            *id = i, *v = values.v, *s = values.s;
            writer->Fill();
          }
        }
        file->Write();
      }
    });
  } else {
    fail("no such case: " + which);
  }
}

void check_tree(TFile &file, bool classes) {
  std::unique_ptr<TTree> tree(file.Get<TTree>("t"));
  if (!tree || tree->GetEntries() != entries) fail("a tree of other entries");
  if (std::string(tree->GetTitle()) != "a title") fail("another title");
  Values read, expected;
  auto *v = &read.v;
  auto *s = &read.s;
  auto *p = &read.p;
  auto *tracks = new TClonesArray("TLorentzVector");
  tree->SetBranchAddress("id", &read.id);
  tree->SetBranchAddress("x", &read.x);
  tree->SetBranchAddress("v", &v);
  if (classes) {
    tree->SetBranchAddress("s", &s);
    tree->SetBranchAddress("p", &p);
    tree->SetBranchAddress("tracks", &tracks);
  }
  std::set<int> seen;
  for (Long64_t i = 0; i < entries; ++i) {
    if (tree->GetEntry(i) <= 0) fail("an entry cannot be read");
    expected.set(read.id);
    if (!classes) expected.s = read.s, expected.p = read.p;
    if (!(read == expected) || !seen.insert(read.id).second) fail("entry " + std::to_string(i) + " has other values");
    if (!classes) continue;
    if (tracks->GetEntriesFast() != read.id % 3) fail("other tracks");
    for (int k = 0; k < read.id % 3; ++k)
      if (!(*static_cast<TLorentzVector *>(tracks->At(k)) == TLorentzVector(read.id, k, 0, 0))) fail("another track");
  }
}

void check_histograms(TFile &file) {
  auto *h = file.Get<TH1I>("h");
  auto *w = file.Get<TH2D>("w");
  auto *p = file.Get<TProfile>("p");
  if (!h || !w || !p) fail("a histogram is not there");
  if (h->GetEntries() != entries || h->Integral() != entries) fail("h has other entries");
  if (w->GetEntries() != entries || w->Integral() != 2.0 * entries) fail("w has other entries");
  for (int bin = 1; bin <= 100; ++bin)
    if (h->GetBinContent(bin) != entries / 100) fail("a bin of h");
  for (int bin = 1; bin <= 20; ++bin) {
    const int first = entries / 20 * (bin - 1);
    if (p->GetBinEntries(bin) != entries / 20 || std::abs(p->GetBinContent(bin) - (2 * first + entries / 20 - 1)) > 1e-6) fail("a bin of p");
  }
}

void check(const std::string &which, const char *output) {
  std::unique_ptr<TFile> file(TFile::Open(output));
  if (!file || file->IsZombie() || file->TestBit(TFile::kRecovered)) fail("no file, or one that is not whole");
  if (which == "ntuple") {
    auto reader = ROOT::RNTupleReader::Open("t", output);
    if (reader->GetNEntries() != entries) fail("an RNTuple of other entries");
    auto id = reader->GetView<int>("id");
    auto v = reader->GetView<std::vector<float>>("v");
    auto s = reader->GetView<std::string>("s");
    std::set<int> seen;
    for (auto i : reader->GetEntryRange()) {
      Values expected;
      expected.set(id(i));
      if (v(i) != expected.v || s(i) != expected.s || !seen.insert(id(i)).second) fail("entry " + std::to_string(i));
    }
    return;
  }
  if (which == "histograms" || which == "tasks") check_histograms(*file);
  if (which != "histograms") check_tree(*file, which == "classes" || which == "often" || which == "tasks");
  if (which == "several") {
    auto *tree = file->Get<TTree>("d/e/u");
    if (!tree || tree->GetEntries() != entries) fail("the tree below");
    int number = 0;
    std::set<int> seen;
    tree->SetBranchAddress("n", &number);
    for (Long64_t i = 0; i < entries; ++i) {
      tree->GetEntry(i);
      seen.insert(number);
    }
    if (seen.size() != entries || *seen.rbegin() != entries - 1) fail("the tree below has other values");
  }
  if (which == "objects") {
    auto *sum = file->Get<TParameter<Long64_t>>("sum");
    auto *note = file->Get<TNamed>("note");
    auto *graph = file->Get<TGraph>("graph");
    if (!sum || sum->GetVal() != entries) fail("the sum");
    if (!note || std::string(note->GetTitle()) != "the same in all") fail("the note");
    if (!graph || graph->GetN() < 1) fail("the graph");
  }
}

} // namespace

int main(int argc, char **argv) {
  ROOT::EnableThreadSafety();
  TH1::AddDirectory(false);
  if (argc == 4 && std::string(argv[1]) == "check") {
    check(argv[2], argv[3]);
  } else if (argc == 4 || argc == 5) {
    write(argv[1], argv[2], std::atoi(argv[3]), argc == 5 ? argv[4] : "");
  } else {
    fail("merger_cases CASE OUTPUT THREADS [SETTINGS], or merger_cases check CASE OUTPUT");
  }
}
