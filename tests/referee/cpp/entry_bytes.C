// The bytes of every entry of every branch, and of every object that is no tree, as real ROOT finds them.
#include <TFile.h>
#include <TKey.h>
#include <TTree.h>
#include <TBranch.h>
#include <TBranchRef.h>
#include <TBasket.h>
#include <TBufferFile.h>
#include <TError.h>
#include <TMD5.h>
#include <RZip.h>
#include <map>
#include <string>
#include <vector>
namespace entry_bytes {
struct Hash {
  TMD5 md5;
  Long64_t items = 0, bytes = 0;
  void add(const char *data, Long64_t size) {
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(size >> (8 * i));
    md5.Update(length, 8);
    md5.Update((const unsigned char *)data, (unsigned)size);
    items++; bytes += size;
  }
  std::string line() {
    md5.Final();
    return "[" + std::to_string(items) + "," + std::to_string(bytes) + ",\"" + md5.AsString() + "\"]";
  }
};
// Tags of classes and objects count from where the entry lay when it was written; here they count from its start.
// A tag is taken for one only if what it points to is the name of a class (behind all ones), so that other numbers stay.
std::string withoutOrigin(const char *data, Long64_t size, Long64_t origin) {
  std::string entry(data, size);
  auto word = [&](Long64_t at) {
    UInt_t value = 0;
    for (int i = 0; i < 4; i++) value = value << 8 | (unsigned char)data[at + i];
    return value;
  };
  for (Long64_t at = 0; at + 4 <= size; at++) {
    const UInt_t tag = word(at);
    const Long64_t target = (Long64_t)(tag & 0x7FFFFFFF) - 2 - origin;
    if (!(tag & 0x80000000) || target < 0 || target + 4 > size || word(target) != 0xFFFFFFFF) continue;
    for (int i = 0; i < 4; i++) entry[at + i] = (char)(target >> (24 - 8 * i));
    at += 3;
  }
  return entry;
}
std::string branchLine(TBranch *branch) {
  Hash hash;
  const int baskets = branch->GetWriteBasket();
  for (int i = 0; i <= baskets; i++) {
    if (i == branch->GetMaxBaskets()) break;
    if (i == baskets && !branch->GetListOfBaskets()->At(i) && branch->GetBasketSeek(i) == 0) break;
    // Offsets that were left out are found from the counter's values at the entry that was read last.
    const bool leftOut = branch->GetIOFeatures().Test(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
    if (leftOut) branch->GetEntry(branch->GetBasketEntry()[i]);
    TBasket *basket = branch->GetBasket(i);
    if (!basket) return "\"basket " + std::to_string(i) + " cannot be read\"";
    const char *buffer = basket->GetBufferRef() ? basket->GetBufferRef()->Buffer() : nullptr;
    const int n = basket->GetNevBuf();
    if (n == 0) continue;
    if (!buffer) return "\"basket " + std::to_string(i) + " has no buffer\"";
    int *offsets = basket->GetEntryOffset();
    for (int e = 0; e < n; e++) {
      Long64_t first = offsets ? offsets[e] : basket->GetKeylen() + (Long64_t)e * basket->GetNevBufSize();
      Long64_t end = offsets ? (e + 1 < n ? offsets[e + 1] : basket->GetLast()) : first + basket->GetNevBufSize();
      if (first < 0 || end < first || end > basket->GetBufferRef()->BufferSize())
        return "\"basket " + std::to_string(i) + " entry " + std::to_string(e) + " lies outside\"";
      const int *displacement = basket->GetDisplacement();
      const std::string entry = withoutOrigin(buffer + first, end - first, displacement ? displacement[e] : first);
      hash.add(entry.data(), entry.size());
    }
  }
  return hash.line();
}
void branches(TObjArray *list, const std::string &prefix, std::vector<std::string> &out) {
  for (int i = 0; i < list->GetEntriesFast(); i++) {
    auto branch = (TBranch *)list->UncheckedAt(i);
    if (!branch) continue;
    const std::string id = prefix + std::to_string(i);
    out.push_back(quote(id) + ":" + branchLine(branch));
    branches(branch->GetListOfBranches(), id + ".", out);
  }
}
std::string join(const std::vector<std::string> &parts) {
  std::string out = "{";
  for (size_t i = 0; i < parts.size(); i++) out += (i ? "," : "") + parts[i];
  return out + "}";
}
std::string keyLine(TFile *file, TKey *key) {
  const Long64_t stored = key->GetNbytes() - key->GetKeylen(), wanted = key->GetObjlen();
  std::vector<char> in(stored), out(wanted);
  file->Seek(key->GetSeekKey() + key->GetKeylen());
  if (file->ReadBuffer(in.data(), stored)) return "\"cannot be read\"";
  if (stored >= wanted) out.assign(in.begin(), in.begin() + wanted);
  else {
    Long64_t from = 0, to = 0;
    while (to < wanted) {
      int nin = 0, nbuf = 0, nout = 0;
      if (R__unzip_header(&nin, (unsigned char *)&in[from], &nbuf)) return "\"bad block header\"";
      if (nin > stored - from || nbuf > wanted - to) return "\"bad block size\"";
      R__unzip(&nin, (unsigned char *)&in[from], &nbuf, (unsigned char *)&out[to], &nout);
      if (!nout) return "\"cannot be decompressed\"";
      from += nin; to += nout;
    }
  }
  Hash hash;
  hash.add(out.data(), wanted);
  return hash.line();
}
void walk(TFile *file, TDirectory *directory, const std::string &path, int depth,
          std::vector<std::string> &trees, std::vector<std::string> &objects) {
  for (auto &[name, key] : latest_keys(directory)) {
    const std::string cls = key->GetClassName();
    if (cls == "TDirectory" || cls == "TDirectoryFile") {
      auto below = (TDirectory *)key->ReadObj();
      if (below && depth < 20) walk(file, below, path + name + "/", depth + 1, trees, objects);
      continue;
    }
    if (cls.find("RNTuple") != std::string::npos) continue;
    TClass *known = TClass::GetClass(cls.c_str());
    if (known && known->InheritsFrom(TTree::Class()) && cls != "TChain") {
      auto tree = (TTree *)key->ReadObj();
      if (!tree) { trees.push_back(quote(path + name) + ":\"cannot be read\""); continue; }
      tree->SetCacheSize(0);
      tree->SetMaxVirtualSize(1LL << 40);  // else a full "memory" makes ROOT take embedded baskets for its buffers
      std::vector<std::string> lines;
      branches(tree->GetListOfBranches(), "", lines);
      if (tree->GetBranchRef()) lines.push_back("\"ref\":" + branchLine((TBranch *)tree->GetBranchRef()));
      trees.push_back(quote(path + name) + ":" + join(lines));
    } else
      objects.push_back(quote(path + name + " (" + cls + ")") + ":" + keyLine(file, key));
  }
}
std::string all(const char *path) {
  gErrorIgnoreLevel = kFatal;
  TFile *file = TFile::Open(path);
  if (!file || file->IsZombie()) return "{\"error\":\"ROOT cannot open it\"}";
  std::vector<std::string> trees, objects;
  walk(file, file, "", 0, trees, objects);
  return "{\"trees\":" + join(trees) + ",\"objects\":" + join(objects) + "}";
}
}
