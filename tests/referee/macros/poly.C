// Three files with histograms of polygons: other contents, weights in some, bins of several polygons, bins that differ, profiles.

#include <TH2Poly.h>
#include <TMultiGraph.h>
#include <TProfile2Poly.h>

template <class H> void shapes(H &h, int k, bool differ) {
  h.AddBin(0, 0, 2, 3);
  double x[] = {2, 5, 5, 3}, y[] = {0, 0, 4, 5}, tx[] = {6, 8, 7}, ty[] = {6, 6, 9};
  h.AddBin(4, x, y);
  auto two = new TMultiGraph();
  two->Add(new TGraph(3, tx, ty));
  double ux[] = {1, 2, 2}, uy[] = {8, 8, 9.0 + (differ && k == 1)};
  two->Add(new TGraph(3, ux, uy));
  h.AddBin(two);
}
void make() {
  TH1::AddDirectory(false);
  for (int k = 0; k < 3; k++) {
    TFile file(Form("poly%d.root", k), "RECREATE", "", 101);
    TRandom3 random(7 + k);
    auto poly = [&](const char *name, int entries, bool weights, int differ = 0) {
      TH2Poly h(name, name, 0, 10, 0, 10);
      shapes(h, k, differ == 1);
      if (differ == 2 && k == 1) h.AddBin(9, 9, 10, 10);
      if (weights) h.Sumw2();
      for (int i = 0; i < entries; i++) { double x = 14 * random.Uniform() - 2, y = 14 * random.Uniform() - 2; if (weights) h.Fill(x, y, 0.5 + i % 4); else h.Fill(x, y); }
      h.Write();
    };
    poly("poly", 200, false); poly("poly_weights", 200, true); poly("poly_weights_first", 100, k == 0); poly("poly_weights_later", 100, k == 1);
    poly("poly_empty_first", k ? 50 : 0, false); poly("poly_empty_other", k == 1 ? 0 : 50, true); poly("poly_limits", 50, false, 1); poly("poly_bins", 50, false, 2);
    TH2Poly floating; floating.SetName("poly_floating"); floating.SetTitle(""); floating.AddBin(0, 0, 1, 1); floating.AddBin(3, 3, 4, 7); for (int i = 0; i < 30; i++) floating.Fill(4 * random.Uniform(), 7 * random.Uniform()); floating.Write();
    TH2Poly comb("poly_comb", "", 0, 30, 0, 30); comb.Honeycomb(0, 0, 1, 12, 12); for (int i = 0; i < 500; i++) comb.Fill(25 * random.Uniform(), 25 * random.Uniform()); comb.Write();
    auto profile = [&](const char *name, int entries, bool weights) {
      TProfile2Poly p(name, name, 0, 10, 0, 10);
      shapes(p, k, false);
      for (int i = 0; i < entries; i++) { double x = 14 * random.Uniform() - 2, y = 14 * random.Uniform() - 2, z = random.Gaus(); if (weights) p.Fill(x, y, z, 0.5 + i % 4); else p.Fill(x, y, z); }
      p.Write();
    };
    profile("profile", 200, false); profile("profile_weights", 200, true); profile("profile_empty_first", k ? 50 : 0, false); profile("profile_empty_other", k == 1 ? 0 : 50, true);
  }
}
