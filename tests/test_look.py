"""The verbs that look: `ls`, `show`, `count`, `schema`. Names, classes, entries, values and histograms are those that
uproot and ROOT give; unusual values are shown without harm to the terminal."""

import csv
import io
import itertools
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee import make_files, oracle, root_columns
from referee.command import Basketry
from referee.paths import BINARY
from servers.odd import Behaviour, OddServer

#: Corpus files that uproot can list.
FILES = sorted(oracle.covering())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("look") / "events.root"
    counts = np.arange(100) % 5
    pt = ak.unflatten(np.arange(counts.sum(), dtype="f4") + 0.5, counts)
    with bk.recreate(path, compression="zstd:1", cluster=25) as file:
        file["dir/Events"] = {
            "x": np.where(np.arange(100) % 7 == 3, np.nan, np.arange(100) / 8),
            "n": np.arange(100, dtype="i2"),
            "ok": np.arange(100) % 2 == 0,
            "pt": pt,
            "name": [f'a\x1b[2Jb,"{n}"' for n in range(100)],
        }
        file["More"] = {"y": np.arange(3)}
        file["h"] = np.histogram(np.arange(10), bins=5)
    return path


@pytest.mark.parametrize("name", FILES)
def test_objects_are_those_that_uproot_lists(name: str, basketry: Basketry) -> None:
    path = oracle.corpus_file(name)
    outcome = basketry.run("ls", "-r", "--all-cycles", "--json", path)
    if outcome.code == 2:
        assert "cut short" in outcome.err
        return
    listed = json.loads(outcome.out)["files"][0]["objects"]
    with uproot.open(path) as file:
        expected = file.classnames(recursive=True, cycle=True)

    # uproot leaves out those that ROOT writes for references.
    found = {f"{one['path']};{one['cycle']}": one["class"] for one in listed if one["class"] != "TProcessID"}
    expected = {key: kind for key, kind in expected.items() if kind != "TProcessID"}
    directory = {"TDirectory", "TDirectoryFile"}
    assert found.keys() == expected.keys()
    assert all(found[key] == expected[key] or {found[key], expected[key]} <= directory for key in found)


@pytest.mark.parametrize("name", FILES)
def test_counts_are_those_of_the_oracle(name: str, basketry: Basketry) -> None:
    outcome = basketry.run("count", "--json", oracle.corpus_file(name))
    trees = {
        path: tree.line["root"]["entries"] for path, tree in oracle.load(name).latest().items() if tree.read_by("root")
    }
    if outcome.code == 2:
        assert trees == {}
        assert any(why in outcome.err for why in ("has no tree and no RNTuple", "pre-release format", "cut short"))
        return
    counted = {one["table"]: one["entries"] for one in json.loads(outcome.out)["tables"]}
    assert {path: counted[path] for path in trees} == trees


def test_lists(file: Path, basketry: Basketry) -> None:
    text = basketry("ls", file)
    assert [line.split()[0] for line in text.splitlines()] == ["name", "dir/", "h", "More"]
    assert basketry("ls", "-1", "-r", file).split() == ["dir/", "dir/Events", "h", "More"]
    assert basketry("ls", "-1", f"{file}:dir").split() == ["dir/Events"]
    assert basketry("ls", "-1", f"{file}:E*").split() == ["dir/Events"]
    assert basketry("ls", "-1", f"{file}:dir/*").split() == ["dir/Events"]
    long = basketry("ls", "-l", "-t", f"{file}:dir/Events").splitlines()
    assert "cycle" in long[0]
    assert "100" in long[1]
    assert [line.split()[0] for line in long[2:]] == ["x", "n", "ok", "npt", "pt", "name"]
    assert "near it: dir/Events" in basketry.refuses("ls", f"{file}:dir/Evens")
    assert basketry("ls", "-1", f"{file}:nothing*", "--allow-no-match") == ""


def test_what_a_pattern_names_has_its_path(basketry: Basketry, tmp_path: Path) -> None:
    file = tmp_path / "file.root"
    with bk.recreate(file) as made:
        for path in ("a/h", "a/b/h", "c/h"):
            made[path] = "text"
    rows = basketry("ls", f"{file}:*/h").splitlines()[1:]
    assert [row.split()[0] for row in rows] == basketry("ls", "-1", f"{file}:*/h").split() == ["a/h", "a/b/h", "c/h"]
    assert [row.split()[0] for row in basketry("ls", f"{file}:a").splitlines()[1:]] == ["h", "b/"]


def test_one_file_is_no_pattern(file: Path, basketry: Basketry) -> None:
    for verb in ("show", "schema"):
        assert "is a pattern, and one file is read here" in basketry.refuses(verb, f"{file.parent}/*.root")


def test_several_files_and_urls(file: Path, basketry: Basketry, odd_server: OddServer) -> None:
    url = odd_server.put("events.root", file.read_bytes(), Behaviour(ranges="several"))
    report = basketry.json("ls", file, url)
    assert [[one["name"] for one in found["objects"]] for found in report["files"]] == [["dir", "h", "More"]] * 2
    assert basketry.json("count", file, url)["totals"] == [
        {"table": "More", "files": 2, "entries": 6},
        {"table": "dir/Events", "files": 2, "entries": 200},
    ]
    assert "10 of 100 entries" in basketry("show", f"{url}:dir/Events")
    assert basketry("count", "-q", f"{file}:More") == "3\n"


def rows(basketry: Basketry, *words: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in basketry("show", *words, "--jsonl").splitlines()]


def same(ours: Any, theirs: Any) -> bool:
    """Whether values are equal; JSON has no NaN, and bytes are texts."""
    if isinstance(theirs, float):
        special = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
        number = special.get(ours, ours)
        return (math.isnan(number) and math.isnan(theirs)) or number == pytest.approx(theirs, rel=1e-7)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[name], theirs[name]) for name in theirs)
    return bool(ours == theirs)


def test_values_are_those_of_uproot(file: Path, basketry: Basketry) -> None:
    found = rows(basketry, f"{file}:dir/Events", "--entries", "20:60")
    with uproot.open(f"{file}:dir/Events") as tree:
        arrays = tree.arrays(entry_start=20, entry_stop=60)
    assert [row.pop("entry") for row in found] == list(range(20, 60))
    assert all(map(same, found, arrays.to_list()))


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_chosen_entries_and_columns(container: str, file: Path, basketry: Basketry, tmp_path: Path) -> None:
    basketry("rewrite", f"{file}:dir/Events", "-o", tmp_path / "e.root", "--container", container)
    found = rows(basketry, tmp_path / "e.root", "n", "pt", "--entries", "3:5,-2:")
    assert [row["entry"] for row in found] == [3, 4, 98, 99]
    assert [row["n"] for row in found] == [3, 4, 98, 99]
    assert [len(row["pt"]) for row in found] == [3, 4, 3, 4]
    assert len(rows(basketry, tmp_path / "e.root", "n", "--entries", "3:50", "-n", "5")) == 5
    assert "near it: pt" in basketry.refuses("show", tmp_path / "e.root", "PT")


def test_tables_fit_and_do_no_harm(file: Path, basketry: Basketry) -> None:
    for width in (40, 80, 200):
        text = basketry.within(COLUMNS=str(width))("show", f"{file}:dir/Events")
        lines = text.splitlines()
        assert all(len(line) <= width for line in lines)
        assert lines[12].startswith("10 of 100 entries of tree dir/Events")
    assert "\x1b" not in text
    assert r"a\u{1b}[2Jb" in text
    assert "NaN" in text
    assert "[6.5, 7.5, 8.5, 9.5]" in text
    narrow = basketry.within(COLUMNS="40")("show", f"{file}:dir/Events")
    assert "have no room" in " ".join(narrow.splitlines()[12:])


def test_one_entry_with_all_values(file: Path, basketry: Basketry) -> None:
    lines = basketry("show", "--long", f"{file}:dir/Events", "--entries", "4:5").splitlines()
    assert lines[0] == "entry 4"
    assert {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in lines[1:]}["pt"] == "[6.5, 7.5, 8.5, 9.5]"


def test_csv_is_read_by_others(file: Path, basketry: Basketry) -> None:
    text = basketry("show", f"{file}:dir/Events", "--csv", "--entries", ":")
    found = list(csv.DictReader(io.StringIO(text)))
    assert len(found) == 100
    assert [int(row["n"]) for row in found] == list(range(100))
    # As it is: no terminal is there.
    assert found[7]["name"] == 'a\x1b[2Jb,"7"'
    assert json.loads(found[4]["pt"]) == [6.5, 7.5, 8.5, 9.5]


def test_only_clusters_of_shown_entries_are_read(basketry: Basketry, odd_server: OddServer, tmp_path: Path) -> None:
    path = tmp_path / "large.root"
    with bk.recreate(path, compression=None, cluster=1000) as made:
        made["Events"] = {"x": np.random.default_rng(1).normal(size=200_000), "y": np.zeros(200_000)}
    url = odd_server.put("large.root", path.read_bytes(), Behaviour(ranges="several"))
    odd_server.requests.clear()
    basketry("show", url, "x")
    asked = [request.range for request in odd_server.requests if request.range]
    spans = [part.split("-") for text in asked for part in text.removeprefix("bytes=").split(",")]
    read = sum(int(end) - int(start) + 1 for start, end in spans if start)
    assert read < path.stat().st_size / 4


def test_empty_tables_and_unreadable_columns(basketry: Basketry, tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "empty.root") as made:
        made.mktree("Events", {"x": "f8"})
    text = basketry("show", tmp_path / "empty.root")
    assert text.splitlines()[-1] == "0 of 0 entries of tree Events"
    assert rows(basketry, tmp_path / "empty.root") == []
    path = tmp_path / "damaged.root"
    with bk.recreate(path, compression="zstd:1") as made:
        made["Events"] = {"bad": np.arange(1000.0), "good": np.arange(1000.0)}
    content = bytearray(path.read_bytes())
    (basket, *_) = bk.inspect(path, baskets=True).trees[0].branches[0].baskets or ()
    content[basket.seek + basket.bytes - 20] ^= 0xFF
    path.write_bytes(content)
    assert "damaged" in basketry.refuses("show", path, "--jsonl")
    assert [row["good"] for row in rows(basketry, path, "good")] == list(range(10))
    found = [row["values"] for row in basketry.json("show", path)["rows"]]
    assert [good for _, good in found] == list(range(10))
    assert "damaged" in found[0][0]["unreadable"]
    assert "damaged" in basketry.within(COLUMNS="160")("show", path)


def test_friends_that_are_not_there_do_no_harm(basketry: Basketry) -> None:
    folder = make_files.made("friends")
    for path in folder.glob("*.root"):
        outcome = basketry.run("count", "--json", path)
        for one in json.loads(outcome.out)["tables"] if outcome.code == 0 else ():
            basketry("show", f"{path}:{one['table']}")


@pytest.mark.parametrize("name", FILES)
def test_every_table_of_the_corpus_can_be_shown(name: str, basketry: Basketry) -> None:
    path = oracle.corpus_file(name)
    outcome = basketry.run("count", "--json", path)
    for one in json.loads(outcome.out)["tables"] if outcome.code == 0 else ():
        shown = basketry.json("show", f"{path}:{one['table']}", "-n", "2")
        assert len(shown["rows"]) == min(2, one["entries"])
        basketry("show", f"{path}:{one['table']}")
        schema = basketry.json("schema", f"{path}:{one['table']}")
        assert [column["name"] for column in schema["columns"]] == [column["name"] for column in shown["columns"]]


def test_schemas(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    found = basketry.json("schema", f"{file}:dir/Events")
    assert [(one["name"], one["arrow"]) for one in found["columns"]] == [
        ("x", "double"),
        ("n", "int16"),
        ("ok", "bool"),
        ("npt", "int32"),
        ("pt", "list<float>"),
        ("name", "string"),
    ]
    with uproot.open(f"{file}:dir/Events") as tree:
        types = {one["name"]: one["type_name"] for one in found["columns"]}
        assert types.keys() == set(tree.keys())
    out = tmp_path / "other.root"
    basketry("rewrite", f"{file}:dir/Events", "-o", out, "--drop", "ok")
    outcome = basketry.run("schema", f"{file}:dir/Events", "--diff", out)
    assert outcome.code == 1
    assert outcome.out.splitlines()[1].split()[0] == "ok"
    assert basketry.run("schema", f"{file}:dir/Events", "--diff", file).code == 0


def test_histograms_are_those_of_uproot(basketry: Basketry) -> None:
    """All of ROOT's own classes of one to three dimensions in the corpus."""
    seen = set()
    for name in FILES:
        path = oracle.corpus_file(name)
        outcome = basketry.run("ls", "-r", "--json", path)
        for one in json.loads(outcome.out)["files"][0]["objects"] if outcome.code == 0 else ():
            if one["class"][:3] not in ("TH1", "TH2", "TH3") or one["class"][-1] not in "CSIFD":
                continue
            shown = basketry.json("show", f"{path}:{one['path']}")
            with uproot.open(path) as file:
                try:
                    theirs = file[one["path"]]
                except ValueError:
                    # uproot does not read ROOT's first codec.
                    continue
                values, flow = theirs.values(flow=True), theirs.errors(flow=True)
                edges = [theirs.axis(axis).edges() for axis in range(values.ndim)]
            ours = np.array(shown["histogram"]["contents"]).reshape(values.shape[::-1]).T
            errors = np.array(shown["histogram"]["errors"]).reshape(values.shape[::-1]).T
            assert np.array_equal(ours, values)
            assert np.allclose(errors, flow)
            assert all(map(np.allclose, (axis["edges"] for axis in shown["histogram"]["axes"]), edges))
            picture = basketry.within(COLUMNS="80")("show", f"{path}:{one['path']}")
            assert "entries" in picture
            assert all(len(line) <= 80 for line in picture.splitlines()[2:])
            seen.add(one["class"])
    assert seen


def test_errors_of_profiles_are_those_of_root(basketry: Basketry) -> None:
    path = make_files.made("profiles") / "profiles.root"
    with uproot.open(path) as file:
        wanted = {
            name.removeprefix("errors_"): file[name].values(flow=True)
            for name in file.keys(cycle=False, filter_name="errors_*")
        }
    assert len(wanted) == 48
    for name, errors in wanted.items():
        shown = basketry.json("show", f"{path}:{name}")["histogram"]
        assert np.allclose(shown["errors"], errors.T.ravel(), rtol=1e-9, atol=0), name
        assert max(shown["errors"]) > 0
    lines = basketry("show", f"{path}:of_00").splitlines()
    assert lines[2].split() == ["bin", "mean", "error"]


def test_bins_are_records_for_programs(basketry: Basketry, tmp_path: Path) -> None:
    path = make_files.made("histograms") / "histograms0.root"
    with uproot.open(path) as file:
        one, two, labelled = (file[name] for name in ("h1d", "h2d_w", "same_labels"))
        for name, kind in (("h1d", one), ("h2d_w", two)):
            bins = list(csv.DictReader(io.StringIO(basketry("show", f"{path}:{name}", "--csv"))))
            assert [float(row["content"]) for row in bins] == kind.values(flow=True).T.ravel().tolist()
            assert np.allclose([float(row["error"]) for row in bins], kind.errors(flow=True).T.ravel())
            axes = [""] if kind is one else ["x_", "y_"]
            for axis, start in enumerate(axes):
                edges = [-np.inf, *kind.axis(axis).edges(), np.inf]
                pairs = dict.fromkeys((float(row[f"{start}low"]), float(row[f"{start}high"])) for row in bins)
                assert list(pairs) == list(itertools.pairwise(edges))
        out = tmp_path / "bins.jsonl"
        basketry("show", f"{path}:same_labels", "-o", out)
        records = [json.loads(line) for line in out.read_text().splitlines()]
        assert [row["label"] for row in records[1:-1]] == labelled.axis().labels()
        assert [row["content"] for row in records] == labelled.values(flow=True).tolist()


@pytest.mark.parametrize(
    "words",
    [["i"], ["--cut", "i"], ["--define", "j=i"], ["--entries", "3:5"], ["-n", "3"], ["--parquet"], ["-o", "h.parquet"]],
)
def test_a_histogram_has_no_entries(words: list[str], file: Path, basketry: Basketry, tmp_path: Path) -> None:
    words = [str(tmp_path / word) if word.endswith(".parquet") else word for word in words]
    assert "h is a histogram" in basketry.refuses("show", f"{file}:h", *words)


def test_pictures_of_histograms(file: Path, basketry: Basketry) -> None:
    text = basketry.within(COLUMNS="60")("show", f"{file}:h")
    assert text.splitlines()[0].startswith("TH1D h")
    assert [line.split()[3] for line in text.splitlines()[3:8]] == ["2"] * 5


def test_what_cannot_be_shown_says_what_it_is(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    assert "is a directory: `basketry ls" in basketry.refuses("show", f"{file}:dir")
    assert "near it: h" in basketry.refuses("show", f"{file}:H")
    with bk.recreate(tmp_path / "word.root") as made:
        made["word"] = "text"
    assert "is a TObjString" in basketry.refuses("show", f"{tmp_path}/word.root:word")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\x1f\x8b\x08\x00" + b"x" * 100, "gzip"),
        (b"PK\x03\x04" + b"x" * 100, "zip archive"),
        (b"\x89HDF\r\n\x1a\n" + b"x" * 100, "HDF5"),
        (b"a,b\n1,2\n" * 50, "text file"),
        (b"PAR1" + b"x" * 100, "Parquet"),
    ],
)
def test_other_files_are_named(content: bytes, said: str, basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "file.root"
    path.write_bytes(content)
    for verb in ("ls", "show", "count", "schema", "inspect"):
        assert said in basketry.refuses(verb, path)


def test_errors_are_json_where_json_is_asked_for(basketry: Basketry, tmp_path: Path) -> None:
    error = json.loads(basketry.refuses("ls", tmp_path / "no.root", "--json"))["error"]
    assert error["kind"] == "io"
    assert error["file"] == str(tmp_path / "no.root")
    assert error["message"].startswith(str(tmp_path))
    assert json.loads(basketry.refuses("rewrite", "--json"))["error"]["kind"] == "request"


def test_words_of_other_commands_lead_to_verbs(basketry: Basketry) -> None:
    for word, verb in {"head": "show", "cat": "show", "info": "inspect", "copy": "cp", "list": "ls"}.items():
        assert f"`basketry {verb}" in basketry.refuses(word, "x.root")
    assert "near it: rewrite" in basketry.refuses("rewrit")
    assert "`basketry ls --json`" in basketry.refuses("--json", "ls")
    assert "`basketry help` lists them" in basketry.refuses("--nothing", "ls")
    assert "near it: --keep" in basketry.refuses("rewrite", "x.root", "-o", "y.root", "--kep", "x")
    assert basketry("help", "ls") == basketry("ls", "--help")


def test_what_is_shown_can_be_a_file(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    words = (f"{file}:dir/Events", "n", "pt", "--entries", "3:40", "--cut", "n % 2 == 1", "--define", "two=n * 2")
    for form in ("csv", "jsonl"):
        basketry("show", *words, "-o", tmp_path / f"rows.{form}")
        assert (tmp_path / f"rows.{form}").read_text() == basketry("show", *words, f"--{form}")
    basketry("show", *words, "-o", tmp_path / "rows.json")
    report = basketry.json("show", *words)
    assert json.loads((tmp_path / "rows.json").read_text()) == report
    basketry("show", *words, "-o", tmp_path / "rows.parquet")
    found = pq.read_table(tmp_path / "rows.parquet").to_pydict()
    names = [column["name"] for column in report["columns"]]
    assert found == {name: [row["values"][place] for row in report["rows"]] for place, name in enumerate(names)}
    piped = subprocess.run([BINARY, "show", *map(str, words), "--parquet"], capture_output=True, check=True).stdout
    assert pq.read_table(io.BytesIO(piped)).to_pydict() == found
    basketry("show", f"{file}:h", "-o", tmp_path / "h.json")
    assert json.loads((tmp_path / "h.json").read_text()) == basketry.json("show", f"{file}:h")


def test_what_is_shown_replaces_nothing_unasked(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    events, out = f"{file}:dir/Events", tmp_path / "rows.csv"
    out.write_text("mine")
    assert "is there already" in basketry.refuses("show", events, "-o", out)
    assert out.read_text() == "mine"
    basketry("show", events, "n", "-o", out, "--force")
    assert out.read_text().startswith("entry,n\n0,")
    assert ".csv, .jsonl, .json or .parquet" in basketry.refuses("show", events, "-o", tmp_path / "rows.txt")
    copy = tmp_path / "copy.parquet"
    basketry("show", events, "n", "-o", copy)
    for same in ("csv", "parquet"):
        link = tmp_path / f"link.{same}"
        link.symlink_to(copy)
        assert "is an input as well" in basketry.refuses("show", copy, "-o", link, "--force")
    assert "near it: pt" in basketry.refuses("show", events, "PT", "-o", tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()


def test_root_sees_the_same_numbers(file: Path, basketry: Basketry) -> None:
    drawn = root_columns.drawn(file, "dir/Events", ["n", "pt"], [])
    found = rows(basketry, f"{file}:dir/Events", "n", "pt", "--entries", ":")
    assert drawn["n"] == [row["n"] for row in found]
    assert drawn["pt"] == [value for row in found for value in row["pt"]]


def test_figures_are_those_of_numpy(file: Path, basketry: Basketry) -> None:
    found = {one["name"]: one for one in basketry.json("stats", f"{file}:dir/Events")["columns"]}
    with uproot.open(f"{file}:dir/Events") as tree:
        x, pt = tree["x"].array(library="np"), tree["pt"].array()
    finite, flat = x[np.isfinite(x)], ak.to_numpy(ak.flatten(pt)).astype("f8")
    assert (found["x"]["values"], found["x"]["nans"]) == (100, int(np.isnan(x).sum()))
    for name, numbers in {"x": finite, "pt": flat}.items():
        one = found[name]
        assert (one["min"], one["max"]) == (numbers.min(), numbers.max())
        assert one["mean"] == pytest.approx(numbers.mean())
        assert one["deviation"] == pytest.approx(numbers.std())
        assert one["exact"]
        for quantile in one["quantiles"]:
            assert quantile["value"] == pytest.approx(np.quantile(numbers, quantile["share"]))
        assert sum(one["histogram"]) == len(numbers)
        assert one["different"] == len(np.unique(numbers)) + (name == "x")
        assert one["different_exact"]
    assert found["pt"]["lengths"] == {"min": 0, "max": 4, "mean": pytest.approx(float(ak.mean(ak.num(pt))))}
    assert found["name"]["different"] == 100
    assert found["ok"]["mean"] == 0.5
    assert "pt" in basketry("stats", f"{file}:dir/Events")
    one, other = (basketry("stats", "--json", f"{file}:dir/Events", "-j", threads) for threads in ("1", "3"))
    assert one == other


def test_many_numbers_are_sampled(basketry: Basketry, tmp_path: Path) -> None:
    numbers = np.random.default_rng(2).normal(3.0, 2.0, size=300_000)
    with bk.recreate(tmp_path / "many.root", compression=None) as made:
        made["t"] = {"x": numbers}
    (column,) = basketry.json("stats", tmp_path / "many.root")["columns"]
    assert not column["exact"]
    assert not column["different_exact"]
    assert abs(column["different"] / len(np.unique(numbers)) - 1) < 0.01
    assert column["mean"] == pytest.approx(numbers.mean())
    assert column["deviation"] == pytest.approx(numbers.std())
    for quantile in column["quantiles"]:
        # A sample of 65,536 is off by about a quarter of a per cent of the numbers.
        share = float((numbers < quantile["value"]).mean())
        assert abs(share - quantile["share"]) < 0.01
    assert "≈" in basketry("stats", tmp_path / "many.root")


def test_differences_are_told_as_values(basketry: Basketry, tmp_path: Path) -> None:
    x, pt = np.arange(100.0), np.arange(300, dtype="f4").reshape(100, 3)
    for name, changed in {"a": False, "b": True}.items():
        if changed:
            x[7], pt[50, 1] = 99.5, -1.25
        with bk.recreate(tmp_path / f"{name}.root") as made:
            made["t"] = {"x": x, "pt": pt, "word": ["one", "two" if changed else "ten"] * 50}
    outcome = basketry.run("verify", tmp_path / "a.root", tmp_path / "b.root", "-q")
    assert outcome.code == 1
    assert sorted(outcome.out.splitlines()) == [
        "tree t, branch pt, entry 50, member [1]: is 151.0 and -1.25",
        "tree t, branch word, entry 1: is ten and two",
        "tree t, branch x, entry 7: is 7.0 and 99.5",
    ]


def test_python_has_the_same(file: Path) -> None:
    events = f"{file}:dir/Events"
    assert [one.path for one in bk.ls(file, recursive=True).files[0].objects] == ["dir", "dir/Events", "h", "More"]
    assert bk.ls(file, tables=True).files[0].objects[2].table.entries == 3  # type: ignore[union-attr]
    assert [(one.table, one.entries) for one in bk.count([file, file]).totals] == [("More", 6), ("dir/Events", 200)]
    assert [one.arrow for one in bk.schema(events).columns][:2] == ["double", "int16"]
    assert bk.schema(events, diff=file).differences == ()
    rows = bk.show(events, ["n", "pt"], entries="3:5")
    assert [(row.entry, row.values) for row in rows.rows] == [(3, (3, [3.5, 4.5, 5.5])), (4, (4, [6.5, 7.5, 8.5, 9.5]))]
    assert {one.name: one.max for one in bk.stats(events, columns="n").columns} == {"n": 99.0}
    with pytest.raises(ValueError, match="near it: dir/Events"):
        bk.count(f"{file}:Evens")
    with pytest.raises(ValueError, match="near it: pt"):
        bk.show(events, "PT")


def test_extremes_of_whole_numbers_are_whole(basketry: Basketry, tmp_path: Path) -> None:
    extremes = {"a": [-(2**63), 2**63 - 1], "b": [0, 2**64 - 1], "c": [-5, 7]}
    with bk.recreate(tmp_path / "f.root") as file:
        types = {"a": np.int64, "b": np.uint64, "c": np.int32}
        file["t"] = {
            **{name: np.array(ends, types[name]) for name, ends in extremes.items()},
            "d": np.array([1.0, 2.0]),
        }
    text = basketry("stats", tmp_path / "f.root", "--json")
    for column in json.loads(text)["columns"]:
        ends = extremes.get(column["name"], [1.0, 2.0])
        assert [column["min"], column["max"]] == ends
        assert type(column["min"]) is type(ends[0])
    found = bk.stats(tmp_path / "f.root", columns="b")
    assert found.columns[0].max == 2**64 - 1


def test_python_shows_what_passes_a_cut(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "f.root") as file:
        file["t"] = {"x": np.arange(20.0)}
    shown = bk.show(tmp_path / "f.root", "x", cut="x > 3", define="y=x * 2", number=2)
    place = {column.name: number for number, column in enumerate(shown.columns)}
    values = [(row.entry, row.values[place["x"]], row.values[place["y"]]) for row in shown.rows]
    assert values == [(4, 4.0, 8.0), (5, 5.0, 10.0)]
    (column,) = bk.stats(tmp_path / "f.root", cut=["x > 3", "x < 8"]).columns
    assert (column.values, column.min, column.max) == (4, 4.0, 7.0)
