// RNTuples to merge: with other fields, other encodings of the same fields, attribute sets, projected fields, and other objects
// beside them.
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleAttrWriting.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TH1D.h>
#include <TList.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TTree.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using ROOT::RNTupleModel;
using ROOT::RNTupleWriter;

// ROOT's hadd loses the last ten fields of the second: the first has 90 fields, the second 100.
void many(const char *path, int fields, int first) {
  auto model = RNTupleModel::Create();
  std::vector<std::shared_ptr<int>> values;
  for (int i = 0; i < fields; ++i)
    values.push_back(model->MakeField<int>("f" + std::to_string(i)));
  auto writer = RNTupleWriter::Recreate(std::move(model), "many", path);
  for (int entry = first; entry < first + 300; ++entry) {
    for (int i = 0; i < fields; ++i)
      *values[i] = 1000 * entry + i;
    writer->Fill();
    if (entry % 100 == 99)
      writer->CommitCluster();
  }
}

// Fields of all kinds that only one of two files has.
void late(const char *path, bool more) {
  auto model = RNTupleModel::Create();
  auto number = model->MakeField<int>("number");
  std::vector<std::unique_ptr<ROOT::RFieldBase>> parts;
  parts.push_back(std::make_unique<ROOT::RField<float>>("x"));
  if (more)
    parts.push_back(std::make_unique<ROOT::RField<double>>("y"));
  model->AddField(std::make_unique<ROOT::RRecordField>("record", std::move(parts)));
  std::shared_ptr<std::vector<std::string>> words;
  std::shared_ptr<std::array<short, 3>> fixed;
  if (more) {
    words = model->MakeField<std::vector<std::string>>("words");
    fixed = model->MakeField<std::array<short, 3>>("fixed");
    model->AddProjectedField(ROOT::RFieldBase::Create("shown", "int").Unwrap(), [](const std::string &) { return "number"; });
  }
  auto writer = RNTupleWriter::Recreate(std::move(model), "late", path);
  auto record = writer->GetModel().GetDefaultEntry().GetPtr<void>("record");
  for (int i = 0; i < 250; ++i) {
    *number = i;
    *static_cast<float *>(record.get()) = 0.5f * i;
    if (more) {
      *reinterpret_cast<double *>(static_cast<char *>(record.get()) + 8) = 0.25 * i;
      words->assign(i % 3, std::string(i % 4, 'w'));
      *fixed = {short(i), short(-i), 7};
    }
    writer->Fill();
    if (i == 120)
      writer->CommitCluster();
  }
}

// The same fields in split columns or in columns as they are in memory, and with other sizes of offsets.
void encoded(const char *path, bool split, int first) {
  using ROOT::ENTupleColumnType;
  auto model = RNTupleModel::Create();
  auto number = std::make_unique<ROOT::RField<std::int64_t>>("number");
  number->SetColumnRepresentatives({{split ? ENTupleColumnType::kSplitInt64 : ENTupleColumnType::kInt64}});
  auto items = std::make_unique<ROOT::RField<std::vector<float>>>("items");
  items->SetColumnRepresentatives({{split ? ENTupleColumnType::kSplitIndex64 : ENTupleColumnType::kIndex32}});
  auto text = std::make_unique<ROOT::RField<std::string>>("text");
  if (!split)
    text->SetColumnRepresentatives({{ENTupleColumnType::kIndex64, ENTupleColumnType::kChar}});
  auto real = std::make_unique<ROOT::RField<float>>("real");
  if (!split)
    real->SetTruncated(20);
  model->AddField(std::move(number));
  model->AddField(std::move(items));
  model->AddField(std::move(text));
  model->AddField(std::move(real));
  auto writer = RNTupleWriter::Recreate(std::move(model), "encoded", path);
  auto &entry = writer->GetModel().GetDefaultEntry();
  auto n = entry.GetPtr<std::int64_t>("number");
  auto v = entry.GetPtr<std::vector<float>>("items");
  auto t = entry.GetPtr<std::string>("text");
  auto r = entry.GetPtr<float>("real");
  for (int i = first; i < first + 400; ++i) {
    *n = i;
    v->assign(i % 4, 0.5f * i);
    *t = std::string(i % 3, 't');
    *r = 0.5f * i;
    writer->Fill();
    if (i % 150 == 149)
      writer->CommitCluster();
  }
}

// Two attribute sets; each range of 50 entries has a run number.
void attributes(const char *path, int first) {
  auto model = RNTupleModel::Create();
  auto value = model->MakeField<int>("value");
  TFile file(path, "RECREATE");
  auto writer = RNTupleWriter::Append(std::move(model), "events", file);
  auto note = RNTupleModel::Create();
  auto run = note->MakeField<int>("run");
  auto runs = writer->CreateAttributeSet(std::move(note), "runs");
  auto range = runs->BeginRange();
  for (int i = first; i < first + 200; ++i) {
    *value = i;
    writer->Fill();
    if (i % 50 == 49) {
      *run = i / 50;
      runs->CommitRange(std::move(range));
      range = runs->BeginRange();
    }
  }
  runs->CommitRange(std::move(range));
  writer.reset();
}

// A tree, a histogram, a list and an RNTuple in one file.
void mixed(const char *path, int first) {
  TFile file(path, "RECREATE");
  {
    TTree tree("tree", "numbers");
    int i = 0;
    tree.Branch("i", &i);
    for (i = first; i < first + 100; ++i)
      tree.Fill();
    tree.Write();
    tree.SetDirectory(nullptr);
    TH1D histogram("h", "values", 10, 0, 10);
    histogram.Fill(first % 10);
    histogram.Write();
    histogram.SetDirectory(nullptr);
    TList list;
    list.Add(new TObjString(path));
    list.Write("list", TObject::kSingleKey);
    TNamed("label", "as it is").Write();
  }
  auto folder = file.mkdir("folder");
  auto model = RNTupleModel::Create();
  auto x = model->MakeField<float>("x");
  auto writer = RNTupleWriter::Append(std::move(model), "ntuple", *folder);
  for (int i = first; i < first + 100; ++i) {
    *x = i;
    writer->Fill();
  }
}

// No entries, and one field.
void empty(const char *path) {
  auto model = RNTupleModel::Create();
  model->MakeField<int>("number");
  RNTupleWriter::Recreate(std::move(model), "late", path);
}

void make() {
  many("many90.root", 90, 0);
  many("many100.root", 100, 300);
  late("less.root", false);
  late("more.root", true);
  encoded("split.root", true, 0);
  encoded("plain.root", false, 400);
  attributes("runs1.root", 0);
  attributes("runs2.root", 200);
  mixed("mixed1.root", 0);
  mixed("mixed2.root", 100);
  empty("empty.root");
}
