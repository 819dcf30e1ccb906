"""`inspect --json` against the oracle, for every tree of every corpus file: entries, schema, baskets, clusters."""

import collections
import json
import re
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import basketry as bk
from referee import oracle, schema_document
from referee.command import Basketry
from referee.oracle import Line, Tree
from referee.paths import REPO

NAMES = [line["name"] for line in oracle.index()]
Branches = dict[str, Any]
# The oracle names codecs by the first three bytes of their blocks.
CODECS = {"none": "none", "ZL8": "zlib", "XZ0": "lzma", "CS8": "cs", "L41": "lz4", "ZS1": "zstd"}


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_what_is_printed_fits(columns: int, basketry: Basketry, tmp_path: Path) -> None:
    """But for commands, which are there to be copied."""
    path = tmp_path / "wide.root"
    long = {f"HLT_{'Some_' * number}path{number}": np.arange(50.0) + number for number in range(25)}
    with bk.recreate(path, compression="lzma:1") as file:
        file["dir/Events"] = {**long, "x": ak.unflatten(np.arange(100.0), [2] * 50), "s": ["text"] * 50}
        file.mkrntuple("an_rntuple_with_a_long_name", {"n": "i4", **dict.fromkeys(long, "f4")}).extend(
            {"n": np.arange(50), **long}
        )
    text = basketry.within(COLUMNS=str(columns))("inspect", path)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("basketry ") and str(path) not in line]
    assert len(lines) > 60
    assert [line for line in lines if len(line) > columns] == []
    assert ("(no room for mean" in text) == (columns < 160)
    whole = basketry.within(COLUMNS="1000")("inspect", path)
    assert "no room" not in whole
    assert " ".join(whole.split("\nclusters:")[1].split()[:20]) in " ".join(text.split())


@pytest.mark.skipif(not NAMES, reason="the corpus is absent")
@pytest.mark.parametrize("name", NAMES)
def test_inspect_agrees_with_the_oracle(name: str, basketry: Basketry) -> None:
    truth = oracle.load(name)
    outcome = basketry.run("inspect", "--baskets", oracle.corpus_file(name), "--json")
    if outcome.code == 2:
        # Only a file in which ROOT reads no tree either may be refused.
        assert not any(tree.read_by("root") for tree in truth.trees.values()), str(outcome)
        return
    report = json.loads(outcome.out)
    assert report["schema"] == 1
    trees = {f"{tree['path']};{tree['cycle']}": tree for tree in report["trees"]}
    skipped = {line["object"] for line in report["skipped"]}
    found: list[str] = []
    for key, tree in truth.trees.items():
        if not tree.read_by("root") or tree.line["root"]["cls"] == "TChain":
            continue
        if key not in trees:
            # A tree may be skipped only with a message, and only where uproot fails, too.
            if not (tree.path in skipped or key in skipped) or tree.read_by("uproot"):
                found.append(f"{key} is missing; skipped: {report['skipped']}")
            continue
        found += [f"{key}: {line}" for line in tree_differences(tree, trees[key])]

    assert not found, "\n".join(found[:40])


def test_documented_and_printed_fields_agree(corpus: Path, basketry: Basketry, tmp_path: Path) -> None:
    document = REPO / "docs" / "inspect-schema.md"
    names = ["skhep--nanoAOD_2015_CMS_Open_Data_ttbar", "roottest--AliESDs-0", "gohep--embedded-std-vector"]
    files = [corpus / "files" / f"{name}.root" for name in names]
    reports = [basketry.json("inspect", "--baskets", file) for file in files]
    pq.write_table(pa.table({"x": [1.0, 2.0], "v": [[1], []]}), tmp_path / "t.parquet")
    reports.append(basketry.json("inspect", tmp_path / "t.parquet"))
    found = []
    table = schema_document.rows(document, "kind of fault")
    faults = {kind.strip("`"): set(re.findall("`([^`]+)`", numbers)) for _, (kind, numbers) in table}
    for report in reports:
        for number, finding in enumerate(report["findings"]):
            numbers = finding.keys() - {"fault", "tree", "text", "command", "expected_bytes", "cost", "pays", "price"}
            if numbers != faults[finding["fault"]]:
                found.append(f"{finding['fault']}: {sorted(numbers)}, documented are {faults[finding['fault']]}")
            report["findings"][number] = {name: value for name, value in finding.items() if name not in numbers}
    rare = {"objects[]", "skipped[]", "trees[].friends[]", "trees[].aliases[]"}
    lines = schema_document.differences(document, reports, rare)
    # test_inspect_ntuple.py has what is said of RNTuples.
    found += [line for line in lines if not line.startswith("ntuples")]

    assert not found, "\n".join(found)


def tree_differences(truth: Tree, tree: Branches) -> list[str]:
    """Differences between inspect and ROOT on one tree."""
    root = truth.line["root"]
    facts = {
        "class": root["cls"],
        "name": root["name"],
        "entries": root["entries"],
        "tot_bytes": root["tot_bytes"],
        "zip_bytes": root["zip_bytes"],
        "auto_flush": root["auto_flush"],
    }
    found = [f"{k}: ROOT {v}, inspect {tree.get(k)}" for k, v in facts.items() if tree.get(k) != v]
    if "cluster_starts" in root and tree["clusters"] != root["cluster_starts"]:
        found.append(f"clusters: ROOT {root['cluster_starts'][:8]}, inspect {tree['clusters'][:8]}")
    lists = {
        "friends": [f"{pair['name']}@{pair['value']}" for pair in tree["friends"]],
        "aliases": [[pair["name"], pair["value"]] for pair in tree["aliases"]],
        # ROOT skips objects of classes without a dictionary.
        "user_info": [pair["value"] for pair in tree["user_info"] if pair["value"] in root.get("user_info", [])],
    }
    found += [f"{k}: ROOT {root.get(k)}, inspect {v}" for k, v in lists.items() if (root.get(k) or None) != (v or None)]
    if bool(root.get("index")) != bool(tree["index"]):
        found.append(f"index: ROOT {root.get('index')}, inspect {tree['index']}")
    branches = {branch["id"]: branch for branch in tree["branches"]}
    for branch_id, line in truth.branches.items():
        # The TBranchRef is not in the tree's list of branches.
        if "root" not in line or branch_id == "ref":
            continue
        if branch_id not in branches:
            found.append(f"branch {branch_id} {line['root']['name']} is missing")
        else:
            found += [f"[{branch_id}] {text}" for text in branch_differences(line, branches[branch_id])]
    known = {branch_id for branch_id, line in truth.branches.items() if "root" in line}
    found += [f"branch {branch_id} that ROOT does not have" for branch_id in branches.keys() - known]
    return found


def branch_differences(line: Line, branch: Branches) -> list[str]:
    """Differences between inspect and ROOT on one branch."""
    root = line["root"]
    facts = {
        "name": root["name"],
        "class": root["br_class"],
        "title": root["title"],
        "entries": root["entries"],
        "tot_bytes": root["tot_bytes"],
        "zip_bytes": root["zip_bytes"],
        "compression": root["compress"],
    }
    if root["type_name"]:
        facts["type"] = root["type_name"]
    found = [f"{k}: ROOT {v}, inspect {branch.get(k)}" for k, v in facts.items() if branch.get(k) != v]
    # ROOT sets a slash before the range in the title of a TLeafF16 or TLeafD32 when it reads one ("/f[0,1]").
    leaves = [
        (leaf["cls"], leaf["name"], leaf["title"].removeprefix("/"), leaf["type"], leaf["len"])
        for leaf in root["leaves"]
    ]
    mine = [
        (leaf["class"], leaf["name"], leaf["title"].removeprefix("/"), leaf["type"], leaf["len"])
        for leaf in branch["leaves"]
    ]
    if leaves != mine:
        found.append(f"leaves: ROOT {leaves}, inspect {mine}")
    return found + basket_differences(line, branch)


def basket_differences(line: Line, branch: Branches) -> list[str]:
    """Differences between inspect and ROOT on the baskets of one branch."""
    baskets = line["root"].get("baskets")
    if not baskets:
        return []
    entry, seek = baskets["entry"], baskets["seek"]
    size = baskets["bytes"] + [0] * len(seek)
    # Old files do not clear the slot behind the last basket; its content is no basket.
    written = [at > 0 and (i < baskets["write"] or size[i] > 0) for i, at in enumerate(seek)]
    truth = [(entry[i], size[i], seek[i]) for i, there in enumerate(written) if there]
    mine = [(basket["first_entry"], basket["bytes"], basket["seek"]) for basket in branch["baskets"]]
    found = []
    if truth != mine:
        found.append(f"baskets: ROOT {len(truth)} {truth[:4]}, inspect {len(mine)} {mine[:4]}")
    # ROOT leaves empty baskets behind, and the oracle omits those in an uncleared slot.
    embedded = [index for index, entries, *_ in baskets.get("embedded", []) if entries > 0]
    if embedded != [basket["index"] for basket in branch["embedded"] if not any(seek[basket["index"] :][:1])]:
        found.append(f"embedded: ROOT {embedded}, inspect {branch['embedded']}")
    raw = line.get("raw") or {}
    if truth and "codecs" in raw and "unreadable" not in raw:
        codecs = collections.Counter[str]()
        for code, count in raw["codecs"].items():
            codecs["+".join(sorted({CODECS[part] for part in code.split("+")}))] += count
        if dict(codecs) != branch["codecs"]:
            found.append(f"codecs: scan {dict(codecs)}, inspect {branch['codecs']}")
    return found
