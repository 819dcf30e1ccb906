// Three files with objects attached to histograms, graphs and lists, for merging: functions, fits, contours, options of profiles,
// averages, efficiencies of all kinds, lists and stacks of unequal length and order, parameters, other classes in them.

#include <THn.h>
#include <THnSparse.h>
#include <TCutG.h>
#include <TEfficiency.h>
#include <TEventList.h>
#include <TGraphAsymmErrors.h>
#include <TGraphBentErrors.h>
#include <TGraphPolar.h>
#include <TLine.h>
#include <THashList.h>
#include <THStack.h>
#include <TStatistic.h>

void make() {
  TH1::AddDirectory(false);
  for (int k = 0; k < 3; k++) {
    TFile file(Form("attached%d.root", k), "RECREATE", "", 101);
    TRandom3 random(5 + k);
    auto put = [&](TObject *object, const char *name = "") { file.cd(); object->Write(*name ? name : nullptr, TObject::kSingleKey); };
    auto h = [&](const char *name, double low = 0) { auto h = new TH1D(name, "", 4, low, low + 4); h->Fill(low + 1 + k % 2); return h; };
    auto line = [] { return new TF1("line", "[0]*x", 0, 5); };
    // On histograms: kept where axes stay, dropped where they are redefined.
    for (double step : {0., 4.}) {
      auto with = h(step ? "functions_apart" : "functions", step * k); with->GetListOfFunctions()->Add(line()); with->GetListOfFunctions()->Add(new TLine(0, 0, 1, 1)); put(with);
      TH2D contours(step ? "contours_apart" : "contours", "", 4, step * k, step * k + 4, 4, 0, 4); double levels[] = {1, 2, 3}; contours.SetContour(3, levels); contours.Fill(step * k + 1, 1); put(&contours);
      auto box = h(step ? "box_apart" : "box", step * k); box->GetListOfFunctions()->Add(new TNamed("stats", "as the box is called")); box->GetListOfFunctions()->Add(line()); put(box);
    }
    TH1D fitted("fitted", "", 20, -3, 3); fitted.FillRandom("gaus", 500, &random); fitted.Fit("gaus", "Q0"); put(&fitted);
    TH1D average("average_first", "", 4, 0, 4); average.Sumw2(); average.Fill(1, 2); if (!k) average.SetBit(TH1::kIsAverage); put(&average);
    TH1D unweighted("never_weighted", "", 4, 0, 4); unweighted.Sumw2(false); unweighted.SetBit(TH1::kIsNotW); unweighted.Fill(1, 3.5); put(&unweighted);
    TH1D sums("sums_by_hand", "", 4, 0, 4); sums.Fill(1.2); double of[] = {5, 6, 7, 8}; sums.PutStats(of); sums.SetEntries(77); put(&sums);
    TH1D overflows("overflows_differ", "", 4, 0, 4); overflows.SetStatOverflows(k ? TH1::kConsider : TH1::kIgnore); overflows.Fill(-1); overflows.Fill(2); put(&overflows);
    TH1F odd("not_a_number", "", 3, 0, 3); odd.SetBinContent(1, NAN); odd.SetBinContent(2, INFINITY); put(&odd);
    for (auto option : {"", "s", "i", "g"}) { TProfile p(Form("profile_%s", option), "", 4, 0, 4, option); for (int i = 0; i < 10; i++) p.Fill(random.Uniform(4), random.Gaus(), 1 + random.Uniform()); put(&p); }
    TProfile options("profile_options", "", 4, 0, 4, k ? "s" : "i"), limits("profile_limits", "", 4, 0, 4, -1, k ? 1 : 2); for (double y : {0.5, 1.5}) { options.Fill(1, y); limits.Fill(1, y); } put(&options); put(&limits);
    int bins2[] = {3, 3}; double low2[] = {0, 0}, high2[] = {3, 3}, at[] = {1, 1.0 * k};
    THnT<UShort_t> shorts("unsigned_short", "", 2, bins2, low2, high2); THnT<UInt_t> ints("unsigned_int", "", 2, bins2, low2, high2); THnT<ULong64_t> longs("unsigned_long", "", 2, bins2, low2, high2);
    for (THnBase *n : std::vector<THnBase *>{&shorts, &ints, &longs}) { n->Fill(at, 3); put(n); }
    // Graphs.
    double x[] = {1, 2, 3}, y[] = {1, 2.0 * k, 3}, e[] = {0.1, 0.2, 0.3};
    TGraph graph(3, x, y), empty, framed(3, x, y); graph.Fit("pol1", "Q0"); if (k) empty.SetPoint(0, 1, 2); framed.GetHistogram(); put(&graph, "graph_fitted"); put(&empty, "graph_empty_first"); put(&framed, "graph_framed");
    TGraphBentErrors bent(3, x, y, e, e, e, e, e, e, e, e); put(&bent, "graph_bent"); TGraphPolar polar(3, x, y, e, e); put(&polar, "graph_polar"); TCutG cut("cut", 3, x, y); put(&cut);
    // Efficiencies.
    auto efficiency = [&](const char *name, int dimensions, bool weights, auto change) {
      TEfficiency *e = dimensions == 1 ? new TEfficiency(name, "", 5, 0, 5) : dimensions == 2 ? new TEfficiency(name, "", 5, 0, 5, 3, 0, 3) : new TEfficiency(name, "", 5, 0, 5, 3, 0, 3, 2, 0, 2);
      if (weights) e->SetUseWeightedEvents();
      change(e);
      for (int i = 0; i < 40; i++) { const bool pass = random.Uniform() < 0.5; const double x = random.Uniform(5), y = random.Uniform(3), z = random.Uniform(2); if (weights) e->FillWeighted(pass, 0.5 + k, x, y, z); else e->Fill(pass, x, y, z); }
      put(e);
    };
    auto as_it_is = [](TEfficiency *) {};
    for (int d : {1, 2, 3}) efficiency(Form("efficiency_%d", d), d, false, as_it_is);
    efficiency("efficiency_weights", 1, true, as_it_is); efficiency("efficiency_bayes", 1, false, [](auto e) { e->SetStatisticOption(TEfficiency::kBBayesian); }); efficiency("efficiency_options", 1, false, [&](auto e) { if (k) e->SetStatisticOption(TEfficiency::kFWilson); });
    efficiency("efficiency_weight", 1, false, [&](auto e) { e->SetWeight(1 + k); }); efficiency("efficiency_function", 1, false, [&](auto e) { e->GetListOfFunctions()->Add(line()); }); efficiency("efficiency_bin", 1, false, [&](auto e) { e->SetBetaBinParameters(1, 2 + k, 3); });
    TEfficiency later("efficiency_empty_first", "", 4, 0, 4), bins("efficiency_misfit", "", 4 + k, 0, 4); if (k) later.Fill(true, 1); bins.Fill(true, 1); put(&later); put(&bins);
    // Lists and stacks.
    auto list = [&](const char *name, std::vector<TObject *> objects, const char *option = "") { TList l; for (auto o : objects) l.Add(o, option); put(&l, name); };
    list("list_options", {h("a"), h("b")}, "hist"); list("list_empty_first", k ? std::vector<TObject *>{h("a")} : std::vector<TObject *>{}); list("list_empty_middle", k == 1 ? std::vector<TObject *>{} : std::vector<TObject *>{h("a")});
    list("list_order", {h(k ? "b" : "a"), h(k ? "a" : "b")}); list("list_shorter", k == 2 ? std::vector<TObject *>{h("a")} : std::vector<TObject *>{h("a"), h("b")}); list("list_classes", {k ? (TObject *)h("a") : new TH1F("a", "", 4, 0, 4)});
    list("list_all", {h("a"), new TNamed("n", Form("%d", k)), new TParameter<double>("p", k), new TGraph(1), new TStatistic("s"), new TEventList("e"), new TObjString("x"), h("last")});
    THashList hashed; hashed.Add(h("a")); hashed.Add(h("b")); put(&hashed, "list_hashed");
    for (bool reversed : {false, true}) { THStack s(reversed ? "stack_order" : "stack", "title"); const bool other = reversed && k; s.Add(h(other ? "b" : "a"), "hist"); s.Add(h(other ? "a" : "b")); put(&s); }
    // Parameters whose modes differ, or are the default, and such as are negative.
    TParameter<int>("m", k + 1, k ? 'M' : '+').Write("parameter_modes"); TParameter<double>("d", 2).Write("parameter_default"); for (char mode : std::string("+*Mmfl")) TParameter<Long_t>("n", -1 - k, mode).Write(Form("parameter_%d", mode));
    // Names that look like cycles, and objects of one input alone.
    put(h("name;3"), "name;3"); put(h("plain"), "plain;x"); TNamed("kept;2", Form("%d", k)).Write(); auto below = file.mkdir("deep/er/est"); file.GetDirectory("deep/er/est")->WriteTObject(h("inside"));
    if (k == 1) put(h("middle_only")); else put(h("not_middle"));
  }
}
