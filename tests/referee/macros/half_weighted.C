// Two files with n-dimensional histograms of which the first or the second alone keeps sums of squares: weights that are not 1,
// underflows and overflows, bins of different widths, an input without entries.

#include <THn.h>
#include <THnSparse.h>

template <class H> void put(const char *name, int k, bool sumw2, int entries) {
  int bins[] = {4, 10, 300};
  double low[] = {0, 0, 0}, high[] = {1, 1, 1}, edges[] = {0, 0.1, 0.2, 0.7, 1}, x[3];
  H h(name, name, 3, bins, low, high);
  h.SetBinEdges(0, edges);
  if (sumw2) h.Sumw2();
  TRandom3 random(7 + k);
  for (int i = 0; i < entries; i++) {
    for (auto &at : x) at = 1.2 * random.Uniform() - 0.1;
    h.Fill(x, sumw2 ? 0.5 + i % 3 : 1);
  }
  h.Write();
}
template <class H> void cases(const char *kind, int k) {
  put<H>(Form("%s_first", kind), k, k == 0, 40);
  put<H>(Form("%s_second", kind), k, k == 1, 40);
  put<H>(Form("%s_none_first", kind), k, k == 0, k == 0 ? 0 : 40);
  put<H>(Form("%s_none_second", kind), k, k == 1, k == 1 ? 0 : 40);
  put<H>(Form("%s_neither", kind), k, false, 40);
}
void make() {
  for (int k = 0; k < 2; k++) {
    TFile file(Form("half_weighted%d.root", k), "RECREATE");
    cases<THnSparseD>("sparse_d", k);
    cases<THnSparseF>("sparse_f", k);
    cases<THnD>("dense_d", k);
    cases<THnF>("dense_f", k);
  }
}
