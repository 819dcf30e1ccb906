"""Files whose columns differ, read as one: every library, order of files and way of reading gives the same columns and
values, as the asked join says; and what differs in type is refused by name before entries are read."""

import itertools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry

LIBRARIES: list[Any] = ["np", "ak", "pd", "arrow"]
CONTAINERS = {
    "trees": ["ttree", "ttree", "ttree"],
    "ntuples": ["rntuple", "rntuple", "rntuple"],
    "mixed": ["ttree", "rntuple", "ttree"],
}
# What files have, and what an entry of a file that lacks it has.
CONTENTS: dict[str, dict[str, Any]] = {
    "a": {"x": np.arange(4, dtype="i4"), "text": ["one", "", "three", "four"]},
    "b": {
        "x": np.arange(10, 13, dtype="i4"),
        "flat": np.array([0.5, 1.5, 2.5]),
        # In a tree it counts the items of the next one.
        "njagged": np.array([2, 0, 1], "i4"),
        "jagged": ak.values_astype(ak.Array([[1, 2], [], [3]]), "f4"),
        "text": ["b", "bb", "bbb"],
        "flag": np.array([True, False, True]),
    },
    "c": {
        "x": np.arange(20, 22, dtype="i4"),
        "fixed": np.arange(4, dtype="i2").reshape(2, 2),
        "text": ["c", "cc"],
        "word": ["w", "ww"],
    },
}
DEFAULTS = {"flat": 0.0, "njagged": 0, "jagged": [], "flag": False, "fixed": [0, 0], "word": ""}
COMMON = {"x", "text"}


def write(path: Path, container: str, content: dict[str, Any]) -> str:
    with bk.recreate(path) as file:
        (file.mkrntuple if container == "rntuple" else file.mktree)("t", content)
    return f"{path}:t"


def column(content: dict[str, Any], name: str) -> list[Any]:
    return ak.to_list(content[name]) if name in content else [DEFAULTS[name]] * len(content["x"])


def expected(order: str, names: set[str]) -> dict[str, list[Any]]:
    return {name: [value for file in order for value in column(CONTENTS[file], name)] for name in names}


def plain(found: Any, library: str) -> dict[str, list[Any]]:
    """The columns of a result."""
    if library == "np":
        return {name: [ak.to_list(one) for one in array] for name, array in found.items()}
    if library == "ak":
        return {name: found[name].to_list() for name in found.fields}
    if library == "pd":
        # Arrays are a column for each number.
        columns = {name: [ak.to_list(one) for one in found[name]] for name in found.columns}
        if "fixed[0]" in columns:
            columns["fixed"] = [
                list(pair) for pair in zip(columns.pop("fixed[0]"), columns.pop("fixed[1]"), strict=True)
            ]
        return columns
    return dict(found.to_pydict())


def chained(steps: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The columns of steps, one after the other."""
    return {name: list(itertools.chain.from_iterable(step[name] for step in steps)) for name in steps[0]}


@pytest.fixture(scope="module", params=CONTAINERS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp(request.param)
    kinds = zip(CONTENTS, CONTAINERS[request.param], strict=True)
    return {name: write(folder / f"{name}.root", kind, CONTENTS[name]) for name, kind in kinds}


ORDERS = ["".join(order) for size in (2, 3) for order in itertools.permutations("abc", size)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_follow_the_join_in_every_order(files: dict[str, str], library: Any) -> None:
    for order in ORDERS:
        paths = [files[name] for name in order]
        union = {name for file in order for name in CONTENTS[file]}
        joins: list[tuple[Any, set[str]]] = [("common", COMMON), ("fill", union)]
        for join, names in joins:
            how: dict[str, Any] = {"join": join, "library": library}
            values = expected(order, names)
            assert plain(bk.concatenate(paths, **how), library) == values, (order, join)
            assert plain(bk.open(paths, join=join).arrays(library=library), library) == values, (order, join)
            steps = [plain(step, library) for step in bk.iterate(paths, **how, step_size=3)]
            assert all(set(step) == names for step in steps), (order, join)
            assert chained(steps) == values, (order, join)
            # Steps may span files.
            steps = [plain(step, library) for step in bk.open(paths, join=join).iterate(library=library, step_size=3)]
            assert [len(step["x"]) for step in steps[:-1]] == [3] * (len(steps) - 1)
            assert chained(steps) == values, (order, join)
        # The default is what all share.
        assert plain(bk.concatenate(paths, library=library), library) == expected(order, COMMON)
        for read in (bk.open, bk.concatenate, lambda *paths, **how: list(bk.iterate(*paths, **how))):
            with pytest.raises(bk.SchemaDiffers, match=r"flat|fixed|RNTuple"):
                read(paths, join="strict")


def test_a_part_of_the_entries_and_some_columns(files: dict[str, str]) -> None:
    for order in ORDERS:
        paths = [files[name] for name in order]
        union = {name for file in order for name in CONTENTS[file]}
        values = expected(order, union)
        tree = bk.open(paths, join="fill")
        for name in union:
            assert tree.arrays([name], entry_start=2, entry_stop=5)[name].to_list() == values[name][2:5]
            assert tree[name].array(selection=[1, 3, 4]).to_list() == [values[name][entry] for entry in (1, 3, 4)]
        assert bk.concatenate(paths, ["y"], "x >= 11", aliases={"y": "x + 1"})["y"].to_list() == [
            x + 1 for x in values["x"] if x >= 11
        ]
        assert plain(pickle.loads(pickle.dumps(tree)).arrays(), "ak") == values
        cut = bk.concatenate(paths, sorted(union), "x >= 2", join="fill")
        rows = [entry for entry, x in enumerate(values["x"]) if x >= 2]
        assert plain(cut, "ak") == {name: [column[row] for row in rows] for name, column in values.items()}


def test_a_column_that_a_file_lacks_is_named(files: dict[str, str]) -> None:
    for order in ("ab", "ba"):
        paths = [files[name] for name in order]
        with pytest.raises(bk.KeyInFileError, match=r"flat is in .*b\.root, and not in .*a\.root: join='fill'"):
            bk.concatenate(paths, ["x", "flat"])
        with pytest.raises(bk.KeyInFileError, match=r"flat is in .*b\.root, and not in .*a\.root"):
            list(bk.iterate(paths, ["flat"]))
        # A file without an asked branch may be left out.
        start = 4 if order == "ab" else 0
        found = bk.concatenate(paths, ["x", "flat"], allow_missing=True, library="pd")
        assert found["flat"].tolist() == [0.5, 1.5, 2.5]
        assert found.index.tolist() == [start, start + 1, start + 2]
        some: dict[str, Any] = {"allow_missing": True, "entry_start": start + 1, "entry_stop": start + 2}
        assert bk.concatenate(paths, ["flat"], **some)["flat"].to_list() == [1.5]
        steps = list(bk.iterate(paths, ["flat"], allow_missing=True, report=True))
        assert [(made["flat"].to_list(), report.start) for made, report in steps] == [([0.5, 1.5, 2.5], start)]
    with pytest.raises(ValueError, match="no file has these branches"):
        bk.concatenate([files["a"]], ["flat"], allow_missing=True)
    with pytest.raises(ValueError, match="unknown join 'all'"):
        bk.concatenate(list(files.values()), join="all")  # type: ignore[call-overload]


@pytest.mark.parametrize("kinds", CONTAINERS)
def test_types_that_differ_are_refused_by_name_or_widened(kinds: str, tmp_path: Path) -> None:
    kind_a, kind_b, _ = CONTAINERS[kinds]
    narrow = {"x": np.array([1, -2], "i4"), "lists": ak.values_astype(ak.Array([[1], []]), "i2"), "k": np.arange(2)}
    wide = {"x": np.array([0.5, 2.5]), "lists": ak.values_astype(ak.Array([[70000], [1, 2]]), "u4"), "k": np.arange(2)}
    a = write(tmp_path / "a.root", kind_a, narrow)
    b = write(tmp_path / "b.root", kind_b, wide)
    for paths, (first, second) in (([a, b], (narrow, wide)), ([b, a], (wide, narrow))):
        for library, join in itertools.product(LIBRARIES, ["common", "fill"]):
            how: dict[str, Any] = {"library": library, "join": join}
            for names in (None, ["x"], ["k", "x"]):
                with pytest.raises(bk.SchemaDiffers, match=r"(?s)x is .*\.root, and .*\.root.*widen=True"):
                    bk.concatenate(paths, names, **how)
                with pytest.raises(bk.SchemaDiffers, match=r"x is .*a\.root|x is .*b\.root"):
                    list(bk.iterate(paths, names, **how))
            # Others can be read.
            assert plain(bk.concatenate(paths, ["k"], **how), library) == {"k": [0, 1, 0, 1]}
            found = plain(bk.concatenate(paths, ["x", "lists"], widen=True, **how), library)
            assert found["x"] == [*first["x"].tolist(), *second["x"].tolist()]
            assert found["lists"] == [*ak.to_list(first["lists"]), *ak.to_list(second["lists"])]
            steps = list(bk.iterate(paths, ["x", "lists"], widen=True, **how))
            assert chained([plain(step, library) for step in steps])["lists"] == found["lists"]
        assert bk.concatenate(paths, ["x"], widen=True, library="np")["x"].dtype == np.float64
        assert str(ak.type(bk.concatenate(paths, ["lists"], widen=True)["lists"]).content) == "var * int64"


def test_members_of_records_follow_the_join(tmp_path: Path) -> None:
    few = [{"p": 1, "q": 0.5}, {"p": 2, "q": 1.5}]
    more = [{"q": 2.5, "p": 3, "r": 7}]
    a = write(tmp_path / "a.root", "rntuple", {"one": ak.Array(few), "many": ak.Array([few, []])})
    b = write(tmp_path / "b.root", "rntuple", {"one": ak.Array(more), "many": ak.Array([more])})
    # The merge is the referee.
    for paths, order in (([a, b], [few, more]), ([b, a], [more, few])):
        records = order[0] + order[1]
        common = [{name: one[name] for name in ("p", "q")} for one in records]
        filled = [{"p": one["p"], "q": one["q"], "r": one.get("r", 0)} for one in records]
        lists = {"few": [common[:2], []] if order[0] is few else [common[1:], []], "more": [common[2:]]}
        assert bk.concatenate(paths)["one"].to_list() == common
        assert bk.concatenate(paths, join="fill")["one"].to_list() == filled
        assert bk.concatenate(paths, ["one.r"], join="fill")["one.r"].to_list() == [one["r"] for one in filled]
        items = [item for entry in bk.concatenate(paths, ["many"])["many"].to_list() for item in entry]
        assert items == common, lists
        items = [item for entry in bk.concatenate(paths, ["many"], join="fill")["many"].to_list() for item in entry]
        assert items == filled
        out = tmp_path / "out.root"
        bk.merge([path.removesuffix(":t") for path in paths], out, fill=True, force=True)
        merged = uproot.open(out)["t"].arrays()
        assert merged["one"].to_list() == filled
        assert [item for entry in merged["many"].to_list() for item in entry] == filled


@pytest.mark.parametrize("more", [False, True], ids=["plain", "with-a-conflict"])
def test_what_a_file_counts_is_filled_with_as_many_items(more: bool, tmp_path: Path, basketry: Basketry) -> None:
    """As in a merge: entries of a file that has the counter, and not what it counts, have so many zeros."""
    a, b = tmp_path / "a.root", tmp_path / "b.root"
    with bk.recreate(a) as file:
        tree = file.mktree("t", {"nx": "int32", "x": "var * float64", **({"w": "int32"} if more else {})})
        tree.extend({"nx": [2, 1], "x": [[1.0, 2.0], [3.0]], **({"w": [1, 1]} if more else {})})
    with bk.recreate(b) as file:
        file["t"] = {"nx": np.array([3, 0], "i4"), **({"w": np.ones(2)} if more else {})}
    assert uproot.open(a)["t/x"].count_branch.name == "nx"
    for paths in ([a, b], [b, a]):
        out = tmp_path / "out.root"
        done = basketry.run("merge", "--force", "--fill", *(["--drop", "w"] if more else []), *paths, "-o", out)
        assert done.code == 0, done
        merged = uproot.open(out)["t"].arrays(["nx", "x"]).to_list()
        assert [0.0, 0.0, 0.0] in [entry["x"] for entry in merged]
        assert bk.concatenate([f"{path}:t" for path in paths], ["nx", "x"], join="fill").to_list() == merged
        steps = bk.iterate([f"{path}:t" for path in paths], ["nx", "x"], join="fill")
        assert ak.concatenate(list(steps)).to_list() == merged
        assert bk.concatenate([f"{path}:t" for path in paths], ["x"], join="fill")["x"].to_list() == [
            entry["x"] for entry in merged
        ]


@pytest.mark.parametrize("kinds", CONTAINERS)
def test_a_file_without_entries_takes_no_column_away(kinds: str, tmp_path: Path) -> None:
    kind_a, kind_b, _ = CONTAINERS[kinds]
    full = write(tmp_path / "a.root", kind_a, {"x": np.arange(3), "y": np.arange(3.0)})
    empty = write(tmp_path / "b.root", kind_b, {"x": np.zeros(0, "f4"), "z": np.zeros(0)})
    for paths in ([full, empty], [empty, full]):
        for library in LIBRARIES:
            assert plain(bk.concatenate(paths, library=library), library) == {"x": [0, 1, 2], "y": [0.0, 1.0, 2.0]}
        if kind_a == kind_b:
            # It cannot conflict either: open of RNTuples refused it, in one order of files.
            assert plain(bk.open(paths).arrays(), "ak") == {"x": [0, 1, 2], "y": [0.0, 1.0, 2.0]}
        found = plain(bk.concatenate(paths, join="fill"), "ak")
        assert found == {"x": [0, 1, 2], "y": [0.0, 1.0, 2.0], "z": [0.0, 0.0, 0.0]}


def test_nothing_is_told_or_read_twice(tmp_path: Path) -> None:
    paths = []
    for name, content in (("a", {"x": np.arange(5000)}), ("b", {"x": np.arange(5000), "y": np.arange(5000.0)})):
        paths.append(write(tmp_path / f"{name}.root", "ttree", content))
    for join in ("common", "fill"):
        told: list[tuple[int, Any]] = []
        how: dict[str, Any] = {"join": join, "progress": lambda *both, told=told: told.append(both)}
        bk.concatenate(paths, **how)
        counts = [done for done, _ in told]
        assert counts == sorted(set(counts))
        assert told[-1] == (10000, 10000)


@pytest.mark.parametrize("more", [{}, {"y": np.arange(5000.0)}], ids=["same-columns", "other-columns"])
def test_damage_is_damage_and_said_once(more: dict[str, Any], tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", "ttree", {"x": np.arange(5000)})
    b = write(tmp_path / "b.root", "ttree", {"x": np.arange(5000), **more})
    branch = uproot.open(b)["x"]
    seek, size = branch.member("fBasketSeek")[0], branch.member("fBasketBytes")[0]
    data = bytearray((tmp_path / "b.root").read_bytes())
    data[seek + size - 200 : seek + size - 100] = b"\xa5" * 100
    (tmp_path / "b.root").write_bytes(data)
    for paths in ([a, b], [b, a]):
        for library in LIBRARIES:
            told: list[tuple[int, Any]] = []
            how: dict[str, Any] = {"library": library, "progress": lambda *both, told=told: told.append(both)}
            with pytest.raises(ValueError, match=r"b\.root") as caught:
                bk.concatenate(paths, ["x"], **how)
            assert not isinstance(caught.value, bk.SchemaDiffers)
            assert caught.value.__context__ is None
            assert told == sorted(set(told))


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_what_a_column_says_of_its_file_is_its_own(container: str, tmp_path: Path) -> None:
    """Of the first file, whatever columns the joined table has and whatever their order."""
    many = {"big": np.arange(9000), "x": np.arange(9000, dtype="i4"), "lists": ak.Array([[1, 2]] * 9000)}
    paths = {
        "a": write(tmp_path / "a.root", container, many),
        "b": write(tmp_path / "b.root", container, {"x": np.arange(4, dtype="i4")}),
        "c": write(tmp_path / "c.root", container, {"lists": ak.Array([[1]]), "x": np.arange(1, dtype="i4")}),
    }
    for order, join in itertools.product(itertools.permutations("abc", 2), ["common", "fill"]):
        how: dict[str, Any] = {"join": join}
        inputs = [paths[name] for name in order]
        read = [bk.open(inputs, **how), *(step.tree for _, step in bk.iterate(inputs, ["x"], report=True, **how))]
        for tree, first in zip(read, (order[0], *order), strict=True):
            alone: Any = bk.open(paths[first])
            columns: list[tuple[str, Any]] = tree.items()
            for name, branch in columns:
                if name not in alone:
                    assert branch.num_baskets == (0 if container == "rntuple" else 1)
                    assert branch.uncompressed_bytes == 0
                    if container == "rntuple":
                        assert branch.field_id is None
                    else:
                        assert branch.count_branch is None
                        with pytest.raises(bk.KeyInFileError, match=rf"{first}\.root, which has no {name}"):
                            branch.member("fName")
                    continue
                own = alone[name]
                assert branch.uncompressed_bytes == own.uncompressed_bytes
                assert branch.compression == own.compression
                if container == "rntuple":
                    assert branch.field_id == own.field_id
                    continue
                assert branch.entry_offsets == own.entry_offsets
                assert branch.member("fName") == name
                counter = own.count_branch
                found = branch.count_branch
                has_counter = counter is not None and counter.name in tree
                assert (found.name if found else None) == (counter.name if counter and has_counter else None)
    # Sizes are those of all files.
    total = bk.open([paths["b"], paths["a"]], join="fill")
    assert total.num_entries_for("10 kB", ["big"]) == pytest.approx(9004 * 10000 / (9000 * 8), rel=0.01)


def test_a_step_s_table_keeps_its_columns_when_it_is_pickled(files: dict[str, str]) -> None:
    paths = [files[name] for name in "abc"]
    for how in ({"join": "fill"}, {"join": "common"}):
        options: dict[str, Any] = how
        for number, (step, report) in enumerate(bk.iterate(paths, report=True, **options)):
            again = pickle.loads(pickle.dumps(report)).tree
            assert again.keys() == report.tree.keys()
            assert again.arrays().to_list() == step.to_list()
            assert again.file_path == paths[number].removesuffix(":t")
            assert bk.concatenate(again).to_list() == bk.open(paths[number]).arrays().to_list()


@pytest.mark.parametrize("kinds", CONTAINERS)
def test_files_without_a_column_in_common(kinds: str, tmp_path: Path) -> None:
    kind_a, kind_b, _ = CONTAINERS[kinds]
    a = write(tmp_path / "a.root", kind_a, {"q": np.arange(2)})
    b = write(tmp_path / "b.root", kind_b, {"r": np.arange(2)})
    for read in (bk.concatenate, lambda *asked: list(bk.iterate(*asked))):
        with pytest.raises(bk.KeyInFileError, match=r"q is in .*a\.root, and not in .*b\.root: join='fill'"):
            read([a, b], ["q"])
        with pytest.raises(bk.SchemaDiffers, match="no column in common"):
            read([a, b])
    with pytest.raises(bk.SchemaDiffers, match="no column in common"):
        bk.open([a, b], join="common")


def counted(path: Path, group: str, content: list[list[int]], names: list[str]) -> str:
    """A tree with lists that one branch counts."""
    with bk.recreate(path) as file:
        file["t"] = {group: ak.zip({name: ak.Array(content) for name in names})}
    tree = uproot.open(path)["t"]
    assert {tree[f"{group}_{name}"].count_branch.name for name in names} == {f"n{group}"}
    return f"{path}:t"


def test_a_counter_that_a_file_lacks_agrees_with_the_lists_there(tmp_path: Path) -> None:
    ours, theirs = [[1, 2], [], [3]], [[3], [], [4, 5, 6]]
    a = counted(tmp_path / "a.root", "v", ours, ["p_x", "w"])
    for other in ("ntuple", "vector", "other-counter"):
        if other == "other-counter":
            b = counted(tmp_path / f"{other}.root", "v_p", theirs, ["x"])
        elif other == "ntuple":
            b = write(tmp_path / f"{other}.root", "rntuple", {"v_p_x": ak.Array(theirs)})
        else:
            b = str(tmp_path / f"{other}.root")
            with bk.recreate(b) as file:
                file.mktree("t", {"v_p_x": "vector<int64_t>"}).extend({"v_p_x": ak.Array(theirs)})
        for paths, lists in (([a, b], ours + theirs), ([b, a], theirs + ours)):
            for library in LIBRARIES:
                found = plain(bk.concatenate(paths, join="fill", library=library), library)
                assert found["v_p_x"] == lists, other
                lengths = [len(one) for one in lists]
                assert found["nv"] == lengths, other
                assert found.get("nv_p", lengths) == lengths
                assert [len(one) for one in found["v_w"]] == lengths, other
                alone = plain(bk.concatenate(paths, ["nv"], join="fill", library=library), library)
                assert alone == {"nv": lengths}
            kept = bk.concatenate(paths, ["v_p_x"], "nv > 0", join="fill")["v_p_x"].to_list()
            assert kept == [one for one in lists if one]


@pytest.mark.parametrize("kinds", CONTAINERS)
def test_files_that_are_all_empty_are_compared(kinds: str, tmp_path: Path) -> None:
    kind_a, kind_b, _ = CONTAINERS[kinds]
    a = write(tmp_path / "a.root", kind_a, {"x": np.zeros(0), "y": np.zeros(0)})
    b = write(tmp_path / "b.root", kind_b, {"x": np.zeros(0), "z": np.zeros(0)})
    for paths in ([a, b], [b, a]):
        assert bk.open(paths, join="common").keys() == ["x"]
        assert sorted(bk.open(paths, join="fill").keys()) == ["x", "y", "z"]
        assert bk.concatenate(paths).fields == ["x"]
        with pytest.raises(bk.SchemaDiffers):
            bk.open(paths)


def test_the_error_offers_what_helps(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", "ttree", {"x": np.arange(2), "s": ["a", "b"]})
    for container in ("ttree", "rntuple"):
        typed = write(tmp_path / f"typed-{container}.root", container, {"x": np.arange(2), "s": np.arange(2)})
        more = write(tmp_path / f"more-{container}.root", container, {"x": np.arange(2), "s": ["a", "b"], "y": [1, 2]})
        first = a if container == "ttree" else write(tmp_path / "n.root", container, {"x": [1, 2], "s": ["a", "b"]})
        with pytest.raises(bk.SchemaDiffers, match=r"s is .*typed") as caught:
            bk.open([first, typed])
        assert "join=" not in str(caught.value)
        assert "--" not in str(caught.value)
        with pytest.raises(bk.SchemaDiffers, match=r'join="common" keeps the branches that all .*join="fill"'):
            bk.open([first, more])
    with pytest.raises(ValueError, match="unknown join 'bogus'"):
        bk.open(a, join="bogus")  # type: ignore[arg-type]


UNSPLIT = """
import sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError
for path, has_object in zip(sys.argv[1:], (True, False)):
    file = ROOT.TFile(path, "RECREATE")
    tree = ROOT.TTree("t", "")
    x = ROOT.std.vector("int")(1)
    tree.Branch("x", x.data(), "x/I")
    vector = ROOT.TVector3(1, 2, 3)
    if has_object:
        tree.Branch("o", vector, 32000, 0)
    for number in range(2):
        x[0] = number
        tree.Fill()
    file.Write()
    file.Close()
"""


def test_an_object_that_a_merge_cannot_fill_in_keeps_no_other_branch_away(tmp_path: Path, basketry: Basketry) -> None:
    a, b = tmp_path / "a.root", tmp_path / "b.root"
    subprocess.run([sys.executable, "-W", "ignore", "-c", UNSPLIT, a, b], check=True, timeout=120)
    for paths in ([a, b], [b, a]):
        done = basketry.run("merge", "--force", "--fill", *paths, "-o", tmp_path / "out.root")
        assert "no default entry" in done.err
        tree = bk.open([f"{path}:t" for path in paths], join="fill")
        assert tree.keys(recursive=False) == ["x", "o"]
        assert tree["x"].array().to_list() == [0, 1, 0, 1]
        assert tree.arrays(["x"], "x == 1")["x"].to_list() == [1, 1]


def test_counts_that_are_none_are_named(tmp_path: Path) -> None:
    """A counter is a branch of any file: its numbers may be negative, and of more items than there can be."""
    with bk.recreate(tmp_path / "a.root") as file:
        file["t"] = {"nx": np.array([2, 0], "i4"), "x": ak.Array([[1, 2], []]), "w": np.zeros(2)}
    assert uproot.open(tmp_path / "a.root")["t/x"].count_branch.name == "nx"
    for bad, why in (([-1, 2], "-1 items"), ([2**31 - 1] * 3, r"more than 2\^32 items")):
        b = write(tmp_path / "b.root", "ttree", {"nx": np.array(bad, "i4"), "w": np.zeros(len(bad), "i4")})
        b = b.removesuffix(":t")
        for library in LIBRARIES:
            with pytest.raises(ValueError, match=rf"b\.root: branch x: .*{why}") as caught:
                bk.concatenate([f"{tmp_path}/a.root:t", f"{b}:t"], ["x"], join="fill", library=library)
            assert not isinstance(caught.value, bk.SchemaDiffers)


def test_one_counter_for_lists_of_different_lengths(tmp_path: Path) -> None:
    """Where a file lacks the counter, its lists say the numbers of items: they must agree."""
    counted, alike, other = (tmp_path / f"{name}.root" for name in ("counted", "alike", "other"))
    v, w = ak.Array([[1], [2, 3]]), ak.Array([[4], [5, 6]])
    with bk.recreate(counted) as file:
        file.mktree("t", {"n": ak.zip({"v": v, "w": w})})
    for path, lists in ((alike, w), (other, ak.Array([[4, 7], [5, 6]]))):
        with bk.recreate(path) as file:
            file.mkrntuple("t", {"n_v": v, "n_w": lists})
    for order in ((counted, alike), (alike, counted)):
        found = bk.concatenate([f"{path}:t" for path in order], join="fill")
        assert found["nn"].to_list() == [1, 2] * 2
        assert found["n_w"].to_list() == w.to_list() * 2
    for order in ((counted, other), (other, counted)):
        places = [f"{path}:t" for path in order]
        for expressions in (["nn"], ["n_v", "nn"], None):
            with pytest.raises(bk.SchemaDiffers, match=r"n_v.*n_w have different lengths here"):
                bk.concatenate(places, expressions, join="fill")
        # Without the counter the lists are what they are.
        wanted = {counted: w.to_list(), other: [[4, 7], [5, 6]]}
        assert bk.concatenate(places, ["n_w"], join="fill")["n_w"].to_list() == wanted[order[0]] + wanted[order[1]]
