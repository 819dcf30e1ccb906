"""Asks real ROOT about the RNTuples of files: what its RNTupleInspector says, and the values that its views show.

Run as a script it prints the answers to a question for the paths of RNTuples that its arguments name (`FILE:NAME`).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

Answer = dict[str, Any]

# Entries that are shown at most: every n-th, and the last.
SHOWN = 40
CRASH = "crash"
# How columns end, in C++: Python would take a call for each page.
CODE = """
#include <ROOT/RNTupleInspector.hxx>
#include <ROOT/RFieldVisitor.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <fstream>
#include <sstream>
void show(const std::string &name, const std::string &file, unsigned long most, const char *path) {
  auto reader = ROOT::RNTupleReader::Open(name, file);
  const auto &descriptor = reader->GetDescriptor();
  std::ofstream out(path);
  const unsigned long entries = reader->GetNEntries(), step = 1 + entries / most;
  for (const auto &field : descriptor.GetTopLevelFields()) {
    out << field.GetFieldName() << ": " << field.GetTypeName() << std::endl;
    try {
      auto view = reader->GetView<void>(field.GetId());
      ROOT::Internal::RPrintValueVisitor::RPrintOptions options;
      options.fPrintSingleLine = true;
      options.fPrintName = false;
      for (unsigned long i = 0; i < entries; i = i + step < entries || i + 1 == entries ? i + step : entries - 1) {
        view(i);
        ROOT::Internal::RPrintValueVisitor visitor(view.GetValue(), out, 0, options);
        view.GetField().AcceptVisitor(visitor);
        out << std::endl;
      }
    } catch (const std::exception &error) {
      out << "not shown" << std::endl;
    }
  }
  out << entries << " entries" << std::endl;
}
std::string attributes(const std::string &name, const std::string &file, const std::string &set) {
  auto reader = ROOT::RNTupleReader::Open(name, file);
  auto attributes = reader->OpenAttributeSet(set);
  auto entry = attributes->CreateEntry();
  auto run = entry->GetPtr<int>("run");
  std::ostringstream out;
  for (auto i : attributes->GetAttributes()) {
    auto range = attributes->LoadEntry(i, *entry);
    auto [start, length] = range.GetStartLength();
    out << (out.tellp() ? "," : "[") << "[" << start << "," << length << "," << *run << "]";
  }
  return out.str() + "]";
}
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


def ask(question: str, *ntuples: str) -> list[Any]:
    """ROOT's answers for `FILE:NAME`, one process for all."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    command = [sys.executable, "-W", "ignore", "-m", "referee.root_ntuples", question, *ntuples]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(('{"', '"'))]
    if done.returncode or len(answers) != len(ntuples):
        raise RuntimeError(f"ROOT failed:\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return answers


def inspect(*ntuples: str) -> list[Answer]:
    """Pages and sizes."""
    return ask("inspect", *ntuples)


def show(*ntuples: str) -> list[str]:
    """The values of many entries, as text, field by field. `CRASH` where ROOT crashes, as it does at some types."""
    return ask("show", *ntuples)


def attributes(path: str) -> list[list[int]]:
    """Start, length and the field `run` of each entry of an attribute set, `FILE:NAME:SET`."""
    [found] = ask("attributes", path)
    ranges: list[list[int]] = json.loads(found)
    return ranges


def imported(tree: Path, name: str, out: Path) -> Path:
    """The file with the RNTuple that ROOT's importer makes of a tree."""
    ask("import", f"{tree}:{name}:{out}")
    return out


def main() -> None:
    """Prints a line for each RNTuple."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    # Takes seconds for each crash.
    ROOT.gEnv.SetValue("Root.Stacktrace", "no")
    if not ROOT.gInterpreter.Declare(CODE):
        raise SystemExit("the code does not compile")
    question, *paths = sys.argv[1:]
    for argument in paths:
        file, name, *names = argument.split(":")
        if question == "attributes":
            print(json.dumps(str(ROOT.attributes(name, file, *names))), flush=True)
            continue
        if question == "import":
            importer = ROOT.Experimental.RNTupleImporter.Create(file, name, names[0])
            importer.SetIsQuiet(True)
            importer.Import()
            print(json.dumps("made"), flush=True)
            continue
        if question == "inspect":
            print(str(ROOT.inspect(name, file)), flush=True)
            continue
        if not (child := os.fork()):
            with tempfile.NamedTemporaryFile() as shown:
                ROOT.show(name, file, SHOWN, shown.name)
                print(json.dumps(Path(shown.name).read_text(errors="backslashreplace")), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(json.dumps(CRASH), flush=True)


if __name__ == "__main__":
    main()
