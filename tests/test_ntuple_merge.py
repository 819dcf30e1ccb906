"""RNTuples rewritten and merged: `verify`, ROOT and uproot must find the same values. And `verify` of RNTuples with
RNTuples and with trees."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee import make_files, oracle, root_ntuples
from referee.command import Basketry
from referee.paths import corpus_is_here

CODECS = ["none", "zlib", "lzma", "lz4", "zstd"]
LAYOUTS: list[tuple[str, ...]] = [
    (),
    *(("--compression", f"{codec}:3") for codec in CODECS[1:]),
    ("--compression", "none"),
]
# uproot and ROOT take seconds for hundreds of fields.
MOST_FIELDS = 150
PRE_RELEASE = "an RNTuple of a pre-release format"


def merged(name: str) -> Path:
    """A file of macros/ntuple_merges.C."""
    return make_files.made("ntuple_merges") / f"{name}.root"


def values(file: Path, name: str) -> dict[str, list[Any]]:
    """The values of all fields."""
    arrays = bk.open(f"{file}:{name}").arrays()
    return {field: arrays[field].tolist() for field in arrays.fields}


def by_uproot(file: Path, name: str) -> dict[str, list[Any]]:
    """The values of the fields that uproot can read."""
    found = {}
    with uproot.open(file) as opened:
        ntuple = opened[name]
        for key in ntuple.keys(recursive=False):
            try:
                found[key] = ntuple[key].array().tolist()
            except (NotImplementedError, ValueError, AssertionError, TypeError, KeyError, IndexError, AttributeError):
                continue
    return found


def is_small(ntuple: dict[str, Any]) -> bool:
    """Whether ROOT and uproot can read it in a moment."""
    return len(ntuple["fields"]) < MOST_FIELDS and ntuple["entries"] < 1_000_000


def layout_of(file: Path) -> tuple[str, ...]:
    """The layout in which ROOT and uproot read a rewritten file."""
    return LAYOUTS[hashlib.sha256(file.name.encode()).digest()[0] % len(LAYOUTS)]


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
@pytest.mark.parametrize("file", oracle.ntuple_files(), ids=lambda file: file.stem)
def test_rewritten_rntuples_have_the_same_values(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    found = basketry.json("inspect", file)
    for number, layout in enumerate({(), layout_of(file)}):
        out = tmp_path / f"{number}.root"
        if found["skipped"]:
            said = basketry.refuses("rewrite", file, "-o", out, *layout)
            assert PRE_RELEASE in said or "format feature" in said
            continue
        basketry("rewrite", file, "-o", out, *layout)
        basketry("verify", file, out)
        for ntuple in basketry.json("inspect", out)["ntuples"]:
            if layout:
                assert set(ntuple["codecs"]) <= {layout[1].partition(":")[0], "none"}
            if layout == layout_of(file) and is_small(ntuple):
                # NaN is no number, but always the same text.
                path = ntuple["path"]
                assert repr(by_uproot(out, path)) == repr(by_uproot(file, path))


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
def test_root_shows_the_same_of_rewritten_rntuples(full: bool, basketry: Basketry, tmp_path: Path) -> None:
    before, after = [], []
    # The others take their turn in test_write_ntuple.py.
    for file in list(oracle.ntuple_files())[:: 1 if full else 2]:
        found, out = basketry.json("inspect", file), tmp_path / file.name
        if not found["skipped"]:
            basketry("rewrite", file, "-o", out, *layout_of(file))
            paths = [ntuple["path"] for ntuple in found["ntuples"] if is_small(ntuple)]
            before += [f"{file}:{path}" for path in paths]
            after += [f"{out}:{path}" for path in paths]
    shown = [root_ntuples.show_alike(*pair) for pair in zip(before, after, strict=True)]
    assert len(shown) > (60 if full else 25)
    assert sum(first == root_ntuples.CRASH for first, _ in shown) < len(shown) / 4
    for name, (first, second) in zip(before, shown, strict=True):
        assert first == second, name


def test_all_codecs_in_one_merge(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("rntuples")
    files = [folder / f"{name}.root" for name in [*CODECS, "checked", "more"]]
    parts = [values(file, "events") for file in files]
    expected = {field: [value for part in parts for value in part[field]] for field in parts[0]}
    # uproot misreads variants of several clusters, in the inputs too.
    judged = by_uproot(files[0], "events").keys() - {"either"}
    assert len(judged) > 6
    uproots = [by_uproot(file, "events") for file in files]
    for number, layout in enumerate(LAYOUTS):
        for threads in ("1", "2"):
            out = tmp_path / f"{number}-{threads}" / "out.root"
            out.parent.mkdir()
            basketry("merge", *files, "-o", out, "--threads", threads, *layout)
            assert values(out, "events") == expected
        one, two = ((tmp_path / f"{number}-{threads}" / "out.root").read_bytes() for threads in "12")
        assert one == two
        basketry("verify", *files, out)
        read = by_uproot(out, "events")
        for field in judged:
            assert read[field] == [value for part in uproots for value in part[field]], field
        [shown] = root_ntuples.show(f"{out}:events")
        assert shown.endswith(f"{2500 * len(files)} entries\n")
        lines = shown.splitlines()
        step = 1 + 2500 * len(files) // root_ntuples.SHOWN
        for name, kind in (("number", "std::int32_t"), ("text", "std::string"), ("flag", "bool")):
            first = lines.index(f"{name}: {kind}") + 1
            wanted = [json.dumps(value) for value in expected[name][::step]]
            assert lines[first : first + len(wanted)] == wanted


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
@pytest.mark.parametrize("file", oracle.ntuple_files(), ids=lambda file: file.stem)
def test_some_entries_of_clusters(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    for ntuple in basketry.json("inspect", file)["ntuples"]:
        path, entries, out = ntuple["path"], ntuple["entries"], tmp_path / "out.root"
        if entries < 2:
            continue
        third = entries // 3
        chosen = ["--entries", f"1:2,{third + 1}:{third + 1 + third // 2},{entries - 1}:{entries}"]
        basketry("rewrite", f"{file}:{path}", "-o", out, "--force", *chosen)
        basketry("verify", f"{file}:{path}", f"{out}:{path}", *chosen)
        whole, part = bk.open(f"{file}:{path}").arrays(), bk.open(f"{out}:{path}").arrays()
        kept = sorted({1, *range(third + 1, third + 1 + third // 2), entries - 1})
        assert [repr(part[field].tolist()) for field in whole.fields] == [
            repr(whole[field][kept].tolist()) for field in whole.fields
        ]


@pytest.mark.parametrize(
    "name", ["rntuples/none", "rntuples/checked", "ntuple_features/containers", "ntuple_features/floats"]
)
@pytest.mark.parametrize("chosen", ["10:-5", "701:702", ":3,130:150,690:710,-1:"])
def test_root_reads_some_entries_of_clusters(name: str, chosen: str, basketry: Basketry, tmp_path: Path) -> None:
    recipe, _, stem = name.partition("/")
    file, out = make_files.made(recipe) / f"{stem}.root", tmp_path / "out.root"
    whole = values(file, "events")
    number = next(iter(whole))
    entries = range(len(whole[number]))
    parts = [slice(*(int(end) if end else None for end in part.split(":"))) for part in chosen.split(",")]
    kept = sorted({entry for part in parts for entry in entries[part]})
    expected = {field: [column[entry] for entry in kept] for field, column in whole.items()}
    for threads in ("1", "2"):
        # Some of the files have fewer entries.
        options = ["--force", "--entries", chosen, "--allow-no-match", "--threads", threads]
        basketry("rewrite", file, "-o", out, *options)
        assert values(out, "events") == expected
    [shown] = root_ntuples.show(f"{out}:events")
    lines = shown.splitlines()
    assert lines[-1] == f"{len(kept)} entries"
    step = 1 + len(kept) // root_ntuples.SHOWN
    for field, kind in (
        ("number", "std::int32_t"),
        ("text", "std::string"),
        ("items", "std::vector<short>"),
        ("late", "std::int32_t"),
    ):
        if (line := f"{field}: {kind}") in lines:
            first = lines.index(line) + 1
            wanted = [json.dumps(value) for value in expected[field][::step]]
            assert lines[first : first + len(wanted)] == wanted
    basketry("verify", "--entries", chosen, "--allow-no-match", file, out)


def test_entries_by_a_condition(basketry: Basketry, tmp_path: Path) -> None:
    file, out = make_files.made("rntuples") / "checked.root", tmp_path / "out.root"
    whole = values(file, "events")
    basketry("rewrite", file, "-o", out, "--where", "flag")
    assert values(out, "events") == {
        field: [value for value, flag in zip(column, whole["flag"], strict=True) if flag]
        for field, column in whole.items()
    }
    basketry("verify", "--where", "flag", file, out)
    assert "no column flags" in basketry.refuses("rewrite", file, "-o", tmp_path / "no.root", "--where", "flags")


def test_hadd_refuses_what_root_loses(basketry: Basketry, tmp_path: Path) -> None:
    first, second, out = merged("many90"), merged("many100"), tmp_path / "out.root"
    verbs: list[list[str | Path]] = [["merge", first, second, "-o", out], ["hadd", out, first, second]]
    for verb in verbs:
        refused = basketry.run(*verb)
        assert refused.code in (1, 2)
        assert "an additional field f90" in refused.err
        assert "f99" in refused.err
        assert not out.exists()
    basketry("merge", first, second, "-o", out, "--common")
    assert list(values(out, "many")) == [f"f{i}" for i in range(90)]
    for files in ([first, second], [second, first]):
        basketry("merge", *files, "-o", out, "--fill", "--force")
        expected = {
            f"f{i}": [
                1000 * entry + i if entry >= 300 or i < 90 else 0
                for file in files
                for entry in (range(300) if file == first else range(300, 600))
            ]
            for i in range(100)
        }
        assert values(out, "many") == expected
        assert by_uproot(out, "many") == expected
        basketry("verify", "--fill", *files, out)
        [shown] = root_ntuples.show(f"{out}:many")
        last = shown.splitlines()
        last = last[last.index("f99: std::int32_t") + 1 : -1]
        # Values of the file that lacks the field are zero, and not garbage.
        assert {int(value) for value in last} <= set(expected["f99"])
        assert "0" in last


@pytest.mark.parametrize(
    "order", [("less", "more"), ("more", "less"), ("less", "empty", "more"), ("more", "less", "more")]
)
def test_missing_fields_of_all_kinds_are_filled_in(order: tuple[str, ...], basketry: Basketry, tmp_path: Path) -> None:
    files, out = [merged(name) for name in order], tmp_path / "out.root"
    assert "no field" in (said := basketry.refuses("merge", *files, "-o", out)) or "an additional field" in said
    basketry("merge", *files, "-o", out, "--fill")
    entries = [(name, i) for name in order if name != "empty" for i in range(250)]
    expected = {
        "number": [i for _, i in entries],
        "record": [{"x": 0.5 * i, "y": 0.25 * i if name == "more" else 0.0} for name, i in entries],
        "words": [["w" * (i % 4)] * (i % 3) if name == "more" else [] for name, i in entries],
        "fixed": [[i, -i, 7] if name == "more" else [0, 0, 0] for name, i in entries],
        "shown": [i for _, i in entries],
    }
    assert values(out, "late") == expected
    basketry("verify", "--fill", *files, out)
    [shown] = root_ntuples.show(f"{out}:late")
    assert shown.endswith(f"{len(entries)} entries\n")
    lines = shown.splitlines()
    assert lines[lines.index("words: std::vector<std::string>") + 1] == "[]"
    basketry("merge", *files, "-o", out, "--common", "--force")
    assert values(out, "late") == {"number": expected["number"], "record": [{"x": 0.5 * i} for _, i in entries]}


@pytest.mark.parametrize("order", [("less", "more"), ("more", "less", "more")])
def test_text_that_an_input_lacks_has_no_characters(order: tuple[str, ...], basketry: Basketry, tmp_path: Path) -> None:
    """Its characters were deferred like its ends: ROOT and uproot could not read it, or basketry itself."""
    texts = [f"some long text {i}" * (i % 4) for i in range(10)]
    for name, more in (("less", {}), ("more", {"text": texts})):
        with bk.recreate(tmp_path / f"{name}.root", cluster=4) as file:
            file.mkrntuple("t", {"x": list(range(10)), **more})
    files, out = [tmp_path / f"{name}.root" for name in order], tmp_path / "out.root"
    basketry("merge", *files, "-o", out, "--fill")
    expected = [text for name in order for text in (texts if name == "more" else [""] * 10)]
    assert values(out, "t")["text"] == by_uproot(out, "t")["text"] == expected
    lines = root_ntuples.show(f"{out}:t")[0].splitlines()
    first = lines.index("text: std::string") + 1
    assert [json.loads(line) for line in lines[first : first + len(expected)]] == expected
    basketry("verify", "--fill", *files, out)
    basketry("rewrite", out, "-o", tmp_path / "some.root", "--entries", "5:25")
    assert values(tmp_path / "some.root", "t")["text"] == expected[5:25]


def test_a_comparison_joins_its_inputs_as_a_merge_does(basketry: Basketry, tmp_path: Path) -> None:
    """It had a join of its own, with another refusal. Entries that are filled in are compared in any range."""
    content: dict[str, Any] = {"x": list(range(10)), "word": ["w" * (i % 3) for i in range(10)]}
    given = {"less": {"x": content["x"]}, "more": content, "whole": {"x": 2 * content["x"]}}
    given["wrong"] = {"x": 2 * content["x"], "word": [""] * 6 + ["w"] + [""] * 3 + content["word"]}
    for name, columns in given.items():
        with bk.recreate(tmp_path / f"{name}.root", cluster=4) as file:
            file.mkrntuple("t", columns)
    less, more, whole, wrong = (tmp_path / f"{name}.root" for name in given)
    out, some = tmp_path / "out.root", tmp_path / "some.root"
    differs = "RNTuple t: its schema differs from the first input's: an additional field word"
    verbs: list[list[str | Path]] = [["merge", less, more, "-o", out], ["verify", less, more, whole]]
    for verb in verbs:
        refused = basketry.run(*verb)
        assert differs in refused.err
        assert "--common keeps the fields that all inputs have, --fill fills in missing ones" in refused.err
    basketry("verify", "--common", less, more, whole)
    basketry("merge", "--fill", less, more, "-o", out)
    for chosen in ("0:20", "3:9", "5:18", "12:13"):
        basketry("rewrite", out, "-o", some, "--entries", chosen, "--force")
        basketry("verify", "--fill", "--entries", chosen, less, more, some)
    [found] = json.loads(basketry.run("verify", "--fill", less, more, wrong, "--json").out)["differences"]
    assert (found["branch"], found["entry"]) == ("word", 6)


def test_streamed_objects_have_no_default(basketry: Basketry, tmp_path: Path) -> None:
    """ROOT streams an object where there are no bytes of one. So they are neither filled in nor added late."""
    with bk.recreate(tmp_path / "more.root", classes="class Point { public: int x; };") as file:
        more = file.mkrntuple("t", {"x": "int64", "point": "Point*"})
        more.extend({"x": [1], "point": [{"x": 1}]})
    with bk.recreate(tmp_path / "less.root", classes="class Point { public: int x; };") as file:
        late = file.mkrntuple("t", {"x": "int64"})
        with pytest.raises(ValueError, match="field point: objects of Point are streamed"):
            late.add_columns({"point": "Point*"})
        late.extend({"x": [2]})
    for order in (("more", "less"), ("less", "more")):
        files = [tmp_path / f"{name}.root" for name in order]
        said = basketry.refuses("merge", *files, "-o", tmp_path / "out.root", "--fill")
        assert "objects in streamer fields cannot be filled in" in said


@pytest.mark.parametrize("order", [("split", "plain"), ("plain", "split")])
@pytest.mark.parametrize("layout", [(), ("--compression", "lz4:4")])
def test_other_encodings_are_other_representations(
    order: tuple[str, ...], layout: tuple[str, ...], basketry: Basketry, tmp_path: Path
) -> None:
    files, out = [merged(name) for name in order], tmp_path / "out.root"
    # Pages in encodings that the output does not have were measured in its own.
    assert "encoded" in basketry("merge", *files, "-o", out, "--dry-run", "--compression", "zstd:5")
    basketry("merge", *files, "-o", out, *layout)
    numbers = [i for name in order for i in (range(400) if name == "split" else range(400, 800))]
    expected = {
        "number": numbers,
        "items": [[0.5 * i] * (i % 4) for i in numbers],
        "text": ["t" * (i % 3) for i in numbers],
        "real": [0.5 * i for i in numbers],
    }
    assert values(out, "encoded") == expected
    basketry("verify", *files, out)
    [shown] = root_ntuples.show(f"{out}:encoded")
    lines = shown.splitlines()
    assert [
        lines[lines.index(f"{name}: {kind}") + 1] for name, kind in (("number", "std::int64_t"), ("real", "float"))
    ] == [
        str(numbers[0]),
        str(numbers[0] // 2),
    ]
    [ntuple] = basketry.json("inspect", out)["ntuples"]
    found = {field["path"]: [column["type"] for column in field["columns"]] for field in ntuple["fields"]}
    assert sorted(found["number"]) == ["Int64", "SplitInt64"]
    # ROOT cannot read reduced floats behind others: they become whole ones.
    assert sorted(found["real"]) == (["SplitReal32"] if order[0] == "split" else ["Real32Trunc", "SplitReal32"])


def test_attribute_sets_are_joined(basketry: Basketry, tmp_path: Path) -> None:
    files, out = [merged("runs1"), merged("runs2")], tmp_path / "out.root"
    basketry("merge", *files, "-o", out)
    basketry("verify", *files, out)
    ranges = root_ntuples.attributes(f"{out}:events:runs")
    assert ranges == [
        *([50 * run, 50, run] for run in range(4)),
        [200, 0, 3],
        *([50 * r, 50, r] for r in range(4, 8)),
        [400, 0, 7],
    ]
    # Of other ranges the sets differ.
    said = basketry.run("verify", files[1], files[0], "out.root", out)
    assert said.code != 0


def test_trees_rntuples_and_objects_in_one_file(basketry: Basketry, tmp_path: Path) -> None:
    files, out = [merged("mixed1"), merged("mixed2")], tmp_path / "out.root"
    basketry("merge", *files, "-o", out)
    basketry("verify", *files, out)
    assert values(out, "folder/ntuple") == {"x": list(range(200))}
    with uproot.open(out) as opened:
        assert opened["tree"]["i"].array().tolist() == list(range(200))
        assert opened["h"].values().tolist() == [2] + [0] * 9
    [shown] = root_ntuples.show(f"{out}:folder/ntuple")
    assert shown.endswith("200 entries\n")
    # A layout for clusters concerns both tables, one for baskets the tree alone.
    again = tmp_path / "again.root"
    basketry("rewrite", out, "-o", again, "--cluster", "10")
    found = basketry.json("inspect", again)
    assert len(found["ntuples"][0]["clusters"]) == 20
    basketry("verify", out, again)
    said = basketry("rewrite", out, "-o", again, "--one-basket-per-cluster", "--force")
    assert "one-basket-per-cluster is for trees only" in said
    basketry("verify", out, again)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["rewrite", "--drop", "items"], "field items: only the first side has it"),
        (["rewrite", "--keep", "text"], "field number"),
    ],
)
def test_verify_names_what_differs(changed: Sequence[str], said: str, basketry: Basketry, tmp_path: Path) -> None:
    file, out = make_files.made("rntuples") / "checked.root", tmp_path / "out.root"
    verb, *options = changed
    basketry(verb, file, "-o", out, *options)
    different = basketry.run("verify", file, out)
    assert (different.code, said in different.out) == (1, True)
    basketry("verify", "--common", file, out)
    basketry("verify", *options, file, out)


def test_verify_names_the_first_difference(basketry: Basketry) -> None:
    folder = make_files.made("rntuples")
    different = basketry.run("verify", folder / "checked.root", folder / "more.root")
    assert different.code == 1
    for line in (
        "RNTuple events, field number, entry 0: is -7 and 7493",
        "RNTuple events, field items, entry 1, member [0]: is 0.5 and 1250.5",
        "RNTuple events, field nested, entry 0: has 0 items and 1",
    ):
        assert line in different.out


def test_trees_and_their_rntuples_are_equal(basketry: Basketry) -> None:
    """root#15904: a tree, and what ROOT's importer makes of it."""
    folder = make_files.made("imported")
    tree, ntuple, other = (f"{folder / name}.root:events" for name in ("tree", "ntuple", "other"))
    for sides in ((tree, ntuple), (ntuple, tree)):
        [verdict] = basketry.json("verify", *sides)["trees"]
        assert verdict["columns"] == verdict["by_value"] == verdict["branches"] == 20
    different = basketry.run("verify", "-q", tree, other)
    assert (different.code, different.out) == (
        1,
        "tree and RNTuple events, field points, entry 70, member [1]: is 70.0 and 0.0\n",
    )


@pytest.mark.parametrize("layout", [(), ("--compression", "lz4:4"), ("--entries", "5:900")])
def test_a_damaged_page_is_named_and_nothing_is_written(
    layout: tuple[str, ...], basketry: Basketry, tmp_path: Path
) -> None:
    source = make_files.made("rntuples") / "checked.root"
    fields = basketry.json("inspect", "--baskets", source)["ntuples"][0]["fields"]
    [items] = [field for field in fields if field["path"] == "items._0"]
    page = items["columns"][0]["page_list"][1]
    data = bytearray(source.read_bytes())
    data[page["seek"] + 5] ^= 1
    damaged, out = tmp_path / "damaged.root", tmp_path / "out.root"
    damaged.write_bytes(data)
    said = basketry.refuses("rewrite", damaged, "-o", out, *layout)
    assert f"items._0: page 1 of column {items['columns'][0]['id']} in cluster 0" in said
    assert "checksum" in said
    assert [path.name for path in tmp_path.iterdir()] == ["damaged.root"]
    different = basketry.run("verify", source, damaged)
    assert different.code == 1
    assert "field items, entry 0: cannot be compared" in different.out
