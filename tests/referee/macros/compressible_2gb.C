// A small file that grows past 2 GB when it is written without compression.

void make() {
  TFile file("zeros.root", "RECREATE", "", 404);
  TTree tree("tree", "2.3 GB of zeros");
  std::vector<char> block(1000000); int i = 0;
  tree.Branch("block", block.data(), "block[1000000]/B");
  tree.Branch("i", &i, "i/I");
  for (i = 0; i < 2300; i++) { block[i] = 1; tree.Fill(); block[i] = 0; }
  tree.Write();
  TNamed("named", "written last").Write();
}
