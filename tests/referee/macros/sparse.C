// Three files with n-dimensional histograms, sparse and dense: each type of contents, weights in all or in some inputs,
// underflows and overflows, other numbers of bins, other limits, none filled, many chunks, coordinates of many bytes.

#include <THn.h>
#include <THnSparse.h>

template <class H> void fill(H &h, int k, int entries, double weight) {
  TRandom3 random(70 + k);
  std::vector<double> x(h.GetNdimensions());
  for (int i = 0; i < entries; i++) {
    for (size_t d = 0; d < x.size(); d++) x[d] = 1.2 * random.Uniform() - 0.1;
    h.Fill(x.data(), weight == 1 ? 1 : weight + i % 3);
  }
}
// Bins of each axis; the limits are 0 and 1 unless `shift` moves them.
template <class H> void make_one(const char *name, int k, std::vector<int> bins, int entries, double weight = 1, bool sumw2 = false, int chunk = 0, double shift = 0) {
  std::vector<double> low(bins.size(), shift), high(bins.size(), 1 + shift);
  H *h;
  if constexpr (std::is_base_of_v<THnSparse, H>) h = new H(name, name, bins.size(), bins.data(), low.data(), high.data(), chunk ? chunk : 16);
  else h = new H(name, name, bins.size(), bins.data(), low.data(), high.data());
  if (sumw2) h->Sumw2();
  fill(*h, k, entries, weight);
  h->Write();
  delete h;
}
template <class H> void cases(const std::string &prefix, int k) {
  auto name = [&](const char *of) { return prefix + "_" + of; };
  make_one<H>(name("plain").c_str(), k, {4, 5, 6}, 30);
  make_one<H>(name("weighted").c_str(), k, {4, 5, 6}, 30, 0.5, true);
  make_one<H>(name("weights_first").c_str(), k, {4, 5}, 20, 2, k == 0);
  make_one<H>(name("weights_later").c_str(), k, {4, 5}, 20, 2, k == 1);
  make_one<H>(name("empty_first").c_str(), k, {3, 3}, k ? 9 : 0, 2, true);
  make_one<H>(name("empty_other").c_str(), k, {3, 3}, k == 1 ? 0 : 9);
  make_one<H>(name("other_bins").c_str(), k, {3, k == 1 ? 4 : 3}, 9);
  make_one<H>(name("other_dimensions").c_str(), k, std::vector<int>(k == 1 ? 3 : 2, 3), 9);
  make_one<H>(name("other_limits").c_str(), k, {3, 3}, 9, 1, false, 0, k * 0.25);
}
void make() {
  for (int k = 0; k < 3; k++) {
    TFile file(Form("sparse%d.root", k), "RECREATE", "", 101);
    cases<THnSparseD>("sparse_d", k); cases<THnSparseF>("sparse_f", k); cases<THnD>("dense_d", k); cases<THnF>("dense_f", k);
    make_one<THnSparseI>("sparse_i", k, {4, 4}, 20, 100000, true); make_one<THnSparseS>("sparse_s", k, {4, 4}, 20, 1000, true);
    make_one<THnSparseL>("sparse_l", k, {4, 4}, 20); make_one<THnSparseC>("sparse_c", k, {2, 2}, 200, 1);
    make_one<THnC>("dense_c", k, {2, 2}, 200); make_one<THnS>("dense_s", k, {4, 4}, 20, 3000, true); make_one<THnI>("dense_i", k, {4, 4}, 20, 1.5);
    make_one<THnL>("dense_l", k, {4, 4}, 20); make_one<THnL64>("dense_l64", k, {4, 4}, 20, 3, true);
    // Coordinates of one, of four, of five and of many bytes; chunks that are full, and not.
    make_one<THnSparseD>("sparse_one", k, {10}, 20); make_one<THnSparseD>("sparse_four", k, {60, 100, 200, 300}, 100, 1.5, true, 7);
    make_one<THnSparseD>("sparse_five", k, {60, 100, 200, 30000}, 100, 1, false, 50 + k); make_one<THnSparseF>("sparse_many", k, std::vector<int>(12, 9 + 100), 300, 1, false, 1000);
    int bins[] = {3, 2}; double low[] = {0, 0}, high[] = {1, 1}, edges[] = {0, 0.1, 0.7, 1};
    THnSparseD variable("sparse_variable", "", 2, bins, low, high); variable.SetBinEdges(0, edges); variable.GetAxis(1)->SetBinLabel(1, "a"); variable.GetAxis(1)->SetRange(1, 1); fill(variable, k, 10, 1); variable.Write();
    THnD d("dense_variable", "", 2, bins, low, high); d.SetBinEdges(0, edges); fill(d, k, 10, 1); d.Write();
    THnSparseD once("sparse_once", "", 2, bins, low, high); if (k == 1) once.Write();
  }
}
