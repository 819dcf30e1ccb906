"""Whether a plain rewrite beats what `tune` left, and how wrong its predictions are, on given or generated files.

    python -m studies.rivals [FILE...] [--seed N] [--most MB] [--only WORD] [--quick] [--keep RESULTS.jsonl]
                             [-- OPTION...]

Each file is tuned (options after `--` are tune's), and rewritten in eight plain ways: clusters of 3 and of 30 MB, each
with the file's own codecs and with one codec for all. basketry reads all of them in turns on one thread, and medians of
CPU time count. A rewrite beats `tune` if it is 5 % smaller and 10 % quicker to read. Without files it generates data
sets of several kinds and sizes, from a seed, in bad layouts: tiny or huge clusters and baskets, slow codecs, trees and
RNTuples. It runs the command that
BASKETRY_BIN names, or the installed one.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from referee.paths import BINARY
from studies.gauge import LONG_ENOUGH, line

#: Clusters and codecs of the plain rewrites; no codec: as it is.
CLUSTERS = ("3MB", "30MB")
CODECS = ("", "zlib:1", "zstd:5", "lz4:4")
#: A rewrite beats `tune` if it has less than these shares of its size and of its reading time.
SMALLER, QUICKER = 0.95, 0.90
#: Rounds in which all files are read, and readings in a round.
ROUNDS, REPEAT = 5, 3

#: Generated files: a name, and the options of `generate`.
GENERATED: tuple[tuple[str, str], ...] = (
    ("nano-tiny-clusters", "nano --size 4MB --cluster 200kB --compression zlib:1"),
    ("nano-small", "nano --size 1MB --cluster 40kB --compression zlib:1"),
    ("nano-lzma", "nano --size 2MB --cluster 1MB --compression lzma:5"),
    ("nano-plain", "nano --size 12MB --cluster 1MB --compression none"),
    ("nano-zstd", "nano --size 30MB --cluster 30MB --compression zstd:5"),
    ("nano-baskets", "nano --size 6MB --basket 1kB --compression lz4:4"),
    ("lhcb-baskets", "lhcb --size 4MB --basket 500B --compression zlib:6"),
    ("lhcb-clusters", "lhcb --size 12MB --cluster 100kB --compression zstd:1"),
    ("lhcb-lzma", "lhcb --size 30MB --compression lzma:1"),
    ("aod", "aod --size 8MB --compression zlib:1"),
    ("aod-clusters", "aod --size 20MB --cluster 300kB --compression zstd:5"),
    ("esd", "esd --size 10MB --compression zlib:1"),
    ("esd-clusters", "esd --size 40MB --cluster 500kB --compression lz4:1"),
    ("multi", "multi --size 4MB --cluster 20kB --compression zlib:6"),
    ("multi-split", "multi --size 16MB --split-level 99 --compression zlib:1"),
    ("single", "single --size 4MB --basket 1kB --compression zlib:1"),
    ("single-huge", "single --size 24MB --basket 8MB --cluster 30MB --compression none"),
    ("nano-ntuple", "nano --size 4MB --container rntuple --cluster 200kB --compression zstd:5"),
    ("nano-ntuple-large", "nano --size 24MB --container rntuple --compression zlib:1"),
    ("lhcb-ntuple", "lhcb --size 8MB --container rntuple --cluster 100kB --compression lz4:4"),
    ("single-ntuple", "single --size 8MB --container rntuple --basket 1kB --compression zlib:1"),
)


@dataclass
class Rival:
    """A rewrite: its size, and the CPU seconds of reading it."""

    bytes: int
    read: float = 0.0


@dataclass
class Outcome:
    """What `tune` left of a file, and its rivals."""

    name: str
    #: Why there is nothing to compare.
    failed: str = ""
    before: Rival | None = None
    left: Rival | None = None
    delivered: bool = False
    #: Shares of the measured values by which expectations were too high; `None` where nothing was written.
    size_error: float | None = None
    read_error: float | None = None
    rewrite_error: float | None = None
    pages_error: float | None = None
    measuring: float = 0.0
    trials: int = 0
    verdict: str = ""
    rivals: dict[str, Rival] = field(default_factory=dict)

    @property
    def beaten_by(self) -> dict[str, Rival]:
        """The rewrites that are smaller and quicker."""
        left = self.left
        if left is None:
            return {}
        return {
            name: one
            for name, one in self.rivals.items()
            if one.bytes < SMALLER * left.bytes and one.read < QUICKER * left.read
        }

    @property
    def takes_long_enough(self) -> bool:
        """Whether reading takes long enough for clocks."""
        return self.left is not None and self.left.read > LONG_ENOUGH


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs the command, whatever its exit code."""
    command = [str(BINARY), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def readings(files: dict[str, Path], tree: str) -> dict[str, float]:
    """The median CPU seconds of reading each file on one thread, in turns."""
    found: dict[str, list[float]] = {name: [] for name in files}
    for _ in range(ROUNDS):
        for name, path in files.items():
            done = run("readspeed", f"{path}{tree}", "-j", "1", "--repeat", str(REPEAT), "--json")
            if done.returncode == 0:
                found[name] += [one["cpu"] for one in json.loads(done.stdout)["runs"]]
    return {name: statistics.median(all_of_it) for name, all_of_it in found.items() if all_of_it}


def largest_table(path: Path) -> str:
    """The largest table of a file, as `:NAME`; nothing if it cannot be said."""
    done = run("inspect", path, "--json", "-q")
    if done.returncode:
        return ""
    report = json.loads(done.stdout)
    tables = [*report.get("trees", []), *report.get("ntuples", [])]
    best = max(tables, key=lambda one: one.get("zip_bytes", 0), default=None)
    return f":{best['path']}" if best else ""


def compare(path: Path, of_tune: list[str], name: str = "") -> Outcome:
    """Tunes a file, rewrites it in plain ways, and reads all of them."""
    outcome = Outcome(name or path.name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        output = folder / "tuned" / path.name
        output.parent.mkdir()
        tree = largest_table(path)
        done = run("tune", f"{path}{tree}", "-o", output, "-j", "1", "--json", "-q", *of_tune)
        if done.returncode > 1 or not done.stdout.strip():
            outcome.failed = (done.stderr.strip().splitlines() or ["no output"])[-1]
            return outcome
        report: dict[str, Any] = json.loads(done.stdout)
        outcome.verdict, outcome.delivered = report["verdict"], output.exists()
        outcome.measuring, outcome.trials = report["measuring"]["cpu_seconds"], report["measuring"]["trials"]
        if proof := report["proof"]:
            figures = (proof[name] for name in ("size", "read_chosen", "rewrite", "baskets"))
            errors = [one["expected"] / one["measured"] - 1 for one in figures]
            outcome.size_error, outcome.read_error, outcome.rewrite_error, outcome.pages_error = errors
        files = {"before": path, "left": output if output.exists() else path}
        for cluster, codec in product(CLUSTERS, CODECS):
            rival = folder / f"{cluster}-{codec or 'same'}.root"
            wanted = ["--compression", codec] if codec else []
            options = ("-j", "1", "-q", "--cluster", cluster, *wanted)
            if run("rewrite", f"{path}{tree}", "-o", rival, *options).returncode == 0:
                files[rival.stem] = rival
        read = readings(files, tree)
        of = {one: Rival(place.stat().st_size, read.get(one, 0.0)) for one, place in files.items()}
        outcome.before, outcome.left = of.pop("before"), of.pop("left")
        outcome.rivals = of
    return outcome


def generated(folder: Path, seed: int, most: float, only: str) -> Iterator[tuple[str, Path]]:
    """Files of all kinds, one after the other; each is gone when the next is made."""
    for name, options in GENERATED:
        words = options.split()
        size = float(words[words.index("--size") + 1].removesuffix("MB"))
        if size > most or only not in name:
            continue
        path = folder / f"{name}.root"
        done = run("generate", *words, "--seed", str(seed), "-o", path, "-q")
        if done.returncode:
            raise RuntimeError(f"{options}: {done.stderr}")
        yield name, path
        path.unlink()


def told(one: Outcome) -> str:
    """A line about a file."""
    if one.failed or one.before is None or one.left is None:
        return f"{one.name}: not compared: {one.failed}"
    share = f"{one.left.bytes / one.before.bytes:.2f} of the size"
    share += f", {one.left.read / max(one.before.read, 1e-9):.2f} of the time"
    errors = [f"{100 * error:+.1f} %" for error in (one.size_error, one.read_error) if error is not None]
    said = f"{one.name}: {one.before.bytes / 1e6:.2f} MB, {1e3 * one.before.read:.1f} ms; left {share}"
    said += f"; errors {', '.join(errors) or 'none'}; measured for {one.measuring:.1f} s, {one.trials} trials"
    for name, rival in one.beaten_by.items():
        said += f"\n    BEATEN by {name}: {rival.bytes / one.left.bytes:.2f} of that size"
        said += f", {rival.read / one.left.read:.2f} of that time"
    return said


def summary(outcomes: list[Outcome]) -> list[str]:
    """Who is beaten, and how large the errors are."""
    done = [one for one in outcomes if one.left is not None and not one.failed]
    beaten = [one.name for one in done if one.beaten_by]
    sizes = [one.size_error for one in done if one.size_error is not None]
    times = [one.read_error for one in done if one.read_error is not None and one.takes_long_enough]
    return [
        f"{len(done)} files compared, {sum(one.delivered for one in done)} outputs",
        f"beaten by a plain rewrite: {len(beaten)} {', '.join(beaten)}".rstrip(),
        "error of expectations: number, median, 90 %, worst",
        line("size", sizes),
        line("reading", times),
        line("rewriting", [one.rewrite_error for one in done if one.rewrite_error is not None]),
        line("baskets", [one.pages_error for one in done if one.pages_error is not None]),
    ]


def main() -> None:
    """Compares the named or the generated files, and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=60, help="megabytes of the largest generated file")
    parser.add_argument("--only", default="", help="only generated files whose name has this word")
    parser.add_argument("--quick", action="store_true", help="generated files of 4 MB at most")
    parser.add_argument("--keep", type=Path)
    arguments, options = parser.parse_known_args()
    options = [word for word in options if word != "--"]
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        most = 4 if arguments.quick else arguments.most
        named = [(path.name, path) for path in arguments.files]
        for name, path in named or generated(Path(folder), arguments.seed, most, arguments.only):
            outcomes.append(compare(path, options, name))
            print(told(outcomes[-1]), flush=True)
            if arguments.keep:
                with arguments.keep.open("a") as kept:
                    kept.write(json.dumps(asdict(outcomes[-1])) + "\n")
    print("", *summary(outcomes), sep="\n")


if __name__ == "__main__":
    main()
