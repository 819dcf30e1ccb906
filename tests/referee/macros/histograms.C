// Two files of histograms of every kind, with and without Sumw2, labels and statistics, for merging.

template <class H> void one(const char *name, TRandom3 &random, bool weights) {
  H h(name, name, 20, 0, 1);
  if (weights) h.Sumw2();
  for (int i = 0; i < 200; i++) h.Fill(random.Uniform(-0.1, 1.1), weights ? random.Uniform() : 1.0);
  h.SetMinimum(-3); h.Write();
}
template <class H> void two(const char *name, TRandom3 &random, bool weights) {
  H h(name, name, 8, 0, 1, 6, -1, 1);
  if (weights) h.Sumw2();
  for (int i = 0; i < 200; i++) h.Fill(random.Uniform(-0.1, 1.1), random.Uniform(-1, 1), weights ? random.Uniform() : 1.0);
  h.Write();
}
template <class H> void three(const char *name, TRandom3 &random, bool weights) {
  H h(name, name, 4, 0, 1, 3, -1, 1, 5, 0, 2);
  if (weights) h.Sumw2();
  for (int i = 0; i < 200; i++) h.Fill(random.Uniform(), random.Uniform(-1, 1), random.Uniform(0, 2), weights ? random.Uniform() : 1.0);
  h.Write();
}
void labels(const char *name, std::vector<const char *> words, TRandom3 &random) {
  TH1D h(name, "labelled", 1, 0, 1); h.SetCanExtend(TH1::kAllAxes);
  for (int i = 0; i < 60; i++) h.Fill(words[random.Integer(words.size())], 1.0 + i % 3);
  h.LabelsDeflate(); h.Write();
}
void make() {
  for (int part = 0; part < 2; part++) {
    TFile file(Form("histograms%d.root", part), "RECREATE", "", 101);
    TRandom3 random(10 + part);
    one<TH1C>("h1c", random, false); one<TH1S>("h1s", random, false); one<TH1I>("h1i", random, false); one<TH1L>("h1l", random, false);
    one<TH1F>("h1f", random, false); one<TH1D>("h1d", random, false); one<TH1F>("h1f_w", random, true); one<TH1D>("h1d_w", random, true);
    two<TH2C>("h2c", random, false); two<TH2S>("h2s", random, false); two<TH2I>("h2i", random, false); two<TH2F>("h2f", random, false); two<TH2D>("h2d_w", random, true);
    three<TH3C>("h3c", random, false); three<TH3S>("h3s", random, false); three<TH3I>("h3i", random, false); three<TH3F>("h3f", random, false); three<TH3D>("h3d_w", random, true);
    one<TProfile>("p1", random, false); one<TProfile>("p1_w", random, true);
    TProfile2D p2("p2", "p2", 5, 0, 1, 4, 0, 1); TProfile3D p3("p3", "p3", 3, 0, 1, 3, 0, 1, 3, 0, 1); TProfile ps("ps", "spread", 10, 0, 1, "s");
    for (int i = 0; i < 100; i++) { double x = random.Uniform(), y = random.Uniform(), z = random.Uniform(); p2.Fill(x, y, z); p3.Fill(x, y, z, x + y); ps.Fill(x, y, z); }
    p2.Write(); p3.Write(); ps.Write();
    double edges[] = {0, 0.1, 0.4, 1.0}; TH1F variable("variable", "bins of different widths", 3, edges); variable.Fill(0.2); variable.Fill(0.05, 3); variable.Write();
    labels("same_labels", {"one", "two", "three"}, random);
    file.mkdir("folder")->cd(); one<TH1F>("below", random, true); file.cd();
    TNamed("named", part ? "second" : "first").Write();
    TGraph graph(3); for (int i = 0; i < 3; i++) graph.SetPoint(i, i + 3 * part, i); graph.Write("graph");
    TTree tree("tree", "beside histograms"); int i = 0; tree.Branch("i", &i, "i/I"); for (i = 0; i < 100; i++) tree.Fill(); tree.Write();
    if (part) TNamed("only_second", "x").Write(); else TNamed("only_first", "x").Write();
  }
  // Cases that hadd treats specially: other labels, other ranges of an extensible axis.
  for (int part = 0; part < 2; part++) {
    TFile file(Form("unequal%d.root", part), "RECREATE", "", 101);
    TRandom3 random(20 + part);
    labels("labels", part ? std::vector<const char *>{"b", "c", "d"} : std::vector<const char *>{"a", "b"}, random);
    TH1F h("range", "extensible", 10, 0, part ? 2 : 1); h.SetCanExtend(TH1::kXaxis); for (int i = 0; i < 50; i++) h.Fill(random.Uniform() * (part + 1)); h.Write();
  }
}
