"""What is frozen: the operations on each file of the corpus, and those on files that are made here. Each has a result
of named parts under "operation file". Names of files, options and layouts are part of what is frozen: a change here
makes an older base useless, and it must be made again by the build that it was made by."""

import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from freezing import parts, requests
from freezing.running import Build, Said

Result = dict[str, str]
Frozen = dict[str, Result]

CONTAINERS = ("ttree", "rntuple")
LAYOUTS: dict[str, tuple[str, ...]] = {
    "copy": (),
    "zstd-clusters": ("--compression", "zstd:1", "--cluster", "1000"),
    "lz4-one-basket": ("--compression", "lz4:4", "--basket", "8kB", "--one-basket-per-cluster"),
    "none-tiny": ("--compression", "none", "--cluster", "17", "--basket", "1kB"),
    "lzma-unsplit": ("--compression", "lzma:1", "--cluster", "2MB", "--split-level", "0", "--encoding", "plain"),
}
# Every so many files and no larger: measuring takes seconds.
TUNED_EVERY = 12
MOST_TUNED = 300_000
# What tune says that does not depend on measured times.
TUNED = ("schema", "files", "workload", "goal")
TUNED_TODAY = ("size", "read_memory", "write_memory", "baskets", "clusters", "cluster_bytes")
TUNED_MEASURING = ("seed", "sampled_bytes", "sampled_share", "columns", "sampled_columns")
KINDS = ("single", "multi", "nano", "lhcb", "aod", "esd")
THREADS = (1, 2, 8)
# Seconds after which a file is named as slow.
SLOW = 30.0


def freeze(build: Build, files: dict[str, Path], only: str, jobs: int) -> Frozen:
    """Everything, of so many files at once. `only` leaves out operations without this text in their name."""
    frozen: Frozen = {}
    tuned = {name for name in list(files)[::TUNED_EVERY] if files[name].stat().st_size <= MOST_TUNED}
    works: dict[str, Callable[[Bench], None]] = {"made": of_made_files, "requests": requests_of_verbs}
    for name, path in files.items():
        works[name] = lambda bench, path=path, name=name: of_file(bench, path, name in tuned)  # type: ignore[misc]

    def work(name: str) -> Frozen:
        begin = time.monotonic()
        bench = Bench(build, name, only)
        try:
            works[name](bench)
        finally:
            shutil.rmtree(bench.folder)
        if (taken := time.monotonic() - begin) > SLOW:
            print(f"{name} took {taken:.0f} s", file=sys.stderr)
        return bench.frozen

    with ThreadPoolExecutor(jobs) as pool:
        for number, results in enumerate(pool.map(work, works), 1):
            frozen |= results
            if number % 50 == 0:
                print(f"{number} of {len(works)}", file=sys.stderr)
    return frozen


class Bench:
    """A folder of its own for the operations on one file, and their results."""

    def __init__(self, build: Build, name: str, only: str) -> None:
        self.build = build
        self.name = name
        self.only = only
        self.folder = build.scratch / name.replace("/", "+")
        self.folder.mkdir()
        self.frozen: Frozen = {}

    def is_asked(self, operation: str) -> bool:
        """Whether an operation is to be frozen."""
        return self.only in f"{operation} {self.name}"

    def keep(self, operation: str, result: Result) -> None:
        """Keeps a result."""
        self.frozen[f"{operation} {self.name}"] = result

    def said(self, operation: str, *words: str) -> bool:
        """Freezes what the command says. Whether it succeeded."""
        if not self.is_asked(operation):
            return True
        said = self.build.run(self.folder, *words)
        self.keep(operation, spoken(said))
        return said.code == 0

    def written(self, operation: str, output: str, *words: str) -> bool:
        """Freezes an output, and what the command says. Whether there is one."""
        if not self.is_asked(operation):
            return False
        said = self.build.run(self.folder, *words)
        path = self.folder / output
        self.keep(operation, spoken(said) | (parts.of_file(path.read_bytes()) if path.exists() else {}))
        return path.exists()

    def asked(self, operation: str, **task: Any) -> None:
        """Freezes an answer of the package."""
        if self.is_asked(operation):
            self.keep(operation, answered(self.build.ask(self.folder, task)))


def spoken(said: Said) -> Result:
    """What a command said, in parts."""
    told = {f"out {name}": part for name, part in parts.of_text(said.out).items()}
    return {"code": str(said.code)} | told | {f"err {name}": part for name, part in parts.of_text(said.err).items()}


def answered(answer: Any) -> Result:
    """An answer of the package, in parts."""
    return {"code": answer} if isinstance(answer, str) else dict(parts.of_document(answer))


def of_file(bench: Bench, path: Path, is_tuned: bool) -> None:
    """All operations on one file of the corpus."""
    source = "input.root"
    (bench.folder / source).symlink_to(path.resolve())
    bench.said("inspect", "inspect", source, "--json")
    bench.said("inspect-layout", "inspect", source, "--layout")
    bench.said("check", "check", source, "--json", "--deep")
    bench.said("fileset", "fileset", source, "--json")
    bench.said("dry-run", "rewrite", source, "-o", "dry.root", "--dry-run", "--json", "-j", "2", "--cluster", "100")
    for container in CONTAINERS:
        for name, layout in LAYOUTS.items():
            output = f"{container}-{name}.root"
            words = ("rewrite", source, "-o", output, "--container", container, *layout, "--json", "-j", "2")
            if bench.written(f"rewrite/{container}/{name}", output, *words) and name == "zstd-clusters":
                bench.said(f"verify/{container}", "verify", source, output, "--json")
                bench.said(f"inspect/{container}", "inspect", output, "--json")
                back = ("rewrite", output, "-o", "back.root", "--container", CONTAINERS[container == "ttree"], "-f")
                bench.written(f"rewrite-back/{container}", "back.root", *back, "--json", "-j", "2")
    bench.written("rewrite-all-cycles", "all.root", "rewrite", source, "-o", "all.root", "--all-cycles", "--json")
    bench.written("rewrite-entries", "some.root", "rewrite", source, "-o", "some.root", "--entries", "1:-1", "--json")
    bench.written("merge", "merged.root", "merge", source, source, "-o", "merged.root", "--json", "-j", "2")
    bench.written("hadd", "added.root", "hadd", "-f505", "added.root", source, source)
    bench.written("recover", "recovered.root", "recover", source, "-o", "recovered.root", "--json")
    if bench.written("convert/parquet", "out.parquet", "convert", source, "-o", "out.parquet", "--json"):
        bench.written("convert/root", "again.root", "convert", "out.parquet", "-o", "again.root", "--json")
    bench.asked("values", do="values", path=source)
    if is_tuned and bench.is_asked("tune"):
        bench.keep("tune", tuned(bench.build.run(bench.folder, "tune", source, "--seed", "1", "--json", "-j", "1")))


def tuned(said: Said) -> Result:
    """What tune says, without what it measured and what it chose by it."""
    if said.code != 0:
        return spoken(said)
    document = parts.document(said.out)
    stable = {name: document.get(name) for name in TUNED}
    stable["limits"] = [limit["name"] for limit in document["limits"]]
    stable["today"] = {name: document["today"][name] for name in TUNED_TODAY}
    stable["measuring"] = {name: document["measuring"].get(name) for name in TUNED_MEASURING}
    stable["columns"] = sum(group["columns"] for group in document["groups"])
    stable["keys"] = sorted(document)
    return {"code": "0", **dict(parts.of_document(stable))}


def of_made_files(bench: Bench) -> None:
    """Generated files, files that differ merged, and the writer in the order of tasks."""
    for container in CONTAINERS:
        for kind in KINDS:
            output = f"{kind}-{container}.root"
            words = ("generate", kind, "-o", output, "--size", "1MB", "--container", container, "-j", "2", "-q")
            bench.written(f"generate/{container}/{kind}", output, *words)
        for late in (False, True):
            for threads in THREADS:
                output = f"tasks-{container}-{late}.root"
                task = {"do": "write", "path": output, "container": container, "threads": threads, "late": late}
                operation = f"write/{container}/{'late' if late else 'whole'}/{threads}"
                if bench.is_asked(operation):
                    path = bench.folder / output
                    path.unlink(missing_ok=True)
                    answer = bench.build.ask(bench.folder, task)
                    written = parts.of_file(path.read_bytes()) if path.exists() else {}
                    bench.keep(operation, answered(answer) | written)
        first, second = (f"tasks-{container}-{late}.root" for late in (False, True))
        for join in ("", "--fill", "--common"):
            output = f"merged-{container}{join}.root"
            flags = (join,) if join else ()
            words = ("merge", first, second, "-o", output, "--json", "-j", "2", *flags)
            if bench.written(f"merge/{container}{join}", output, *words):
                bench.said(f"verify/{container}{join}", "verify", first, second, output, "--json", *flags)
        bench.said(f"verify-different/{container}", "verify", first, second, "--json")
        bench.asked(f"together/{container}", do="together", paths=[f"{first}:t", f"{second}:t"])
    bench.said("verify-containers", "verify", "tasks-ttree-False.root", "tasks-rntuple-False.root", "--json")


def requests_of_verbs(bench: Bench) -> None:
    """How often a server is asked, and for how many bytes."""
    for container in CONTAINERS:
        bench.build.run(
            bench.folder, "generate", "nano", "-o", f"{container}.root", "--size", "8MB", "--container", container
        )
        content = (bench.folder / f"{container}.root").read_bytes()
        verbs = {
            "inspect": ("inspect", "URL", "--json"),
            "check": ("check", "URL", "--deep", "--json"),
            "rewrite": ("rewrite", "URL", "-o", f"copy-{container}.root", "-j", "1"),
            "rewrite-again": ("rewrite", "URL", "-o", f"zstd-{container}.root", "--compression", "zstd:1", "-j", "1"),
            "readspeed": ("readspeed", "URL", "--repeat", "1", "-j", "1", "-q"),
        }
        for verb, words in verbs.items():
            operation = f"requests/{container}/{verb}"
            if bench.is_asked(operation):
                bench.keep(operation, requests.counted(bench.build, bench.folder, content, words))
