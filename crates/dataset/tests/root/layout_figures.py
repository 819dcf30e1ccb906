"""Writes layout_figures.json: what ROOT itself decides, for tests/it/layout_root.rs to compare with.

Run it with a Python that has ROOT:  python layout_figures.py > layout_figures.json
"""

import json
import tempfile
from pathlib import Path

import ROOT

ROOT.gSystem.Load("libPhysics")
ROOT.gInterpreter.Declare(r"""
#include "TFile.h"
#include "TTree.h"
#include "TBranch.h"
#include "TBasket.h"
#include "TLeaf.h"
#include "TClonesArray.h"
#include "TVector3.h"
#include <vector>
#include <string>

// The lengths of jagged entries; layout_root.rs has the same formula.
int jagged(Long64_t i) { return (i * 7919) % 97; }

TTree *mixed(const char *name, Long64_t n)
{
   auto t = new TTree(name, "");
   t->SetAutoSave(0);
   t->SetAutoFlush(0);
   static float x; static double d[7]; static Long64_t w; static unsigned char b;
   static struct { int a; int b; double c; } abc;
   static std::vector<float> v; static std::vector<float> *pv = &v;
   static std::string s; static std::string *ps = &s;
   static int n_; static float arr[100]; static int same;
   static TClonesArray *ca = new TClonesArray("TVector3");
   t->Branch("x", &x, "x/F");
   t->Branch("d", d, "d[7]/D", 16000);
   t->Branch("w", &w, "w/L", 4000);
   t->Branch("b", &b, "b/b");
   t->Branch("abc", &abc, "a/I:b/I:c/D");
   t->Branch("vector", &pv);
   t->Branch("string", &ps, 1000);
   t->Branch("n", &n_, "n/I");
   t->Branch("arr", arr, "arr[n]/F");
   t->Branch("a_branch_with_a_rather_long_name_so_that_its_key_is_long_too", &same, "same/I", 500);
   t->Branch("vectors", &ca);
   unsigned r = 12345;
   for (Long64_t i = 0; i < n; ++i) {
      auto next = [&] { r = r * 1664525u + 1013904223u; return (r >> 8) / 16777216.0; };
      x = next(); w = i; b = i & 255; same = 1;
      for (auto &e : d) e = next();
      abc = {int(i), int(2 * i), next()};
      v.clear(); for (int k = 0; k < jagged(i); ++k) v.push_back(next());
      s = std::string(jagged(i + 5), 'a' + i % 26);
      n_ = jagged(i + 11); for (int k = 0; k < n_; ++k) arr[k] = next();
      ca->Clear();
      for (int k = 0; k < jagged(i) % 4; ++k) ((TVector3 *)ca->ConstructedAt(k))->SetXYZ(next(), next(), next());
      t->Fill();
   }
   return t;
}

// Fills one branch and notes, at each entry, what happened to its basket.
struct Note { Long64_t first; int basketSize; int buffer; };
std::vector<Note> notes;
std::vector<int> entryBytes;

void note(TTree *t, TBranch *b, Long64_t n, std::function<void(Long64_t)> set)
{
   notes.clear(); entryBytes.clear();
   int before = 0;
   for (Long64_t i = 0; i < n; ++i) {
      set(i);
      int size = b->GetBasketSize();
      entryBytes.push_back(t->Fill());
      while (before < b->GetWriteBasket()) {
         auto basket = (TBasket *)b->GetListOfBaskets()->UncheckedAt(b->GetWriteBasket());
         notes.push_back({b->GetBasketEntry()[before], size, basket ? basket->GetBufferRef()->BufferSize() : -1});
         ++before;
      }
   }
}

float theFloat;
std::vector<float> theVector;
void noteFloat(TTree *t, TBranch *b, Long64_t n) { note(t, b, n, [](Long64_t i) { theFloat = i; }); }
void noteVector(TTree *t, TBranch *b, Long64_t n, int burst)
{
   note(t, b, n, [=](Long64_t i) { theVector.assign(jagged(i) * (burst && i / 200 % 4 == 1 ? burst : 1), i); });
}
TBranch *floatBranch(TTree *t, int basket) { return t->Branch("x", &theFloat, "x/F", basket); }
TBranch *vectorBranch(TTree *t, int basket) { return t->Branch("v", &theVector, basket); }
""")


def branches(tree):
    """What OptimizeBaskets looks at, for each branch with leaves."""
    seen, order = {}, []
    for leaf in tree.GetListOfLeaves():
        branch = leaf.GetBranch()
        key = branch.GetName()
        if key not in seen:
            seen[key] = 0
            order.append(branch)
        seen[key] += 1
    return [
        {
            "name": b.GetName(),
            "entries": b.GetEntries(),
            "total_bytes": b.GetTotBytes(),
            "zip_bytes": b.GetZipBytes(),
            "basket_size": b.GetBasketSize(),
            "entry_offset_len": b.GetEntryOffsetLen(),
            "leaves": seen[b.GetName()],
            "has_branches": b.GetListOfBranches().GetEntries() > 0,
            "compression": b.GetCompressionSettings(),
        }
        for b in order
    ]


def optimize(directory):
    """Figures before and basket sizes after TTree::OptimizeBaskets."""
    cases = []
    for entries, auto_flush in [(3000, 0), (3000, 500), (200, -30000000), (40000, 0)]:
        file = ROOT.TFile(str(directory / "o.root"), "RECREATE")
        tree = ROOT.mixed("t", entries)
        tree.SetAutoFlush(auto_flush)
        budgets = [(1 << 20, 1.1), (100_000, 1.5), (10_000_000, 1.0), (500, 1.1), (10**9, 1.1), (30_000_000, 1.1)]
        for memory, factor in budgets:
            tree.FlushBaskets()
            before = branches(tree)
            tree.OptimizeBaskets(memory, factor)
            after = branches(tree)
            cases.append(
                {
                    "auto_flush": tree.GetAutoFlush(),
                    "tree_bytes": tree.GetTotBytes(),
                    "memory": memory,
                    "min_factor": factor,
                    "before": before,
                    "after": [{"basket_size": b["basket_size"], "compression": b["compression"]} for b in after],
                }
            )
        file.Close()
    return cases


def baskets(directory):
    """The baskets and buffers of trees with one branch."""
    cases = []
    wanted = [
        # kind, basket size, entries, AutoFlush, one basket per cluster, burst, memory ratio
        ("float", 32000, 20000, 0, False, 0, 1.1),
        ("float", 1000, 2000, 0, False, 0, 1.1),
        ("float", 500, 3000, 700, False, 0, 1.1),
        ("vector", 32000, 2000, 0, False, 0, 1.1),
        ("vector", 1500, 1000, 0, False, 0, 1.1),
        ("vector", 4000, 3000, 450, False, 0, 1.1),
        ("vector", 32000, 4000, 0, False, 30, 1.1),
        ("vector", 32000, 4000, 500, True, 8, 1.1),
        ("vector", 32000, 4000, 500, True, 8, 2.0),
        ("vector", 32000, 4000, -150000, True, 8, 1.1),
        ("float", 1000, 3000, 700, True, 0, 1.1),
        ("float", 2000, 9000, -6000, True, 0, 1.1),
        ("vector", 32000, 4000, -150000, False, 8, 1.1),
    ]
    for kind, size, entries, auto_flush, only, burst, ratio in wanted:
        file = ROOT.TFile(str(directory / "b.root"), "RECREATE", "", 0)
        tree = ROOT.TTree("t", "")
        tree.SetAutoSave(0)
        tree.SetAutoFlush(auto_flush)
        tree.SetTargetMemoryRatio(ratio)
        if only:
            tree.SetBit(1 << 14)
        if kind == "float":
            branch = ROOT.floatBranch(tree, size)
            ROOT.noteFloat(tree, branch, entries)
        else:
            branch = ROOT.vectorBranch(tree, size)
            ROOT.noteVector(tree, branch, entries, burst)
        made = [(int(n.first), int(n.basketSize), int(n.buffer)) for n in ROOT.notes]
        tree.Write()
        file.Close()
        file = ROOT.TFile(str(directory / "b.root"))
        tree = file.Get("t")
        branch = tree.GetListOfBranches()[0]
        count = branch.GetWriteBasket()
        read = []
        for i in range(count):  # ROOT reuses the basket it hands out
            basket = branch.GetBasket(i)
            read.append((basket.GetKeylen(), basket.GetNevBufSize()))
        cases.append(
            {
                "kind": kind,
                "basket_size": size,
                "entries": entries,
                "auto_flush": auto_flush,
                "auto_flush_after": tree.GetAutoFlush(),
                "one_basket_per_cluster": only,
                "burst": burst,
                "ratio": ratio,
                "key_len": read[0][0],
                "entry_bytes": sum(ROOT.entryBytes),
                "first_entries": [int(branch.GetBasketEntry()[i]) for i in range(count)],
                "nev_buf_size": [nev_buf_size for _, nev_buf_size in read],
                "entry_offset_len": branch.GetEntryOffsetLen(),
                "basket_size_while_filling": [m[1] for m in made],
                "buffer_after": [m[2] for m in made],
            }
        )
        file.Close()
    return cases


def lines(cases):
    """A JSON list with one case to a line."""
    return "[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]"


with tempfile.TemporaryDirectory() as name:
    directory = Path(name)
    version = json.dumps(ROOT.gROOT.GetVersion())
    print(f'{{"root": {version},\n"optimize": {lines(optimize(directory))},\n"baskets": {lines(baskets(directory))}}}')
