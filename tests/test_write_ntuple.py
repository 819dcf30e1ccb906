"""RNTuples that basketry writes: from arrays, from trees, and from RNTuples with other clusters, pages and encodings.
`verify`, ROOT and uproot must find the same values, and trees must come back."""

import re
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import oracle, root_ntuples
from referee.command import Basketry
from referee.paths import corpus_is_here

CODECS = ["none", "zlib:1", "lzma:1", "lz4:4", "zstd:5"]
KINDS = ["single", "multi", "nano", "lhcb", "aod", "esd"]
PRE_RELEASE = "pre-release format"


def events(n: int, seed: int = 0) -> dict[str, Any]:
    """Entries of every type that an array can have."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, n)
    items = int(counts.sum())
    lists = ak.unflatten(random.normal(size=items).astype("f4"), counts)
    kinds = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
    numbers = {kind: random.integers(0, 100, n).astype(kind) for kind in kinds}
    return {
        **{f"n_{kind}": values for kind, values in numbers.items()},
        "flag": random.random(n) < 0.5,
        "x": random.normal(size=n).astype("f4"),
        "y": random.normal(size=n),
        "text": [f"entry {i}" * (i % 3) for i in range(n)],
        "list": lists,
        "lists": ak.unflatten(ak.unflatten(np.arange(items), counts), [n - n // 2, n // 2])[ak.Array([0] * n)][:, :2],
        "fixed": random.integers(0, 9, (n, 3)).astype("i2"),
        "record": ak.zip({"a": np.arange(n), "b": lists}, depth_limit=1),
        "records": ak.zip({"pt": lists, "eta": -lists}),
        "maybe": ak.mask(np.arange(n), random.random(n) < 0.7),
        "either": ak.Array([float(i) if i % 3 else f"no {i}" for i in range(n)]),
    }


def same(found: Any, expected: Any) -> bool:
    """Whether two arrays have the same values."""
    return bool(ak.to_list(found) == ak.to_list(expected))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("encoding", [None, "plain", "split"])
def test_arrays_of_every_type(codec: str, encoding: str | None, tmp_path: Path) -> None:
    data, more, path = events(1000), events(500, 1), tmp_path / "out.root"
    with bk.recreate(path, compression=codec, cluster=300, basket="512B", encoding=encoding) as file:
        ntuple = file.mkrntuple("deep/er/events", data, description="all types")
        ntuple.extend(more)
        assert (ntuple.num_entries, ntuple.description) == (1500, "all types")
    opened = bk.open(f"{path}:deep/er/events")
    with uproot.open(path) as by_uproot:
        for name, first in data.items():
            expected = ak.to_list(first) + ak.to_list(more[name])
            assert same(opened[name].array(), expected), name
            # uproot 5.7 misreads variants of several clusters, in ROOT's files too.
            if name != "either":
                assert same(by_uproot["deep/er/events"][name].array(), expected), name


def test_root_reads_them_in_every_codec_and_encoding(tmp_path: Path) -> None:
    data, paths = events(200), []
    for codec in CODECS:
        for encoding in (None, "plain", "split"):
            path = tmp_path / f"{codec}-{encoding}.root".replace(":", "")
            with bk.recreate(path, compression=codec, cluster=70, basket="128B", encoding=encoding) as file:
                file.mkrntuple("events", data)
            paths.append(f"{path}:events")
    shown = root_ntuples.show_alike(*paths)
    for text in ("200 entries", f"{data['n_i4'][0]}", "std::variant<std::string,double>"):
        assert text in shown[0]
    assert "not shown" not in shown[0]
    assert shown == shown[:1] * len(shown)


def test_reduced_floats_have_the_stated_errors(tmp_path: Path) -> None:
    values = np.random.default_rng(3).uniform(-8, 8, 5000)
    for encoding, error in (("truncated:16", 8 * 2.0**-7), ("quantized:12:-8:8", 16 / (2**12 - 1) / 2 * 1.001)):
        path = tmp_path / f"{encoding.replace(':', '_')}.root"
        with bk.recreate(path, encoding=encoding) as file:
            file.mkrntuple("t", {"f": values.astype("f4"), "d": values})
        read = bk.open(f"{path}:t").arrays()
        with uproot.open(path) as by_uproot:
            for name in ("f", "d"):
                assert 0 < np.abs(np.asarray(read[name]) - values).max() <= error
                found = np.asarray(by_uproot["t"][name].array())
                assert np.allclose(found, np.asarray(read[name]), rtol=0, atol=1e-6)
        [shown] = root_ntuples.show(f"{path}:t")
        assert "not shown" not in shown
    with (
        pytest.raises(ValueError, match="not in the range of a quantised column"),
        bk.recreate(tmp_path / "no.root", encoding="quantized:8:0:1") as file,
    ):
        file.mkrntuple("t", {"f": values})
    assert not (tmp_path / "no.root").exists()


def test_equal_pages_are_stored_once_unless_told_otherwise(basketry: Basketry, tmp_path: Path) -> None:
    data = {name: np.arange(10_000) for name in ("a", "b", "c")}
    sizes = {}
    for share in ("true", "false"):
        path = tmp_path / f"{share}.root"
        with bk.recreate(path, compression="none", tree_set={"*": {"share-pages": share}}) as file:
            file.mkrntuple("t", data)
        sizes[share] = path.stat().st_size
        assert same(bk.open(f"{path}:t")["c"].array(), data["c"])
        [shown] = root_ntuples.show(f"{path}:t")
        assert "9999" in shown
    assert sizes["true"] < 0.4 * sizes["false"]
    bare = tmp_path / "bare.root"
    keys = {"page-checksums": "false", "share-pages": "false"}
    with bk.recreate(bare, compression="none", tree_set={"*": keys}) as file:
        file.mkrntuple("t", data)
    # Eight bytes for each page; page lists are a few bytes longer or shorter.
    assert 0 < sizes["false"] - bare.stat().st_size < 8 * 3 + 20
    basketry("verify", bare, tmp_path / "true.root")


def test_cluster_groups_have_as_many_clusters_as_requested(basketry: Basketry, tmp_path: Path) -> None:
    filled, moved = tmp_path / "filled.root", tmp_path / "moved.root"
    data = {"x": np.arange(1000), "y": [[i] * (i % 3) for i in range(1000)]}
    with bk.recreate(filled, cluster="100", tree_set={"*": {"cluster-group": "4"}}) as file:
        file.mkrntuple("t", data)
    layout = tmp_path / "groups.toml"
    layout.write_text('[tree."*"]\ncluster-group = 3\n')
    basketry("rewrite", filled, "-o", moved, "--layout", layout)

    counts = [basketry.json("inspect", path)["ntuples"][0] for path in (filled, moved)]
    assert [(one["cluster_count"], one["cluster_groups"]) for one in counts] == [(10, 3), (10, 4)]
    basketry("verify", filled, moved)
    first, second = root_ntuples.show(f"{filled}:t", f"{moved}:t")
    assert "999" in first
    assert first == second
    assert basketry.run("rewrite", filled, "-o", tmp_path / "no.root", "--tree-set", "*", "cluster-group=0").code == 2


def test_clusters_end_before_they_are_too_large_before_compression(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "zeros.root"
    keys = {"unzipped-cluster": "400kB"}
    with bk.recreate(path, compression="zstd:5", tree_set={"*": keys}) as file:
        file.mkrntuple("t", {"x": np.zeros(200_000)})
    again = tmp_path / "again.root"
    basketry("rewrite", path, "--tree-set", "*", "unzipped-cluster=1GB", "-o", again)
    # 1.6 MB in all.
    for made, clusters in ((path, 4), (again, 1)):
        [ntuple] = basketry.json("inspect", made)["ntuples"]
        assert (ntuple["entries"], ntuple["cluster_count"]) == (200_000, clusters)


@pytest.mark.parametrize("kind", KINDS)
def test_generated_data_as_both_containers(
    kind: str, basketry: Basketry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    layout = ("--cluster", "1MB", "--size", "6MB")
    tree, ntuple, back = (tmp_path / f"{name}.root" for name in ("tree", "ntuple", "back"))
    basketry("generate", kind, "-o", tree, *layout)
    files: list[Path] = []
    for threads in "12":
        files.append(tmp_path / threads / "ntuple.root")
        files[-1].parent.mkdir()
        basketry("generate", kind, "-o", files[-1], *layout, "--container", "rntuple", "--threads", threads)
    assert files[0].read_bytes() == files[1].read_bytes()
    basketry("verify", tree, files[0])
    # The same by a conversion, on any number of threads.
    for threads in "12":
        basketry("rewrite", tree, "-o", ntuple, "--container", "rntuple", "--threads", threads, "--force")
        files.append(tmp_path / f"{threads}.root")
        ntuple.rename(files[-1])
    assert files[2].read_bytes() == files[3].read_bytes()
    basketry("verify", tree, files[2])
    basketry("rewrite", files[2], "-o", back, "--container", "ttree")
    basketry("verify", tree, back)


def test_the_counted_columns_of_a_tree_are_the_importers(basketry: Basketry, tmp_path: Path) -> None:
    tree, ours = tmp_path / "tree.root", tmp_path / "ours.root"
    basketry("generate", "nano", "-o", tree, "--size", "1MB")
    basketry("rewrite", tree, "-o", ours, "--container", "rntuple")
    theirs = root_ntuples.imported(tree, "Events", tmp_path / "theirs.root")
    # Collections are numbered in another order: the columns that users see are compared.
    for ntuple in (theirs, ours):
        basketry("verify", tree, ntuple)
    shown: list[dict[str, str]] = []
    for path in (ours, theirs):
        opened = bk.open(f"{path}:Events")
        shown.append({name: opened[name].typename for name in opened.keys(recursive=False)})
    mine, root = ({name: of for name, of in all.items() if not name.startswith("_collection")} for all in shown)
    assert mine == root
    assert len(shown[0]) == len(shown[1]) > len(mine)


def test_saved_entries_are_readable_before_the_end(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "out.root", auto_save=1000) as file:
        ntuple = file.mkrntuple("t", {"x": "int64"})
        for part in range(3):
            ntuple.extend({"x": np.arange(500) + 500 * part})
            ntuple.flush()
            file.save()
            (hidden,) = tmp_path.iterdir()
            assert bk.open(f"{hidden}:t")["x"].array().tolist() == list(range(500 * (part + 1)))
            [shown] = root_ntuples.show(f"{hidden}:t")
            assert f"{500 * (part + 1)} entries" in shown
    assert bk.open(f"{tmp_path}/out.root:t").num_entries == 1500


def test_a_layout_can_ask_for_rntuples(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with bk.recreate(path, container="rntuple", tree_set={"meta": {"container": "ttree"}}) as file:
        file["events"] = {"x": np.arange(10), "v": ak.Array([[1.5]] * 10)}
        file["meta"] = {"run": np.array([1])}
        assert file.keys(cycle=False) == ["events", "meta"]
    with uproot.open(path) as opened:
        assert opened["events"]["v"].array().tolist() == [[1.5]] * 10
        assert opened.classnames() == {"events;1": "ROOT::RNTuple", "meta;1": "TTree"}


def test_many_small_clusters_are_mended_by_a_merge(basketry: Basketry, tmp_path: Path) -> None:
    small, out = tmp_path / "small.root", tmp_path / "out.root"
    with uproot.recreate(small) as file:
        ntuple = file.mkrntuple("t", {"v": "var * int64", "x": "float64"})
        for part in range(40):
            ntuple.extend({"v": ak.Array([[part] * (1 + part % 3)] * 10), "x": np.arange(10.0) + part})
    basketry("merge", small, small, "-o", out)
    clusters = [len(basketry.json("inspect", path)["ntuples"][0]["clusters"]) for path in (small, out)]
    assert clusters == [40, 1]
    basketry("verify", small, small, out)
    assert "800 entries" in root_ntuples.show(f"{out}:t")[0]


def test_entries_and_fields_are_selected_while_converting(basketry: Basketry, tmp_path: Path) -> None:
    tree, ntuple = tmp_path / "tree.root", tmp_path / "ntuple.root"
    basketry("generate", "nano", "-o", tree, "--size", "1MB")
    cut = ("--entries", "10:50,70:75", "--keep", "Muon_*", "--keep", "nMuon")
    basketry("rewrite", tree, "-o", ntuple, "--container", "rntuple", *cut)
    read = bk.open(f"{ntuple}:Events")
    expected = bk.open(f"{tree}:Events")["Muon_pt"].array()
    assert same(read["Muon_pt"].array(), ak.concatenate([expected[10:50], expected[70:75]]))
    names = read.keys(recursive=False)
    assert not [name for name in names if name.startswith("Jet")]


def test_what_a_tree_cannot_hold_is_said(basketry: Basketry, tmp_path: Path) -> None:
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    with bk.recreate(path) as file:
        file.mkrntuple("t", {"either": ak.Array([1.5, "x"]), "maybe": ak.Array([1, None]), "x": np.arange(2)})
    said = basketry.refuses("rewrite", path, "-o", out, "--container", "ttree")
    for text in ("either", "maybe", "std::variant", "--drop"):
        assert text in said
    basketry("rewrite", path, "-o", out, "--container", "ttree", "--drop", "either", "--drop", "maybe")
    assert bk.open(f"{out}:t").arrays().x.tolist() == [0, 1]
    said = basketry.refuses("rewrite", path, "-o", out, "--split-level", "0", "--force")
    assert "split-level is for trees only" in said


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
@pytest.mark.parametrize("name", [oracle.usual(file.name) for file in oracle.tree_files()])
def test_trees_of_the_corpus_become_rntuples(name: str, basketry: Basketry, tmp_path: Path) -> None:
    file, out = oracle.corpus_file(name), tmp_path / "out.root"
    made = basketry.run("rewrite", file, "-o", out, "--container", "rntuple")
    if made.code == 2:
        reasons = ("--drop", PRE_RELEASE, "cut short", "cannot be decoded", "damaged", "cannot be read")
        assert any(reason in made.err for reason in reasons), made.err
        return
    assert made.code == 0, made.err
    compared = basketry.run("verify", file, out)
    # Names that several columns have, and older cycles, are not paired. Classes without a description are not decoded.
    known = ("older cycle", "only the second side has it", "not described")
    assert compared.code == 0 or any(why in compared.out for why in known), compared.out


# Shapes whose trees ROOT's importer reads: it crashes at nested collections and bitsets without a dictionary.
IMPORTED = ("types__map__fundamental", "types__string", "types__array")


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
def test_the_shapes_of_the_validation_suite_become_trees_and_come_back(basketry: Basketry, tmp_path: Path) -> None:
    files = [file for file in oracle.ntuple_files() if file.parent.name == "rntuple-validation"]
    refused: dict[str, list[str]] = {}
    backs, imported = [], []
    for file in files:
        tree, back = (tmp_path / f"{file.stem}.{name}.root" for name in ("tree", "back"))
        command = ("rewrite", file, "-o", tree, "--container", "ttree")
        drop: list[str] = []
        made = basketry.run(*command)
        if made.code == 2 and "a tree cannot hold these fields: " in made.err:
            names = re.findall(r"(?:fields: |; )(\w+) \(", made.err)
            refused[file.stem] = names
            drop = [word for name in names for word in ("--drop", name)]
            made = basketry.run(*command, *drop)
        if made.code == 2:
            assert any(why in made.err for why in ("format feature", "no field is left")), str(made)
            continue
        basketry("verify", file, tree, *drop)
        basketry("rewrite", tree, "-o", back, "--container", "rntuple")
        basketry("verify", tree, back)
        backs.append(f"{back}:ntpl")
        # Real ROOT reads the tree.
        if file.stem in IMPORTED:
            imported.append(file.stem)
            basketry("verify", tree, root_ntuples.imported(tree, "ntpl", tmp_path / "imported.root"))
            (tmp_path / "imported.root").unlink()

    assert refused["types__array"] == ["Array_String", "Array_Variant", "Array_Vector"]
    assert {"Index32", "String"} <= set(refused["types__optional"])
    assert refused["types__variant"] == ["f", "Vector"]
    assert "VectorTuple" in refused["types__tuple"]
    assert sorted(imported) == sorted(IMPORTED)
    assert len(backs) > 40
    shown = root_ntuples.show(*backs)
    assert shown.count(root_ntuples.CRASH) < len(shown) / 4


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_threads_change_no_byte_where_memory_ends_clusters(
    threads: str, basketry: Basketry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    tree = tmp_path / "tree.root"
    basketry("generate", "multi", "-o", tree, "--size", "40MB", "--compression", "lz4:1")
    files: list[Path] = []
    for number in ("1", threads):
        files.append(tmp_path / f"{len(files)}" / "out.root")
        files[-1].parent.mkdir()
        options = ("--cluster", "100MB", "--memory", "32MB", "--compression", "none", "-j", number)
        basketry("rewrite", tree, "-o", files[-1], "--container", "rntuple", *options)
    [ntuple] = basketry.json("inspect", files[0])["ntuples"]
    assert len(ntuple["clusters"]) > 3
    assert files[0].read_bytes() == files[1].read_bytes()


def test_summaries_name_containers(basketry: Basketry, tmp_path: Path) -> None:
    ntuple, both = tmp_path / "ntuple.root", tmp_path / "both.root"
    with bk.recreate(both, tree_set={"n": {"container": "rntuple"}}) as file:
        file["n"] = {"x": np.arange(10)}
        file["t"] = {"x": np.arange(10)}
    out = ("-o", tmp_path / "out.root", "--force")
    tables = basketry.json("rewrite", both, *out)["tables"]
    assert {table["path"]: table["container"] for table in tables} == {"n": "rntuple", "t": "ttree"}
    tables = basketry.json("rewrite", both, *out, "--container", "ttree", "--dry-run")["tables"]
    assert [table["container"] for table in tables] == ["ttree", "ttree"]
    said = basketry("merge", both, both, *out)
    assert [line.split()[:4] for line in said.splitlines() if "entries" in line] == [
        ["tree", "entries", "clusters", "baskets"],
        ["RNTuple", "entries", "clusters", "pages"],
    ]
    assert "RNTuple n: 10 entries" in basketry("rewrite", both, *out, "--dry-run")
    said = basketry("generate", "single", "--size", "1MB", "-o", ntuple, "--container", "rntuple")
    assert re.search(r"in 1 cluster and 1 page,", said)
    [written] = basketry.json("generate", "single", "--size", "1MB", "-o", ntuple, "--force")["written"]
    assert [table["container"] for table in written["trees"]] == ["ttree"]
    parquet = tmp_path / "x.parquet"
    assert basketry("convert", f"{both}:n", "-o", parquet).startswith("RNTuple n: 10 entries")
    assert basketry.json("convert", parquet, *out, "--container", "rntuple")["container"] == "rntuple"


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
def test_bases_of_version_0_are_read_again(basketry: Basketry, tmp_path: Path) -> None:
    file, out = oracle.corpus_file("roottest--belle2-ROOT-8794.root"), tmp_path / "out.root"
    basketry("rewrite", file, "-o", out, "--container", "rntuple")
    basketry("verify", file, out)


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
def test_rntuples_of_the_corpus_in_new_clusters_and_pages(full: bool, basketry: Basketry, tmp_path: Path) -> None:
    layouts: list[tuple[str, ...]] = [
        ("--cluster", "1000", "--page-size", "4kB"),
        ("--encoding", "plain", "--compression", "none"),
        ("--cluster", "50", "--encoding", "split", "--compression", "lz4:4"),
    ]
    before, after = [], []
    # With --full each file in all layouts; else in one, those that do not take their turn in test_ntuple_merge.py.
    taken = [
        (file, number)
        for turn, file in enumerate(oracle.ntuple_files())
        if full or turn % 2
        for number in (range(3) if full else [turn // 2 % 3])
    ]
    for file, number in taken:
        found, out = basketry.json("inspect", file), tmp_path / f"{number}-{file.name}"
        layout = layouts[number]
        if any(ntuple["entries"] > 100_000 for ntuple in found["ntuples"]):
            continue
        made = basketry.run("rewrite", file, "-o", out, *layout)
        if made.code == 2:
            assert any(why in made.err for why in (PRE_RELEASE, "format feature", "opaque bytes")), made.err
            continue
        basketry("verify", file, out)
        paths = [ntuple["path"] for ntuple in found["ntuples"] if len(ntuple["fields"]) < 150]
        before += [f"{file}:{path}" for path in paths]
        after += [f"{out}:{path}" for path in paths]
    shown = [root_ntuples.show_alike(*pair) for pair in zip(before, after, strict=True)]
    assert len(shown) > (60 if full else 25)
    for name, (first, second) in zip(before, shown, strict=True):
        # ROOT itself crashes at some types.
        assert root_ntuples.CRASH in (first, second) or sorted(first.split("\n")) == sorted(second.split("\n")), name


def test_columns_become_narrower_and_wider_within_a_tolerance(basketry: Basketry, tmp_path: Path) -> None:
    wide, random = tmp_path / "wide.root", np.random.default_rng(7)
    counts = random.integers(0, 4, 500)
    data = {
        "y": random.uniform(1, 2, 500),
        "lists": ak.unflatten(random.uniform(1, 2, int(counts.sum())), counts),
        "record": ak.zip({"a": random.uniform(1, 2, 500), "n": np.arange(500)}),
    }
    with bk.recreate(wide) as file:
        file.mkrntuple("events", data)

    for encoding, error in (("single", 2.0**-24), ("half", 2.0**-11), ("truncated:20", 2.0**-10)):
        narrow = tmp_path / f"{encoding[:4]}.root"
        basketry("rewrite", wide, "--encoding", encoding, "-o", narrow)
        assert basketry.run("verify", wide, narrow).code == 1
        assert basketry.run("verify", wide, narrow, "--tolerance", f"{error / 100}").code == 1
        verdict = bk.verify(wide, narrow, tolerance=2 * error)
        assert verdict.equal, verdict.differences
        assert {found.column for found in verdict.trees[0].errors} >= {"y", "record.a"}
        assert all(0 < found.largest <= 2 * error for found in verdict.trees[0].errors)
        only_some = basketry.run("verify", wide, narrow, "--tolerance", f"{2 * error}", "--tolerance", "y=0")
        assert only_some.code == 1
        assert "field y" in only_some.out
        assert "lists" not in only_some.out.replace("numbers of lists within", "")
        shown = root_ntuples.show(f"{narrow}:events")[0]
        assert "500 entries" in shown

    again = tmp_path / "again.root"
    basketry("rewrite", tmp_path / "sing.root", "--encoding", "double", "-o", again)
    assert basketry.run("verify", tmp_path / "sing.root", again).code == 0
    columns = [
        column["type"]
        for field in basketry.json("inspect", again)["ntuples"][0]["fields"]
        for column in field["columns"]
    ]
    assert "SplitReal64" in columns
    assert "SplitReal32" not in columns
