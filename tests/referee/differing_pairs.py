"""Makes pairs of files that differ in one property each, with real ROOT: `NAME-a.root` and `NAME-b.root`.

A class can be declared once in a process, so each side has a process of its own.
Every file has a tree `t` with a branch `keep` (0 to 5), which is alike on both sides, and branches that differ.
"""

import sys
from array import array
from typing import Any

ENTRIES = 6

# Branches of leaves: the leaf lists of each side, and the C type of their buffers.
LEAVES: dict[str, tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]] = {
    "length": ([("x", "x[2]/I", "int[2]")], [("x", "x[3]/I", "int[3]")]),
    "shape": ([("x", "x[2][3]/I", "int[6]")], [("x", "x[3][2]/I", "int[6]")]),
    "scalar": ([("x", "x/I", "int[1]")], [("x", "x[1]/I", "int[1]")]),
    "range": ([("x", "x/d[0,100,10]", "double[1]")], [("x", "x/d[0,200,10]", "double[1]")]),
    "range-array": ([("x", "x[3]/d[0,100,10]", "double[3]")], [("x", "x[3]/d[0,200,10]", "double[3]")]),
    "range-counted": (
        [("n", "n/I", "int[1]"), ("x", "x[n]/d[0,100,10]", "double[9]")],
        [("n", "n/I", "int[1]"), ("x", "x[n]/d[-50,200,12]", "double[9]")],
    ),
    "range-list": ([("x", "p/d[0,100,10]:q/D", "double[2]")], [("x", "p/d[0,200,10]:q/D", "double[2]")]),
    "range-none": ([("x", "x/d[0,100,10]", "double[1]")], [("x", "x/d", "double[1]")]),
    "range-plain": ([("x", "x/d[0,100,10]", "double[1]")], [("x", "x/D", "double[1]")]),
    "bits": ([("x", "x/d[0,0,8]", "double[1]")], [("x", "x/d[0,0,12]", "double[1]")]),
    "bits-half": ([("x", "x/f[0,0,8]", "float[1]")], [("x", "x/f[0,100,16]", "float[1]")]),
    "type": ([("x", "x/I", "int[1]")], [("x", "x/F", "float[1]")]),
    "sign": ([("x", "x/I", "int[1]")], [("x", "x/i", "int[1]")]),
    "counter": (
        [("n", "n/I", "int[1]"), ("m", "m/I", "int[1]"), ("x", "x[n]/I", "int[9]")],
        [("n", "n/I", "int[1]"), ("m", "m/I", "int[1]"), ("x", "x[m]/I", "int[9]")],
    ),
    "leaf-order": ([("x", "p/I:q/F", "int[2]")], [("x", "q/F:p/I", "int[2]")]),
    "leaf-name": ([("x", "p/I:q/I", "int[2]")], [("x", "p/I:r/I", "int[2]")]),
    "branch-order": (
        [("x", "x/I", "int[1]"), ("y", "y/F", "float[1]")],
        [("y", "y/F", "float[1]"), ("x", "x/I", "int[1]")],
    ),
    "title": ([("x", "x/I", "int[1]")], [("x", "x/I", "int[1]")]),
    "codec": ([("x", "x/I", "int[1]")], [("x", "x/I", "int[1]")]),
    "index": ([("x", "x/I", "int[1]")], [("x", "x/I", "int[1]")]),
    "text": ([("x", "x/C", "char[400]")], [("x", "x/C", "char[400]")]),
}

# Classes of each side, as C++: of the same name, used by a branch of their own or within `Own`.
SIDES = {
    "member": ("ClassDef(P,1) int i = 0; float f = 0;", "ClassDef(P,1) int i = 0; float f = 0; double d = 0;"),
    "order": ("ClassDef(P,1) int i = 0; float f = 0;", "ClassDef(P,1) float f = 0; int i = 0;"),
    "member-type": ("ClassDef(P,1) int i = 0; float f = 0;", "ClassDef(P,1) int i = 0; double f = 0;"),
    "member-range": (
        "ClassDef(P,1) int i = 0; Double32_t f = 0; //[0,100,10]\n",
        "ClassDef(P,1) int i = 0; Double32_t f = 0; //[0,200,10]\n",
    ),
    "member-shape": (
        "ClassDef(P,1) int i = 0; float f = 0; int a[2][3] = {};",
        "ClassDef(P,1) int i = 0; float f = 0; int a[3][2] = {};",
    ),
    "version": ("ClassDef(P,2) int i = 0; float f = 0;", "ClassDef(P,3) int i = 0; float f = 0; double d = 0;"),
    "same-high-version": (
        "ClassDef(P,4) int i = 0; float f = 0;",
        "ClassDef(P,4) float f = 0; int i = 0; short s = 0;",
    ),
    "foreign": ("int i = 0; float f = 0;", "int i = 0; float f = 0; double d = 0;"),
    "foreign-order": ("int i = 0; float f = 0;", "float f = 0; int i = 0;"),
    "same": ("ClassDef(P,1) int i = 0; float f = 0;", "ClassDef(P,1) int i = 0; float f = 0;"),
}


def names() -> list[str]:
    """The names of all pairs."""
    nested = [f"{use}-{side}" for use in ("nested", "vector") for side in SIDES]
    more = ["base-order", "base-member", "deep-order", "deep-member"]
    containers = ["container", "container-items", "clones-class", "clones-order", "split-level", "streaming"]
    return [*LEAVES, *nested, *more, *containers, "object-order", "object-member", "object-version", "object-same"]


def main(side: int) -> None:
    """Makes one side of all pairs."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    for name, lists in LEAVES.items():
        leaves(ROOT, name, side, lists[side])
    ROOT.gInterpreter.Declare(WRITERS)

    def write(what: str, name: str, rest: str = "") -> None:
        ROOT.gInterpreter.ProcessLine(f'write_{what}("{name}-{"ab"[side]}.root"{rest});')

    for name in SIDES:
        declare(ROOT, name, side)
        write(f"unsplit<Own_{ident(name)}>", f"nested-{name}", ", 0")
        write(f"unsplit<Several_{ident(name)}>", f"vector-{name}", ", 0")
    for name in ("order", "member"):
        write(f"unsplit<Derived_{name}>", f"base-{name}", ", 0")
        write(f"unsplit<Deep_{name}>", f"deep-{name}", ", 0")
    write(f"unsplit<std::{['vector', 'list'][side]}<int>>", "container", ", 0")
    write(f"unsplit<std::vector<{['int', 'short'][side]}>>", "container-items", ", 0")
    write("unsplit<Own_same>", "split-level", f", {99 * side}")
    ROOT.TVirtualStreamerInfo.SetStreamMemberWise(side == 0)
    write("unsplit<Several_same>", "streaming", ", 0")
    ROOT.TVirtualStreamerInfo.SetStreamMemberWise(True)
    write(f"clones<{['Clone_same', 'Clone_other'][side]}>", "clones-class")
    write("clones<Clone_order>", "clones-order")
    for name in ("order", "member", "version", "same"):
        write(f"keyed<Own_{name}>", f"object-{name}", f', "object_{"ab"[side]}", {5 + side}')


def ident(name: str) -> str:
    return name.replace("-", "_")


def declare(ROOT: Any, name: str, side: int) -> None:
    """Declares `P_NAME` as this side has it, and classes that use it."""
    p, body = f"P_{ident(name)}", SIDES[name][side]
    own = ident(name)
    fill = "\n".join(
        [
            f"struct {p} {{ {body.replace('(P,', f'({p},')} }};",
            f"void fill_in({p}& p, int k) {{ p.i = 100 + k; p.f = 2 * k; {'p.d = k + 0.5;' if ' d ' in body else ''}",
            "for (int j = 0; j < 6; ++j) (&p.a[0][0])[j] = 10 * k + j;" if "a[" in body else "",
            "}",
            f"struct Own_{own} {{ {p} p; std::vector<{p}> v; int id = 0; ClassDef(Own_{own},3) }};",
            f"void fill_in(Own_{own}& o, int k) {{",
            "fill_in(o.p, k); o.v.resize(k % 3); for (auto& p : o.v) fill_in(p, k + 1); o.id = k; }",
            f"struct Several_{own} {{ std::vector<{p}> v; ClassDef(Several_{own},2) }};",
            f"void fill_in(Several_{own}& o, int k) {{ o.v.resize(1 + k % 3); for (auto& p : o.v) fill_in(p, k); }}",
        ]
    )
    if name in ("order", "member"):
        fill += f"""
        struct Derived_{own} : public {p} {{ int more = 0; ClassDef(Derived_{own},2) }};
        void fill_in(Derived_{own}& o, int k) {{ fill_in(static_cast<{p}&>(o), k); o.more = k; }}
        struct Deep_{own} {{ std::vector<Own_{own}> o; int id = 0; ClassDef(Deep_{own},2) }};
        void fill_in(Deep_{own}& o, int k) {{ o.o.resize(k % 2 + 1); for (auto& own : o.o) fill_in(own, k); o.id = k; }}
        """
    if name in ("order", "same"):
        fill += f"""
        struct Clone_{own} : public TObject {{ {body.replace("(P,", f"(Clone_{own},")} }};
        void fill_in(Clone_{own}& o, int k) {{ o.i = 100 + k; o.f = 2 * k; }}
        """
    if name == "same":
        fill += """
        struct Clone_other : public TObject { float f = 0; int i = 0; ClassDef(Clone_other,1) };
        void fill_in(Clone_other& o, int k) { o.i = 100 + k; o.f = 2 * k; }
        """
    if not ROOT.gInterpreter.Declare(fill):
        raise RuntimeError(name)


def new_tree(ROOT: Any, name: str, side: int) -> tuple[Any, Any, Any]:
    """A file with a tree with the branch that is alike on both sides."""
    codec = 404 if name == "codec" and side else 101
    file = ROOT.TFile(f"{name}-{'ab'[side]}.root", "recreate", "", codec)
    tree = ROOT.TTree("t", "t")
    keep = array("i", [0])
    tree.Branch("keep", keep, "keep/I")
    return file, tree, keep


def leaves(ROOT: Any, name: str, side: int, lists: list[tuple[str, str, str]]) -> None:
    """A tree with branches of leaves."""
    file, tree, keep = new_tree(ROOT, name, side)
    kinds = {"int": "i", "float": "f", "double": "d", "char": "b"}
    buffers = {}
    for branch, leaf_list, buffer in lists:
        kind, size = buffer.removesuffix("]").split("[")
        buffers[branch] = array(kinds[kind], [0] * int(size))
        made = tree.Branch(branch, buffers[branch], leaf_list)
        if name == "title" and side:
            made.SetTitle("another title")
    for k in range(ENTRIES):
        keep[0] = k
        for branch, leaf_list, buffer in lists:
            values = buffers[branch]
            if branch in ("n", "m"):
                values[0] = (k + (branch == "m")) % 4
            elif buffer.startswith("char"):
                text = b"text " * (k if side == 0 else 60) + b"\0"
                values[: len(text)] = array("b", text)
            elif leaf_list in ("p/I:q/F", "q/F:p/I"):
                import struct

                number, real = struct.unpack("i", struct.pack("i", 10 + k))[0], struct.pack("f", k / 2)
                pair = [number, struct.unpack("i", real)[0]]
                values[:] = array("i", pair if leaf_list.startswith("p") else pair[::-1])
            else:
                for j in range(len(values)):
                    values[j] = 20 + 3 * k + j
        tree.Fill()
    if name == "index" and side == 0:
        tree.BuildIndex("keep")
    tree.Write()
    file.Close()


# Trees and objects of classes. `fill_in` gives a value of each class the content of an entry.
WRITERS = """
struct Output {
    TFile file; TTree* tree; int keep = 0;
    Output(const std::string& name, int codec) : file(name.c_str(), "recreate", "", codec), tree(new TTree("t", "t"))
    { tree->Branch("keep", &keep); }
    template <class Set> void fill(Set set)
    { for (int k = 0; k < ENTRIES; ++k) { keep = k; set(k); tree->Fill(); } tree->Write(); }
};
template <class List> void fill_in_numbers(List& list, int k)
{ list.clear(); for (int j = 0; j < k % 3 + 1; ++j) list.push_back(20 + k + j); }
void fill_in(std::vector<int>& list, int k) { fill_in_numbers(list, k); }
void fill_in(std::vector<short>& list, int k) { fill_in_numbers(list, k); }
void fill_in(std::list<int>& list, int k) { fill_in_numbers(list, k); }
template <class T> void write_unsplit(const char* name, int split)
{
    Output out(name, 101); T value;
    out.tree->Branch("x.", &value, 32000, split);
    out.fill([&](int k) { fill_in(value, k); });
}
template <class T> void write_clones(const char* name)
{
    Output out(name, 101); TClonesArray array(T::Class()); auto* pointer = &array;
    out.tree->Branch("x", &pointer, 32000, 0);
    out.fill([&](int k) {
        array.Clear();
        for (int j = 0; j < k % 3 + 1; ++j) fill_in(*static_cast<T*>(array.ConstructedAt(j)), k + j);
    });
}
template <class T> void write_keyed(const char* name, const char* object, int k)
{ Output out(name, 101); out.fill([](int) {}); T value; fill_in(value, k); out.file.WriteObject(&value, object); }
""".replace("ENTRIES", str(ENTRIES))


if __name__ == "__main__":
    main("ab".index(sys.argv[1]))
