"""Asks real ROOT what it knows about the RNTuples of files: its RNTupleInspector, and its descriptors.

Run as a script it prints the answer for the paths of RNTuples that its arguments name (`FILE:NAME`).
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Answer = dict[str, Any]

# How columns end, in C++: Python would take a call for each page.
CODE = """
#include <ROOT/RNTupleInspector.hxx>
#include <sstream>
std::string inspect(const std::string &name, const std::string &file) {
  auto inspector = ROOT::Experimental::RNTupleInspector::Create(name, file);
  const auto &all = inspector->GetDescriptor();
  std::ostringstream out;
  out << "{\\"zip_bytes\\":" << inspector->GetCompressedSize() << ",\\"tot_bytes\\":"
      << inspector->GetUncompressedSize() << ",\\"entries\\":" << all.GetNEntries() << ",\\"clusters\\":"
      << all.GetNClusters() << ",\\"cluster_groups\\":" << all.GetNClusterGroups() << ",\\"columns\\":[";
  for (ROOT::DescriptorId_t id = 0; id < all.GetNPhysicalColumns(); id++) {
    const auto &column = inspector->GetColumnInspector(id);
    const auto &described = column.GetDescriptor();
    auto type = ROOT::Internal::RColumnElementBase::GetColumnTypeName(column.GetType());
    out << (id ? "," : "") << "{\\"type\\":\\"" << type
        << "\\",\\"bits\\":" << described.GetBitsOnStorage() << ",\\"elements\\":" << column.GetNElements()
        << ",\\"path\\":\\"" << all.GetQualifiedFieldName(described.GetFieldId()) << "\\",\\"pages\\":[";
    const auto &pages = column.GetCompressedPageSizes();
    for (std::size_t i = 0; i < pages.size(); i++) out << (i ? "," : "") << pages[i];
    out << "]}";
  }
  out << "]}";
  return out.str();
}
"""


def inspect(*ntuples: str) -> list[Answer]:
    """ROOT's answers for `FILE:NAME`, one process for all."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    command = [sys.executable, "-W", "ignore", "-m", "referee.root_ntuples", *ntuples]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"ROOT failed:\n{done.stdout}{done.stderr}")
    answers: list[Answer] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return answers


def main() -> None:
    """Prints a line for each RNTuple."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    if not ROOT.gInterpreter.Declare(CODE):
        raise SystemExit("the code does not compile")
    for argument in sys.argv[1:]:
        file, _, name = argument.rpartition(":")
        print(str(ROOT.inspect(name, file)))


if __name__ == "__main__":
    main()
