#!/usr/bin/env python3
"""Writes crates/rootfile/src/streamer/describe/sizes.txt: the room that ROOT's own classes take in memory.

    tools/dump_class_sizes.py > crates/rootfile/src/streamer/describe/sizes.txt

Real ROOT (PyROOT) is asked, on x86-64. Most members of these classes are not written, so that their sizes do not
follow from their streamer infos.
"""

from dump_streamer_infos import CLASSES

MORE = """
TVector2 TVector3 TLorentzVector TRotation TLorentzRotation TParticle TGraph TGraphErrors TF1 TFormula
TMatrixTBase<float> TMatrixTBase<double> TMatrixT<float> TMatrixT<double> TMatrixTSym<float> TMatrixTSym<double>
TVectorT<float> TVectorT<double> TCut TMacro TBits TTimeStamp TArrow TLine TEllipse TCutG TGeoMatrix TGeoManager
""".split()

HEADER = """\
# Bytes in memory of ROOT's own classes in ROOT {version} on x86-64. Made by tools/dump_class_sizes.py.
# class  sizeof  bytes-before-what-a-derived-class-adds  alignment  has-virtual-functions
"""


def main():
    import ROOT

    names = sorted({*CLASSES, *MORE})
    for name in names:
        ROOT.TClass.GetClass(name)  # brings its header
    print(HEADER.format(version=ROOT.gROOT.GetVersion()), end="")
    for name in names:
        derived = "Of" + "".join(c if c.isalnum() else "_" for c in name)
        if not ROOT.gInterpreter.Declare(f"struct {derived} : {name} {{ char last; }};"):
            continue
        of = f"sizeof({name})", f"__builtin_offsetof({derived}, last)", f"alignof({name})", f"__is_polymorphic({name})"
        print(name, *(int(ROOT.gInterpreter.Calc(f"(long)({text})")) for text in of), sep="\t")


if __name__ == "__main__":
    main()
