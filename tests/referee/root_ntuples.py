"""Asks real ROOT about the RNTuples of files: what its RNTupleInspector says, and the values that its views show.

Run as a program it is the process with ROOT in it: see `root_server`.
"""

import atexit
import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from referee.root_server import Server, serve

Answer = dict[str, Any]

# Seconds for one answer.
TIMEOUT = 300

# Entries that are shown at most: every n-th, and the last.
SHOWN = 40
CRASH = "crash"
# How columns end, in C++: Python would take a call for each page.
CODE = """
#include <ROOT/RNTupleInspector.hxx>
#include <ROOT/RFieldVisitor.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <fstream>
#include <sstream>
void makeSmall(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  model->MakeField<std::vector<float>>("x");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "small", path);
  writer->Fill();
}
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


@functools.cache
def _root() -> Server:
    """The process with ROOT."""
    server = Server("referee.root_ntuples")
    atexit.register(server.close)
    return server


def ask(question: str, *ntuples: str) -> list[Any]:
    """ROOT's answers for `FILE:NAME`, or for several of them with `|` between; a crash is an answer to "show" alone."""
    answers = []
    for ntuple in ntuples:
        answer = _root().ask(json.dumps([question, ntuple]))
        failed = isinstance(answer, dict) and "error" in answer
        if failed and question != "show":
            raise RuntimeError(f"ROOT failed at {ntuple}: {answer['error']}")
        answers.append(CRASH if failed else answer)
    return answers


def inspect(*ntuples: str) -> list[Answer]:
    """Pages and sizes."""
    return ask("inspect", *ntuples)


def show(*ntuples: str) -> list[str]:
    """The values of many entries, as text, field by field. `CRASH` where ROOT crashes, as it does at some types."""
    return ask("show", *ntuples)


def show_alike(*ntuples: str) -> list[str]:
    """`show` of RNTuples with the same types by one child: ROOT compiles for each type."""
    [shown] = ask("show", "|".join(ntuples))
    if len(ntuples) > 1 and shown != CRASH:
        return list(shown)
    # A crash is that of one of them.
    return show(*ntuples)


def attributes(path: str) -> list[list[int]]:
    """Start, length and the field `run` of each entry of an attribute set, `FILE:NAME:SET`."""
    [ranges] = ask("attributes", path)
    found: list[list[int]] = ranges
    return found


def imported(tree: Path, name: str, out: Path) -> Path:
    """The file with the RNTuple that ROOT's importer makes of a tree."""
    ask("import", f"{tree}:{name}:{out}")
    return out


def _answer(question: str, file: str, name: str, *names: str) -> Any:
    """What ROOT says of one RNTuple."""
    import ROOT

    match question:
        case "attributes":
            return json.loads(str(ROOT.attributes(name, file, *names)))
        case "inspect":
            return json.loads(str(ROOT.inspect(name, file)))
        case "import":
            importer = ROOT.Experimental.RNTupleImporter.Create(file, name, names[0])
            importer.SetIsQuiet(True)
            importer.Import()
            return "made"
    with tempfile.NamedTemporaryFile() as shown:
        ROOT.show(name, file, SHOWN, shown.name)
        return Path(shown.name).read_text(errors="backslashreplace")


def _answers(line: str) -> str:
    """What ROOT says of one RNTuple, or of several; in the forked child."""
    question, ntuples = json.loads(line)
    try:
        answers = [_answer(question, *ntuple.split(":")) for ntuple in ntuples.split("|")]
    except Exception as error:
        return json.dumps({"error": str(error)})
    return json.dumps(answers if len(answers) > 1 else answers[0])


def main() -> None:
    """Answers each question of stdin."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    # Takes seconds for each crash.
    ROOT.gEnv.SetValue("Root.Stacktrace", "no")
    if not ROOT.gInterpreter.Declare(CODE):
        raise SystemExit("the code does not compile")
    # ROOT compiles what it needs at first use: once here, and not in each child.
    with tempfile.TemporaryDirectory() as folder:
        ROOT.makeSmall(f"{folder}/small.root")
        for question in ("show", "inspect"):
            _answer(question, f"{folder}/small.root", "small")
    serve(_answers, TIMEOUT)


if __name__ == "__main__":
    main()
