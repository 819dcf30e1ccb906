"""Thousands of files: check and fileset beside uproot's loop, and a merge of many files within its memory."""

import subprocess
import sys
from pathlib import Path

from harness import Bench, section
from measure import SCRATCH, Contender, basketry, in_page_cache, table
from referee.paths import BINARY

# What users run today: open each file, list its keys, and ask each tree for its entries.
LOOP = """
import sys, uproot
for path in sys.argv[1:]:
    with uproot.open(path) as file:
        for name in file.keys():
            getattr(file[name], "num_entries", 0)
"""


def many(kind: str, size: str, count: int) -> list[Path]:
    """Small files of a kind: names of ten generated ones."""
    folder = SCRATCH / f"many_{kind}_{size}"
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / f"made{seed}.root" for seed in range(10)]
    for seed, path in enumerate(made):
        if not path.exists():
            subprocess.run(
                [BINARY, "generate", kind, "--size", size, "--seed", str(seed), "-o", path, "-q"], check=True
            )
    in_page_cache(*made)
    names = [folder / f"file{number:05}.root" for number in range(count)]
    for number, path in enumerate(names):
        if not path.exists():
            path.hardlink_to(made[number % len(made)])
    return names


@section
def many_files(bench: Bench) -> None:
    """1,000 small files: check and fileset 10 x as fast as uproot's loop, one core each."""
    for kind, size in (("single", "100kB"), ("lhcb", "100kB")):
        paths = many(kind, size, 20 if bench.quick else 1000)
        listed = SCRATCH / f"{kind}.txt"
        listed.write_text("\n".join(str(path) for path in paths))
        # One process of uproot on a sample of the files: the loop takes minutes for all.
        sample = paths if kind == "single" else paths[: len(paths) // 10]
        loop = Contender("uproot's loop", [sys.executable, "-c", LOOP, *sample])
        start = Contender("uproot's import", [sys.executable, "-c", "import uproot"])
        ours = [
            basketry(name, *words, f"@{listed}", "--json", "-j", "1")
            for name, words in (("check", ["check"]), ("check --deep", ["check", "--deep"]), ("fileset", ["fileset"]))
        ]
        done = bench.compare(kind, [*ours, loop, start], 1 if bench.quick else 3)
        theirs = (done["uproot's loop"].cpu - done["uproot's import"].cpu) * len(paths) / len(sample)
        bench.say("", f"### {len(paths)} files of {kind}, {paths[0].stat().st_size / 1e3:.0f} kB each", "")
        bench.say(*table(list(done.values())))
        for name in ("check", "check --deep", "fileset"):
            bench.say("", f"{name}: {theirs / done[name].cpu:.0f} x as fast as the loop of {theirs:.2f} s")


@section
def many_merged(bench: Bench) -> None:
    """10,000 files of 1 MB into files of 2 GB: within --memory 256MB, few descriptors."""
    paths = many("lhcb", "1500kB", 100 if bench.quick else 10_000)
    listed, jobs, out = SCRATCH / "merged.txt", SCRATCH / "jobs.json", SCRATCH / "many_{n}.root"
    listed.write_text("\n".join(str(path) for path in paths))
    plan: list[str | Path] = [
        BINARY,
        "plan",
        "merge",
        f"@{listed}",
        "-o",
        jobs,
        "--target-size",
        "2GB",
        "--memory",
        "256MB",
        "-f",
        "-q",
    ]
    subprocess.run([*plan, "--name", out], check=True, stdout=subprocess.DEVNULL)
    made = SCRATCH / "many_0.root"
    done = bench.compare("task", [basketry("run --task 0", "run", jobs, "--task", "0", "--again", outputs=[made])], 1)
    peak = done["run --task 0"].peak
    bench.say("", f"### {len(paths)} files: one task of the merge", "")
    bench.say(*table(list(done.values())), "", f"peak RSS {peak:.0f} MB")
