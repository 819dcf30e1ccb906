// Three files with histograms and profiles of one to three dimensions, each merged in all ways that axes, weights and labels ask
// for: equal axes, axes apart, bins in ratio, labels in other orders and of some bins only, axes that grow, axes without limits.

enum { ALL = 0, FIRST = 1, MIDDLE = 2 };

template <class H> constexpr int dimensions = std::is_base_of_v<TH3, H> ? 3 : std::is_base_of_v<TH2, H> ? 2 : 1;
template <class H> constexpr bool is_profile = std::is_base_of_v<TProfile, H> || std::is_base_of_v<TProfile2D, H> || std::is_base_of_v<TProfile3D, H>;

template <class H> void cases(TFile &file, const std::string &prefix, int k) {
  TRandom3 random(3 + k);
  auto of = [&](int bins, double low, double high) {
    if constexpr (dimensions<H> == 3) return H("h", "", bins, low, high, bins + 1, low, high, bins + 2, low, high);
    else if constexpr (dimensions<H> == 2) return H("h", "", bins, low, high, bins + 1, low, high);
    else return H("h", "", bins, low, high);
  };
  auto fill = [&](H &h, double low, double high, bool weights = false) {
    for (int i = 0; i < 60; i++) {
      const double x = random.Uniform(low, high), y = random.Uniform(low, high), z = random.Uniform(low, high), value = random.Gaus(3), w = weights ? 0.5 + random.Integer(4) : 1;
      if constexpr (is_profile<H>) { if constexpr (dimensions<H> == 3) h.Fill(x, y, z, value, w); else if constexpr (dimensions<H> == 2) h.Fill(x, y, value, w); else h.Fill(x, value, w); }
      else { if constexpr (dimensions<H> == 3) h.Fill(x, y, z, w); else if constexpr (dimensions<H> == 2) h.Fill(x, y, w); else h.Fill(x, w); }
    }
  };
  auto put = [&](const char *name, H &&h) { file.WriteTObject(&h, (prefix + name).c_str()); };
  auto filled = [&](const char *name, int bins, double low, double high, double from, double to, bool weights = false) { auto h = of(bins, low, high); fill(h, from, to, weights); put(name, std::move(h)); };
  // Weights.
  filled("same", 5, 0, 10, -1, 11); filled("weights", 5, 0, 10, -1, 11, true); filled("weights_middle", 5, 0, 10, -1, 11, k == 1);
  for (int which : {0, 1}) { auto h = of(5, 0, 10); if (k == which) h.Sumw2(); fill(h, -1, 11); put(which ? "squares_middle" : "squares_first", std::move(h)); }
  // Axes.
  filled("apart", 5, 10 * k, 10 * k + 10, 10 * k, 10 * k + 10); filled("overlapping", 10, 5 * k, 5 * k + 10, 5 * k, 5 * k + 10);
  filled("in_ratio", k ? 4 : 8, 0, 8, 0, 8); filled("outside", 5, k, k + 10, -1, 12);
  auto with = [&](const char *name, double low, double high, double from, double to, auto change, int who = ALL) {
    auto h = of(8, low, high); change(h);
    if (who == ALL || (who == FIRST && k > 0) || (who == MIDDLE && k == 1)) fill(h, from, to);
    put(name, std::move(h));
  };
  with("grows", 0, 10, 0, 9 << k, [](H &h) { h.SetCanExtend(TH1::kAllAxes); }); with("grows_x", 0, 10, -(3 << k), 9, [](H &h) { h.SetCanExtend(TH1::kXaxis); });
  with("selected", 0, 8, 0, 8, [&](H &h) { h.GetXaxis()->SetRange(2 + k, 5); }); with("overflows", 0, 8, -1, 9, [](H &h) { h.SetStatOverflows(TH1::kConsider); });
  with("middle_only", 0, 8, 0, 8, [](H &) {}, MIDDLE); with("empty_first", 0, 8, 0, 8, [](H &) {}, FIRST); with("average", 0, 8, 0, 8, [](H &h) { h.SetBit(TH1::kIsAverage); });
  { auto h = of(8, 0, 8); fill(h, -1, 9); h.ResetStats(); put("sums_anew", std::move(h)); } { auto h = of(8, 0, 8); fill(h, 0, 8); h.Scale(0.5); put("scaled", std::move(h)); }
  if constexpr (!is_profile<H>) { with("no_limits", 1, 0, -3, 5 + k, [](H &) {}); with("no_limits_later", k ? 1 : 0, k ? 0 : 8, -3, 5 + k, [](H &) {}); }
  // Labels: of three-dimensional ones hadd takes the labels of the y axis for z, so those have labels along x alone.
  const std::vector<const char *> a{"a", "b", "c", "d", "e", "f", "g"}, b{"c", "a", "b", "e", "d", "g", "f"}, c{"g", "z", "a", "x", "y", "b", "w"}, some{"a", "", "c", "", "e"}, others{"e", "c", "", "", "a"};
  auto labelled = [&](const char *name, const std::vector<const char *> &labels, bool extend, int bins = 5, bool fills = true) {
    auto h = of(bins, 0, bins);
    TAxis *axes[] = {h.GetXaxis(), h.GetYaxis(), h.GetZaxis()};
    const int last = dimensions<H> == 2 ? 2 : 1;
    for (int d = 0; d < last; d++)
      for (int i = 0; i < axes[d]->GetNbins() && i < (int)labels.size(); i++)
        if (*labels[i]) axes[d]->SetBinLabel(i + 1, Form("%s%d", labels[i], d));
    if (extend) h.SetCanExtend(last == 2 ? TH1::kAllAxes : TH1::kXaxis);
    if (fills) fill(h, 0, bins - 0.001);
    put(name, std::move(h));
  };
  labelled("labels", a, true); labelled("labels_order", k ? b : a, true); labelled("labels_other", k == 0 ? a : k == 1 ? c : b, true); labelled("labels_more", k ? b : a, true, 5 + k);
  labelled("labels_some", some, true); labelled("labels_some_order", k ? others : some, true); labelled("labels_fixed", k ? b : a, false); labelled("labels_fixed_some", k ? others : some, false);
  labelled("labels_not_middle", k == 1 ? std::vector<const char *>{} : a, true); labelled("labels_middle_only", k == 1 ? a : std::vector<const char *>{}, true); labelled("labels_empty_first", a, true, 5, k > 0);
}
void make() {
  TH1::AddDirectory(false);
  for (int k = 0; k < 3; k++) {
    TFile file(Form("axes%d.root", k), "RECREATE", "", 101);
    cases<TH1D>(file, "h1d_", k); cases<TH1I>(file, "h1i_", k); cases<TH2F>(file, "h2f_", k); cases<TH3D>(file, "h3d_", k);
    cases<TProfile>(file, "p1_", k); cases<TProfile2D>(file, "p2_", k); cases<TProfile3D>(file, "p3_", k);
  }
}
