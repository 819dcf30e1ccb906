// A sparse file whose second half lies beyond 2 GB, so that its keys and header have 64-bit pointers.

// Leaves a hole, marked as ROOT marks one: minus its length in its first four bytes.
void leap(TFile &file, Long64_t to) {
  const Long64_t from = file.GetEND();
  char mark[4]; char *at = mark; tobuf(at, (Int_t)(from - to));
  file.Seek(from); file.WriteBuffer(mark, 4);
  ((TFree *)file.GetListOfFree()->Last())->SetFirst(to);
  file.SetEND(to);
}

void make() {
  TFile file("beyond.root", "RECREATE", "", 101);
  TTree tree("tree", "baskets on both sides of 2 GB");
  tree.SetAutoFlush(500);
  int i = 0, n = 0; float jagged[10];
  tree.Branch("i", &i, "i/I");
  tree.Branch("n", &n, "n/I");
  tree.Branch("jagged", jagged, "jagged[n]/F");
  for (i = 0; i < 4000; i++) {
    n = i % 10;
    for (int k = 0; k < n; k++) jagged[k] = i + 0.1f * k;
    if (i == 1300) leap(file, 1200000000LL);
    if (i == 2600) leap(file, 2300000000LL);
    tree.Fill();
  }
  tree.Write();
  TNamed("named", "beyond 2 GB").Write();
  file.Close();
}
