// What all questions have: text as JSON writes it.
#include <cstdio>
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
