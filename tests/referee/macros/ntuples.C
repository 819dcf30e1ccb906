// TNtuple and TNtupleD in folders, several cycles of one tree, a tree beside a folder of the same prefix.

void make() {
  TFile file("ntuples.root", "RECREATE", "", 101);
  auto a = file.mkdir("a"); auto deep = a->mkdir("b")->mkdir("c");
  a->cd();
  TNtuple nt("nt", "floats", "x:y:z"); for (int i = 0; i < 1000; i++) nt.Fill(i, i * 2, i * 3); nt.Write();
  deep->cd();
  TNtupleD ntd("ntd", "doubles", "u:v"); for (int i = 0; i < 1000; i++) ntd.Fill(i * 0.1, i * 0.01); ntd.Write();
  file.cd();
  TTree tree("tree", "written three times"); int i = 0; tree.Branch("i", &i, "i/I");
  for (; i < 100; i++) tree.Fill();
  tree.Write();
  for (; i < 250; i++) tree.Fill();
  tree.Write();
  for (; i < 300; i++) tree.Fill();
  tree.Write();
  TNamed("tag", "first").Write("tag"); TNamed("tag", "second").Write("tag");
}
