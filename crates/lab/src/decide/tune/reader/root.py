"""Reads trees and RNTuples by ROOT for basketry: a request in JSON a line on stdin, an answer a line on stdout.

A request names a file and its trees, for each the columns (all, if none are named) and the entries. The answer is the
CPU time of opening the file and of TBranch::GetEntry for each entry of each branch, as rootreadspeed reads. The loop is
compiled. Branches below those of the first level are switched on and off as asked for. Of an RNTuple it is the time of
opening it and of a view's value for each entry of each field, as an analysis reads; classes that ROOT does not know are
emulated, and then entries are loaded whole.
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
#include <ROOT/RNTupleDescriptor.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
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

// Reads fields of an RNTuple. Throws if one has an unknown type.
long long ReadFields(const char *file, const char *path, const std::vector<std::string> &fields,
                     const std::vector<long long> &entries, bool picked, long long most) {
  const double start = Cpu();
  {
    auto reader = ROOT::RNTupleReader::Open(path, file);
    std::vector<ROOT::RNTupleView<void>> views;
    views.reserve(fields.size());
    for (const auto &field : fields) views.emplace_back(reader->GetView<void>(field));
    const long long count = picked ? static_cast<long long>(entries.size()) : reader->GetNEntries();
    for (long long i = 0; i < count && (most < 0 || i < most); ++i) {
      const long long entry = picked ? entries[i] : i;
      for (auto &view : views) view(entry);
    }
  }
  fSeconds = Cpu() - start;
  return 0;
}

// Reads all fields of an RNTuple, of unknown types too.
long long ReadEntries(const char *file, const char *path, const std::vector<long long> &entries, bool picked,
                      long long most) {
  const double start = Cpu();
  {
    ROOT::RNTupleDescriptor::RCreateModelOptions options;
    options.SetEmulateUnknownTypes(true);
    auto reader = ROOT::RNTupleReader::Open(options, path, file);
    const long long count = picked ? static_cast<long long>(entries.size()) : reader->GetNEntries();
    for (long long i = 0; i < count && (most < 0 || i < most); ++i) reader->LoadEntry(picked ? entries[i] : i);
  }
  fSeconds = Cpu() - start;
  return 0;
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

#: RNTuples whose entries are loaded whole, by file and path; and fields that cannot be read alone.
whole, unread = set(), set()


def read_fields(file, path, fields, all_fields, picks, picked, most):
    """0, or -2 if it cannot be read, and the number of fields that cannot."""
    known = [field for field in fields if (file, path, field) not in unread]
    if (file, path) not in whole:
        try:
            return ROOT.basketry.ReadFields(file, path, names_of(known), picks, picked, most), len(fields) - len(known)
        except Exception:
            if all_fields:
                whole.add((file, path))
    if all_fields:
        try:
            return ROOT.basketry.ReadEntries(file, path, picks, picked, most), 0
        except Exception:
            return -2, 0
    for field in known:
        try:
            ROOT.basketry.ReadFields(file, path, names_of([field]), picks, picked, 0)
        except Exception:
            unread.add((file, path, field))
    known = [field for field in known if (file, path, field) not in unread]
    return ROOT.basketry.ReadFields(file, path, names_of(known), picks, picked, most), len(fields) - len(known)


def names_of(names):
    """Names as C++ has them."""
    return ROOT.std.vector["string"](names)


for line in sys.stdin:
    request = json.loads(line)
    seconds, read, passed, problem = 0.0, 0, 0, None
    for tree in request["trees"]:
        columns, entries = tree["columns"], tree["entries"]
        if tree["fields"] is not None:
            picks = ROOT.std.vector["long long"](entries or ())
            found, left = read_fields(
                request["file"],
                tree["tree"],
                tree["fields"],
                columns is None,
                picks,
                entries is not None,
                1 if request["warm"] else -1,
            )
            passed += left
            if found < 0:
                problem = f"{request['file']}: {tree['tree']} cannot be read"
                break
            seconds += ROOT.basketry.fSeconds
            continue
        names = names_of(["\n".join(column) for column in columns or ()])
        picks = ROOT.std.vector["long long"](entries or ())
        most = 1 if request["warm"] else -1
        found = ROOT.basketry.Read(
            request["file"], tree["tree"], names, columns is None, picks, entries is not None, most
        )
        if found < 0:
            problem = f"{request['file']}: {tree['tree']} " + ("is not there" if found == -1 else "cannot be read")
            break
        seconds, read = seconds + ROOT.basketry.fSeconds, read + found
    answer = {"error": problem} if problem else {"seconds": seconds, "bytes": int(read), "unread": passed}
    print(json.dumps(answer), file=answers, flush=True)
