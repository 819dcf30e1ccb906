// A tree whose branches TTree::BranchOld makes, as ROOT 3 did: the branch of a split class has a leaf and no baskets, those below it have
// all values. `whole` is not split.
void make()
{
   TFile file("old.root", "RECREATE", "", 101);
   TTree tree("t", "t");
   tree.SetAutoFlush(40);
   auto point = new TVector3, whole = new TVector3;
   auto line = new TLorentzVector;
   int i = 0;
   tree.Branch("i", &i, "i/I");
   tree.BranchOld("bo", "TVector3", &point, 32000, 1);
   tree.BranchOld("p4", "TLorentzVector", &line, 32000, 2);
   tree.BranchOld("whole", "TVector3", &whole, 32000, 0);
   for (i = 0; i < 100; ++i) {
      point->SetXYZ(i + 0.5, -i, i * i);
      whole->SetXYZ(i + 0.5, -i, i * i);
      line->SetPxPyPzE(1 + i, 2 + i, 3 + i, 4 + i);
      tree.Fill();
   }
   tree.Write();
}
