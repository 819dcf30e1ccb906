// Arguments and output of the writers: KIND PATH with options, and one line of JSON.
#pragma once
#include "process.h"
#include <TMemFile.h>
#include <TROOT.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

// A number of entries or bytes, or a percentage of a thread's entries; none means ROOT's default.
struct Every {
  uint64_t entries = 0, bytes = 0;
  double percent = 0;

  static Every parse(const std::string &text) {
    Every every;
    size_t used = 0;
    const double number = std::stod(text, &used);
    const std::string unit = text.substr(used);
    if (unit == "%") every.percent = number;
    else if (unit == "MB") every.bytes = number * 1e6;
    else if (unit == "kB") every.bytes = number * 1e3;
    else if (unit.empty()) every.entries = number;
    else throw std::invalid_argument(text + ": entries, kB, MB or %");
    return every;
  }
  // In entries of a thread; 0 for the default.
  uint64_t in_entries(uint64_t share, uint64_t entry_bytes) const {
    const uint64_t n = percent ? share * percent / 100 : bytes ? bytes / entry_bytes : entries;
    return n || !(percent || bytes) ? n : 1;
  }
  // As TTree::SetAutoFlush and SetAutoSave take it.
  Long64_t as_root(uint64_t share) const {
    return bytes ? -Long64_t(bytes) : Long64_t(percent ? std::max<uint64_t>(1, share * percent / 100) : entries);
  }
  explicit operator bool() const { return entries || bytes || percent; }
};

// A file that discards all writes. TBufferMerger reads its own output, so it gets a file in memory.
class Nowhere : public TMemFile {
  Int_t SysWrite(Int_t, const void *, Int_t length) override { return length; }

public:
  explicit Nowhere(int compression) : TMemFile("nowhere.root", "RECREATE", "", compression) {}
};

// A file that counts the time for which it waits for the disk: ROOT syncs a file when its header is written (TFile::Flush).
class Timed : public TFile {
  Int_t SysSync(Int_t descriptor) override {
    const auto start = std::chrono::steady_clock::now();
    const Int_t done = TFile::SysSync(descriptor);
    waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return done;
  }

public:
  static inline double waited = 0;
  Timed(const std::string &path, int compression) : TFile(path.c_str(), "RECREATE", "", compression) {}
};

struct Job {
  bool multi = false, mix = false, write = true, fill = true, save_self = false;
  std::string path;
  // Of basketry, by name.
  std::string settings;
  uint64_t size = 100'000'000, seed = 1;
  int branches = 10, events = 10, threads = 1, compression = 0, split = 99, basket = 32000;
  // Bytes of payload a second at most; 0 for no limit.
  double rate = 0;
  Every flush, save;

  // In the mean.
  uint64_t entry_bytes() const { return multi ? uint64_t(branches) * events * 108 : mix ? 1680 : 8; }
  bool single() const { return !multi && !mix; }
  uint64_t entries() const { return std::max<uint64_t>(1, (size + entry_bytes() / 2) / entry_bytes()); }
  uint64_t first(int thread) const { return entries() * thread / threads; }
  std::unique_ptr<TFile> output(bool is_read = false) const {
    if (!write && is_read) return std::make_unique<TMemFile>("nowhere.root", "RECREATE", "", compression);
    if (!write) return std::make_unique<Nowhere>(compression);
    return std::make_unique<Timed>(path, compression);
  }
  // Runs a part of the entries in each thread.
  template <class Work> void in_threads(Work work) const {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; t++) workers.emplace_back([=, this_job = this] { work(this_job->first(t), this_job->first(t + 1)); });
    for (auto &worker : workers) worker.join();
  }

  static Job parse(int argc, char **argv) {
    Job job;
    if (argc < 3) throw std::invalid_argument("single|multi|mix PATH [OPTIONS]");
    job.multi = std::string(argv[1]) == "multi";
    job.mix = std::string(argv[1]) == "mix";
    if (job.single() && std::string(argv[1]) != "single") throw std::invalid_argument(argv[1]);
    job.path = argv[2];
    for (int i = 3; i < argc; i++) {
      const std::string option = argv[i];
      if (option == "--no-write") job.write = false;
      else if (option == "--no-fill") job.fill = false;
      else if (option == "--save-self") job.save_self = true;
      else if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
      else {
        const std::string value = argv[++i];
        if (option == "--size") job.size = std::stod(value);
        else if (option == "--seed") job.seed = std::stoull(value);
        else if (option == "--branches") job.branches = std::stoi(value);
        else if (option == "--events") job.events = std::stoi(value);
        else if (option == "--threads") job.threads = std::stoi(value);
        else if (option == "--compression") job.compression = std::stoi(value);
        else if (option == "--split-level") job.split = std::stoi(value);
        else if (option == "--basket") job.basket = std::stoi(value);
        else if (option == "--settings") job.settings = value;
        else if (option == "--rate") job.rate = std::stod(value);
        else if (option == "--autoflush") job.flush = Every::parse(value);
        else if (option == "--autosave") job.save = Every::parse(value);
        else throw std::invalid_argument(option);
      }
    }
    if (job.branches < 1 || job.events < 1 || job.threads < 1) throw std::invalid_argument("1 and more");
    return job;
  }
};

// Resources from here on: ROOT's start counts only in the memory.
class Account {
  using Time = std::chrono::steady_clock;
  static double since(Time::time_point start) { return std::chrono::duration<double>(Time::now() - start).count(); }
  double cpu_before = 0;
  Time::time_point start;

public:
  Account() {
    { TMemFile once("once.root", "RECREATE"); } // One-time setup of ROOT.
    cpu_before = process::cpu();
    start = Time::now();
  }
  // `bytes` is the length that would have been written, if nothing was.
  void report(const Job &job, uint64_t bytes) const {
    const double wall = since(start), used = process::cpu() - cpu_before;
    double flush = 0;
    if (job.write && job.fill) {
      const auto then = Time::now();
      const int fd = open(job.path.c_str(), O_RDONLY);
      fsync(fd);
      struct stat about;
      if (fstat(fd, &about) == 0) bytes = about.st_size;
      close(fd);
      flush = since(then);
    }
    printf("{\"wall\": %.6f, \"cpu\": %.6f, \"flush\": %.6f, \"flushed_meanwhile\": %.6f, \"peak_rss\": %llu, \"vsize\": %llu, \"bytes\": %llu, "
           "\"payload\": %llu, \"entries\": %llu}\n",
           wall, used, flush, Timed::waited, (unsigned long long)process::status("VmHWM"), (unsigned long long)process::status("VmPeak"), (unsigned long long)bytes,
           (unsigned long long)(job.entries() * job.entry_bytes()), (unsigned long long)job.entries());
  }
};

// The main program: an error is printed and ends it.
template <class Work> int writes(int argc, char **argv, Work work) {
  try {
    const Job job = Job::parse(argc, argv);
    if (job.threads > 1) ROOT::EnableThreadSafety();
    work(job);
  } catch (const std::exception &e) {
    fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
  return 0;
}
