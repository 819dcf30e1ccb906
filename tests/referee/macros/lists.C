// Three files with lists of events, statistics, and collections of every kind: some empty, some longer than others, with gaps,
// with elements that ROOT merges and others.

#include <TEventList.h>
#include <TStatistic.h>
#include <TOrdCollection.h>
#include <TSortedList.h>

void make() {
  gROOT->cd();
  for (int k = 0; k < 3; k++) {
    TFile file(Form("lists%d.root", k), "RECREATE", "", 101);
    auto put = [&](TObject *object) { file.WriteTObject(object); };
    // Events.
    auto events = [&](const char *name, std::vector<Long64_t> of, int size = 0) {
      TEventList list(name, TString(name) == "events_untitled" && k == 1 ? "" : Form("of %d", k), size);
      list.SetDirectory(nullptr);
      for (auto event : of) list.Enter(event);
      put(&list);
    };
    events("events", {1, 5 + k, 9, 1000000LL * k, 5000000000LL}); events("events_empty_first", k ? std::vector<Long64_t>{k, 9} : std::vector<Long64_t>{}); events("events_empty_other", k == 1 ? std::vector<Long64_t>{} : std::vector<Long64_t>{3, k});
    events("events_untitled", {2 * k});
    events("events_apart", {10 * k + 3, 10 * k + 5}, 50); events("events_descending", {100 - k, 50 - k, 7});
    // Numbers.
    auto statistic = [&](const char *name, std::vector<double> of, bool weights) {
      TStatistic s(name);
      for (size_t i = 0; i < of.size(); i++) s.Fill(of[i], weights ? 0.5 + i : 1);
      s.Write(name);
    };
    statistic("statistic", {1.5, 2.5 * k, -7, 1e6}, false); statistic("statistic_weights", {1.0 * k, 2, 3, 4.25}, true); statistic("statistic_empty_first", k ? std::vector<double>{1.0 * k, 3} : std::vector<double>{}, true);
    statistic("statistic_empty_other", k == 1 ? std::vector<double>{} : std::vector<double>{2, 3.5}, false); statistic("statistic_one", {4.0 + k}, false); statistic("statistic_none", {}, false);
    // Lists.
    TClonesArray histograms("TH1D", 4), names("TNamed", 4), vectors("TLorentzVector", 3), empty("TNamed", 3), gaps("TNamed", 5), lengths("TH1D", 3);
    for (int i = 0; i < 3; i++) {
      auto h = new (histograms[i]) TH1D(Form("h%d", i), "", 4, 0, 4); h->Fill(i + 0.5, 1 + k); h->SetDirectory(nullptr);
      new (names[i]) TNamed(Form("n%d", i), Form("of %d", k)); new (vectors[i]) TLorentzVector(i, k, 2, 3);
      if (i != 1) new (gaps[i + k]) TNamed(Form("g%d", i), "");
      if (i <= k) (new (lengths[i]) TH1D(Form("h%d", i), "", 4, 0, 4))->Fill(1);
    }
    histograms.Write("clones_histograms", TObject::kSingleKey); names.Write("clones_names", TObject::kSingleKey); vectors.Write("clones_vectors", TObject::kSingleKey);
    gaps.BypassStreamer(false); empty.Write("clones_empty", TObject::kSingleKey); gaps.Write("clones_gaps", TObject::kSingleKey); lengths.Write("clones_lengths", TObject::kSingleKey);
    TOrdCollection ordered; TSortedList sorted; 
    for (int i = 0; i < 2; i++) {
      auto h = new TH1D(Form("h%d", i), "", 4, 0, 4); h->Fill(i + 0.5, 1 + k); h->SetDirectory(nullptr);
      ordered.Add(h); sorted.Add(h);
    }
    ordered.Add(new TNamed("n", Form("of %d", k)));
    ordered.Write("ordered", TObject::kSingleKey); sorted.Write("sorted", TObject::kSingleKey);
    TList longer, mixed; for (int i = 0; i <= k; i++) { auto h = new TH1D(Form("h%d", i), "", 4, 0, 4); h->SetDirectory(nullptr); h->Fill(1); longer.Add(h); }
    longer.Write("list_longer", TObject::kSingleKey);
    if (k) mixed.Add(new TNamed("a", "")); else { auto h = new TH1D("a", "", 4, 0, 4); h->SetDirectory(nullptr); mixed.Add(h); }
    mixed.Write("list_mixed", TObject::kSingleKey);
    TList inner, outer; auto h = new TH1D("a", "", 4, 0, 4); h->SetDirectory(nullptr); h->Fill(k); inner.Add(h); inner.Add(new TParameter<int>("p", k + 1)); outer.Add(&inner); outer.Add(new TGraph(1)); outer.Write("list_nested", TObject::kSingleKey);
  }
}
