// framework WRITER FOLDER [OPTIONS]: a job of a framework. Threads take events, compute each, and write three outputs of it (tiers.h).
//
// WRITER is "addresses" (basketry's fill contexts), "BufferMerger" (basketry's), "TBufferMerger" or "TTree" (ROOT's; each output behind a
// mutex). --no-write lets basketry's contexts fill, encode and compress, and drops the bytes; --no-fill fills nothing. Prints one line of JSON.
// Compiled without ROOT's headers it has the addresses alone.
#include "process.h"
#include "tiers.h"
#include <atomic>
#include <basketry.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>
#if __has_include(<TTree.h>)
#define WITH_ROOT
#include <ROOT/TBufferMerger.hxx>
#include <TFile.h>
#include <TROOT.h>
#include <TTree.h>
#include <basketry_root.hpp>
#endif

struct Job {
  std::string writer, folder, container = "ttree";
  bool write = true, fill = true, sums = false;
  int threads = 1, events = 100, compression = 505, cluster = 50;
  uint64_t work = 1'000'000, memory = 256'000'000;

  std::string path(int tier) const { return folder + "/" + TIER_NAMES[tier] + ".root"; }

  static Job parse(int argc, char **argv) {
    Job job;
    if (argc < 3) throw std::invalid_argument("WRITER FOLDER [OPTIONS]");
    job.writer = argv[1];
    job.folder = argv[2];
    for (int i = 3; i < argc; i++) {
      const std::string option = argv[i];
      if (option == "--no-write") job.write = false;
      else if (option == "--no-fill") job.fill = false;
      else if (option == "--sums") job.sums = true;
      else if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
      else {
        const std::string value = argv[++i];
        if (option == "--threads") job.threads = std::stoi(value);
        else if (option == "--events") job.events = std::stoi(value);
        else if (option == "--cluster") job.cluster = std::stoi(value);
        else if (option == "--compression") job.compression = std::stoi(value);
        else if (option == "--container") job.container = value;
        else if (option == "--work") job.work = uint64_t(std::stod(value));
        else if (option == "--memory") job.memory = uint64_t(std::stod(value));
        else throw std::invalid_argument(option);
      }
    }
    if (job.threads < 1 || job.events < 1 || job.cluster < 1) throw std::invalid_argument("1 and more");
    return job;
  }
};

// What one thread fills.
struct Slot {
  virtual ~Slot() = default;
  virtual void fill() = 0;
  virtual void finish() {}
};

// The three outputs of a job.
struct Outputs {
  virtual ~Outputs() = default;
  // Of a thread, whose event is always in the same place.
  virtual std::unique_ptr<Slot> slot(Products &event) = 0;
  virtual void finish() = 0;
};

// Drops all bytes.
struct Nowhere : basketry::sink {
  void write(uint64_t, const void *, size_t) override {}
};

class Addresses : public Outputs {
  const Job &job;
  Nowhere nowhere;
  basketry::pool budget;
  std::vector<basketry::writer> writers;
  std::vector<basketry::writer::table> tables;

  static std::vector<basketry::column> columns(Tier tier) {
    using basketry::column;
    const std::vector<column> parts = {column::of<double>("x", offsetof(Vector3D, x)), column::of<double>("y", offsetof(Vector3D, y)),
                                       column::of<double>("z", offsetof(Vector3D, z))};
    const std::vector<column> members = {column("position", "Vector3D", offsetof(Event, position), parts, sizeof(Vector3D)),
                                         column("direction", "Vector3D", offsetof(Event, direction), parts, sizeof(Vector3D)),
                                         column("momentum", "Vector3D", offsetof(Event, momentum), parts, sizeof(Vector3D)),
                                         column::of<double>("energy", offsetof(Event, energy)),
                                         column::of<double>("mass", offsetof(Event, mass)),
                                         column::of<double>("time", offsetof(Event, time)),
                                         column::of<int>("id", offsetof(Event, id)),
                                         column::of<int>("status", offsetof(Event, status)),
                                         column::of<int>("mother", offsetof(Event, mother))};
    std::vector<column> all = {column::of<int>("number"), column::of<int>("quality")};
    for (int bit = 0; bit < Products::BITS; bit++) all.push_back(column::of<bool>("bit" + std::to_string(bit)));
    for (const Column &one : columns_of(tier)) all.push_back(column::of<std::vector<float>>(one.name));
    all.emplace_back("vertices", "std::vector<Event>", 0, members, sizeof(Event));
    return all;
  }

  struct Contexts : Slot {
    bool fills;
    std::vector<basketry::context> contexts;
    void fill() override {
      if (!fills) return;
      for (auto &context : contexts) context.fill();
    }
    void finish() override {
      for (auto &context : contexts) context.finish();
    }
  };

public:
  explicit Addresses(const Job &job) : job(job), budget(job.memory) {
    basketry::writer::options options;
    options.settings = "overwrite=true,container=" + job.container + ",compression=" + std::to_string(job.compression) +
                       ",cluster=" + std::to_string(job.cluster);
    if (!job.write || !job.fill) options.sink = &nowhere;
    for (int tier = 0; tier < TIERS; tier++) {
      writers.emplace_back(job.path(tier), options, &budget);
      tables.push_back(writers.back().add_table("Events", columns(Tier(tier))));
    }
  }
  std::unique_ptr<Slot> slot(Products &event) override {
    auto made = std::make_unique<Contexts>();
    made->fills = job.fill;
    for (int tier = 0; tier < TIERS; tier++) {
      auto context = writers[tier].fill_context(tables[tier]);
      size_t at = 0;
      context.bind(at++, &event.number);
      context.bind(at++, &event.quality);
      for (const bool &bit : event.bits) context.bind(at++, &bit);
      for (size_t column = event.first(Tier(tier)); column < event.floats.size(); column++) context.bind(at++, &event.floats[column]);
      context.bind(at++, &event.vertices);
      made->contexts.push_back(std::move(context));
    }
    return made;
  }
  void finish() override {
    for (auto &writer : writers) writer.finish();
  }
};

#ifdef WITH_ROOT
// The tree of a tier, which is filled from events wherever they are.
class TierTree {
  Tier tier;
  int number = 0, quality = 0;
  std::array<bool, Products::BITS> bits = {};
  std::vector<std::vector<float> *> floats;
  std::vector<Event> *vertices = nullptr;

public:
  std::unique_ptr<TTree> tree;

  TierTree(Tier tier, int cluster, TDirectory *directory, Products &event) : tier(tier) {
    point_to(event);
    tree = std::make_unique<TTree>("Events", TIER_NAMES[tier], 99, directory);
    tree->ResetBit(kMustCleanup);
    tree->SetAutoFlush(cluster);
    tree->SetAutoSave(0);
    tree->Branch("number", &number);
    tree->Branch("quality", &quality);
    for (int bit = 0; bit < Products::BITS; bit++) tree->Branch(("bit" + std::to_string(bit)).c_str(), &bits[bit]);
    const auto columns = columns_of(tier);
    for (size_t column = 0; column < columns.size(); column++) tree->Branch(columns[column].name.c_str(), &floats[column]);
    tree->Branch("vertices", &vertices);
  }
  void point_to(Products &event) {
    number = event.number;
    quality = event.quality;
    bits = event.bits;
    const size_t first = event.first(tier);
    floats.resize(event.floats.size() - first);
    for (size_t column = 0; column < floats.size(); column++) floats[column] = &event.floats[first + column];
    vertices = &event.vertices;
  }
  void fill(Products &event) {
    point_to(event);
    tree->Fill();
  }
};

template <class Merger> class Merged : public Outputs {
  const Job &job;
  std::vector<std::unique_ptr<Merger>> mergers;

  using File = decltype(std::declval<Merger &>().GetFile());
  struct Files : Slot {
    Products &event;
    int cluster, filled = 0;
    std::vector<File> files;
    std::vector<std::unique_ptr<TierTree>> trees;

    Files(Products &event, int cluster) : event(event), cluster(cluster) {}
    ~Files() override {
      for (auto &tree : trees) tree->tree.release(); // The file's, as TBufferMerger's own documentation has it.
    }
    void write() {
      for (auto &file : files) file->Write();
    }
    void fill() override {
      for (auto &tree : trees) tree->fill(event);
      if (++filled % cluster == 0) write();
    }
    void finish() override {
      if (filled % cluster != 0) write();
    }
  };

public:
  Merged(const Job &job, std::vector<std::unique_ptr<Merger>> mergers) : job(job), mergers(std::move(mergers)) {}
  std::unique_ptr<Slot> slot(Products &event) override {
    auto made = std::make_unique<Files>(event, job.cluster);
    for (int tier = 0; tier < TIERS; tier++) {
      made->files.push_back(mergers[tier]->GetFile());
      made->trees.push_back(std::make_unique<TierTree>(Tier(tier), job.cluster, made->files.back().get(), event));
    }
    return made;
  }
  void finish() override { mergers.clear(); }
};

static std::unique_ptr<TFile> root_file(const Job &job, int tier) {
  return std::make_unique<TFile>(job.path(tier).c_str(), "RECREATE", "", job.compression);
}

static std::unique_ptr<Outputs> by_tbuffermerger(const Job &job) {
  std::vector<std::unique_ptr<ROOT::TBufferMerger>> mergers;
  for (int tier = 0; tier < TIERS; tier++) mergers.push_back(std::make_unique<ROOT::TBufferMerger>(root_file(job, tier)));
  return std::make_unique<Merged<ROOT::TBufferMerger>>(job, std::move(mergers));
}

static std::unique_ptr<Outputs> by_buffermerger(const Job &job) {
  std::vector<std::unique_ptr<basketry::BufferMerger>> mergers;
  const basketry::BufferMergerPool pool(job.memory);
  for (int tier = 0; tier < TIERS; tier++)
    mergers.push_back(std::make_unique<basketry::BufferMerger>(job.path(tier).c_str(), "RECREATE", job.compression,
                                                               basketry::BufferMerger::options{"", "", &pool}));
  return std::make_unique<Merged<basketry::BufferMerger>>(job, std::move(mergers));
}

// A file and a tree for each output, of which one thread at a time may use one: what a framework does without a parallel writer.
class Locked : public Outputs {
  struct Output {
    std::mutex mutex;
    std::unique_ptr<TFile> file;
    std::unique_ptr<TierTree> tree;
  };
  Products first;
  std::array<Output, TIERS> outputs;

  struct Fills : Slot {
    Locked &of;
    Products &event;
    Fills(Locked &of, Products &event) : of(of), event(event) {}
    void fill() override {
      for (auto &output : of.outputs) {
        const std::lock_guard<std::mutex> lock(output.mutex);
        output.tree->fill(event);
      }
    }
  };

public:
  explicit Locked(const Job &job) {
    for (int tier = 0; tier < TIERS; tier++) {
      outputs[tier].file = root_file(job, tier);
      outputs[tier].tree = std::make_unique<TierTree>(Tier(tier), job.cluster, outputs[tier].file.get(), first);
    }
  }
  std::unique_ptr<Slot> slot(Products &event) override { return std::make_unique<Fills>(*this, event); }
  void finish() override {
    for (auto &output : outputs) {
      output.file->WriteTObject(output.tree->tree.get());
      output.tree.reset();
      output.file->Close();
    }
  }
};
#endif

static std::unique_ptr<Outputs> outputs_of(const Job &job) {
  if (job.writer == "addresses") return std::make_unique<Addresses>(job);
  if (!job.write || !job.fill) throw std::invalid_argument("addresses alone fill or write nothing");
#ifdef WITH_ROOT
  if (job.writer == "TBufferMerger") return by_tbuffermerger(job);
  if (job.writer == "BufferMerger") return by_buffermerger(job);
  if (job.writer == "TTree") return std::make_unique<Locked>(job);
#endif
  throw std::invalid_argument("no writer " + job.writer);
}

// Runs the job, and returns the sums of its outputs.
static std::array<double, TIERS> run(const Job &job) {
  const auto outputs = outputs_of(job);
  std::array<double, TIERS> sums = {};
  std::atomic<int> next{0};
  std::mutex mutex;
  std::exception_ptr failed;
  std::vector<std::thread> threads;
  for (int t = 0; t < job.threads; t++)
    threads.emplace_back([&] {
      try {
        Products event;
        std::array<double, TIERS> own = {};
        const auto slot = outputs->slot(event);
        for (int number = next++; number < job.events; number = next++) {
          event.make(number, job.work);
          slot->fill();
          for (int tier = 0; tier < TIERS && job.sums; tier++) own[tier] += event.sum(Tier(tier));
        }
        slot->finish();
        const std::lock_guard<std::mutex> lock(mutex);
        for (int tier = 0; tier < TIERS; tier++) sums[tier] += own[tier];
      } catch (...) {
        next = job.events;
        const std::lock_guard<std::mutex> lock(mutex);
        failed = std::current_exception();
      }
    });
  for (auto &thread : threads) thread.join();
  if (failed) std::rethrow_exception(failed);
  outputs->finish();
  return sums;
}

int main(int argc, char **argv) {
  try {
    const Job job = Job::parse(argc, argv);
#ifdef WITH_ROOT
    ROOT::EnableThreadSafety();
    { TMemFile once("once.root", "RECREATE"); } // One-time setup of ROOT, which a job has in any case.
#endif
    const double cpu = process::cpu();
    const auto start = std::chrono::steady_clock::now();
    const auto sums = run(job);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const double used = process::cpu() - cpu;
    uint64_t bytes = 0;
    for (int tier = 0; tier < TIERS && job.write && job.fill; tier++) {
      struct stat about;
      if (stat(job.path(tier).c_str(), &about) == 0) bytes += about.st_size;
    }
    printf("{\"wall\": %.6f, \"cpu\": %.6f, \"peak_rss\": %llu, \"bytes\": %llu, \"sums\": [%.17g, %.17g, %.17g]}\n", wall.count(), used,
           (unsigned long long)process::status("VmHWM"), (unsigned long long)bytes, sums[RECO], sums[AOD], sums[MINIAOD]);
  } catch (const std::exception &e) {
    fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}
