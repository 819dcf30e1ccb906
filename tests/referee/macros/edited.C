// A file with something of each kind, to copy, move and remove: as roottest's test.root for the command-line tools (histograms,
// a profile, directories in directories), and a fit, a list, references between objects, a tree with an older cycle;
// and an RNTuple beside a histogram.

void make() {
  TFile file("edited.root", "RECREATE", "edited");
  TRandom3 random(1);
  TH1F hpx("hpx", "px", 40, -4, 4);
  TH2F hpxpy("hpxpy", "py vs px", 10, -4, 4, 10, -4, 4);
  TProfile hprof("hprof", "pz versus px", 20, -4, 4);
  for (int i = 0; i < 2000; i++) {
    double x = random.Gaus(), y = random.Gaus();
    hpx.Fill(x);
    hpxpy.Fill(x, y);
    hprof.Fill(x, x * x + y);
  }
  hpx.Write();
  hpx.Fill(0.5);
  hpx.Write();
  hpxpy.Write();
  hprof.Write();
  TH1F fitted("fitted", "with a function", 40, -4, 4);
  fitted.Add(&hpx);
  fitted.GetListOfFunctions()->Add(new TF1("gauss", "gaus", -4, 4));
  fitted.Write();
  TList list;
  list.Add(new TNamed("one", "first"));
  list.Add(new TObjString("second"));
  list.Write("list", TObject::kSingleKey);
  TNamed pointed("pointed", "a reference leads here");
  TRefArray references;
  references.Add(&pointed);
  pointed.Write();
  references.Write("references", TObject::kSingleKey);
  for (int i = 0; i < 2; i++) {
    auto plane = file.mkdir(Form("tof/plane%d", i), "a plane", true);
    plane->cd();
    TH1D n("n", "hits", 5, 0, 5);
    n.Fill(i);
    n.Write();
  }
  file.cd();
  TTree tree("tree", "a tree");
  int x = 0;
  std::vector<double> v;
  std::string run;
  tree.Branch("x", &x);
  tree.Branch("v", &v);
  tree.Branch("run", &run);
  tree.SetAutoFlush(100);
  tree.SetAlias("twice", "2*x");
  auto fill = [&](int first, int end) {
    for (x = first; x < end; x++) {
      v.assign(x % 4, 0.5 * x);
      run = std::string("run ") + char('a' + x / 150 % 3);
      tree.Fill();
    }
  };
  fill(0, 500);
  tree.Write();
  fill(500, 1000);
  tree.Write();
  file.Close();

  // Beside it: the program that asks ROOT for all values of a file knows no RNTuples.
  auto into = TFile::Open("entries.root", "RECREATE");
  {
    auto model = ROOT::RNTupleModel::Create();
    auto id = model->MakeField<std::int32_t>("id");
    auto values = model->MakeField<std::vector<float>>("values");
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntuple", *into);
    for (int i = 0; i < 300; i++) {
      *id = i;
      values->assign(i % 3, 0.25f * i);
      writer->Fill();
    }
  }
  into->WriteObject(&hpxpy, "hpxpy");
  into->Close();
}
