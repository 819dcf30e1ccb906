"""`inspect` for RNTuples: against real ROOT (its inspector, and the oracle of the corpus), findings, layouts."""

import functools
import gzip
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import make_files, oracle, root_ntuples, schema_document
from referee.command import Basketry
from referee.paths import CORPUS, REPO, corpus_is_here

Report = dict[str, Any]
NUMBERS = ["none", "zlib", "lzma", "lz4", "zstd", "unchecked", "clusters", "groups", "pages"]
CODECS = ["none", "zlib", "lzma", "lz4", "zstd"]
# Files of the corpus whose RNTuples are from before the first release of the format.
PRE_RELEASE = "ROOT::Experimental::RNTuple"
# It sets feature flags that no version of the format defines.
UNKNOWN_FEATURE = "feature_flag"


def made(name: str) -> Path:
    """A file by ROOT, see macros/inspected_ntuples.C."""
    return make_files.made("inspected_ntuples") / f"{name}.root"


@functools.cache
def asked() -> dict[str, root_ntuples.Answer]:
    """What ROOT's inspector says about the made files."""
    names = dict.fromkeys(NUMBERS, "numbers") | {"rich": "events", "shared": "twins"}
    answers = root_ntuples.inspect(*(f"{made(file)}:{name}" for file, name in names.items()))
    return dict(zip(names, answers, strict=True))


def only(report: Report) -> Report:
    """The only RNTuple of a report."""
    [ntuple] = report["ntuples"]
    assert isinstance(ntuple, dict)
    return ntuple


def columns(ntuple: Report) -> dict[int, Report]:
    """The columns by ID, each with the path of its field."""
    return {column["id"]: column | {"path": field["path"]} for field in ntuple["fields"] for column in field["columns"]}


def fields(ntuple: Report) -> dict[str, Report]:
    """The fields by path."""
    return {field["path"]: field for field in ntuple["fields"]}


def oracle_ntuples(file: Path) -> Iterator[tuple[str, Report]]:
    """ROOT's descriptors of a file's RNTuples, by key, where ROOT could read them."""
    path = CORPUS / "oracle" / f"{file.name}.jsonl.gz"
    stored = path if path.is_file() else path.with_name(f"{file.stem}.jsonl.gz")
    if not stored.is_file():
        return
    with gzip.open(stored, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["kind"] == "ntuple" and (line.get("root") or {}).get("ok"):
                yield line["ntuple"], line["root"]


@pytest.mark.parametrize("name", [*NUMBERS, "rich", "shared"])
def test_pages_and_sizes_are_those_of_the_inspector(name: str, basketry: Basketry) -> None:
    root = asked()[name]
    ntuple = only(basketry.json("inspect", "--baskets", made(name)))
    for key in ("entries", "cluster_groups"):
        assert ntuple[key] == root[key], key
    assert ntuple["cluster_count"] == root["clusters"] == len(ntuple["clusters"])
    mine = columns(ntuple)
    assert sorted(mine) == list(range(len(root["columns"])))
    for number, truth in enumerate(root["columns"]):
        column = mine[number]
        for key in ("type", "bits", "path"):
            assert column[key] == truth[key], (number, key)
        # ROOT has clusters in no order.
        pages = sorted(truth["pages"])
        if "first_element" in column:
            # ROOT adds a page of zeroes to a deferred column, which is not in the file.
            del pages[-1]
        else:
            assert column["elements"] == truth["elements"], column["path"]
        assert sorted(page["bytes"] for page in column["page_list"]) == pages, column["path"]
        assert column["pages"] == len(pages)
        if pages:
            assert (column["disk"]["min"], column["disk"]["max"]) == (pages[0], pages[-1])
    # ROOT counts the bytes of pages that share them more than once.
    seen = {(page["seek"], page["bytes"]) for column in mine.values() for page in column["page_list"]}
    listed = sum(len(column["page_list"]) for column in mine.values())
    assert ntuple["shared_pages"] == listed - len(seen)
    assert ntuple["zip_bytes"] == sum(size for _, size in seen)
    if listed == len(seen) and name != "rich":
        assert ntuple["zip_bytes"] == root["zip_bytes"]
        assert ntuple["tot_bytes"] == root["tot_bytes"]


def test_shared_pages_count_once(basketry: Basketry) -> None:
    root = asked()["shared"]
    ntuple = only(basketry.json("inspect", made("shared")))
    assert (ntuple["pages"], ntuple["shared_pages"]) == (2, 1)
    assert 2 * ntuple["zip_bytes"] == root["zip_bytes"]
    assert "1 page shares the bytes of others" in basketry("inspect", made("shared"))


@pytest.mark.parametrize("name", CODECS)
def test_codecs_are_named(name: str, basketry: Basketry) -> None:
    ntuple = only(basketry.json("inspect", made(name)))
    # Noise is stored in pages of its own size under any codec.
    assert set(ntuple["codecs"]) - {"none"} == {name} - {"none"}
    assert sum(ntuple["codecs"].values()) == ntuple["pages"]
    text = basketry("inspect", made(name))
    assert name in text
    assert "RNTuple" in text


def test_fields_of_many_kinds(basketry: Basketry) -> None:
    ntuple = only(basketry.json("inspect", made("rich")))
    found = fields(ntuple)
    assert ntuple["description"] == "fields of many kinds"
    assert ntuple["writer"].startswith("ROOT v6.40")
    assert (ntuple["projected_fields"], ntuple["streamer_fields"], ntuple["extension_fields"]) == (1, 1, 2)
    assert found["shown"]["source"] == "pt"
    assert found["shown"]["columns"] == []
    assert (found["object"]["role"], found["either"]["role"], found["maybe"]["role"]) == (
        "streamer",
        "variant",
        "collection",
    )
    assert found["pair._1"]["array_size"] == 3
    [packed], [ranged] = found["packed"]["columns"], found["ranged"]["columns"]
    assert (packed["type"], packed["bits"]) == ("Real32Trunc", 12)
    assert (ranged["type"], ranged["bits"], ranged["range"]) == ("Real32Quant", 9, [0, 1])
    [late] = found["late"]["columns"]
    assert late["in_extension"]
    assert late["first_element"] == 2000
    assert late["elements"] == 5000 - 2000
    below = [field for path, field in found.items() if path == "lists" or path.startswith("lists.")]
    assert found["lists"]["with_subfields"]["bytes"] == sum(field["zip_bytes"] for field in below)
    [notes] = ntuple["attribute_sets"]
    assert (notes["name"], notes["entries"]) == ("notes", 6)
    text = basketry("inspect", "--all", made("rich"))
    for words in ("Real32Trunc 12 bits", "Real32Quant 9 bits 0..1", "shows pt", "attribute set notes", "deferred"):
        assert words in text


def test_trees_and_rntuples_beside_each_other(basketry: Basketry) -> None:
    report = basketry.json("inspect", made("beside"))
    assert (report["file"]["trees"], report["file"]["ntuples"]) == (1, 2)
    assert [tree["path"] for tree in report["trees"]] == ["tree"]
    found = {(one["path"], one["cycle"]): one["newest"] for one in report["ntuples"]}
    assert found == {("folder/one", 1): True, ("folder/two", 1): False, ("folder/two", 2): True}
    assert not [one for one in report["objects"] if "RNTuple" in one["class"]]
    part = basketry.json("inspect", f"{made('beside')}:folder/o*")
    assert [one["path"] for one in part["ntuples"]] == ["folder/one"]
    assert part["trees"] == []
    said = basketry.refuses("inspect", f"{made('beside')}:absent")
    assert "has no tree or RNTuple absent" in said
    assert "folder/one" in said
    text = basketry("inspect", made("beside"))
    assert "folder/two;1 (older cycle)" in text


# Faults by file; their commands are tried where there is one.
FAULTS = {
    "zstd": (),
    "clusters": ("small_clusters",),
    "groups": ("small_clusters", "tiny_cluster_groups"),
    "pages": ("tiny_pages",),
    "heavy": ("heavy_codec",),
    "stored": ("uncompressed",),
    "unchecked": ("no_checksums",),
    "rich": (),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str, basketry: Basketry) -> None:
    findings = basketry.json("inspect", made(name))["findings"]
    assert {finding["fault"] for finding in findings} == set(FAULTS[name])
    weights = [finding["cost"]["bytes"] / 200e6 + finding["cost"]["read_seconds"] for finding in findings]
    for finding in findings:
        assert finding["tree"] == ("events" if name == "rich" else "numbers")
        assert "basket" not in finding["text"]
        assert "branch" not in finding["text"]
        assert finding["command"] is not None
    text = basketry("inspect", made(name))
    assert all(finding["text"] in text for finding in findings)
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize("name", ["heavy", "stored"])
def test_the_command_of_a_codec_changes_the_codec(name: str, basketry: Basketry) -> None:
    [finding] = basketry.json("inspect", made(name))["findings"]
    words = shlex.split(finding["command"])
    assert words[:3] == ["basketry", "rewrite", str(made(name))]
    assert words[-2:] == ["--compression", finding["better"]]


def test_steps_of_uproot(basketry: Basketry, tmp_path: Path) -> None:
    import numpy as np
    import uproot

    path = tmp_path / "steps.root"
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("steps", {"x": np.dtype("f8"), "y": np.dtype("i4")})
        for step in range(60):
            ntuple.extend({"x": np.full(10, step * 0.1), "y": np.arange(10, dtype="i4") + step})
    report = basketry.json("inspect", path)
    assert only(report)["cluster_count"] == 60
    assert only(report)["pages"] == 120
    assert "tiny_cluster_groups" in {finding["fault"] for finding in report["findings"]}


def test_layouts_say_what_is_known(basketry: Basketry) -> None:
    text = basketry("inspect", "--layout", made("clusters"))
    assert 'container = "rntuple"' in text
    assert 'cluster = "50"' in text
    assert 'compression = "zstd:5"' in text
    assert "# numbers: the page size is unknown" in text
    text = basketry("inspect", "--layout", made("pages"))
    assert 'basket = "512B"' in text
    assert "# numbers: the cluster size is unknown" in text
    text = basketry("inspect", "--layout", made("beside"))
    assert 'container = "ttree"' in text
    assert 'container = "rntuple"' in text


@pytest.mark.skipif(not corpus_is_here(), reason="the corpus is absent")
@pytest.mark.parametrize("file", oracle.ntuple_files(), ids=lambda file: file.stem)
def test_every_rntuple_of_the_corpus_is_listed(file: Path, basketry: Basketry) -> None:
    report = basketry.json("inspect", "--baskets", file)
    assert report["ntuples"] or report["skipped"]
    for line in report["skipped"]:
        # A pre-release or a feature that is unknown, with the reason, and no danger.
        assert line["unsupported"]
        assert line["class"] == PRE_RELEASE or UNKNOWN_FEATURE in file.name
        assert ("pre-release" if line["class"] == PRE_RELEASE else "format feature") in line["reason"]
    assert "unreadable" not in {finding["fault"] for finding in report["findings"]}
    found: list[str] = []
    mine = {f"{ntuple['path']};{ntuple['cycle']}": ntuple for ntuple in report["ntuples"]}
    for key, root in oracle_ntuples(file):
        found += [f"{key}: {line}" for line in differences(root, mine[key])]
    assert not found, "\n".join(found[:40])
    assert basketry("inspect", file)


def differences(root: Report, ntuple: Report) -> list[str]:
    """Differences between ROOT's descriptor and the report."""
    pairs = {
        "entries": (root["entries"], ntuple["entries"]),
        "name": (root["name"], ntuple["name"]),
        "groups": (root["n_cluster_groups"], ntuple["cluster_groups"]),
        "columns": (root["n_physical_columns"], ntuple["columns"]),
        "types": (
            {field["id"]: (field["type"], field["alias"], field["projected"]) for field in root["fields"]},
            {
                field["id"]: (field["type"], field.get("type_alias", ""), "source" in field)
                for field in ntuple["fields"]
            },
        ),
        "clusters": ([cluster["first"] for cluster in root["clusters"]], ntuple["clusters"]),
    }
    found = [f"{key}: ROOT {truth}, inspect {own}" for key, (truth, own) in pairs.items() if truth != own]
    described = {column["physical"]: column for column in root["columns"] if not column["alias"]}
    for number, column in columns(ntuple).items():
        truth = described[number]
        if (truth["type"], truth["bits"], truth["repr"]) != (column["type"], column["bits"], column["representation"]):
            found.append(f"column {number}: ROOT {truth}, inspect {column['type']}")
        # ROOT adds pages of zeroes to deferred columns; these are nowhere in the file.
        pages = [
            (cluster["id"], *page[:3])
            for cluster in root["clusters"]
            for part in cluster["cols"]
            if part["c"] == number
            for page in part["pages"]
            if page[2] >= 0
        ]
        own = [(page["cluster"], page["elements"], page["bytes"], page["seek"]) for page in column["page_list"]]
        if sorted(pages) != sorted(own):
            found.append(f"pages of column {number}: ROOT {pages[:4]}, inspect {own[:4]}")
    return found


def test_documented_and_printed_fields_agree(basketry: Basketry) -> None:
    document = REPO / "docs" / "inspect-schema.md"
    reports = [basketry.json("inspect", "--baskets", made(name)) for name in ("rich", "beside", "heavy", "groups")]
    found = [line for line in schema_document.differences(document, reports) if line.startswith("ntuples")]
    assert not found, "\n".join(found)
