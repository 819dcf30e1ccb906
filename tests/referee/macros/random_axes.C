// Three files with histograms and profiles of every kind, whose axes, labels, weights and entries are drawn by lot: what is said
// of the first may hold of the others or not. Left out is where hadd is known to go wrong: ranges of bins that are selected,
// values that are 0 in profiles, two bins of different widths, and profiles that keep weights in some inputs only.

template <class H> constexpr int dimensions = std::is_base_of_v<TH3, H> ? 3 : std::is_base_of_v<TH2, H> ? 2 : 1;
template <class H> constexpr bool is_profile = std::is_base_of_v<TProfile, H> || std::is_base_of_v<TProfile2D, H> || std::is_base_of_v<TProfile3D, H>;

template <class H> void one(TFile &file, const std::string &name, int lot, TRandom3 &own, int k) {
  TRandom3 common(lot);
  auto one_in = [&](int n) { return common.Integer(n) == 0; };
  int bins = 3 + common.Integer(6);
  double low = int(common.Integer(5)) - 2, width = 1 << common.Integer(4);
  const int vary = common.Integer(8), squares = common.Integer(4);
  const bool extend = one_in(4), labels = one_in(4), weights = one_in(3), keeps = one_in(3), overflows = one_in(6), uneven = one_in(5) && dimensions<H> == 1 && !extend, average = one_in(12);
  if (vary == 1) low += k * width;
  if (vary == 2) bins *= 1 + k;
  if (vary == 3) low += k * width * bins;
  if (vary == 4) bins += k;
  if (vary == 5 && k == 1) { bins *= 2; width /= 2; }
  const double high = low + width * bins;
  std::vector<double> edges;
  for (int i = 0; i <= bins; i++) edges.push_back(low + width * (i + (i % 2 ? 0.25 : 0)));
  H h = [&] {
    if constexpr (dimensions<H> == 3) return H("", "", bins, low, high, 3, 0, 3, 2, 0, 2);
    else if constexpr (dimensions<H> == 2) return H("", "", bins, low, high, 3, 0, 3);
    else return uneven ? H("", "", bins, edges.data()) : H("", "", bins, low, high);
  }();
  if constexpr (is_profile<H>) { if (weights) h.Sumw2(); }
  else if (keeps && (squares == 3 || squares == k)) h.Sumw2();
  for (int i = 0; labels && i < bins; i++) h.GetXaxis()->SetBinLabel(i + 1, Form("%c", 'a' + i + (vary == 6 ? 2 * k : 0)));
  if (extend) h.SetCanExtend(TH1::kXaxis);
  if (overflows) h.SetStatOverflows(TH1::kConsider);
  if (average) h.SetBit(TH1::kIsAverage);
  const int entries = own.Integer(4) == 0 ? 0 : own.Integer(50);
  for (int i = 0; i < entries; i++) {
    const double beyond = vary == 7 ? width : 0, x = own.Uniform(low - beyond, high + beyond), y = own.Uniform(-0.2, 3.2), z = own.Uniform(0, 2);
    const double value = 1.5 + own.Integer(9), w = weights ? 0.5 * (1 + own.Integer(4)) : 1;
    if constexpr (is_profile<H>) { if constexpr (dimensions<H> == 3) h.Fill(x, y, z, value, w); else if constexpr (dimensions<H> == 2) h.Fill(x, y, value, w); else h.Fill(x, value, w); }
    else { if constexpr (dimensions<H> == 3) h.Fill(x, y, z, w); else if constexpr (dimensions<H> == 2) h.Fill(x, y, w); else h.Fill(x, w); }
  }
  file.WriteTObject(&h, name.c_str());
}
template <class H> void all(TFile &file, const char *kind, TRandom3 &own, int k) {
  for (int lot = 1; lot <= 60; lot++) one<H>(file, Form("%s_%d", kind, lot), lot, own, k);
}
void make() {
  TH1::AddDirectory(false);
  for (int k = 0; k < 3; k++) {
    TFile file(Form("random_axes%d.root", k), "RECREATE", "", 101);
    TRandom3 own(k + 1);
    all<TH1D>(file, "h1d", own, k); all<TH1F>(file, "h1f", own, k); all<TH1S>(file, "h1s", own, k); all<TH2D>(file, "h2d", own, k); all<TH2I>(file, "h2i", own, k); all<TH3F>(file, "h3f", own, k);
    all<TProfile>(file, "p1", own, k); all<TProfile2D>(file, "p2", own, k); all<TProfile3D>(file, "p3", own, k);
  }
}
