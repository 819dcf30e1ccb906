// Three files with entry lists: for one tree and for several, blocks of bits, of numbers and of missing entries, sublists,
// entries of elements, lists that are empty or end early. Lists that crash hadd have a folder of their own.

#include <TEntryListArray.h>

// Every `step`th of the entries from `first` on.
void enter(TEntryList &list, Long64_t first, Long64_t count, Long64_t step) {
  for (Long64_t i = 0; i < count; i++) list.Enter(first + i * step);
}
void make() {
  gROOT->cd();
  for (int k = 0; k < 3; k++) {
    TFile file(Form("entries%d.root", k), "RECREATE", "", 101);
    auto put = [&](TObject *object) { file.WriteTObject(object); };
    auto one = [&](const char *name, const char *tree, const char *of, std::vector<Long64_t> runs) {
      TEntryList list(name, Form("of %d", k), tree, of);
      list.SetDirectory(nullptr);
      for (size_t i = 0; i + 2 < runs.size(); i += 3) enter(list, runs[i], runs[i + 1], runs[i + 2]);
      put(&list);
    };
    // One tree: blocks of numbers, of bits, of missing entries; several blocks, some of them empty.
    one("entries_few", "t", "a.root", {10 * k, 30, 7});
    one("entries_bits", "t", "a.root", {k, 20000, 2});
    one("entries_most", "t", "a.root", {100 * k, 63000, 1, 64000, 5, 3});
    one("entries_mixed", "t", "a.root", {k ? 0 : 5000, k ? 63999 : 100, 1, 64000, k == 1 ? 30 : 40000, 1});
    one("entries_blocks", "t", "a.root", {64000LL * k, 100, 11, 64000LL * (4 - k), 30000, 2});
    one("entries_empty_first", "t", "a.root", k ? std::vector<Long64_t>{5, 30 * k, 2} : std::vector<Long64_t>{});
    one("entries_empty_other", "t", "a.root", k == 1 ? std::vector<Long64_t>{} : std::vector<Long64_t>{5, 30, 2});
    one("entries_unnamed_first", k ? "t" : "", k ? "a.root" : "", k ? std::vector<Long64_t>{5, 30 * k, 2} : std::vector<Long64_t>{});
    one("entries_equal", "t", "a.root", {3, 100, 9, 100000, 40000, 1});
    // Several trees, and files.
    one("entries_files", "t", Form("%c.root", 'a' + k), {k, 20, 3});
    one("entries_trees", Form("t%d", k % 2), "a.root", {k, 20, 3});
    auto chain = [&](const char *name, std::vector<int> files, bool reapply = false) {
      TEntryList list(name, "chain");
      list.SetDirectory(nullptr);
      for (int i : files) {
        TEntryList part("", "", "t", Form("/data/f%d.root", i));
        part.SetDirectory(nullptr);
        enter(part, k, 10 + i, 2 + i);
        enter(part, 70000, 40000 * (i == 1), 1);
        list.Add(&part);
      }
      list.SetReapplyCut(reapply);
      put(&list);
    };
    chain("entries_chain", {0, 1}); chain("entries_chains", {k, k + 1, 5}, k == 0); chain("entries_chain_first", k ? std::vector<int>{3 + k} : std::vector<int>{0, 1}); chain("entries_chain_later", k ? std::vector<int>{0, k + 1} : std::vector<int>{3});
    // Entries with elements.
    auto elements = [&](const char *name, std::vector<int> entries, const char *of = "a.root") {
      TEntryListArray list(name, "", "t", of);
      list.SetDirectory(nullptr);
      for (int entry : entries)
        for (int e = 0; e < entry % 4; e++) list.Enter(entry, nullptr, e * (k + 1));
      put(&list);
    };
    elements("elements", {1, 2, 3, 5, 7, 10 + k}); elements("elements_apart", {4 * k + 1, 4 * k + 2, 4 * k + 3}); elements("elements_files", {1, 2, 3}, Form("%c.root", 'a' + k));
    // Blocks with all entries: ROOT looks for the numbers of those missing.
    TFile full(Form("full%d.root", k), "RECREATE", "", 101);
    TEntryList list("entries_full", "", "t", "a.root"); list.SetDirectory(nullptr);
    enter(list, 0, 64000, 1); enter(list, 128000 + k, 3, 1); list.Write();
    TEntryList later("entries_full_later", "", "t", "a.root"); later.SetDirectory(nullptr);
    enter(later, k == 1 ? 0 : 7, k == 1 ? 64000 : 50, 1); enter(later, 64000, 1, 1); later.Write();
  }
}
