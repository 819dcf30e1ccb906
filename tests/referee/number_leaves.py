"""Files with leaves of one type of numbers each, made by real ROOT, and what ROOT reads in files. A process of its own:

python -m referee.number_leaves make FOLDER     writes LETTER.root for each letter of a leaf list
python -m referee.number_leaves read FILE...    prints the types and values of each file's tree as JSON
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

#: By letter: the type in memory, and its extreme values.
TYPES = {
    "O": "bool",
    "B": "int8",
    "b": "uint8",
    "S": "int16",
    "s": "uint16",
    "I": "int32",
    "i": "uint32",
    "L": "int64",
    "l": "uint64",
    "G": "int64",
    "g": "uint64",
    "F": "float32",
    "D": "float64",
}
#: As ROOT names them.
NAMES = {
    "O": "Bool_t",
    "B": "Char_t",
    "b": "UChar_t",
    "S": "Short_t",
    "s": "UShort_t",
    "I": "Int_t",
    "i": "UInt_t",
    "L": "Long64_t",
    "l": "ULong64_t",
    "G": "Long_t",
    "g": "ULong_t",
    "F": "Float_t",
    "D": "Double_t",
}
ENTRIES = 5


def extremes(letter: str) -> list[Any]:
    """Values that no narrower type holds."""
    dtype = np.dtype(TYPES[letter])
    if dtype.kind == "b":
        return [False, True, True]
    if dtype.kind == "f":
        info = np.finfo(dtype)
        return [float(dtype.type(value)) for value in (info.min, info.max, info.smallest_subnormal, 0.1, 0.0)]
    return [int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), int(np.iinfo(dtype).max) - 1, 1, 0]


def entry(letter: str, k: int) -> dict[str, Any]:
    """The values of an entry, by leaf."""
    values = extremes(letter)
    at = [values[(k + j) % len(values)] for j in range(9)]
    count = k % 4
    return {"x": at[:1], "a": at[:4], "n": [count], "v": at[1 : 1 + 2 * count], "p": [k], "q": at[2:4], "r": [-k]}


def counter(letter: str) -> str:
    """The letter of the leaf that counts: only whole numbers do."""
    return letter if letter not in "OFD" else "b"


def make(letter: str) -> None:
    """Writes the file of a letter."""
    import ROOT

    dtype = np.dtype(TYPES[letter])
    buffers = {
        "x": np.zeros(1, dtype),
        "a": np.zeros(4, dtype),
        "n": np.zeros(1, TYPES[counter(letter)]),
        "v": np.zeros(8, dtype),
        "s": np.zeros(1, [("p", "int32"), ("q", dtype, (2,)), ("r", "int8")]),
    }
    lists = {"x": "x/T", "a": "a[2][2]/T", "n": "n/N", "v": "v[n][2]/T", "s": "p/I:q[2]/T:r/B"}
    file = ROOT.TFile(f"{letter}.root", "recreate")
    tree = ROOT.TTree("t", "t")
    for name, buffer in buffers.items():
        leaves = lists[name].replace("N", counter(letter)).replace("T", letter)
        tree.Branch(name, buffer.view(np.uint8), leaves)
    for k in range(ENTRIES):
        for name, values in entry(letter, k).items():
            if name in "pqr":
                buffers["s"][name][0] = values if name == "q" else values[0]
            else:
                buffers[name][: len(values)] = values
        tree.Fill()
    tree.Write()
    file.Close()


READER = r"""
#include <sstream>
std::string read_numbers(TTree* tree) {
    std::ostringstream out; out.precision(17); out << "[";
    for (Long64_t k = 0; k < tree->GetEntries(); ++k) {
        if (tree->GetEntry(k) <= 0) throw std::runtime_error("no entry");
        out << (k ? ",{" : "{"); bool first = true;
        for (auto* object : *tree->GetListOfLeaves()) {
            auto* leaf = static_cast<TLeaf*>(object);
            out << (first ? "\"" : ",\"") << leaf->GetName() << "\":["; first = false;
            std::string type = leaf->GetTypeName();
            for (int i = 0; i < leaf->GetLen(); ++i) {
                out << (i ? "," : "");
                if (type == "Float_t" || type == "Double_t") out << leaf->GetValue(i);
                else if (type[0] == 'U') out << static_cast<ULong64_t>(leaf->GetValueLong64(i));
                else out << leaf->GetValueLong64(i);
            }
            out << "]";
        }
        out << "}";
    }
    out << "]"; return out.str();
}
"""


def read(path: str) -> dict[str, Any]:
    """What ROOT reads in a file."""
    import ROOT

    file = ROOT.TFile.Open(path)
    tree = file.Get("t")
    leaves = {
        leaf.GetName(): {
            "type": str(leaf.GetTypeName()),
            "title": str(leaf.GetBranch().GetTitle()),
            "maximum": int(leaf.GetMaximum()),
            "size": int(leaf.GetLenType()),
            "offset": int(leaf.GetOffset()),
        }
        for leaf in tree.GetListOfLeaves()
    }
    return {"leaves": leaves, "entries": json.loads(str(ROOT.read_numbers(tree)))}


def main(what: str, arguments: list[str]) -> None:
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    if what == "make":
        import os

        os.chdir(arguments[0])
        for letter in TYPES:
            make(letter)
    else:
        ROOT.gInterpreter.Declare(READER)
        print(json.dumps({path: read(path) for path in map(str, map(Path, arguments))}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
