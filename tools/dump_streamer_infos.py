#!/usr/bin/env python3
"""Writes crates/rootfile/src/streamer/builtin.txt: the streamer infos of ROOT's own classes, as ROOT writes them.

    tools/dump_streamer_infos.py > crates/rootfile/src/streamer/builtin.txt

Real ROOT (PyROOT) is asked to mark the infos for writing into an empty file; uproot then reads the
members of that file's StreamerInfo record. So every number in the table is the one on file (an STL
element has type 500 there, though ROOT shows 300 after reading), not the one in memory.
The table's own header describes its lines.
"""

import sys
import tempfile
from pathlib import Path

CLASSES = """
TObject TNamed TString TObjString TDatime TUUID TRef TRefArray TProcessID TRefTable
TArray TArrayC TArrayS TArrayI TArrayL TArrayL64 TArrayF TArrayD
TCollection TSeqCollection TObjArray TList THashTable THashList TMap TClonesArray
TAttLine TAttFill TAttMarker TAttText TAttAxis TAtt3D
TTree TNtuple TNtupleD TChain TChainElement TFriendElement TVirtualIndex TTreeIndex TChainIndex
TBranch TBranchElement TBranchObject TBranchRef TBranchClones TBasket ROOT::TIOFeatures
TLeaf TLeafB TLeafS TLeafI TLeafL TLeafG TLeafF TLeafF16 TLeafD TLeafD32 TLeafO TLeafC TLeafElement TLeafObject
TEventList TEntryList TEntryListBlock
TVirtualStreamerInfo TStreamerInfo TStreamerElement TStreamerBase TStreamerBasicPointer TStreamerLoop
TStreamerBasicType TStreamerObject TStreamerObjectAny TStreamerObjectPointer TStreamerObjectAnyPointer
TStreamerString TStreamerSTL TStreamerSTLstring
TKey TDirectory TDirectoryFile TFile TFree
TParameter<bool> TParameter<int> TParameter<long> TParameter<Long64_t> TParameter<float> TParameter<double>
TAxis TH1 TH1C TH1S TH1I TH1L TH1F TH1D TProfile
TH2 TH2C TH2S TH2I TH2L TH2F TH2D TProfile2D TH2Poly TH2PolyBin
TH3 TH3C TH3S TH3I TH3L TH3F TH3D TProfile3D
TGraph TGraphErrors TGraphAsymmErrors TGraph2D TEfficiency
""".split()

HEADER = """\
# Streamer infos of ROOT's own classes, as ROOT {version} writes them. Made by tools/dump_streamer_infos.py.
# One class after the other, in order of name. Fields are separated by tabs.
#   C  class-name  class-version  checksum(hex)
# begins a class; then one line for each element, in order:
#   element-class  its-version  type  size  array-length  array-dim  max-index(5, commas; "-": all 0)  extra  name  type-name  title
# All numbers are those on file. For a base class, max-index[1] is its checksum, as a signed number. `extra` is
#   base=VERSION                        for TStreamerBase
#   count=VERSION,CLASS,NAME            for TStreamerBasicPointer and TStreamerLoop: the member that counts
#   stl=STLTYPE,CTYPE                   for TStreamerSTL and TStreamerSTLstring
#   -                                   otherwise
"""  # noqa: E501


def write_file(path):
    """Lets ROOT write a file whose StreamerInfo record has the infos of CLASSES."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal  # TTreeIndex: its arrays are counted by a Long64_t, which no info can say
    out = ROOT.TFile(path, "RECREATE")
    for name in CLASSES:
        cls = ROOT.TClass.GetClass(name)
        info = cls.GetStreamerInfo() if cls else None
        if not info:
            sys.exit(f"ROOT has no streamer info for {name}")
        info.ForceWriteInfo(out, True)
    out.Close()
    return ROOT.gROOT.GetVersion()


def element_line(element):
    m = element.all_members
    index = [int(i) for i in m["fMaxIndex"]]
    if "fBaseVersion" in m:
        extra = f"base={m['fBaseVersion']}"
    elif "fCountName" in m:
        extra = f"count={m['fCountVersion']},{m['fCountClass']},{m['fCountName']}"
    elif "fSTLtype" in m:
        extra = f"stl={m['fSTLtype']},{m['fCtype']}"
    else:
        extra = "-"
    kind = type(element).__name__.removeprefix("Model_")
    fields = [
        kind,
        element.instance_version,
        m["fType"],
        m["fSize"],
        m["fArrayLength"],
        m["fArrayDim"],
        ",".join(map(str, index)) if any(index) else "-",
        extra,
        m["fName"],
        m["fTypeName"],
        m["fTitle"],
    ]
    assert not any(c in str(f) for f in fields for c in "\t\n\r"), fields
    return "\t".join(map(str, fields))


def main():
    import uproot

    uproot.streamers._canonical_typename = lambda name: name  # uproot would show Long64_t as `long long`
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "infos.root")
        version = write_file(path)
        with uproot.open(path) as file:
            infos = file.file.streamers
            sys.stdout.write(HEADER.format(version=version))
            # All that were marked, and those ROOT marked along with them (bases and members).
            for name in sorted(infos):
                for number, info in sorted(infos[name].items()):
                    print(f"C\t{name}\t{number}\t{info.member('fCheckSum'):08x}")
                    for element in info.elements:
                        print(element_line(element))


if __name__ == "__main__":
    main()
