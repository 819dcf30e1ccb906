#!/usr/bin/env python3
"""Writes ../data/branch_clones.root with real ROOT: a tree that TTree::BranchOld splits into a TBranchObject and
a TBranchClones, as ROOT 2 and 3 did. Five entries; entry i has i objects in its TClonesArray.
"""

from pathlib import Path

import ROOT

HERE = Path(__file__).resolve().parent

ROOT.gInterpreter.Declare("""
class Ev : public TObject {
public:
   Int_t n = 3;
   Float_t v[4] = {1, 2, 3, 4};
   TClonesArray *ca;
   Ev() : ca(new TClonesArray("TNamed")) {}
   ClassDef(Ev, 1)
};
Ev *gEv = new Ev();
void fill(TTree *t)
{
   t->BranchOld("ev", "Ev", &gEv, 4000, 1);
   for (int i = 0; i < 5; i++) {
      gEv->ca->Clear();
      for (int k = 0; k < i; k++) new ((*gEv->ca)[k]) TNamed("a", "b");
      t->Fill();
   }
   t->Write();
}
""")
out = ROOT.TFile(str(HERE.parent / "data" / "branch_clones.root"), "RECREATE", "", 101)
tree = ROOT.TTree("t", "t")
ROOT.fill(tree)
out.Close()
