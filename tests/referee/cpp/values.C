// What real ROOT reads, as values: every entry of every branch, what a tree knows besides entries, every other object.
// Objects are turned into text by TBufferJSON, so class tags, references and displacements have to be right.
#include <TBranchElement.h>
#include <TBufferJSON.h>
#include <TError.h>
#include <TFile.h>
#include <TFriendElement.h>
#include <TH1.h>
#include <TKey.h>
#include <TLeaf.h>
#include <TLeafObject.h>
#include <TList.h>
#include <TMD5.h>
#include <TTree.h>
#include <TTreeIndex.h>
#include <cstring>
#include <map>
#include <string>

namespace values {
int errors = 0;
// ROOT itself looks in vain for what it wants to take off its map when a displaced entry holds a TList.
void count(int level, Bool_t, const char *where, const char *) { errors += level >= kError && strcmp(where, "TExMap::Remove"); }

std::string json(const void *object, TClass *cls) { return TBufferJSON::ConvertToJSON(object, cls).Data(); }

struct Digest {
  TMD5 md5;
  void add(const std::string &text) { md5.Update((const unsigned char *)text.c_str(), text.size() + 1); }
  std::string text() { md5.Final(); return md5.AsString(); }
};

void leaf(TLeaf *l, Digest &digest) {
  char text[64];
  const std::string type = l->GetTypeName();
  const bool floating = type.find("loat") != std::string::npos || type.find("ouble") != std::string::npos;
  if (l->InheritsFrom("TLeafObject")) {
    auto object = ((TLeafObject *)l)->GetObject();
    digest.add(object ? json(object, object->IsA()) : "null");
    return;
  }
  if (l->InheritsFrom("TLeafC")) { digest.add((const char *)l->GetValuePointer()); return; }
  for (int i = 0; i < l->GetLen(); i++) {
    if (floating) snprintf(text, sizeof text, "%.17g", l->GetValue(i));
    else snprintf(text, sizeof text, "%lld", (long long)l->GetTypedValue<Long64_t>(i));
    digest.add(text);
  }
}

// One branch of the top level with all below it.
std::string branch(TTree *tree, TBranch *b) {
  Digest digest;
  errors = 0;
  for (Long64_t entry = 0; entry < tree->GetEntries(); entry++) {
    if (b->GetEntry(entry, 1) < 0) return quote("entry " + std::to_string(entry) + " cannot be read");
    auto element = dynamic_cast<TBranchElement *>(b);
    if (element && element->GetObject()) digest.add(json(element->GetObject(), TClass::GetClass(element->GetClassName())));
    else if (!element)
      for (TObject *l : *b->GetListOfLeaves()) {
        auto counter = ((TLeaf *)l)->GetLeafCount();
        if (counter && counter->GetBranch() != b) counter->GetBranch()->GetEntry(entry);
        leaf((TLeaf *)l, digest);
      }
    digest.add("|");
  }
  return quote(digest.text() + (errors ? " with " + std::to_string(errors) + " errors" : ""));
}

std::string relations(TTree *tree) {
  std::string out = "\"entries\":" + std::to_string(tree->GetEntries()) + ",\"weight\":" + std::to_string(tree->GetWeight());
  out += ",\"title\":" + quote(tree->GetTitle()) + ",\"class\":" + quote(tree->ClassName()) + ",\"friends\":[";
  if (tree->GetListOfFriends())
    for (TObject *o : *tree->GetListOfFriends()) out += (out.back() == '[' ? "" : ",") + quote(std::string(o->GetName()) + "@" + o->GetTitle());
  out += "],\"aliases\":[";
  if (tree->GetListOfAliases())
    for (TObject *o : *tree->GetListOfAliases()) out += (out.back() == '[' ? "" : ",") + quote(std::string(o->GetName()) + "=" + o->GetTitle());
  out += "],\"user_info\":[";
  if (tree->GetUserInfo())
    for (TObject *o : *tree->GetUserInfo()) out += (out.back() == '[' ? "" : ",") + json(o, o->IsA());
  out += "],\"index\":";
  if (auto index = tree->GetTreeIndex()) out += json(index, index->IsA());
  else out += "null";
  out += ",\"index_lines\":[";
  if (auto index = dynamic_cast<TTreeIndex *>(tree->GetTreeIndex()))
    for (Long64_t i = 0; i < index->GetN(); i++)
      out += std::string(i ? "," : "") + "[" + std::to_string(index->GetIndexValues()[i]) + "," +
             std::to_string(index->GetIndexValuesMinor()[i]) + "," + std::to_string(index->GetIndex()[i]) + "]";
  out += "]";
  return out;
}

void walk(TDirectory *directory, const std::string &path, std::string &trees, std::string &objects) {
  for (auto &[name, key] : latest_keys(directory)) {
    TObject *object = key->ReadObj();
    const std::string at = quote(path + name);
    if (auto below = dynamic_cast<TDirectory *>(object)) walk(below, path + name + "/", trees, objects);
    else if (auto tree = dynamic_cast<TTree *>(object); tree && !object->InheritsFrom("TChain")) {
      tree->SetCacheSize(0);
      std::string lines;
      for (TObject *b : *tree->GetListOfBranches()) lines += (lines.empty() ? "" : ",") + quote(b->GetName()) + ":" + branch(tree, (TBranch *)b);
      trees += (trees.empty() ? "" : ",") + at + ":{" + relations(tree) + ",\"branches\":{" + lines + "}}";
    } else if (object) objects += (objects.empty() ? "" : ",") + at + ":" + json(object, object->IsA());
    else objects += (objects.empty() ? "" : ",") + at + ":null";
  }
}

std::string all(const char *path) {
  SetErrorHandler(count);
  TH1::AddDirectory(false);
  TFile *source = TFile::Open(path);
  if (!source || source->IsZombie()) return "{\"error\":\"ROOT cannot open it\"}";
  std::string trees, objects;
  walk(source, "", trees, objects);
  const std::string recovered = source->TestBit(TFile::kRecovered) ? "true" : "false";
  return "{\"recovered\":" + recovered + ",\"trees\":{" + trees + "},\"objects\":{" + objects + "}}";
}
}
