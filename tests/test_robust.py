"""Bad input and failures: an error or a right answer, within limits of time and memory; no half-written output.

The Rust tests try all corruptions of all files without a process for each; these tests run the command.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee import make_files, oracle
from referee.command import Basketry, Outcome

NAMES = [line["name"] for line in oracle.index()]
TRUNCATIONS, FLIPS = 20, 200
MEMORY_FLOOR, MEMORY_FACTOR = 64 << 20, 4
# What `inspect` may take besides for trials of its advice.
TRIALS = 64_000_000
TIME_LIMIT = 20.0


def corruptions(name: str, data: bytes, full: bool) -> Iterator[tuple[str, bytes]]:
    """Truncations and seeded byte flips of one file; without --full a few of them, chosen by its name."""
    chance = random.Random(name)
    cuts = [len(data) * k // TRUNCATIONS for k in range(TRUNCATIONS)]
    # Metadata lie at both ends: the header and the first keys, and the tree and the lists written last.
    regions = (range(min(400, len(data))), range(len(data) * 9 // 10, len(data)), range(len(data)))
    flips = [(chance.choice(chance.choice(regions)), chance.choice((0, 0x7F, 0x80, 0xFF))) for _ in range(FLIPS)]
    if not full:
        cuts, flips = chance.sample(cuts, 1), chance.sample(flips, 3)
    for cut in cuts:
        yield f"truncated to {cut} bytes", data[:cut]
    for at, value in flips:
        yield f"byte {at} set to {value:#x}", data[:at] + bytes([value]) + data[at + 1 :]


def assert_well_behaved(outcome: Outcome, size: int, case: str, besides: int = 0) -> None:
    """An answer or a refusal: no panic, no signal, no hang, no memory out of proportion."""
    context = f"{case}\n{outcome}"
    assert not outcome.timed_out, context
    assert outcome.code in (0, 1, 2), context
    assert "panicked" not in outcome.err, context
    assert outcome.peak_rss <= MEMORY_FLOOR + MEMORY_FACTOR * size + besides, f"{outcome.peak_rss >> 20} MiB: {context}"
    if outcome.code == 2:
        assert len(outcome.err.strip().splitlines()) == 1, context


@pytest.mark.skipif(not NAMES, reason="the corpus is absent")
@pytest.mark.parametrize("name", [oracle.usual(name) for name in NAMES])
def test_corrupt_files_are_refused_or_read(name: str, full: bool, basketry: Basketry, tmp_path: Path) -> None:
    data = oracle.corpus_file(name).read_bytes()
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    for case, content in corruptions(name, data, full):
        bad.write_bytes(content)
        assert_well_behaved(basketry.run("inspect", "--no-trials", bad, timeout=TIME_LIMIT), len(data), case)
        assert_well_behaved(basketry.run("inspect", bad, timeout=TIME_LIMIT), len(data), case, TRIALS)
        outcome = basketry.run("rewrite", bad, "-o", out, "--cluster", "100", "--memory", "32MB", timeout=TIME_LIMIT)
        assert_well_behaved(outcome, len(data), case)
        assert out.exists() == (outcome.code == 0), f"{case}\n{outcome}"
        assert bad.read_bytes() == content
        if out.exists():
            assert_well_behaved(basketry.run("verify", bad, out, timeout=TIME_LIMIT), len(data), case)
            out.unlink()
        assert [path.name for path in tmp_path.iterdir()] == ["bad.root"], case


@pytest.mark.parametrize("content", [b"", b"root", b"not a root file", b"\0" * 1000, b"root" + b"\xff" * 500])
@pytest.mark.parametrize("verb", ["inspect", "rewrite", "verify", "merge", "tune"])
def test_a_file_that_is_no_root_file_is_refused(content: bytes, verb: str, basketry: Basketry, tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    bad.write_bytes(content)
    extra: dict[str, list[str | Path]] = {"rewrite": ["-o", out], "merge": ["-o", out], "verify": [bad]}

    assert "bad.root" in basketry.refuses(verb, bad, *extra.get(verb, []))
    assert not out.exists()


def test_an_absent_file_is_refused(basketry: Basketry, tmp_path: Path) -> None:
    assert "absent.root" in basketry.refuses("inspect", tmp_path / "absent.root")
    source = make_files.made("chained") / "part0.root"
    assert "nowhere" in basketry.refuses("rewrite", source, "-o", tmp_path / "nowhere" / "out.root")


def test_an_unknown_tree_is_refused_with_the_known_ones(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("references") / "references.root"
    line = basketry.refuses("rewrite", f"{source}:absent", "-o", tmp_path / "out.root")

    assert "absent" in line
    assert "inner" in line


def test_a_small_budget_is_refused_with_the_smallest_that_suffices(basketry: Basketry, tmp_path: Path) -> None:
    source, out = make_files.made("big_records_zstd") / "big.root", tmp_path / "out.root"
    line = basketry.refuses("rewrite", source, "-o", out, "--compression", "lz4:4", "--memory", "4MB")

    assert re.search(r"\d+(\.\d+)? ?[kMG]i?B", line), line
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte; mounting it needs root."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "basketry-test", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("verb", ["rewrite", "merge"])
def test_a_full_disk_leaves_no_output(verb: str, small_disk: Path, basketry: Basketry) -> None:
    source = make_files.made("wide") / "wide.root"
    before = hashlib.sha256(source.read_bytes()).digest()
    outcome = basketry.run(verb, source, "-o", small_disk / "out.root", "--compression", "none")
    assert outcome.code == 2, str(outcome)
    assert len(outcome.err.strip().splitlines()) == 1, str(outcome)
    missing = re.search(r"no space left: .*at least (\d+) more are missing", outcome.err)

    assert missing, str(outcome)
    assert int(missing[1]) > 0, str(outcome)
    assert not list(small_disk.iterdir()), "something is left on the full disk"
    assert hashlib.sha256(source.read_bytes()).digest() == before


@pytest.fixture(autouse=True)
def hang_ups_are_not_ignored() -> Iterator[None]:
    """Resets SIGHUP: tests run under nohup pass its setting on to their jobs."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def start_job(basketry: Basketry, arguments: list[str], stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Starts the command without waiting for it."""
    return subprocess.Popen([basketry.binary, *arguments], stdout=subprocess.DEVNULL, stderr=stderr)


def test_killed_job_leaves_no_output_under_its_name(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("wide") / "wide.root"
    before = hashlib.sha256(source.read_bytes()).digest()
    arguments = ["rewrite", str(source), "-o", str(tmp_path / "out.root"), "--compression", "zlib:9", "-j", "1"]
    whole = basketry.run(*arguments)
    assert whole.code == 0, str(whole)
    reference = (tmp_path / "out.root").read_bytes()
    (tmp_path / "out.root").unlink()
    killed = 0
    for k in range(12):
        process = start_job(basketry, arguments)
        # At a point of progress, not of time: the machine may be busy.
        while process.poll() is None and hidden_bytes(tmp_path) < len(reference) * k // 12:
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        if (tmp_path / "out.root").exists():
            assert (tmp_path / "out.root").read_bytes() == reference
            (tmp_path / "out.root").unlink()

    assert killed >= 6
    assert hashlib.sha256(source.read_bytes()).digest() == before


def hidden_bytes(folder: Path) -> int:
    """Bytes of the largest unfinished output."""
    sizes = [-1]
    for path in folder.glob(".*.tmp"):
        # The file may be renamed at any moment.
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return max(sizes)


def stopped_job(basketry: Basketry, arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """A job that has started to write its output and is stopped (SIGSTOP)."""
    process = start_job(basketry, arguments)
    while not (folder / f".out.root.{process.pid}.tmp").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    return process


def test_the_next_job_removes_the_file_of_a_killed_one(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("wide") / "wide.root"
    arguments = ["rewrite", str(source), "-o", str(tmp_path / "out.root"), "--compression", "lzma:9", "-j", "1"]
    killed = stopped_job(basketry, arguments, tmp_path)
    killed.kill()
    killed.wait()
    (tmp_path / f".out.root.{killed.pid}.tmp").rename(tmp_path / ".out.root.1.tmp")
    writing = stopped_job(basketry, arguments, tmp_path)
    # Each job cleans up when it starts.
    assert not (tmp_path / ".out.root.1.tmp").exists()
    (tmp_path / ".out.root.1.tmp").touch()
    # The unfinished file of a live job stays, and so does a file of another output.
    (tmp_path / ".other.root.1.tmp").touch()
    assert basketry.run("rewrite", source, "-o", tmp_path / "out.root").code == 0
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"out.root", ".other.root.1.tmp", f".out.root.{writing.pid}.tmp"}
    first = (tmp_path / "out.root").read_bytes()
    # The output exists by now, and there is no --force.
    writing.send_signal(signal.SIGCONT)

    assert writing.wait() == 2
    assert (tmp_path / "out.root").read_bytes() == first
    assert {path.name for path in tmp_path.iterdir()} == {"out.root", ".other.root.1.tmp"}


def test_a_signal_after_the_output_has_its_name_changes_nothing(basketry: Basketry, tmp_path: Path) -> None:
    source, output = make_files.made("wide") / "wide.root", tmp_path / "out.root"
    # The report blocks on a full pipe, so the job waits between the rename and its end.
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    line: list[str | Path] = [basketry.binary, "merge", str(source), "-o", str(output), "--json"]
    with subprocess.Popen(line, stdout=write, stderr=subprocess.PIPE) as process:
        os.close(write)
        while not output.exists():
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        with os.fdopen(read, "rb") as pipe:
            report = pipe.read().lstrip(b"x")
        assert process.stderr is not None
        assert process.stderr.read() == b""

    assert process.returncode == 0
    assert json.loads(report)["bytes_written"] == output.stat().st_size


def test_nohup_is_respected(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("wide") / "wide.root"
    line: list[str | Path] = [
        basketry.binary,
        "rewrite",
        str(source),
        "-o",
        str(tmp_path / "out.root"),
        "--compression",
        "zlib:9",
    ]
    process = subprocess.Popen(["nohup", *line, "-j", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while hidden_bytes(tmp_path) < 0 and not (tmp_path / "out.root").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGHUP)

    assert process.wait() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.root"]


@pytest.mark.parametrize("verb", ["rewrite", "merge"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_job_cleans_up(number: signal.Signals, verb: str, basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("wide") / "wide.root"
    before = hashlib.sha256(source.read_bytes()).digest()
    arguments = [verb, str(source), "-o", str(tmp_path / "out.root"), "--compression", "lzma:9", "-j", "1"]
    process = start_job(basketry, arguments, stderr=subprocess.PIPE)
    while not list(tmp_path.iterdir()):
        assert process.poll() is None, "the job ended before it began to write"
        time.sleep(0.001)
    process.send_signal(number)
    _, context = process.communicate()

    assert context.decode() == "basketry: interrupted; the unfinished output was removed\n"
    assert process.returncode == 128 + number
    assert not list(tmp_path.iterdir())
    assert hashlib.sha256(source.read_bytes()).digest() == before


def test_memory_stays_within_the_budget(basketry: Basketry, tmp_path: Path) -> None:
    source, out = make_files.made("big_records_lz4") / "big.root", tmp_path / "out.root"
    for megabytes in (128, 256):
        outcome = basketry.run(
            "rewrite", source, "-o", out, "--force", "--memory", f"{megabytes}MB", "--compression", "zstd:1"
        )
        assert outcome.code == 0, str(outcome)
        assert outcome.peak_rss <= (megabytes + 24) * 1_000_000, (
            f"{outcome.peak_rss / 1e6} MB of {megabytes}: {outcome}"
        )
