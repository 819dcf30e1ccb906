// Three files whose equal-named objects hadd merges in all its ways: axes of other limits and lengths, labels in other
// orders, counts that reach their largest value, waiting entries, graphs, parameters, lists, directories, cycles.

#include <TEfficiency.h>
#include <TGraphAsymmErrors.h>
#include <TGraphErrors.h>
#include <THStack.h>
#include <TMap.h>

template <class H> H *numbers(const char *name, int bins, double low, double high, std::vector<double> values, bool weights = false) {
  auto h = new H(name, name, bins, low, high);
  if (weights) h->Sumw2();
  for (size_t i = 0; i < values.size(); i++) h->Fill(values[i], weights ? 1.5 + i : 1.0);
  return h;
}
template <class H> H *words(const char *name, int bins, std::string labels) {
  auto h = new H(name, name, bins, 0, bins);
  h->SetCanExtend(TH1::kXaxis);
  for (size_t i = 0; i < labels.size(); i++) h->Fill(std::string(1, labels[i]).c_str(), 1.0 + i);
  return h;
}
template <> TProfile *words(const char *name, int bins, std::string labels) {
  auto p = new TProfile(name, name, bins, 0, bins);
  p->SetCanExtend(TH1::kXaxis);
  for (size_t i = 0; i < labels.size(); i++) p->Fill(std::string(1, labels[i]).c_str(), 2.0 + i, 1.5);
  return p;
}
TH1D *waiting(const char *name, bool limits, int entries) {
  auto h = new TH1D(name, name, 10, 0, limits ? 10 : 0);
  h->SetBuffer(100);
  for (int i = 0; i < entries; i++) h->Fill(i * 7 % 10 + 0.5, 1 + i % 3);
  return h;
}
TProfile *profile(const char *name, double low, bool weights) {
  auto p = new TProfile(name, name, 4, low, low + 4);
  if (weights) p->Sumw2();
  for (int i = 0; i < 4; i++) { p->Fill(low + i + 0.5, i + 1, 2); p->Fill(low + i + 0.5, i * i, 1); }
  return p;
}
void make() {
  TH1::AddDirectory(false);
  for (int k = 0; k < 3; k++) {
    TFile file(Form("objects%d.root", k), "RECREATE", "", 101);
    TRandom3 random(30 + k);
    auto put = [&](TObject *object) { file.WriteTObject(object); };
    // Limits: apart, overlapping, bins in ratio, of other widths, none of these; empty ones; ranges and limits of drawing.
    put(numbers<TH1F>("apart", 10, 20 * k, 20 * k + 10, {20 * k + 5.5}));
    put(numbers<TH1D>("overlapping", 10, 5 * k, 5 * k + 10, {5 * k + 4.5, 5 * k + 9.5}, k == 1));
    put(numbers<TH1I>("in_ratio", 10 * (k + 1 + (k == 2)), 0, 10, {3, 3.1, 7}));
    put(numbers<TH1F>("misfit", 10 + k, 0, 10, {5}));
    put(numbers<TH1F>("shifted", 10, k / 3.0, 10 + k / 3.0, {5}));
    put(numbers<TH1F>("empty_first", 10, 0, 10, k ? std::vector<double>{5, 6} : std::vector<double>{}));
    put(numbers<TH1F>("empty_other", 10, 10 * k, 10 * k + 10, k == 1 ? std::vector<double>{} : std::vector<double>{10.0 * k + 1}));
    double edges[] = {0, 1, 3, 7, 10.0};
    TH1F variable("variable", "", 4, edges); variable.Fill(2 + k); put(&variable);
    edges[4] += k; TH1F uneven("uneven", "", 4, edges); uneven.Fill(2); put(&uneven);
    auto drawn = numbers<TH1D>("drawn", 10, 0, 10, {1, 3, 3, 8}); drawn->GetXaxis()->SetRange(2, 5); drawn->SetMaximum(5 + k); put(drawn);
    auto overflow = numbers<TH1D>("overflow", 4, 0, 4, {}); overflow->SetStatOverflows(TH1::kConsider); overflow->SetBinContent(0, 3); overflow->SetBinContent(5, 1); put(overflow);
    TH2F plane("plane", "", 10, 10 * k, 10 * k + 10, 4, 0, 4); TH3D space("space", "", 5, 0, 5, 4, 4 * k, 4 * k + 4, 2, 0, 2);
    for (int i = 0; i < 50; i++) { double x = random.Uniform(), y = random.Uniform(), z = random.Uniform(); plane.Fill(10 * (k + x), 4 * y); space.Fill(5 * x, 4 * (k + y), 2 * z, z); }
    put(&plane); put(&space);
    // Counts at their limits, weights in some inputs only.
    auto bytes = numbers<TH1C>("bytes", 2, 0, 2, {}); bytes->SetBinContent(1, 100); bytes->SetBinContent(2, -100); put(bytes);
    auto shorts = numbers<TH1S>("shorts", 2, 0, 2, {}); shorts->SetBinContent(1, 20000); shorts->SetBinContent(2, -20000); put(shorts);
    auto ints = numbers<TH1I>("ints", 2, 0, 2, {}); ints->SetBinContent(1, 2e9); ints->SetBinContent(2, -2e9); put(ints);
    put(numbers<TH1D>("weights_first", 4, 0, 4, {1, 2, 2}, k == 0)); put(numbers<TH1D>("weights_later", 4, 0, 4, {1, 2, 2}, k == 1));
    auto negative = numbers<TH1D>("negative", 4, 0, 4, {}, k == 0); negative->SetBinContent(2, -3); put(negative);
    auto average = numbers<TH1D>("average", 4, 0, 4, {1, 2, 2}, true); average->SetBit(TH1::kIsAverage); put(average);
    // Labels.
    const char *some[] = {"abc", "bcde", "cdefg"}, *more[] = {"ab", "bcd", "xyz"}, *none[] = {"", "pq", "qrs"};
    put(words<TH1D>("labels", 3, some[k])); put(words<TH1F>("labels_lengths", k + 2, more[k])); put(words<TH1D>("labels_empty_first", 2, none[k]));
    put(words<TProfile>("labels_profile", 2 + 2 * k, more[k]));
    auto unnamed = words<TH1D>("labels_and_none", 6, more[k]); if (k) { unnamed->SetBinContent(4, 9); unnamed->SetBinContent(5, 11); } put(unnamed);
    TH1D fixed("labels_fixed", "", 3, 0, 3); for (int i = 1; i < 4; i++) { fixed.GetXaxis()->SetBinLabel(i, Form("%d", k == 1 ? 4 - i : i)); fixed.SetBinContent(i, i + k); } put(&fixed);
    TH2D both("labels_both", "", 2, 0, 2, 2, 0, 2); TH2D mixed("labels_mixed", "", 2, 0, 2, 4, 0, 4); both.SetCanExtend(TH1::kAllAxes); mixed.SetCanExtend(TH1::kXaxis);
    for (int i = 0; i <= k; i++) { both.Fill(Form("x%d", i), Form("y%d", k + i), 2.0); mixed.Fill(Form("x%d", 2 * i), i + 0.5, 2.0); }
    put(&both); put(&mixed);
    // Waiting entries.
    put(waiting("waiting", false, 5 + k)); put(waiting("waiting_first", k > 0, 6)); put(waiting("waiting_later", k == 0, 6)); put(waiting("waiting_none", k > 0, k ? 4 : 0));
    // Profiles.
    put(profile("profile", 0, false)); put(profile("profile_apart", 4 * k, true)); put(profile("profile_first", 0, k == 0)); put(profile("profile_later", 0, k == 1));
    TProfile2D p2("profile2", "", 4, 4 * k, 4 * k + 4, 2, 0, 2); for (int i = 0; i < 20; i++) p2.Fill(4 * (k + random.Uniform()), 2 * random.Uniform(), random.Gaus()); put(&p2);
    // Graphs, parameters, lists.
    TGraph graph(3 + k); TGraphErrors errors(3 + k); TGraphAsymmErrors asymmetric(3 + k);
    for (int i = 0; i < 3 + k; i++) { graph.SetPoint(i, i, k); errors.SetPoint(i, i, k); errors.SetPointError(i, 0.1 * i, 0.2); asymmetric.SetPoint(i, k, i); asymmetric.SetPointError(i, 1, 2, 3, i); }
    graph.Write("graph"); errors.Write("graph_errors"); asymmetric.Write("graph_asymmetric");
    for (char mode : std::string("+*Mmfl")) {
      TParameter<double>("d", 3 + k * 2 % 3, mode).Write(Form("double_%d", mode)); TParameter<int>("i", 3 + k * 2 % 3, mode).Write(Form("int_%d", mode));
      TParameter<float>("f", 0.5f + k, mode).Write(Form("float_%d", mode)); TParameter<Long64_t>("l", 1LL << (40 + k), mode).Write(Form("long_%d", mode)); TParameter<bool>("b", k == 1, mode).Write(Form("bool_%d", mode));
    }
    TList list; list.Add(numbers<TH1D>("in_list", 5, 0, 5, {1.0 + k})); list.Add(new TObjString(Form("text %d", k))); list.Add(new TGraph(graph)); list.Write("list", TObject::kSingleKey);
    TObjArray array; array.Add(numbers<TH1F>("in_array", 5, 5 * k, 5 * k + 5, {5 * k + 1.5})); array.Write("array", TObject::kSingleKey);
    THStack stack("stack", "stack"); stack.Add(numbers<TH1D>("one", 5, 0, 5, {1})); stack.Add(numbers<TH1D>("two", 5, 0, 5, {2.0 + k})); put(&stack);
    TEfficiency efficiency("efficiency", "", 5, 0, 5); for (int i = 0; i < 40; i++) efficiency.Fill(random.Uniform() < 0.5, 5 * random.Uniform()); put(&efficiency);
    // Not merged: all are kept. Cycles, directories, objects of some inputs only.
    TNamed("named", Form("of file %d", k)).Write(); TObjString(Form("text %d", k)).Write("string");
    TMap map; map.Add(new TObjString("key"), new TObjString(Form("value %d", k))); map.Write("map", TObject::kSingleKey);
    TNamed("cycles", Form("old %d", k)).Write(); TNamed("cycles", Form("new %d", k)).Write();
    put(numbers<TH1F>("histogram_cycles", 4, 0, 4, {1})); put(numbers<TH1F>("histogram_cycles", 4, 0, 4, {1, 2}));
    auto folder = file.mkdir("folder", Form("of file %d", k)), below = folder->mkdir("below");
    auto inside = numbers<TH1F>("inside", 4, 0, 4, {1}); folder->WriteTObject(inside); below->WriteTObject(inside); below->WriteTObject(inside, Form("inside_%d", k));
    if (k == 1) file.mkdir("late")->WriteTObject(inside);
    file.cd(); put(numbers<TH1F>(Form("only_%d", k), 4, 0, 4, {1}));
  }
}
