// Three files with histograms and profiles whose entries wait in buffers: with limits and without, buffers that the merge
// fills, weights, axes that grow, values out of a profile's range, whole numbers, one place only. A fourth has the profiles
// that get all entries one after the other: of those that wait without limits, hadd takes places for weights.

#include <TH2.h>

enum { LIMITS = 1, GROW = 2, WEIGHTS = 4, INTEGER = 8, ONE = 16, SQUARES = 32, NEGATIVE = 64, EMPTY = 128 };
struct Entry { double x, y, z, value, weight; };

std::vector<Entry> entries(int k, int count, int how) {
  TRandom3 random(90 + k);
  auto place = [&] { return how & ONE ? 3.25 : how & INTEGER ? double(random.Integer(37)) : how & NEGATIVE ? -20 * random.Uniform() - 3 : random.Gaus(2, 5 + k); };
  std::vector<Entry> made(count);
  for (auto &e : made) e = {place(), place(), place(), random.Gaus(), how & WEIGHTS ? 0.5 + random.Integer(3) : 1.0};
  return made;
}
template <class H, class F> void put(TFile &file, H &h, int how, const std::vector<Entry> &all, F fill) {
  h.SetBuffer(100);
  if (how & GROW) h.SetCanExtend(TH1::kAllAxes);
  if (how & SQUARES) h.Sumw2();
  if (how & INTEGER) h.GetXaxis()->SetBit(TAxis::kIsInteger);
  for (auto &e : all) fill(h, e);
  if (how & EMPTY) h.BufferEmpty(1);
  file.WriteTObject(&h);
}
void histograms(TFile &file, const char *name, int how, const std::vector<Entry> &all) {
  const double high = how & LIMITS ? 10 : 0;
  TH1D h1(Form("h1_%s", name), "", 40, 0, high); TH1F f1(Form("f1_%s", name), "", 7, 0, high);
  TH2F h2(Form("h2_%s", name), "", 10, 0, high, 8, 0, high); TH3D h3(Form("h3_%s", name), "", 5, 0, high, 4, 0, high, 3, 0, high);
  put(file, h1, how, all, [](auto &h, auto &e) { h.Fill(e.x, e.weight); }); put(file, f1, how, all, [](auto &h, auto &e) { h.Fill(e.x, e.weight); });
  put(file, h2, how, all, [](auto &h, auto &e) { h.Fill(e.x, e.y, e.weight); }); put(file, h3, how, all, [](auto &h, auto &e) { h.Fill(e.x, e.y, e.z, e.weight); });
}
void profiles(TFile &file, const char *name, int how, const std::vector<Entry> &all, double range = 0) {
  const double high = how & LIMITS ? 10 : 0;
  TProfile p1(Form("p1_%s", name), "", 20, 0, high, -range, range); TProfile2D p2(Form("p2_%s", name), "", 10, 0, high, 8, 0, high, -range, range);
  TProfile3D p3(Form("p3_%s", name), "", 5, 0, high, 4, 0, high, 3, 0, high);
  put(file, p1, how, all, [](auto &p, auto &e) { p.Fill(e.x, e.value, e.weight); }); put(file, p2, how, all, [](auto &p, auto &e) { p.Fill(e.x, e.y, e.value, e.weight); });
  put(file, p3, how, all, [](auto &p, auto &e) { p.Fill(e.x, e.y, e.z, e.value, e.weight); });
}
struct Case { const char *name; int counts[3], hows[3]; };
void make() {
  TH1::AddDirectory(false);
  auto same = [](const char *name, int count, int how) { return Case{name, {count, count, count}, {how, how, how}}; };
  const std::vector<Case> cases = {
    same("few", 20, 0), same("full", 45, 0), same("full_weights", 45, WEIGHTS), same("full_squares", 45, WEIGHTS | SQUARES), same("full_integer", 45, INTEGER),
    same("full_one", 45, ONE), same("full_negative", 45, NEGATIVE), same("full_first", 99, 0), same("limits", 45, LIMITS), same("limits_weights", 45, LIMITS | WEIGHTS),
    same("grow", 45, LIMITS | GROW), same("grow_full", 60, GROW), {"over_first", {120, 20, 20}, {0, 0, 0}}, {"over_later", {20, 120, 20}, {0, 0, 0}},
    {"limits_first", {30, 30, 30}, {LIMITS, 0, 0}}, {"limits_later", {30, 30, 30}, {0, LIMITS, LIMITS}}, {"empty_first", {0, 60, 60}, {0, 0, 0}}, {"empty_other", {60, 0, 60}, {0, 0, 0}}};
  TFile together("together.root", "RECREATE", "", 101);
  for (auto &c : cases) {
    std::vector<Entry> all;
    for (int k = 0; k < 3; k++)
      for (auto &e : entries(k, c.counts[k], c.hows[k])) all.push_back(e);
    const int how = c.hows[0] | c.hows[1];
    profiles(together, c.name, how & LIMITS ? how | EMPTY : how, all);
  }
  for (int k = 0; k < 3; k++) {
    TFile file(Form("waiting%d.root", k), "RECREATE", "", 101);
    for (auto &c : cases) {
      const auto own = entries(k, c.counts[k], c.hows[k]);
      histograms(file, c.name, c.hows[k], own);
      profiles(file, c.name, c.hows[k], own);
    }
    profiles(file, "range", LIMITS, entries(k, 40, 0), 0.5);
  }
}
