"""Reads trees by ROOT for basketry: a request in JSON a line on stdin, an answer a line on stdout.

A request names a file and its trees, for each the columns (all, if none are named) and the entries. The answer is the
CPU time of opening the file and of TBranch::GetEntry for each entry of each branch, as rootreadspeed reads. The loop is
compiled. Branches below those of the first level are switched on and off as asked for.
"""

import json
import os
import sys

# The folder that the command was started in is no place to import from.
sys.path[:] = [place for place in sys.path if place]
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

LOOP = r"""
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <vector>
#include <TBranch.h>
#include <TFile.h>
#include <TTree.h>

namespace basketry {
double Cpu() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

bool Choose(TBranch *branch, const std::string &path, const std::set<std::string> &wanted) {
  bool any = wanted.count(path) > 0;
  for (auto *below : *branch->GetListOfBranches())
    any |= Choose(static_cast<TBranch *>(below), path + "\n" + below->GetName(), wanted);
  branch->SetBit(kDoNotProcess, !any);
  return any;
}

// Bytes read, or -1 where there is no such tree.
double fSeconds;
long long Read(const char *file, const char *path, const std::vector<std::string> &columns, bool all,
               const std::vector<long long> &entries, bool picked, long long most) {
  const double start = Cpu();
  long long bytes = 0;
  {
    std::unique_ptr<TFile> in(TFile::Open(file, "READ_WITHOUT_GLOBALREGISTRATION"));
    if (!in || in->IsZombie()) return -1;
    std::unique_ptr<TTree> tree(in->Get<TTree>(path));
    if (!tree) return -1;
    const std::set<std::string> wanted(columns.begin(), columns.end());
    std::vector<TBranch *> branches;
    for (auto *object : *tree->GetListOfBranches()) {
      auto *branch = static_cast<TBranch *>(object);
      if (all || Choose(branch, branch->GetName(), wanted)) branches.push_back(branch);
    }
    const long long count = picked ? static_cast<long long>(entries.size()) : tree->GetEntries();
    for (long long i = 0; i < count && (most < 0 || i < most); ++i) {
      const long long entry = picked ? entries[i] : i;
      for (auto *branch : branches) {
        const long long read = branch->GetEntry(entry);
        if (read < 0) return -2;
        bytes += read;
      }
    }
  }
  fSeconds = Cpu() - start;
  return bytes;
}
}
"""

try:
    import warnings

    warnings.simplefilter("ignore")
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    if not ROOT.gInterpreter.Declare(LOOP):
        raise ImportError("its interpreter does not compile the loop")
except Exception as error:
    print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
    sys.exit(0)
print(json.dumps({"version": str(ROOT.gROOT.GetVersion())}), file=answers, flush=True)

for line in sys.stdin:
    request = json.loads(line)
    seconds, read, problem = 0.0, 0, None
    for tree in request["trees"]:
        columns, entries = tree["columns"], tree["entries"]
        names = ROOT.std.vector["string"](["\n".join(column) for column in columns or ()])
        picks = ROOT.std.vector["long long"](entries or ())
        most = 1 if request["warm"] else -1
        found = ROOT.basketry.Read(
            request["file"], tree["tree"], names, columns is None, picks, entries is not None, most
        )
        if found < 0:
            problem = f"{request['file']}: {tree['tree']} " + ("is not there" if found == -1 else "cannot be read")
            break
        seconds, read = seconds + ROOT.basketry.fSeconds, read + found
    answer = {"error": problem} if problem else {"seconds": seconds, "bytes": int(read)}
    print(json.dumps(answer), file=answers, flush=True)
