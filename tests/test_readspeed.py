"""readspeed: it reads all data, respects selections, and prints the documented JSON."""

from pathlib import Path

import pytest
import uproot

from referee import make_files, oracle, schema_document
from referee.command import Basketry
from referee.paths import REPO


@pytest.fixture(scope="module")
def wide() -> Path:
    """A file of 1,500 branches."""
    return make_files.made("wide") / "wide.root"


def test_all_branches_are_read(wide: Path, basketry: Basketry) -> None:
    report = basketry.json("readspeed", f"{wide}:Events", "-j", "2", "--repeat", "3")
    with uproot.open(f"{wide}:Events") as tree:
        columns = {name: branch for name, branch in tree.items(recursive=True) if branch.num_baskets}
        assert {column["name"] for column in report["columns"]} == set(columns)
        assert report["entries"] == report["all_entries"] == tree.num_entries
        assert report["compressed"] == sum(branch.compressed_bytes for branch in columns.values())

    assert len(report["runs"]) == 3
    assert report["median"] in report["runs"]
    assert not [column for column in report["columns"] if "opaque" in column]


def test_branches_are_selected_by_name_pattern_and_expression(wide: Path, basketry: Basketry) -> None:
    def chosen(*options: str) -> set[str]:
        report = basketry.json("readspeed", "--files", wide, "--trees", "Events", *options)
        return {column["name"] for column in report["columns"]}

    everything = chosen("--all-branches")
    assert chosen("--branches", "n0", "j1") == {"n0", "j1"}
    assert chosen("--branches", "j1?") == {name for name in everything if len(name) == 3 and name.startswith("j1")}
    assert chosen("--branches-regex", "n[0-2]") == {"n0", "n1", "n2"}
    assert "--branches nothing_like_it: no branch" in basketry.refuses(
        "readspeed", wide, "--branches", "nothing_like_it"
    )


def test_entries_are_selected(wide: Path, basketry: Basketry, tmp_path: Path) -> None:
    picked = tmp_path / "picked.txt"
    picked.write_text("7\n3\n")
    assert basketry.json("readspeed", wide, "--entries", "2:5")["entries"] == 3
    assert basketry.json("readspeed", wide, "--entries", str(picked))["entries"] == 2
    some = basketry.json("readspeed", wide, "--entries", "50%", "--seed", "3")

    assert 0 < some["entries"] < some["all_entries"]
    assert some["entries"] == basketry.json("readspeed", wide, "--entries", "50%", "--seed", "3")["entries"]


def test_a_slow_application_is_the_bottleneck(wide: Path, basketry: Basketry) -> None:
    assert basketry.json("readspeed", wide, "--application", "1e9")["bottleneck"] == "application"


def test_throttle_limits_the_rate(basketry: Basketry) -> None:
    """The rate holds over all files, friends included; metadata are read before."""
    made = make_files.made("friends")
    chosen = ("readspeed", f"{made}/main.root:tree", "--branches", "x", "alias.x", "same.*", "--throttle")
    report = basketry.json(*chosen, "300kB/s", "-j", "2")

    assert report["throttle"] == 300_000
    # A few milliseconds of tolerance: a thread may oversleep.
    assert report["median"]["real"] >= report["compressed"] / 300e3 - 0.01
    assert report["bottleneck"] == "storage"
    assert any("--throttle" in note for note in report["notes"])
    assert "0/s" in basketry.refuses(*chosen, "0/s")


def test_layouts_are_compared_with_the_input(wide: Path, basketry: Basketry) -> None:
    report = basketry.json("readspeed", wide, "--layouts", "--branches", "j1*", "-j", "1")
    today, *others = report["layouts"]
    assert today["layout"] == "as it is"
    # The prediction for the input's layout is the measurement.
    assert today["real"] == pytest.approx(report["median"]["real"])
    size = sum(column["compressed"] for column in report["columns"])
    assert today["compressed"] == pytest.approx(size, rel=0.1)
    named = {layout["layout"]: layout for layout in others}

    assert {"none", "lz4:4", "as tune chooses"} <= named.keys()
    assert named["none"]["compressed"] > named["lz4:4"]["compressed"]
    assert named["none"]["decompress"] < today["decompress"]
    for layout in report["layouts"]:
        assert layout["throughput"] == pytest.approx(report["uncompressed"] / 1e6 / layout["real"])
    assert "as tune chooses" in basketry("readspeed", wide, "--layouts")


def test_layouts_consider_all_files(wide: Path, basketry: Basketry, tmp_path: Path) -> None:
    stored = tmp_path / "stored.root"
    basketry("rewrite", wide, "-o", stored, "--compression", "none")
    report = basketry.json("readspeed", stored, wide, "--layouts", "--branches", "j1*", "-j", "1")
    today, *others = report["layouts"]
    assert today["compressed"] == pytest.approx(sum(column["compressed"] for column in report["columns"]))
    named = {layout["layout"]: layout for layout in others}

    # Twice the uncompressed bytes; the first file alone is not compressed.
    assert named["none"]["compressed"] > 1.1 * today["compressed"]


def test_branches_of_friends_are_read(basketry: Basketry) -> None:
    made = make_files.made("friends")
    report = basketry.json("readspeed", f"{made}/main.root:tree", "--branches", "x", "alias.x", "same.*")
    assert {column["name"] for column in report["columns"]} == {"x", "alias.x", "same.z", "same.n", "same.many"}
    assert report["entries"] == 5000
    assert all(column["baskets"] and "opaque" not in column for column in report["columns"])
    odd = f"{made}/main.root:odd"
    assert "brief has 10 entries" in basketry.refuses("readspeed", odd, "--branches", "brief.b")
    assert "it has an index" in basketry.refuses("readspeed", odd, "--branches", "indexed.key")
    refused = basketry.refuses("readspeed", f"{made}/main.root:tree", "--branches", "alias.x", "--layouts")

    assert "leave out branches of friends" in refused


def test_the_self_check_passes(basketry: Basketry) -> None:
    *checks, sum_up = basketry("readspeed", "--test").splitlines()
    assert all(check.startswith("pass") for check in checks)
    assert sum_up == f"{len(checks)} of {len(checks)} checks passed"
    for word in ("bytes", "values", "zstd:5", "lzma", "verdict"):
        assert any(word in check for check in checks), word


def test_too_few_clusters_are_the_bottleneck(wide: Path, basketry: Basketry, tmp_path: Path) -> None:
    one = tmp_path / "one.root"
    basketry("rewrite", wide, "-o", one, "--cluster", "1000000")
    report = basketry.json("readspeed", one, "-j", "3")

    assert report["clusters"] == 1
    assert any("too few clusters for the threads" in text for text in [report["advice"], *report["notes"]])


def test_lines_equal_those_of_rootreadspeed(wide: Path, basketry: Basketry) -> None:
    printed = basketry("readspeed", wide)
    for line in ("Real time:", "CPU time:", "Uncompressed data read:", "Compressed data read:", "CPU Efficiency:"):
        assert line in printed


def test_the_json_has_the_documented_fields(wide: Path, basketry: Basketry) -> None:
    options = ("--cold", "--repeat", "2", "--layouts", "--throttle", "500MB/s")
    reports = [basketry.json("readspeed", wide, *options), basketry.json("readspeed", wide, "-j", "1,2")]
    name = reports[0]["columns"][0]["name"]
    reports.append(basketry.json("readspeed", wide, "--cut", "entry % 2 == 0", "--weight", "1", "--branches", name))
    opaque = [line["name"] for line in oracle.index() if line["name"] == "roottest--EDM.root"]
    if opaque:
        reports.append(basketry.json("readspeed", f"{oracle.corpus_file(opaque[0])}:Events"))
    found = schema_document.differences(
        REPO / "docs" / "readspeed-schema.md", reports, {"runs[].network", "median.network"}
    )

    assert not found, "\n".join(found)
