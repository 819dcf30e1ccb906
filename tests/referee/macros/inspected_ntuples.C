// RNTuples: every kind of field, codecs, missing checksums, clusters and groups of a few entries, small and shared pages.

using Options = ROOT::RNTupleWriteOptions;

Options with(int compression, bool checksums = true) {
  Options options; options.SetCompression(compression); options.SetEnablePageChecksums(checksums);
  return options;
}

// Fields of many kinds: a projection, an extension, a streamer field, packed floats, and an attribute set.
void rich() {
  auto model = ROOT::RNTupleModel::Create();
  model->SetDescription("fields of many kinds");
  auto pt = model->MakeField<float>("pt", "momentum");
  auto id = model->MakeField<std::int64_t>("id");
  auto flag = model->MakeField<bool>("flag");
  auto text = model->MakeField<std::string>("text");
  auto lists = model->MakeField<std::vector<std::vector<double>>>("lists");
  auto maybe = model->MakeField<std::optional<int>>("maybe");
  auto either = model->MakeField<std::variant<int, float>>("either");
  auto pair = model->MakeField<std::pair<float, std::array<int, 3>>>("pair");
  auto packed = std::make_unique<ROOT::RField<float>>("packed"); packed->SetTruncated(12);
  auto ranged = std::make_unique<ROOT::RField<float>>("ranged"); ranged->SetQuantized(9, {0., 1.});
  model->AddField(std::move(packed)); model->AddField(std::move(ranged));
  model->AddField(std::make_unique<ROOT::RStreamerField>("object", "TObjString"));
  auto shown = ROOT::RFieldBase::Create("shown", "float").Unwrap();
  model->AddProjectedField(std::move(shown), [](const std::string &) { return "pt"; });
  TFile file("rich.root", "RECREATE", "", 505);
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "events", file, with(505));
  auto note = ROOT::RNTupleModel::Create(); auto quality = note->MakeField<int>("quality");
  auto notes = writer->CreateAttributeSet(std::move(note), "notes");
  TRandom3 random(1);
  auto range = notes->BeginRange();
  std::shared_ptr<std::vector<int>> late;
  for (int i = 0; i < 5000; i++) {
    *pt = random.Exp(20); *id = i; *flag = i % 3; *text = "entry " + std::to_string(i % 50);
    lists->assign(i % 4, std::vector<double>(i % 3, i)); *maybe = i % 2 ? std::optional<int>(i) : std::nullopt;
    if (i % 5) *either = i; else *either = 0.5f * i;
    pair->first = i; pair->second = {i, 2 * i, 3 * i};
    if (late) late->assign(i % 5, i);
    if (i % 1000 == 999) { *quality = i; notes->CommitRange(std::move(range)); range = notes->BeginRange(); }
    if (i == 2000) {
      writer->CommitCluster();
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate(); late = updater->MakeField<std::vector<int>>("late"); updater->CommitUpdate();
    }
    writer->Fill();
    if (i == 3500) writer->CommitCluster();
  }
  notes->CommitRange(std::move(range));
  writer.reset();
}

// Numbers that compress, and numbers that do not.
void plain(const char *name, Options options, int entries, int cluster = 0, bool group = false) {
  auto model = ROOT::RNTupleModel::Create();
  auto i = model->MakeField<int>("i");
  auto x = model->MakeField<double>("x");
  auto v = model->MakeField<std::vector<float>>("v");
  TFile file(TString::Format("%s.root", name), "RECREATE");
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "numbers", file, options);
  TRandom3 random(2);
  for (int n = 0; n < entries; n++) {
    *i = n; *x = random.Gaus(); v->assign(n % 7, n / 100);
    writer->Fill();
    if (cluster && n % cluster == cluster - 1) writer->CommitCluster(group);
  }
}

// Two columns with the same content: their pages have the same bytes.
void shared() {
  auto model = ROOT::RNTupleModel::Create();
  auto a = model->MakeField<int>("a"); auto b = model->MakeField<int>("b");
  TFile file("shared.root", "RECREATE");
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "twins", file, with(505));
  for (int n = 0; n < 30000; n++) { *a = *b = n; writer->Fill(); }
}

// An RNTuple beside a tree, in a folder, and two cycles of another.
void beside() {
  TFile file("beside.root", "RECREATE", "", 505);
  TTree tree("tree", "numbers"); int i = 0; tree.Branch("i", &i); for (; i < 1000; i++) tree.Fill(); tree.Write(); tree.SetDirectory(nullptr);
  auto folder = file.mkdir("folder");
  for (auto name : {"one", "two", "two"}) {
    auto model = ROOT::RNTupleModel::Create(); auto x = model->MakeField<float>("x");
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), name, *folder, with(207));
    for (int n = 0; n < 100; n++) { *x = n; writer->Fill(); }
  }
}

void make() {
  rich();
  for (auto [name, setting] : {std::pair{"none", 0}, {"zlib", 101}, {"lzma", 207}, {"lz4", 404}, {"zstd", 505}})
    plain(name, with(setting), 20000);
  plain("heavy", with(207), 300000);
  plain("stored", with(0), 300000);
  plain("unchecked", with(505, false), 20000);
  plain("clusters", with(505), 20000, 50);
  plain("groups", with(505), 5000, 50, true);
  auto small = with(505); small.SetInitialUnzippedPageSize(64); small.SetMaxUnzippedPageSize(512);
  plain("pages", small, 60000);
  shared();
  beside();
}
