"""Every public function that takes files, called for many files by a process that may open few: a program of its own,
which says how many descriptors each call left open."""

import gc
import importlib.util
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import basketry as bk
from basketry import distributed
from basketry.reading import options

#: What the process may open; the files are many more.
GRANTED = 64
#: Entries of each file, in the columns `x` and `lists` of the tree or RNTuple `t`.
ENTRIES = 3


class Files:
    """The files of a call, and a folder for what it writes."""

    def __init__(self, folder: Path, paths: list[str]) -> None:
        self.folder = folder
        self.paths = paths
        self.tables = [f"{path}:t" for path in paths]
        self.entries = ENTRIES * len(paths)

    def out(self, name: str) -> str:
        """The path of an output."""
        return str(self.folder / name)


def held() -> int:
    """Number of open descriptors, without the one that counts them."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208


def call_open(files: Files) -> None:
    """All files as trees of their own, all at once; then as one."""
    before = held()
    trees = [bk.open(place) for place in files.tables]
    assert sum(len(tree["x"].array()) for tree in trees) == files.entries
    assert all(tree.arrays(["x"], library="np")["x"].tolist() == [0, 1, 2] for tree in trees)
    assert before < held() < GRANTED
    for tree in trees:
        tree.close()
    assert held() == before
    with bk.open(files.tables) as chain:
        assert chain.num_entries == len(chain.arrays(["x"])) == files.entries
        assert sum(len(step) for step in chain.iterate(["lists"], step_size=50)) == files.entries
        assert held() > before
    assert held() == before
    # What is closed opens its files again.
    assert len(chain.arrays(["x"], entry_stop=5)) == 5
    chain.close()


def call_file(files: Files) -> None:
    """Objects, trees and branches of files that are open all at once."""
    before = held()
    opened = [bk.File(path) for path in files.paths]
    for file in opened:
        with file:
            assert file["note"].classname == "TObjString"
            assert len(file["t"]["x"].array()) == ENTRIES
            assert file["t"].num_entries == ENTRIES
            assert file.uuid
    assert held() == before
    branches = [bk.open(path)["t/x"] for path in files.paths]
    for branch in branches:
        with branch:
            assert len(branch.array(library="np")) == ENTRIES
    assert held() == before


def call_concatenate(files: Files) -> None:
    """In every library that is here."""
    for library in filter(importlib.util.find_spec, options.LIBRARIES):
        found = bk.concatenate(files.tables, ["x"], library=library)  # type: ignore[call-overload]
        assert len(found["x"]) == files.entries
    assert len(bk.concatenate(files.tables, ["lists"], "x > 0", join="fill")) == files.entries // 3 * 2
    assert len(bk.concatenate(files.tables, ["x"], allow_missing=True)) == files.entries


def call_iterate(files: Files) -> None:
    """In all ways, to the end and not; reports keep the tables."""
    before = held()
    ways: list[dict[str, Any]] = [
        {},
        {"join": "strict", "library": "np"},
        {"join": "common"},
        {"join": "fill"},
        {"allow_missing": True, "library": "pd"},
        {"progress": lambda *_: None},
    ]
    for way in ways:
        names = ["x"] if way else None
        assert sum(len(step["x"]) for step in bk.iterate(files.tables, names, **way)) == files.entries
        assert held() == before, way
    reports = [report for _, report in bk.iterate(files.tables, ["x"], report=True)]
    assert [report.start for report in reports] == list(range(0, files.entries, ENTRIES))
    assert held() == before
    steps = bk.iterate(files.tables, step_size=1)
    next(steps)
    assert held() <= before + 4
    steps.close()  # type: ignore[attr-defined]
    assert held() == before


def call_num_entries(files: Files) -> None:
    """Of each tree."""
    assert sum(entries for *_, entries in bk.num_entries(files.tables)) == files.entries


def call_nanoevents(files: Files) -> None:
    """Of many files as one."""
    if importlib.util.find_spec("coffea") is None:
        return
    from coffea.nanoevents import BaseSchema

    for mode in ("eager", "virtual"):
        events = bk.nanoevents(files.tables, schemaclass=BaseSchema, mode=mode)
        assert len(events.x) == files.entries
        assert events.x[-1] == ENTRIES - 1


def call_ls(files: Files) -> None:
    """Of all files."""
    assert len(bk.ls(files.paths).files) == len(files.paths)


def call_count(files: Files) -> None:
    """Of all files."""
    assert [total.entries for total in bk.count(files.tables).totals] == [files.entries]


def call_schema(files: Files) -> None:
    """One file after the other."""
    for place in files.tables:
        assert {"x", "lists"} <= {column.name for column in bk.schema(place).columns}


def call_show(files: Files) -> None:
    """One file after the other."""
    assert {len(bk.show(place, ["x"]).rows) for place in files.tables} == {ENTRIES}


def call_stats(files: Files) -> None:
    """One file after the other."""
    assert {bk.stats(place, columns="x").entries for place in files.tables} == {ENTRIES}


def call_draw(files: Files) -> None:
    """Files of a picture one after the other, with all entries of each."""
    first, *others = files.tables
    assert {one.entries for one in bk.draw(first, "x", besides=others[:11]).curves} == {ENTRIES}


def call_scan(files: Files) -> None:
    """All files as one, for polars."""
    assert bk.scan(files.tables).select("x").collect().height == files.entries


def call_sql(files: Files) -> None:
    """All files as one, for DuckDB."""
    assert bk.sql("select count(x) from t", t=files.tables).fetchall() == [(files.entries,)]


def call_loader(files: Files) -> None:
    """All files as one, for training."""
    assert sum(len(batch["x"]) for batch in bk.loader(files.tables, ["x"], batch_size=50)) == files.entries


def call_inspect(files: Files) -> None:
    """One file after the other."""
    assert {bk.inspect(path, no_trials=True).trees[0].entries for path in files.paths} == {ENTRIES}


def call_layout(files: Files) -> None:
    """One file after the other."""
    assert all(isinstance(bk.layout(path), dict) for path in files.paths)


def call_check(files: Files) -> None:
    """With all baskets."""
    assert bk.check(files.paths, deep=True).whole


def call_fileset(files: Files) -> None:
    """Of one data set."""
    assert len(bk.fileset(files.paths, dataset="all").fileset["all"]["files"]) == len(files.paths)


def call_index(files: Files) -> None:
    """By any column."""
    assert bk.index(files.paths, files.out("index.parquet"), key="x").files == len(files.paths)


def call_pick(files: Files) -> None:
    """Of all files."""
    assert bk.pick(files.paths, files.out("picked.root"), key="x", events="1").files == len(files.paths)


def call_join(files: Files) -> None:
    """With one file on the right."""
    joined = bk.join(files.paths, files.paths[0], files.out("joined.root"), on="x", suffix="_b")
    assert joined.written == files.entries


def call_sort(files: Files) -> None:
    """By any column."""
    bk.sort(files.paths, files.out("sorted.root"), by="x")
    assert bk.open(files.out("sorted.root:t")).num_entries == files.entries


def call_merge(files: Files) -> None:
    """Into one file."""
    bk.merge(files.paths, files.out("merged.root"))
    assert bk.open(files.out("merged.root:t")).num_entries == files.entries


def call_rewrite(files: Files) -> None:
    """Into new clusters, and into the other container."""
    bk.rewrite(files.paths, files.out("rewritten.root"), cluster="1kB")
    bk.rewrite(files.paths, files.out("other.root"), container="rntuple")
    assert bk.open(files.out("rewritten.root:t")).num_entries == files.entries
    assert bk.open(files.out("other.root:t")).num_entries == files.entries


def call_verify(files: Files) -> None:
    """All inputs with the file that was made of them."""
    bk.merge(files.paths, files.out("verified.root"))
    assert bk.verify(*files.paths, files.out("verified.root")).equal


def call_convert(files: Files) -> None:
    """To Parquet; then Parquet files are read."""
    bk.convert(files.tables, files.out("all.parquet"))
    assert bk.open(files.out("all.parquet")).num_entries == files.entries
    copies = []
    for number in range(len(files.paths)):
        os.link(files.out("all.parquet"), files.out(f"{number}.parquet"))
        copies.append(files.out(f"{number}.parquet"))
    assert len(bk.concatenate(copies, ["x"])) == files.entries * len(copies)
    assert sum(1 for _ in bk.iterate(copies, ["x"])) == len(copies)


def call_recover(files: Files) -> None:
    """One file after the other."""
    for path in files.paths:
        bk.recover(path, files.out("recovered.root"), force=True)


def call_readspeed(files: Files) -> None:
    """All files, by two threads."""
    assert bk.readspeed(*files.tables, threads=2, repeat=1).columns


def call_precision(files: Files) -> None:
    """All files."""
    bk.precision(*files.tables)


def call_tune(files: Files) -> None:
    """All files."""
    bk.tune(files.tables)


def call_plan(files: Files) -> None:
    """A plan, one of its tasks, and what became of them."""
    jobs = files.out("jobs.json")
    planned = bk.plan("check", files.paths, jobs, files_per_task=len(files.paths))
    assert planned.tasks
    bk.run_task(jobs, 0)
    assert bk.collect(jobs).done


def call_recreate(files: Files) -> None:
    """Many files open for reading while one is written, which takes their objects."""
    trees = [bk.open(place) for place in files.tables]
    with bk.recreate(files.out("new.root")) as file:
        for number, tree in enumerate(trees):
            file[f"of/{number}"] = bk.open(files.paths[number])["note"]
            if number == 0:
                file["all"] = {"x": tree["x"].array()}
            else:
                file["all"].extend({"x": tree["x"].array()})
    for tree in trees:
        tree.close()
    with bk.open(files.out("new.root")) as made:
        assert made["all"].num_entries == files.entries


def call_update(files: Files) -> None:
    """Objects of many files, copied."""
    with bk.recreate(files.out("updated.root")) as file:
        file["first"] = "text"
    with bk.update(files.out("updated.root")) as file:
        for number, path in enumerate(files.paths):
            file[f"n{number}"] = bk.open(path)["note"]
    assert len(bk.open(files.out("updated.root")).keys()) == len(files.paths) + 1


def call_map(files: Files) -> None:
    """One file after the other."""
    found = distributed.map("check", files.paths)
    assert all(one.whole for one in found)


def call_distributed_merge(files: Files) -> None:
    """Into one file."""
    distributed.merge(files.paths, files.out("{dataset}_{n}.root"))


def call_distributed_tune(files: Files) -> None:
    """On a sample."""
    distributed.tune(files.paths, sample=3)


def call_bins(files: Files) -> None:
    """The sizes of all files."""
    assert distributed.bins(files.paths, files.out("{n}.root"), target_size="1kB")


def call_edit(files: Files) -> None:
    """Into one file, from it, and in it."""
    out = files.out("edited.root")
    for number, path in enumerate(files.paths):
        bk.cp(f"{path}:note", f"{out}:n{number}")
    bk.mkdir(f"{out}:dir")
    bk.mv([f"{out}:n{number}" for number in range(len(files.paths))], f"{out}:dir")
    bk.cp([f"{path}:t" for path in files.paths], out, add_cycle=True)
    bk.rm(f"{out}:dir", recursive=True)
    assert len(bk.split(out, entries=1, output=files.out("parts")).parts) == ENTRIES


CALLS: dict[str, Callable[[Files], None]] = {
    "open": call_open,
    "File": call_file,
    "concatenate": call_concatenate,
    "iterate": call_iterate,
    "num_entries": call_num_entries,
    "nanoevents": call_nanoevents,
    "ls": call_ls,
    "count": call_count,
    "schema": call_schema,
    "show": call_show,
    "stats": call_stats,
    "draw": call_draw,
    "scan": call_scan,
    "sql": call_sql,
    "loader": call_loader,
    "inspect": call_inspect,
    "layout": call_layout,
    "check": call_check,
    "fileset": call_fileset,
    "index": call_index,
    "pick": call_pick,
    "join": call_join,
    "sort": call_sort,
    "merge": call_merge,
    "rewrite": call_rewrite,
    "verify": call_verify,
    "convert": call_convert,
    "recover": call_recover,
    "readspeed": call_readspeed,
    "precision": call_precision,
    "tune": call_tune,
    "cp": call_edit,
    "mv": call_edit,
    "rm": call_edit,
    "mkdir": call_edit,
    "split": call_edit,
    "plan": call_plan,
    "run_task": call_plan,
    "collect": call_plan,
    "recreate": call_recreate,
    "update": call_update,
    "distributed.map": call_map,
    "distributed.merge": call_distributed_merge,
    "distributed.tune": call_distributed_tune,
    "distributed.bins": call_bins,
}


def main() -> None:
    """Does all calls for the files in a folder, and prints what each left open."""
    folder = Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (GRANTED, GRANTED))
    files = Files(folder / "out", sorted(str(path) for path in folder.glob("*.root")))
    files.folder.mkdir()
    # What a first call imports and keeps is no leak.
    bk.concatenate(files.tables[:1])
    bk.scan(files.tables[:1]).collect()
    for call in dict.fromkeys(CALLS.values()):
        gc.collect()
        before, why = held(), ""
        try:
            call(files)
        except Exception:
            why = traceback.format_exc()
        gc.collect()
        print(json.dumps({"call": call.__name__, "before": before, "after": held(), "why": why}), flush=True)


if __name__ == "__main__":
    main()
