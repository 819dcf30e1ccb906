// Profiles with each of ROOT's error options, with and without weights and whole numbers; beside each a histogram whose contents are what
// GetBinError says of its cells.

template <class P, class H> void write(P &profile, H &errors) {
  for (int cell = 0; cell < profile.GetNcells(); cell++) errors.SetBinContent(cell, profile.GetBinError(cell));
  profile.Write(); errors.Write();
}
void make() {
  TFile file("profiles.root", "RECREATE");
  TRandom3 random(5);
  for (const char *option : {"", "s", "i", "g"}) for (int weights = 0; weights < 3; weights++) for (int whole = 0; whole < 2; whole++) {
    TString name = Form("of_%s%d%d", option, weights, whole);
    TProfile one(name, name, 10, 0, 1, option);
    TH1D one_errors("errors_" + name, "", 10, 0, 1);
    TProfile2D two("two_" + name, name, 3, 0, 1, 4, 0, 1, option);
    TH2D two_errors("errors_two_" + name, "", 3, 0, 1, 4, 0, 1);
    // Sums of squared weights are kept from the beginning, or from the first weight, or never.
    if (weights == 2) { one.Sumw2(); two.Sumw2(); }
    for (int i = 0; i < 60; i++) {
      double x = random.Uniform(-0.1, 0.9), y = random.Uniform(-0.1, 1.1), w = weights ? random.Uniform(0.5, 2) : 1;
      double z = whole ? (x < 0.5 ? 3 : random.Integer(4)) : random.Gaus();
      one.Fill(x, z, w); two.Fill(x, y, z, w);
    }
    write(one, one_errors); write(two, two_errors);
  }
}
