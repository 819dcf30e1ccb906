// sums FILE TREE: entries, and the sum of each column by RDataFrame, in one loop, compiled ahead: no column is left to cling.
#include "Event.h"
#include "clock.h"
#include <ROOT/RDataFrame.hxx>
#include <TFile.h>
#include <algorithm>
#include <string>
#include <vector>

using Result = ROOT::RDF::RResultPtr<double>;
using Frame = ROOT::RDF::RNode;

template <class T> double total(const T &value) { return value; }
static double total(const Vector3D &v) { return v.x + v.y + v.z; }
static double total(const Event &e) {
  return total(e.position) + total(e.direction) + total(e.momentum) + e.energy + e.mass + e.time + e.id + e.status + e.mother;
}
template <class T> double total(const ROOT::RVec<T> &values) {
  double sum = 0;
  for (const auto &value : values) sum += total(value);
  return sum;
}

template <class T> bool sum(Frame &frame, const std::string &name, const std::string &type, const char *is, std::vector<Result> &sums) {
  if (type != is && type != std::string("ROOT::VecOps::RVec<") + is + ">") return false;
  auto add = [](double so_far, const T &value) { return so_far + total(value); };
  auto each = [](double so_far, const ROOT::RVec<T> &values) { return so_far + total(values); };
  auto both = [](double a, double b) { return a + b; };
  if (type == is) sums.push_back(frame.Aggregate(add, both, name, 0.));
  else sums.push_back(frame.Aggregate(each, both, name, 0.));
  return true;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  TFile::Open(argv[1])->Close(); // One-time setup of ROOT.
  Clock clock;
  ROOT::RDataFrame data(argv[2], argv[1]);
  Frame frame = data;
  std::vector<Result> sums;
  size_t left_out = 0;
  auto entries = frame.Count();
  const auto names = data.GetColumnNames();
  for (const std::string name : names) {
    // Of what is split the members alone.
    const auto is_member = [&](const std::string &other) { return other.compare(0, name.size() + 1, name + ".") == 0; };
    if (std::any_of(names.begin(), names.end(), is_member)) continue;
    auto type = data.GetColumnType(name);
    const bool found =
        sum<float>(frame, name, type, "Float_t", sums) || sum<float>(frame, name, type, "float", sums) ||
        sum<double>(frame, name, type, "Double_t", sums) || sum<double>(frame, name, type, "double", sums) ||
        sum<int>(frame, name, type, "Int_t", sums) || sum<int>(frame, name, type, "int", sums) ||
        sum<int>(frame, name, type, "std::int32_t", sums) ||
        sum<unsigned>(frame, name, type, "UInt_t", sums) || sum<unsigned>(frame, name, type, "unsigned int", sums) ||
        sum<Long64_t>(frame, name, type, "Long64_t", sums) || sum<ULong64_t>(frame, name, type, "ULong64_t", sums) ||
        sum<short>(frame, name, type, "Short_t", sums) || sum<unsigned char>(frame, name, type, "UChar_t", sums) ||
        sum<bool>(frame, name, type, "Bool_t", sums) || sum<bool>(frame, name, type, "bool", sums) ||
        sum<char>(frame, name, type, "Char_t", sums) || sum<Event>(frame, name, type, "Event", sums);
    if (!found && left_out++ < 5) fprintf(stderr, "left out: %s %s\n", name.c_str(), type.c_str());
  }
  double all = 0;
  for (auto &one : sums) all += *one;
  clock.report();
  printf("%llu entries, %zu columns, %zu left out, sum %.17g\n", (unsigned long long)*entries, sums.size(), left_out, all);
}
