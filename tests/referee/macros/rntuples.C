// An RNTuple of common types, in several codecs, with and without checksums of pages: four clusters of several pages.
// Entry i has i % 4 items. more.root goes on where the others end.
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <array>
#include <optional>
#include <variant>

void fill(const char *path, int compression, bool checksums, int first = 0) {
  auto model = ROOT::RNTupleModel::Create();
  model->SetDescription("made by a test");
  auto number = model->MakeField<int>("number");
  auto flag = model->MakeField<bool>("flag");
  auto text = model->MakeField<std::string>("text");
  auto items = model->MakeField<std::vector<float>>("items");
  auto nested = model->MakeField<std::vector<std::vector<int>>>("nested");
  auto maybe = model->MakeField<std::optional<double>>("maybe");
  auto either = model->MakeField<std::variant<int, std::string>>("either");
  auto pair = model->MakeField<std::pair<short, float>>("pair");
  auto fixed = model->MakeField<std::array<long, 3>>("fixed");
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(compression);
  options.SetInitialUnzippedPageSize(256);
  options.SetMaxUnzippedPageSize(1024);
  options.SetEnablePageChecksums(checksums);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "events", path, options);
  for (int i = first; i < first + 2500; ++i) {
    *number = i * 3 - 7;
    *flag = i % 3 == 0;
    *text = std::string(i % 5, 'a' + i % 26);
    items->assign(i % 4, 0.5f * i);
    nested->assign(i % 3, std::vector<int>(i % 2, i));
    if (i % 2) *maybe = i * 0.25; else maybe->reset();
    if (i % 2) *either = i; else *either = std::to_string(i);
    *pair = {short(i % 100), 1.5f * i};
    *fixed = {i, -i, 2L * i};
    writer->Fill();
    if (i % 700 == 699) writer->CommitCluster();
  }
}

void make() {
  fill("none.root", 0, true);
  fill("zlib.root", 101, true);
  fill("lzma.root", 207, true);
  fill("lz4.root", 404, false);
  fill("zstd.root", 505, false);
  fill("checked.root", 505, true);
  fill("more.root", 101, false, 2500);
}
