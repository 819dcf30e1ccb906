"""Writes data/root_blocks.tsv: blocks that ROOT itself compresses, for tests/it/codec_root.rs.

Needs ROOT's Python bindings and xxhash:  python make_root_blocks.py > data/root_blocks.tsv
Columns: kind of data, its size, ROOT's setting, length of the block (0: ROOT gave up), XXH64 of it, and for some
the block itself in hex. `sample` must stay in step with the function of that name in codec_root.rs.
"""

import sys

import ROOT
import xxhash

MASK = (1 << 64) - 1
WORDS = ["Electron_", "Muon_", "Jet_", "pt", "eta", "phi", "mass", "/F", "[nJet]", "\n"]


def splitmix(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def sample(kind, size):
    draw = splitmix(size)
    out = bytearray()
    offset = 0
    while len(out) < size:
        r = next(draw)
        if kind == "offsets":  # entry offsets of a basket: a rising sequence
            offset += 8 * (r % 12)
            out += offset.to_bytes(4, "big")
        elif kind == "floats":  # floats in [1, 2) with 12 bits of mantissa
            out += (0x3F800000 | (r & 0x7FF800)).to_bytes(4, "big")
        elif kind == "text":
            out += WORDS[r % len(WORDS)].encode()
        else:  # noise
            out += r.to_bytes(8, "big")
    return bytes(out[:size])


ROOT.gInterpreter.Declare("""
#include "RZip.h"
#include <vector>
std::vector<int> basketry_zip(int setting, std::string const &in) {
   std::vector<unsigned char> out(in.size() + 1024);
   int size = in.size(), room = in.size(), written = 0;
   std::vector<char> copy(in.begin(), in.end());
   R__zipMultipleAlgorithm(setting % 100, &size, copy.data(), &room, (char *)out.data(), &written,
                           (ROOT::RCompressionSetting::EAlgorithm::EValues)(setting / 100));
   return std::vector<int>(out.begin(), out.begin() + written);
}
""")

SAME_BYTES = [401, 403, 404, 406, 409, 501, 502, 505, 509, 511, 201, 205, 207, 209]
print(f"# ROOT {ROOT.gROOT.GetVersion()}: kind, size, setting, length, XXH64, bytes")
for kind in ["offsets", "floats", "text", "noise"]:
    for size in [10, 11, 300, 32000, 300000]:
        data = sample(kind, size)
        for setting in SAME_BYTES + ([101, 106, 109, 301, 306, 309] if size == 300 else []):
            block = bytes(ROOT.basketry_zip(setting, data))
            spelled = block.hex() if size == 300 and setting in (101, 109, 201, 301, 309, 401, 505) else ""
            print(kind, size, setting, len(block), f"{xxhash.xxh64_intdigest(block):016x}", spelled, sep="\t")
sys.stdout.flush()
