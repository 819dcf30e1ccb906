// make_read KIND BYTES SEED PATH: files to read, of so many bytes of payload, uncompressed, in the clusters that ROOT
// makes unless told otherwise.
#include "Event.h"
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

static TRandom3 rnd;

// The precision of analysis files: some of the mantissa's bits.
static float keep(double value) {
  float f = value;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  bits &= 0xFFFFE000u;
  memcpy(&f, &bits, 4);
  return f;
}

static double rounded(double value) { return std::round(value * 4096) / 4096; }

// 40 scalars.
static void flat(TTree &tree, double bytes) {
  float f[20];
  double d[10];
  int n[10];
  for (int k = 0; k < 20; k++) tree.Branch(Form("f%d", k), &f[k], Form("f%d/F", k));
  for (int k = 0; k < 10; k++) tree.Branch(Form("d%d", k), &d[k], Form("d%d/D", k));
  for (int k = 0; k < 10; k++) tree.Branch(Form("n%d", k), &n[k], Form("n%d/I", k));
  for (double done = 0; done < bytes; done += 200) {
    for (int k = 0; k < 20; k++) f[k] = k % 4 ? keep(rnd.Gaus(0, 1 + k)) : rnd.Gaus(0, 1 + k);
    for (int k = 0; k < 10; k++) d[k] = k % 2 ? rounded(rnd.Exp(30)) : rnd.Exp(30);
    for (int k = 0; k < 10; k++) n[k] = rnd.Integer(4 << (2 * k));
    tree.Fill();
  }
}

// Four collections, each in 15 vectors.
static void vectors(TTree &tree, double bytes) {
  const char *names[] = {"jet", "muon", "track", "hit"};
  const double means[] = {5, 1.5, 12, 30};
  std::vector<float> f[4][10];
  std::vector<int> n[4][3];
  std::vector<double> d[4][2];
  for (int c = 0; c < 4; c++) {
    for (int k = 0; k < 10; k++) tree.Branch(Form("%s_f%d", names[c], k), &f[c][k]);
    for (int k = 0; k < 3; k++) tree.Branch(Form("%s_n%d", names[c], k), &n[c][k]);
    for (int k = 0; k < 2; k++) tree.Branch(Form("%s_d%d", names[c], k), &d[c][k]);
  }
  for (double done = 0; done < bytes;) {
    for (int c = 0; c < 4; c++) {
      const int count = rnd.Poisson(means[c]);
      for (int k = 0; k < 10; k++) {
        f[c][k].resize(count);
        for (auto &value : f[c][k]) value = k % 4 ? keep(rnd.Gaus(0, 1 + k)) : rnd.Gaus(0, 1 + k);
      }
      for (int k = 0; k < 3; k++) {
        n[c][k].resize(count);
        for (auto &value : n[c][k]) value = rnd.Integer(4 << (4 * k));
      }
      for (int k = 0; k < 2; k++) {
        d[c][k].resize(count);
        for (auto &value : d[c][k]) value = rounded(rnd.Exp(30));
      }
      // A vector in a branch of its own has a header of ten bytes.
      done += count * (13 * 4 + 2 * 8) + 15 * 10;
    }
    tree.Fill();
  }
}

// Ten branches, each with some ten events.
static void events(TTree &tree, double bytes, int split) {
  std::vector<Event> branches[10];
  for (int b = 0; b < 10; b++) tree.Branch(Form("ev%d", b), &branches[b], 32000, split);
  for (double done = 0; done < bytes;) {
    for (auto &branch : branches) {
      branch.resize(5 + rnd.Integer(11));
      for (auto &event : branch) {
        for (auto *v : {&event.position, &event.direction, &event.momentum}) {
          v->x = rounded(rnd.Gaus(0, 10));
          v->y = rounded(rnd.Gaus(0, 10));
          v->z = rnd.Gaus(0, 10);
        }
        event.energy = rnd.Exp(30);
        event.mass = rounded(rnd.Uniform());
        event.time = rounded(rnd.Exp(100));
        event.id = rnd.Integer(25);
        event.status = rnd.Integer(3);
        event.mother = rnd.Integer(1000);
      }
      done += branch.size() * 108;
    }
    tree.Fill();
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const std::string kind = argv[1];
  const double bytes = std::stod(argv[2]);
  rnd.SetSeed(std::stoi(argv[3]));
  TFile file(argv[4], "RECREATE", "", 0);
  auto tree = std::make_unique<TTree>("Events", kind.c_str());
  if (kind == "flat") flat(*tree, bytes);
  else if (kind == "vectors") vectors(*tree, bytes);
  else if (kind == "event_split") events(*tree, bytes, 99);
  else if (kind == "event_unsplit") events(*tree, bytes, 0);
  else return 2;
  tree->Write(nullptr, TObject::kOverwrite); // One cycle: drops earlier saves.
  tree.reset();
  file.Close();
  return 0;
}
