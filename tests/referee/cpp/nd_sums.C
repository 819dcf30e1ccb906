// Histograms of any number of dimensions in a file: the sums that each keeps as a whole, and the same sums from its bins, with
// the centres of the bins. Both are lists: weights, squares, then x and x squared along each axis.
#include <TFile.h>
#include <THnBase.h>
#include <TKey.h>
#include <memory>
#include <string>
#include <vector>

namespace nd_sums {
std::string list(const std::vector<double> &numbers) {
  std::string text;
  for (double number : numbers) text += (text.empty() ? "[" : ", ") + std::string(TString::Format("%.17g", number));
  return text + "]";
}

std::string all(const char *path) {
  std::unique_ptr<TFile> file(TFile::Open(path));
  if (!file) return "{}";
  std::string text;
  for (TObject *key : *file->GetListOfKeys()) {
    std::unique_ptr<THnBase> h(file->Get<THnBase>(key->GetName()));
    if (!h) continue;
    const int n = h->GetNdimensions();
    std::vector<double> kept{h->GetWeightSum(), h->GetSumw2()}, bins(2 + 2 * n);
    for (int d = 0; d < n; d++) kept.insert(kept.end(), {h->GetSumwx(d), h->GetSumwx2(d)});
    std::vector<int> at(n);
    for (Long64_t bin = 0; bin < h->GetNbins(); bin++) {
      const double content = h->GetBinContent(bin, at.data());
      bins[0] += content;
      bins[1] += h->GetBinError2(bin);
      for (int d = 0; d < n; d++) {
        const double x = h->GetAxis(d)->GetBinCenter(at[d]);
        bins[2 + 2 * d] += content * x;
        bins[3 + 2 * d] += content * x * x;
      }
    }
    text += (text.empty() ? "" : ", ") + ("\"" + std::string(key->GetName())) + "\": {\"squares\": " +
            (h->GetCalculateErrors() ? "true" : "false") + ", \"entries\": " + TString::Format("%.17g", h->GetEntries()).Data() +
            ", \"kept\": " + list(kept) + ", \"bins\": " + list(bins) + "}";
  }
  return "{" + text + "}";
}
} // namespace nd_sums
