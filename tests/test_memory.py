"""Every verb stays within its memory budget, and names the smallest budget that suffices if the budget is too small.

Metadata are counted as in a plan: 3 kB for each branch, 208 B for each basket, and 16 B for each cluster.
"""

import functools
import json
import random
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import basketry as bk
from referee import make_files, paths
from referee.command import Argument, Basketry, Outcome

MB = 1_000_000
# Allowance for threads and the allocator, on top of what a small file takes: together 24 MB for the release.
BESIDES = 9 * MB
REFUSED = "the smallest that would do is --memory"


@dataclass(frozen=True)
class InputFile:
    """A file, and the size of its metadata."""

    path: Path
    branches: int
    baskets: int
    clusters: int

    @property
    def metadata(self) -> int:
        """Bytes of metadata."""
        return 3000 * self.branches + 208 * self.baskets + 16 * self.clusters


FILES = {
    "branches": (10_000, 20_000, 2),
    "entries": (1, 3, 3),
    "basket": (1, 1, 1),
    "clusters": (1, 60_000, 60_000),
    "trees": (4000, 4000, 200),
    "objects": (1, 1, 1),
}
FOUND = {
    "hugeent": (2, 8, 4),
    "hugebasket": (1, 1, 1),
    "q4000": (1, 1, 1),
    "manyclusters": (1, 60_000, 60_000),
}


def input_file(name: str) -> InputFile:
    """A file that ROOT makes, or one of the corpus' folder `found`."""
    if name in FILES:
        return InputFile(make_files.made("memory") / f"{name}.root", *FILES[name])
    path = paths.CORPUS / "found" / f"{name}.root"
    if not path.is_file():
        pytest.skip(f"{path} is not here (BASKETRY_CORPUS)")
    return InputFile(path, *FOUND[name])


@functools.cache
def own_memory() -> int:
    """What the program takes for a small file: less for the release than with assertions and without optimisation."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = Basketry(paths.BINARY).run(
            "rewrite", make_files.made("chained") / "part0.root", "-o", Path(folder) / "out.root", "-j", "2"
        )
    assert outcome.code == 0, str(outcome)
    # 19 MB for the release, 28 to 33 MB with assertions, as the kernel maps more or less around what runs of a program:
    # what grows here is in no other bar.
    assert outcome.peak_rss <= 36 * MB, str(outcome)
    return outcome.peak_rss


def check_peak(outcome: Outcome, memory: int, metadata: int) -> None:
    """Checks that the peak is within the budget, the metadata and the allowance."""
    bar = memory + own_memory() + BESIDES + 2 * metadata
    assert outcome.peak_rss <= bar, f"{outcome}\npeak {outcome.peak_rss / MB:.0f} MB, bar {bar / MB:.0f} MB"


def smallest_budget(outcome: Outcome) -> int:
    """The memory that a refusal names, in MB."""
    found = re.search(r"--memory (\d+)MB", outcome.err)
    assert outcome.code in (1, 2), str(outcome)
    assert found, str(outcome)
    return int(found[1])


# Verbs with arguments; IN and OUT stand for the input and the output.
VERBS = {
    "inspect": "inspect IN",
    "readspeed": "readspeed IN",
    "layouts": "readspeed IN --layouts",
    "copy": "rewrite IN -o OUT.root -f",
    "recompress": "rewrite IN -o OUT.root -f --compression lz4:1",
    "regroup": "rewrite IN -o OUT.root -f --cluster 3 --basket 1MB",
    "recode": "rewrite IN -o OUT.root -f --split-level 99 --cluster 3",
    "to rntuple": "rewrite IN -o OUT.root -f --container rntuple",
    "merge": "merge IN IN -o OUT.root -f",
    "hadd": "hadd -f OUT.root IN IN",
    "verify": "verify IN IN",
    "recover": "recover IN -o OUT.root -f",
    "convert": "convert IN -o OUT.parquet -f",
    "row groups": "convert IN -o OUT.parquet -f --row-group 20",
    "tune": "tune IN -o OUT.root -f",
    "sweep": "sweep IN -o OUT --grid compression=lz4:1 --repeat 1 --only copy,full",
    "monitor": "monitor -o OUT.root -f -- true",
    "precision": "precision IN -o OUT.toml -f",
    "stats": "stats IN",
}
THREADS = (1, 2, 4, 8)
SLOW = ("branches", "clusters", "manyclusters")


def is_usual(verb: int, name: int, threads: int) -> bool:
    """Whether a usual run has a case: each verb takes half of the files and each file half of the verbs, and numbers of
    threads take turns."""
    return (verb + name) % 2 == 0 and threads == (verb + name) // 2 % len(THREADS)


# With --full each verb takes each file: with one or two numbers of threads, and with one more where that is not slow.
CASES = [
    pytest.param(verb, name, threads, marks=() if is_usual(v, n, t) or verb == "monitor" else pytest.mark.only_full)
    for v, verb in enumerate(VERBS)
    for n, name in enumerate((*FILES, *FOUND))
    for t, threads in enumerate(THREADS)
    if is_usual(v, n, t)
    or t == (v + n) % 4
    or (t == (v + n + 2) % 4 and name not in SLOW and verb not in ("inspect", "sweep", "monitor"))
    if verb != "monitor" or name == "entries"
]


def command_line(verb: str, source: Path, folder: Path) -> list[str]:
    """The command line of a verb."""
    return [word.replace("IN", str(source)).replace("OUT", str(folder / "out")) for word in VERBS[verb].split()]


@pytest.mark.parametrize(("verb", "name", "threads"), CASES)
def test_peak_memory_stays_within_the_budget(
    basketry: Basketry, tmp_path: Path, verb: str, name: str, threads: int
) -> None:
    """Uses 64 MB, or the smallest budget that the refusal names; a smaller budget is refused, too."""
    source = input_file(name)
    command = command_line(verb, source.path, tmp_path)
    if name == "trees" and command[0] in ("convert", "readspeed", "tune", "sweep", "stats"):
        # Of one tree.
        command[1] += ":t0"
    copies = 2 if verb in ("merge", "hadd", "verify") else 1
    metadata = copies * source.metadata
    memory = 64
    if verb in ("inspect", "monitor"):
        # These verbs lack the option. The trials of inspect may take as much again.
        trials = memory if verb == "inspect" else 0
        check_peak(basketry.run(*command), (memory + trials) * MB, metadata)
        return
    run = [command[0], "-j", str(threads), *command[1:]]
    outcome = basketry.run(*run, "--memory", f"{memory}MB")
    # tune and sweep know their outputs after reading the input; they refuse their own choice.
    known = verb not in ("tune", "sweep")
    # Plans that recode look at the first basket of each column.
    looks = not known or verb == "recode"
    for _ in range(1 if known else 4):
        if REFUSED in outcome.err:
            # A refusal comes before anything but metadata is read.
            check_peak(outcome, memory * MB if looks else 0, metadata)
            memory = smallest_budget(outcome)
            if verb == "sweep":
                # Finished measurements are not repeated.
                run[run.index("-o") + 1] += "-again"
            outcome = basketry.run(*run, "--memory", f"{memory}MB")
            if known:
                smallest_budget(basketry.run(*run, "--memory", f"{memory * 9 // 10}MB"))
    # Exit code 1 of tune: no layout is better.
    assert outcome.code == 0 or (verb == "tune" and outcome.code == 1), str(outcome)
    check_peak(outcome, memory * MB, metadata)


@pytest.mark.parametrize("seed", range(30))
def test_the_smallest_budget_suffices_and_is_needed(
    basketry: Basketry, corpus: Path, tmp_path: Path, seed: int
) -> None:
    """For a random corpus file, verb and number of threads: the budget that a refusal names works, and a tenth less is
    refused.
    """
    chance = random.Random(seed)
    source = chance.choice(sorted((corpus / "files").glob("*.root")))
    # The last seeds are for the verb that is not among the others.
    others = [verb for verb in VERBS if verb not in ("inspect", "monitor", "sweep", "tune", "precision")]
    verb = "precision" if seed >= 24 else chance.choice(others)
    command = command_line(verb, source, tmp_path)
    run = [command[0], "-j", str(chance.choice(THREADS)), *command[1:]]
    refused = basketry.run(*run, "--memory", "1MB")
    if REFUSED not in refused.err:
        pytest.skip(f"{verb} of {source.name}: needs no more than 1 MB, or is not possible at all")
    about = basketry.json("inspect", source)
    branches, baskets = (sum(of(tree) for tree in about["trees"]) for of in (_branches, _baskets))
    clusters = sum(len(tree["clusters"]) for tree in about["trees"])
    copies = 2 if verb in ("merge", "hadd", "verify") else 1
    metadata = copies * InputFile(source, branches, baskets, clusters).metadata
    check_peak(refused, 0, metadata)
    memory = smallest_budget(refused)
    outcome = basketry.run(*run, "--memory", f"{memory}MB")
    assert REFUSED not in outcome.err, str(outcome)
    check_peak(outcome, memory * MB, metadata)
    if memory * 9 // 10 > 0:
        assert smallest_budget(basketry.run(*run, "--memory", f"{memory * 9 // 10}MB")) <= memory


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_precision_is_the_same_in_little_memory(basketry: Basketry, tmp_path: Path, container: str) -> None:
    """Columns that do not fit side by side are read one group after the other: only samples, and so sizes, differ."""
    source = tmp_path / "in.root"
    basketry("generate", "nano", "-o", source, "--size", "12MB", "--cluster", "20MB", "--container", container)
    memory = smallest_budget(basketry.run("precision", source, "-j", "1", "--memory", "1MB"))
    plenty, scarce = (
        basketry.json("precision", source, "-j", "2", "--memory", f"{budget}MB")["tables"][0]["columns"]
        for budget in (1000, memory)
    )
    sizes = {"expected", "proposed", "reason", "bytes", "allowed"}

    def without_sizes(columns: list[dict[str, Any]]) -> dict[str, Any]:
        def facts(of: dict[str, Any]) -> dict[str, Any]:
            return {key: value for key, value in of.items() if key not in sizes and key != "choices"}

        choices = {
            column["name"]: {choice["encoding"]: facts(choice) for choice in column["choices"]} for column in columns
        }
        return {column["name"]: (facts(column), choices[column["name"]]) for column in columns}

    assert len(plenty) > 50
    assert without_sizes(plenty) == without_sizes(scarce)


def _branches(tree: dict[str, Any]) -> int:
    return len(tree["branches"])


def _baskets(tree: dict[str, Any]) -> int:
    return int(tree["baskets"])


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(
    "case", ["regroup:basket", "regroup:q4000", "recode:objects", "row groups:basket", "verify:basket"]
)
def test_a_basket_shared_by_clusters_is_read_at_most_twice(
    basketry: Basketry, tmp_path: Path, case: str, threads: int
) -> None:
    """Also with the smallest budget. Each decompression needs a read, so the bytes read count decompressions."""
    verb, name = case.split(":")
    source = input_file(name)
    command = command_line(verb, source.path, tmp_path)
    run = [command[0], "-j", str(threads), *command[1:]]
    memory = smallest_budget(basketry.run(*run, "--memory", "10MB"))
    plenty, scarce = basketry.run(*run), basketry.run(*run, "--memory", f"{memory}MB")
    copies = 2 if verb == "verify" else 1
    # The program also reads its libraries, and plans read the first basket.
    planned = 100_000 + copies * 3 * source.path.stat().st_size
    for outcome in (plenty, scarce):
        assert outcome.code == 0, str(outcome)
        most = planned + copies * 2 * source.path.stat().st_size
        assert outcome.bytes_read <= most, f"{outcome}\n{outcome.bytes_read} bytes read, not {most}"


@pytest.mark.parametrize("name", ["q4000", "basket"])
def test_the_smallest_budget_gives_the_same_file(basketry: Basketry, tmp_path: Path, name: str) -> None:
    """Clusters share a huge basket; tests of the engine count that it is read once."""
    source = input_file(name)
    command: list[Argument] = ["rewrite", source.path, "-o", tmp_path / "out.root", "-f", "--cluster", "3", "-j", "2"]
    memory = smallest_budget(basketry.run(*command, "--memory", "10MB"))
    basketry(*command)
    content = (tmp_path / "out.root").read_bytes()
    scarce = basketry.run(*command, "--memory", f"{memory}MB")

    assert scarce.code == 0, str(scarce)
    assert (tmp_path / "out.root").read_bytes() == content


@pytest.mark.parametrize(
    ("memory", "threads"),
    [
        pytest.param(memory, threads, marks=() if (m + t) % 2 else pytest.mark.only_full)
        for m, memory in enumerate((None, 512, 250))
        for t, threads in enumerate((1, 4))
    ],
)
def test_many_columns_come_back_from_parquet(
    basketry: Basketry, tmp_path: Path, memory: int | None, threads: int
) -> None:
    """Columns are read in parts if memory cannot hold readers for all; the tree is the same."""
    source = input_file("branches")
    basketry("convert", source.path, "-o", tmp_path / "wide.parquet")
    basketry("convert", tmp_path / "wide.parquet", "-o", tmp_path / "whole.root")
    limit = [] if memory is None else ["--memory", f"{memory}MB"]
    outcome = basketry.run(
        "convert", tmp_path / "wide.parquet", "-o", tmp_path / "back.root", "-j", str(threads), *limit
    )
    assert outcome.code == 0, str(outcome)
    check_peak(outcome, (memory or 1074) * MB, source.metadata)
    basketry("verify", tmp_path / "whole.root", tmp_path / "back.root")


def test_parquet_bytes_do_not_depend_on_memory(basketry: Basketry, tmp_path: Path) -> None:
    """Less memory encodes fewer columns at a time; the bytes are the same."""
    source = input_file("branches")
    contents = []
    for memory, threads in (("1GB", 1), ("400MB", 1), ("400MB", 4)):
        basketry("convert", source.path, "-o", tmp_path / "t.parquet", "-f", "--memory", memory, "-j", str(threads))
        contents.append((tmp_path / "t.parquet").read_bytes())

    assert contents[0] == contents[1] == contents[2]


GENERATED = [
    pytest.param(kind, memory, threads, container, marks=() if (k + m + c + t) % 3 == 0 else pytest.mark.only_full)
    for k, kind in enumerate(("single", "multi", "nano", "lhcb", "esd"))
    for m, memory in enumerate((32, 64))
    for c, container in enumerate(("ttree", "rntuple"))
    for t, threads in enumerate((1, 2, 8))
]


@pytest.mark.parametrize(("kind", "memory", "threads", "container"), GENERATED)
def test_generate_stays_within_memory(
    basketry: Basketry, tmp_path: Path, kind: str, memory: int, threads: int, container: str
) -> None:
    """For every data set, with every number of threads; all of both with --full."""
    command: list[Argument] = ["generate", kind, "-o", tmp_path / "g.root", "--size", "40MB", "-j", str(threads)]
    outcome = basketry.run(*command, "--memory", f"{memory}MB", "--container", container)
    assert outcome.code == 0, str(outcome)
    check_peak(outcome, memory * MB, 0)


@pytest.fixture(scope="module")
def both_containers(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data sets as trees and as RNTuples: KIND-CONTAINER.root, larger than the budgets below."""
    folder = tmp_path_factory.mktemp("containers")
    for kind in ("nano", "multi"):
        for container in ("ttree", "rntuple"):
            out = folder / f"{kind}-{container}.root"
            basketry("generate", kind, "-o", out, "--size", "60MB", "--cluster", "4MB", "--container", container)
    return folder


CONVERTED = [
    pytest.param(source, options, kind, threads, marks=() if (n + k + t) % 3 == 0 else pytest.mark.only_full)
    for n, (source, options) in enumerate(
        [
            ("ttree", "--container rntuple"),
            ("rntuple", "--container ttree"),
            ("rntuple", "--cluster 20MB"),
            ("rntuple", "--page-size 4kB --cluster 500"),
        ]
    )
    for k, kind in enumerate(("nano", "multi"))
    for t, threads in enumerate((1, 2, 8))
]


@pytest.mark.parametrize(("source", "options", "kind", "threads"), CONVERTED)
def test_other_containers_and_clusters_stay_within_memory(
    basketry: Basketry,
    both_containers: Path,
    tmp_path: Path,
    source: str,
    options: str,
    kind: str,
    threads: int,
) -> None:
    """In the budget, or in the smallest one that the refusal names."""
    memory = 32
    command: list[Argument] = ["rewrite", both_containers / f"{kind}-{source}.root", *options.split()]
    command += ["-o", tmp_path / "out.root", "-j", str(threads)]
    outcome = basketry.run(*command, "--memory", f"{memory}MB")
    if REFUSED in outcome.err:
        # It has read the metadata that it names, and no content.
        metadata = re.search(r"\((\d+) MB of metadata", outcome.err)
        assert metadata, str(outcome)
        check_peak(outcome, int(metadata[1]) * MB, 0)
        memory = smallest_budget(outcome)
        outcome = basketry.run(*command, "--memory", f"{memory}MB")
    assert outcome.code == 0, str(outcome)
    check_peak(outcome, memory * MB, 0)


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_products_of_very_variable_size_stay_within_memory(basketry: Basketry, tmp_path: Path, container: str) -> None:
    """The columns that are large differ from cluster to cluster: buffers do not keep the largest size of each."""
    out = tmp_path / "g.root"
    command: list[Argument] = ["generate", "aod", "-o", out, "--size", "150MB", "-j", "1"]
    outcome = basketry.run(*command, "--memory", "32MB", "--container", container)
    assert outcome.code == 0, str(outcome)
    # 248 branches or columns, and about 32 clusters.
    check_peak(outcome, 32 * MB, InputFile(out, 248, 248 * 32, 32).metadata)


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("threads", [2, pytest.param(8, marks=pytest.mark.only_full)])
def test_many_split_branches_stay_within_memory(
    basketry: Basketry, tmp_path: Path, threads: int, container: str
) -> None:
    """Small clusters of 10,000 branches: what is kept of each basket or page is metadata."""
    out = tmp_path / "g.root"
    command: list[Argument] = ["generate", "multi", "--branches", "625", "--events", "2", "--split-level", "99"]
    command += ["-o", out, "--size", "20MB", "-j", str(threads), "--container", container]
    outcome = basketry.run(*command, "--memory", "64MB")
    assert outcome.code == 0, str(outcome)
    check_peak(outcome, 64 * MB, InputFile(out, 10_000, 10_000 * 8, 8).metadata)


def test_generate_stays_within_memory_with_many_branches(basketry: Basketry, tmp_path: Path) -> None:
    """10,000 branches: refused if their metadata alone exceed the budget."""
    command: list[Argument] = [
        "generate",
        "multi",
        "--branches",
        "600",
        "--events",
        "1",
        "--size",
        "20MB",
        "-o",
        tmp_path / "g.root",
        "-f",
    ]
    outcome = basketry.run(*command, "--memory", "64MB", "-j", "2")
    assert outcome.code == 0, str(outcome)
    check_peak(outcome, 64 * MB, 10_000 * 3000)

    assert basketry.run(*command, "--memory", "32MB", "-j", "2").code == 2


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """320 columns of numbers that are all different, more than `stats` keeps of each."""
    path = tmp_path_factory.mktemp("wide") / "wide.root"
    chance = np.random.default_rng(5)
    with bk.recreate(path, compression=None, cluster=10_000) as made:
        made["t"] = {f"x{number}": chance.random(70_000, dtype="f4") for number in range(320)}
    return path


def test_statistics_of_many_columns_stay_within_memory(basketry: Basketry, wide: Path) -> None:
    """What is kept of a column was outside of the budget: 255 MB of 320 columns. Memory changes no figure."""
    outcomes = [
        basketry.run("stats", wide, "--json", "--memory", f"{memory}MB", "-j", str(threads))
        for memory, threads in ((64, 1), (64, 4), (2000, 2))
    ]
    for outcome in outcomes[:2]:
        assert outcome.code == 0, str(outcome)
        check_peak(outcome, 64 * MB, InputFile(wide, 320, 320 * 7, 7).metadata)
    assert outcomes[0].out == outcomes[1].out == outcomes[2].out
    assert not json.loads(outcomes[0].out)["columns"][0]["exact"]


@pytest.mark.parametrize("threads", [1, 4])
def test_expressions_over_narrow_columns_stay_within_memory(basketry: Basketry, tmp_path: Path, threads: int) -> None:
    """A step of 16 MB of truth values has 16 million entries: their numbers, weights and values take 24 bytes each."""
    path = tmp_path / "narrow.root"
    with bk.recreate(path, cluster=4_000_000) as made:
        made["t"] = {"b": np.arange(16_000_000) % 3 == 0}
    metadata = InputFile(path, 1, 4, 4).metadata
    lines: tuple[list[Argument], ...] = (
        ["draw", path, "b", "--cut", "b", "--cut", "!b", "--weight", "b + 1"],
        ["stats", path, "--cut", "b", "--weight", "b + 1", "--define", "two=b + 1"],
        ["count", path],
    )
    for words in lines:
        budget = [] if words[0] == "count" else ["--memory", "32MB", "-j", str(threads)]
        outcome = basketry.run(*words, *budget)
        assert outcome.code == 0, str(outcome)
        check_peak(outcome, 32 * MB, metadata)


def test_rows_are_refused_where_they_do_not_fit(basketry: Basketry, wide: Path, tmp_path: Path) -> None:
    """A table and `--json` hold all rows; the other forms print one after the other."""
    metadata = InputFile(wide, 320, 320 * 7, 7).metadata
    refused = basketry.run("show", wide, "--json", "--entries", "0:30000", "--memory", "64MB")
    assert refused.code == 2, str(refused)
    assert "--entries chooses fewer" in refused.err
    check_peak(refused, 64 * MB, metadata)
    for out in ("rows.csv", "rows.jsonl", "rows.parquet"):
        written = basketry.run("show", wide, "--entries", "0:3000", "--memory", "64MB", "-o", tmp_path / out)
        assert written.code == 0, str(written)
        check_peak(written, 64 * MB, metadata)
