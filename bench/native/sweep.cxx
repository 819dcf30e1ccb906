// One job of a sweep, by ROOT: copies a tree into streams, or reads it, and prints its resources as one line of JSON.
// The task is a file of lines, a key and its value each. Before the first task, `--project` makes a library of the classes
// that a file describes: without a dictionary ROOT reads objects, but does not write them.
#include <TBranch.h>
#include <TBranchElement.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TROOT.h>
#include <TSystem.h>
#include <TTree.h>
#include <TVirtualStreamerInfo.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Requested shape of a branch of the first level; -1 leaves it unchanged.
struct Want {
  int basket = -1, compression = -1, split = -1;
};

struct Task {
  std::string kind, input, tree, index, streaming, library;
  std::vector<std::string> outputs, columns;
  std::map<std::string, Want> branches;
  Long64_t entries = 0, cluster = 0, basket_memory = 0;
  double memory_ratio = 0;
  int threads = 1, compression = -1;
  bool one_basket = false;

  explicit Task(const char *path) {
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find('\t');
      const std::string key = line.substr(0, at), value = at == std::string::npos ? "" : line.substr(at + 1);
      if (key == "kind") kind = value;
      else if (key == "input") input = value;
      else if (key == "tree") tree = value;
      else if (key == "index") index = value;
      else if (key == "streaming") streaming = value;
      else if (key == "library") library = value;
      else if (key == "output") outputs.push_back(value);
      else if (key == "column") columns.push_back(value);
      else if (key == "entries") entries = std::stoll(value);
      else if (key == "cluster") cluster = std::stoll(value);
      else if (key == "basket-memory") basket_memory = std::stoll(value);
      else if (key == "memory-ratio") memory_ratio = std::stod(value);
      else if (key == "threads") threads = std::stoi(value);
      else if (key == "compression") compression = std::stoi(value);
      else if (key == "one-basket-per-cluster") one_basket = true;
      else if (key == "branch") {
        Want want;
        std::string name;
        std::istringstream words(value);
        words >> want.basket >> want.compression >> want.split >> std::ws;
        std::getline(words, name);
        branches[name] = want;
      } else throw std::invalid_argument(key);
    }
  }

  // The entries of an index file, or all of them.
  std::vector<Long64_t> wanted(Long64_t all) const {
    std::vector<Long64_t> found;
    if (index.empty()) {
      for (Long64_t i = 0; i < std::min(all, entries); i++) found.push_back(i);
      return found;
    }
    std::ifstream lines(index);
    for (Long64_t entry; lines >> entry;)
      if (entry < all) found.push_back(entry);
    return found;
  }
};

struct Memory {
  uint64_t rss = 0, vsize = 0;
  static Memory of(const char *resident, const char *address) {
    std::ifstream lines("/proc/self/status");
    Memory found;
    for (std::string word; lines >> word;) {
      uint64_t kilobytes = 0;
      if (word == resident && lines >> kilobytes) found.rss = kilobytes * 1024;
      else if (word == address && lines >> kilobytes) found.vsize = kilobytes * 1024;
    }
    return found;
  }
  static Memory now() { return of("VmRSS:", "VmSize:"); }
  static Memory peak() { return of("VmHWM:", "VmPeak:"); }
  std::string json() const { return "{\"rss\": " + std::to_string(rss) + ", \"vsize\": " + std::to_string(vsize) + "}"; }
};

struct Account {
  Memory start = Memory::now();
  Clock::time_point begun = Clock::now();
  rusage before{};
  Memory events;
  double first = -1;
  uint64_t entries = 0, bytes = 0, baskets = 0, clusters = 0, compressed = 0;
  std::vector<std::pair<std::string, double>> columns;

  Account() { getrusage(RUSAGE_SELF, &before); }
  void report() const {
    const double wall = since(begun);
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    auto seconds = [](timeval a, timeval b) { return double(b.tv_sec - a.tv_sec) + 1e-6 * double(b.tv_usec - a.tv_usec); };
    const Memory peak = Memory::peak();
    std::ostringstream out;
    out.precision(9);
    out << "{\"wall\": " << wall << ", \"user\": " << seconds(before.ru_utime, after.ru_utime)
        << ", \"system\": " << seconds(before.ru_stime, after.ru_stime) << ", \"start\": " << start.json()
        << ", \"events\": " << (events.rss ? events : peak).json() << ", \"peak\": " << peak.json()
        << ", \"entries\": " << entries << ", \"bytes\": " << bytes << ", \"baskets\": " << baskets
        << ", \"clusters\": " << clusters << ", \"compressed\": " << compressed;
    if (first >= 0) out << ", \"first\": " << first;
    if (!columns.empty()) {
      out << ", \"columns\": [";
      for (size_t i = 0; i < columns.size(); i++) {
        std::string name;
        for (char c : columns[i].first) name += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
        out << (i ? ", " : "") << "[\"" << name << "\", " << columns[i].second << "]";
      }
      out << "]";
    }
    std::cout << out.str() << "}" << std::endl;
  }
};

// Applies to a branch and all below it.
template <class Each> static void each_below(TBranch &branch, Each each) {
  each(branch);
  for (auto *below : *branch.GetListOfBranches()) each_below(*static_cast<TBranch *>(below), each);
}

static uint64_t count_baskets(TTree &tree) {
  uint64_t count = 0;
  for (auto *top : *tree.GetListOfBranches())
    each_below(*static_cast<TBranch *>(top), [&](TBranch &branch) { count += branch.GetWriteBasket(); });
  return count;
}

static uint64_t count_clusters(TTree &tree) {
  uint64_t count = 0;
  auto clusters = tree.GetClusterIterator(0);
  while (clusters() < tree.GetEntries()) count++;
  return count;
}

// The tree of one stream. Branches that change split level are made anew; all others are cloned. Both are filled from the
// addresses of the input.
static TTree *new_tree(const Task &task, TTree &input, std::map<std::string, void *> &objects, TFile &file) {
  // By their bits: names of branches below an object need not begin with its own.
  auto left_out = [&](bool out) {
    for (auto &object : objects)
      each_below(*input.GetBranch(object.first.c_str()), [out](TBranch &b) { b.SetBit(::kDoNotProcess, out); });
  };
  left_out(true);
  file.cd();
  TTree *tree = input.CloneTree(0);
  left_out(false);
  for (auto &object : objects) {
    const Want &want = task.branches.at(object.first);
    TBranch *old = input.GetBranch(object.first.c_str());
    const int basket = want.basket > 0 ? want.basket : old->GetBasketSize();
    const int split = want.split >= 0 ? want.split : old->GetSplitLevel();
    if (!tree->Bronch(object.first.c_str(), old->GetClassName(), &object.second, basket, split))
      throw std::runtime_error(object.first + ": ROOT cannot write its class here");
  }
  for (const auto &[name, want] : task.branches) {
    TBranch *branch = tree->GetBranch(name.c_str());
    if (!branch) continue;
    each_below(*branch, [want = want](TBranch &below) {
      if (want.basket > 0) below.SetBasketSize(want.basket);
      if (want.compression >= 0) below.SetCompressionSettings(want.compression);
    });
  }
  if (task.cluster) tree->SetAutoFlush(task.cluster);
  if (task.one_basket) tree->SetBit(TTree::kOnlyFlushAtCluster);
  if (task.memory_ratio > 0) tree->SetTargetMemoryRatio(task.memory_ratio);
  tree->SetDirectory(&file);
  return tree;
}

// The tree of one record at the end of a file.
static void add_record(const Task &task, TFile &file, size_t columns, int basket) {
  file.cd();
  double value = 1;
  auto *record = new TTree("basketry_records", "one record");
  for (size_t i = 0; i < columns; i++) {
    char name[32];
    snprintf(name, sizeof name, "record_%04zu", i);
    record->Branch(name, &value, (std::string(name) + "/D").c_str(), basket);
  }
  record->Fill();
  if (task.basket_memory) record->OptimizeBaskets(task.basket_memory, 1.1, "");
  record->Write();
}

static void copy(const Task &task) {
  std::unique_ptr<TFile> source(TFile::Open(task.input.c_str()));
  if (!source || source->IsZombie()) throw std::runtime_error(task.input);
  auto *input = source->Get<TTree>(task.tree.c_str());
  if (!input) throw std::runtime_error(task.tree + " is not there");
  if (!task.streaming.empty()) TVirtualStreamerInfo::SetStreamMemberWise(task.streaming == "member-wise");
  // Branches of objects that change split level or streaming, with their addresses.
  std::map<std::string, void *> objects;
  for (auto *top : *input->GetListOfBranches()) {
    auto *branch = dynamic_cast<TBranchElement *>(top);
    const auto want = task.branches.find(top->GetName());
    if (!branch || want == task.branches.end() || (want->second.split < 0 && task.streaming.empty())) continue;
    objects[branch->GetName()] = nullptr;
  }
  for (auto &object : objects)
    if (input->SetBranchAddress(object.first.c_str(), static_cast<void *>(&object.second)) < 0)
      throw std::runtime_error(object.first + ": ROOT has no class for it here");
  const auto wanted = task.wanted(input->GetEntries());
  Account account;
  const int compression = task.compression >= 0 ? task.compression : source->GetCompressionSettings();
  std::vector<std::unique_ptr<TFile>> files;
  std::vector<TTree *> trees;
  for (const auto &output : task.outputs) {
    files.emplace_back(TFile::Open(output.c_str(), "RECREATE", "", compression));
    trees.push_back(new_tree(task, *input, objects, *files.back()));
  }
  uint64_t done = 0;
  for (const auto entry : wanted) {
    input->GetEntry(entry);
    for (auto *tree : trees) tree->Fill();
    // As LHCb did: the memory is shared out again after the tenth event.
    if (++done == 10 && task.basket_memory)
      for (auto *tree : trees) tree->OptimizeBaskets(task.basket_memory, 1.1, "");
  }
  for (auto *tree : trees) tree->FlushBaskets();
  account.events = Memory::peak();
  const auto *first = static_cast<TBranch *>(trees.front()->GetListOfBranches()->First());
  const int basket = first ? first->GetBasketSize() : 32000;
  const size_t columns = trees.front()->GetListOfBranches()->GetEntries();
  account.baskets = count_baskets(*trees.front());
  account.clusters = count_clusters(*trees.front());
  account.compressed = trees.front()->GetZipBytes();
  for (size_t i = 0; i < files.size(); i++) {
    files[i]->cd();
    trees[i]->Write("", TObject::kOverwrite);
    add_record(task, *files[i], columns, basket);
  }
  for (auto &file : files) {
    file->Close();
    account.bytes = file->GetEND();
  }
  account.entries = done * files.size();
  account.report();
}

static void read(const Task &task) {
  std::unique_ptr<TFile> source(TFile::Open(task.input.c_str()));
  if (!source || source->IsZombie()) throw std::runtime_error(task.input);
  auto *tree = source->Get<TTree>(task.tree.c_str());
  if (!tree) throw std::runtime_error(task.tree + " is not there");
  if (task.kind == "chosen") {
    tree->SetBranchStatus("*", false);
    for (const auto &column : task.columns) tree->SetBranchStatus(column.c_str(), true);
  }
  const uint64_t size = source->GetSize(), baskets = count_baskets(*tree), clusters = count_clusters(*tree);
  double first = -1;
  std::vector<Long64_t> wanted;
  if (task.kind == "sparse") {
    wanted = task.wanted(tree->GetEntries());
    const auto begun = Clock::now();
    if (!wanted.empty()) tree->GetEntry(wanted.front());
    first = since(begun);
    if (!wanted.empty()) wanted.erase(wanted.begin());
  }
  const Long64_t all = tree->GetEntries(), before = source->GetBytesRead();
  Account account;
  account.first = first;
  if (task.kind == "sparse") {
    for (const auto entry : wanted) tree->GetEntry(entry);
    account.entries = wanted.size();
  } else if (task.kind == "columns") {
    for (auto *top : *tree->GetListOfBranches()) {
      auto *branch = static_cast<TBranch *>(top);
      const auto begun = Clock::now();
      for (Long64_t i = 0; i < all; i++) branch->GetEntry(tree->LoadTree(i));
      account.columns.emplace_back(branch->GetName(), since(begun));
    }
    account.entries = all;
  } else {
    for (Long64_t i = 0; i < all; i++) tree->GetEntry(i);
    account.entries = all;
  }
  account.bytes = size;
  account.baskets = baskets;
  account.clusters = clusters;
  account.compressed = source->GetBytesRead() - before;
  account.report();
}

int main(int argc, char **argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "--version") {
      std::cout << "{\"root\": \"" << gROOT->GetVersion() << "\"}" << std::endl;
      return 0;
    }
    if (argc == 4 && std::string(argv[1]) == "--project") {
      std::unique_ptr<TFile> file(TFile::Open(argv[2]));
      if (!file || file->IsZombie()) throw std::runtime_error(argv[2]);
      file->MakeProject(argv[3], "*", "RECREATE+");
      return 0;
    }
    if (argc != 2) throw std::invalid_argument("TASK");
    // The job ends with the sweep that started it.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const Task task(argv[1]);
    if (!task.library.empty() && gSystem->Load(task.library.c_str()) < 0) throw std::runtime_error(task.library);
    if (task.threads > 1) ROOT::EnableImplicitMT(task.threads);
    task.kind == "copy" ? copy(task) : read(task);
  } catch (const std::exception &e) {
    std::cerr << argv[0] << ": " << e.what() << std::endl;
    return 1;
  }
  return 0;
}
