"""One read of some branches of a tree by ROOT, without its start: `python root_columns.py FILE TREE WARM BRANCH ...`.
Prints "inside WALL CPU". Another file, WARM, is opened before, so that ROOT's libraries are loaded."""

import sys
import time

import ROOT

LOOP = """
Long64_t read_all(TTree &tree) {
  Long64_t bytes = 0;
  for (Long64_t i = 0; i < tree.GetEntries(); i++) bytes += tree.GetEntry(i);
  return bytes;
}
"""


def main() -> None:
    """Runs what the module describes."""
    path, name, warm, *branches = sys.argv[1:]
    ROOT.gInterpreter.Declare(LOOP)
    opened = ROOT.TFile.Open(warm)
    tree = opened.Get(name)
    tree.SetBranchStatus("*", False)
    ROOT.read_all(tree)
    opened.Close()
    wall, cpu = time.perf_counter(), time.process_time()
    file = ROOT.TFile.Open(path)
    tree = file.Get(name)
    tree.SetBranchStatus("*", False)
    for branch in branches:
        tree.SetBranchStatus(branch, True)
        tree.AddBranchToCache(branch, True)
    tree.StopCacheLearningPhase()
    read = ROOT.read_all(tree)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"inside {wall} {cpu}\n{read} bytes")


if __name__ == "__main__":
    main()
