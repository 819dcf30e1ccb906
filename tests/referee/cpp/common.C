// What all questions have: text as JSON writes it, and the newest cycles of a directory.
#include <TDirectory.h>
#include <TKey.h>
#include <TList.h>
#include <cstdio>
#include <map>
#include <string>

std::string quote(const std::string &text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') { out += '\\'; out += c; }
    else if (c < 32 || c > 126) { snprintf(escaped, 8, "\\u%04x", c); out += escaped; }
    else out += c;
  }
  return out + "\"";
}

// The key of the newest cycle of each name.
std::map<std::string, TKey *> latest_keys(TDirectory *directory) {
  std::map<std::string, TKey *> latest;
  for (TObject *o : *directory->GetListOfKeys()) {
    auto key = (TKey *)o;
    auto &best = latest[key->GetName()];
    if (!best || best->GetCycle() < key->GetCycle()) best = key;
  }
  return latest;
}
