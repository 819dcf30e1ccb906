// RNTuples with what no file of the corpus has: streamed objects, reduced floats of many widths, extended models, cluster groups,
// blobs of several keys, shared pages.
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TString.h>
#include <atomic>
#include <bitset>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

struct Inner {
  int a = 0;
  float b = 0;
};
struct Rich {
  int number = 0;
  std::string text;
  std::vector<double> values;
  std::vector<Inner> inner;
  Inner *pointer = nullptr;
  TString name;
};

using ROOT::RNTupleModel;
using ROOT::RNTupleWriter;

void streamed() {
  auto model = RNTupleModel::Create();
  model->AddField(std::make_unique<ROOT::RStreamerField>("rich", "Rich"));
  model->AddField(std::make_unique<ROOT::RStreamerField>("named", "TNamed"));
  model->AddField(std::make_unique<ROOT::RStreamerField>("lorentz", "TLorentzVector"));
  model->AddField(ROOT::RVectorField::CreateUntyped("many", std::make_unique<ROOT::RStreamerField>("_0", "Inner")));
  auto writer = RNTupleWriter::Recreate(std::move(model), "events", "streamed.root");
  auto &entry = writer->GetModel().GetDefaultEntry();
  auto rich = entry.GetPtr<Rich>("rich");
  auto named = entry.GetPtr<TNamed>("named");
  auto lorentz = entry.GetPtr<TLorentzVector>("lorentz");
  auto many = std::static_pointer_cast<std::vector<Inner>>(entry.GetPtr<void>("many"));
  Inner inner;
  for (int i = 0; i < 100; ++i) {
    inner = {i, 0.5f};
    rich->number = i;
    rich->text = std::string(i % 4, 'x');
    rich->values.assign(i % 3, i * 0.5);
    rich->inner.assign(i % 2, Inner{i, 2.f * i});
    rich->name = Form("n%d", i);
    rich->pointer = i % 2 ? &inner : nullptr;
    named->SetNameTitle(Form("name%d", i), Form("title%d", i));
    lorentz->SetPxPyPzE(i, 2 * i, 3 * i, 4 * i);
    many->assign(i % 3, Inner{i, 1.5f * i});
    writer->Fill();
    if (i % 30 == 29)
      writer->CommitCluster();
  }
  rich->pointer = nullptr;
}

void floats() {
  auto model = RNTupleModel::Create();
  std::vector<std::pair<std::string, bool>> names;
  for (int bits = 10; bits <= 31; ++bits) {
    auto field = std::make_unique<ROOT::RField<float>>("t" + std::to_string(bits));
    field->SetTruncated(bits);
    model->AddField(std::move(field));
    names.emplace_back("t" + std::to_string(bits), false);
  }
  for (int bits = 1; bits <= 32; ++bits) {
    auto field = std::make_unique<ROOT::RField<float>>("q" + std::to_string(bits));
    field->SetQuantized(-2, 10, bits);
    model->AddField(std::move(field));
    names.emplace_back("q" + std::to_string(bits), false);
    auto wide = std::make_unique<ROOT::RField<double>>("d" + std::to_string(bits));
    wide->SetQuantized(-2, 10, bits);
    model->AddField(std::move(wide));
    names.emplace_back("d" + std::to_string(bits), true);
  }
  auto half = std::make_unique<ROOT::RField<float>>("half");
  half->SetHalfPrecision();
  model->AddField(std::move(half));
  names.emplace_back("half", false);
  model->AddField(ROOT::RFieldBase::Create("double32", "Double32_t").Unwrap());
  names.emplace_back("double32", true);
  auto writer = RNTupleWriter::Recreate(std::move(model), "events", "floats.root");
  auto &entry = writer->GetModel().GetDefaultEntry();
  for (int i = 0; i < 300; ++i) {
    double value = -2 + 12. * i / 300;
    for (auto &[name, wide] : names) {
      if (wide)
        *entry.GetPtr<double>(name) = value;
      else
        *entry.GetPtr<float>(name) = value;
    }
    writer->Fill();
  }
  writer.reset();
  // What ROOT reads.
  auto reader = ROOT::RNTupleReader::Open("events", "floats.root");
  std::FILE *out = std::fopen("floats.txt", "w");
  for (auto &[name, wide] : names) {
    std::fprintf(out, "%s", name.c_str());
    for (auto i : reader->GetEntryRange())
      std::fprintf(out, " %a", wide ? reader->GetView<double>(name)(i) : reader->GetView<float>(name)(i));
    std::fprintf(out, "\n");
  }
  std::fclose(out);
}

void containers() {
  auto model = RNTupleModel::Create();
  auto number = model->MakeField<int>("number");
  auto maybe = model->MakeField<std::unique_ptr<std::vector<int>>>("maybe");
  auto atomic = model->MakeField<std::atomic<short>>("atomic");
  auto bits = model->MakeField<std::bitset<70>>("bits");
  auto constant = model->MakeField<std::vector<double>>("constant");
  std::vector<std::unique_ptr<ROOT::RFieldBase>> parts;
  parts.push_back(std::make_unique<ROOT::RField<int>>("x"));
  parts.push_back(std::make_unique<ROOT::RField<float>>("y"));
  model->AddField(std::make_unique<ROOT::RRecordField>("record", std::move(parts)));
  model->AddField(ROOT::RVectorField::CreateUntyped("items", std::make_unique<ROOT::RField<short>>("_0")));
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(0);
  options.SetInitialUnzippedPageSize(64);
  options.SetMaxUnzippedPageSize(4096);
  ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(options, 1000);
  auto writer = RNTupleWriter::Recreate(std::move(model), "events", "containers.root", options);
  auto &entry = writer->GetModel().GetDefaultEntry();
  auto record = entry.GetPtr<void>("record");
  auto items = std::static_pointer_cast<std::vector<short>>(entry.GetPtr<void>("items"));
  std::shared_ptr<int> late;
  for (int i = 0; i < 3000; ++i) {
    if (i == 1100) {
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate();
      late = updater->MakeField<int>("late");
      auto list = updater->MakeField<std::vector<int>>("late_list");
      list->assign(2, 7);
      updater->CommitUpdate();
    }
    *number = i;
    if (i % 3)
      *maybe = std::make_unique<std::vector<int>>(i % 4, i);
    else
      maybe->reset();
    *atomic = i % 1000;
    *bits = std::bitset<70>(i);
    bits->set(69, i % 2);
    constant->assign(8, 1.5);
    *static_cast<int *>(record.get()) = i;
    *reinterpret_cast<float *>(static_cast<char *>(record.get()) + 4) = i * 0.5f;
    items->assign(i % 3, short(i % 500));
    if (late)
      *late = -i;
    writer->Fill();
    if (i % 500 == 499)
      writer->CommitCluster(i % 1000 == 999);
  }
}

void make() {
  streamed();
  floats();
  containers();
}
