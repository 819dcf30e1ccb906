"""The Python package: exceptions, verbs beside the command, Ctrl-C, and the installation."""

import inspect
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from basketry import reports
from referee import make_files, oracle
from referee.command import Basketry
from referee.paths import REPO

CORPUS_FILES = [line["name"] for line in oracle.index() if line["n_branches"] and line["size"] < 400_000]


ERRORS: list[tuple[Callable[[Path], Any], type[Exception], str]] = [
    (lambda p: bk.open(p / "none.root"), FileNotFoundError, "none.root"),
    (lambda p: bk.open(f"{p}/none.root:t"), FileNotFoundError, "none.root"),
    (lambda p: bk.open(p), ValueError, "directory"),
    (lambda p: bk.open(p / "no.root"), ValueError, "no.root"),
    (lambda p: bk.open(f"{p}/none*.root"), FileNotFoundError, "no file matches"),
    (lambda p: bk.open(f"{p}/made.root:dir/T"), bk.KeyInFileError, "did you mean dir/t"),
    (lambda p: bk.concatenate(f"{p}/made.root:dir/tt"), bk.KeyInFileError, "did you mean dir/t"),
    (lambda p: bk.open(p / "made.root")["x"], bk.KeyInFileError, "no object 'x'"),
    (lambda p: bk.open(p / "made.root")["dir/t;2"], bk.KeyInFileError, "dir/t;1"),
    (lambda p: bk.open(p / "made.root")["dir/t"]["FLAG"], bk.KeyInFileError, "did you mean flag"),
    (lambda p: bk.open(p / "made.root")["dir/t"].arrays(["i", "fixt"]), bk.KeyInFileError, "did you mean fixed"),
    (lambda p: bk.open(p / "made.root")["dir/t"].arrays(library="xx"), ValueError, "'ak', 'np'"),  # type: ignore[call-overload]
    (lambda p: bk.open(p / "made.root")["dir/t"].arrays(library="arrow", how=dict), ValueError, "how"),
    (lambda p: bk.open(p / "made.root")["dir/t"].arrays(memory="much"), ValueError, "not a size"),
    (lambda p: bk.open(p / "made.root")["dir/t"].arrays(memory="1kB"), ValueError, 'would do is memory="'),
    (lambda p: bk.inspect(p / "none.root"), FileNotFoundError, "none.root"),
    (lambda p: bk.rewrite(p / "made.root", p / "made.root"), FileExistsError, "give force=True to"),
    (lambda p: bk.rewrite(p / "made.root", p / "no" / "out.root"), FileNotFoundError, "no"),
    (lambda p: bk.rewrite(p / "made.root", p / "out.root", compression="zip"), ValueError, "zlib:1"),
    (lambda p: bk.rewrite(p / "made.root", p / "out.root", layout={"clutser": 1}), ValueError, "cluster"),
    (lambda p: bk.rewrite(p / "made.root", p / "out.root", kep="i"), TypeError, "keep"),  # type: ignore[call-overload]
    (lambda p: bk.rewrite(p / "made.root", p / "out.root", first=5, last=2), ValueError, "first=5 is after last=2"),
    (lambda p: bk.verify(p / "made.root"), ValueError, "only one"),
    (lambda p: bk.tune(p / "made.root", workload="some"), ValueError, "columns:GLOB"),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_are_python_exceptions(number: int, made: Path, tmp_path: Path) -> None:
    (tmp_path / "made.root").symlink_to(made)
    (tmp_path / "no.root").write_text("this is no file of ROOT's, but it is long enough to be one" * 10)
    call, kind, text = ERRORS[number]
    with pytest.raises(kind) as caught:
        call(tmp_path)
    assert caught.type is kind
    assert kind is not bk.KeyInFileError or issubclass(kind, KeyError)
    assert text in str(caught.value)
    if isinstance(caught.value, OSError):
        assert caught.value.errno
        assert Path(caught.value.filename).is_relative_to(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.root", "no.root"]


def test_a_truncated_file_is_a_value_error(made: Path, tmp_path: Path) -> None:
    whole = made.read_bytes()
    for length in (0, 50, 200, len(whole) // 2, len(whole) - 100):
        path = tmp_path / "cut.root"
        path.write_bytes(whole[:length])
        with pytest.raises((ValueError, KeyError)):
            bk.open({path: "dir/t"}).arrays()


def without_times(report: Any) -> Any:
    """A report as JSON, without values that differ between runs."""
    if is_dataclass(report) and not isinstance(report, type):
        report = asdict(report)
        report |= report.pop("numbers", {})
    if isinstance(report, dict):
        return {k.rstrip("_"): without_times(v) for k, v in report.items() if v not in (None, "", False, (), [])}
    if isinstance(report, list | tuple):
        return [without_times(one) for one in report]
    return str(report) if isinstance(report, Path) else report


def test_reports_equal_those_of_the_command(made: Path, tmp_path: Path, basketry: Basketry) -> None:
    found = bk.inspect(made, baskets=True)
    assert without_times(found) == without_times(basketry.json("inspect", "--baskets", made))
    asked = ["--compression", "lz4:4", "--cluster", "100", "--drop", "x", "--first", "10"]
    options: Any = {"compression": "lz4:4", "cluster": 100, "drop": "x", "first": 10}
    # The name of a file is part of it.
    one, two = (tmp_path / part / "out.root" for part in ("a", "b"))
    one.parent.mkdir()
    two.parent.mkdir()
    expected = bk.rewrite(made, one, dry_run=True, **options)
    assert isinstance(expected, reports.Outlook)
    assert not one.exists()
    assert without_times(expected) == without_times(basketry.json("rewrite", "--dry-run", made, "-o", two, *asked))
    summary = bk.rewrite(made, one, **options)
    assert without_times(summary) == without_times(basketry.json("rewrite", made, "-o", two, *asked))
    assert one.read_bytes() == two.read_bytes()
    verdict = bk.verify(made, one, first=10, drop=["x"])
    assert verdict.equal
    assert without_times(verdict) == without_times(basketry.json("verify", made, one, "--first", "10", "--drop", "x"))
    different = bk.verify(made, one)
    assert not different.equal
    assert different.differences
    merged = bk.merge([one, two], tmp_path / "all.root", pack=0)
    assert merged.tables[0].entries == 2 * 500
    assert bk.verify(one, two, tmp_path / "all.root").equal
    with pytest.raises(AttributeError):
        merged.bytes_read = 1  # type: ignore[misc]


@pytest.mark.parametrize("name", CORPUS_FILES[::10])
def test_reports_know_every_key(name: str) -> None:
    # A key of the report that the data classes lack is a TypeError.
    found = bk.inspect(oracle.corpus_file(name), baskets=True)
    assert found.schema == 1


def test_tune_reports_and_proves(made: Path, tmp_path: Path) -> None:
    tuned = bk.tune(made, output=tmp_path / "tuned.root", max_size="2x")
    assert tuned.proof is not None
    assert tuned.proof.equal
    assert tuned.layout is not None
    written = (tmp_path / "tuned.root").read_bytes()
    bk.rewrite(made, tmp_path / "tuned.root", layout=tuned.layout, force=True)

    assert (tmp_path / "tuned.root").read_bytes() == written


def test_readspeed_measures(made: Path) -> None:
    found = bk.readspeed(made, branches=["i", "fix*"], repeat=2, entries="100:200", threads=1)
    assert {column.name for column in found.columns} == {"i", "fixed"}
    assert (found.entries, found.all_entries, len(found.runs)) == (100, 510, 2)


def test_a_layout_is_a_value(made: Path, tmp_path: Path) -> None:
    layout = bk.layout(made)
    assert layout["compression"]
    rules = {"cluster": "150", "one-basket-per-cluster": True, "column": {"i*": {"compression": "none"}}}
    bk.rewrite(made, tmp_path / "a.root", layout=rules)
    written = (tmp_path / "a.root").read_bytes()
    bk.rewrite(
        made,
        tmp_path / "a.root",
        force=True,
        cluster=150,
        one_basket_per_cluster=True,
        column_set={"i*": {"compression": "none"}},
    )
    assert (tmp_path / "a.root").read_bytes() == written
    branches = bk.inspect(tmp_path / "a.root").trees[0].branches
    assert {branch.compression for branch in branches if branch.name == "i"} == {0}
    file = tmp_path / "layout.toml"
    file.write_text('cluster = "150"\n')
    bk.rewrite(made, tmp_path / "c.root", layout=file, compression="none")

    assert len(bk.inspect(tmp_path / "c.root").trees[0].clusters) == 4


# The array libraries come first: a signal inside the import of one of them is reported as a failed import.
SLOW = """
import sys, awkward, basketry
print("ready", flush=True)
{call}
"""
CALLS = {
    "rewrite": "basketry.rewrite(sys.argv[1], sys.argv[2], compression='lzma:9', threads=1)",
    "arrays": "while True: basketry.open(sys.argv[1]).tree().arrays(threads=1)",
    "iterate": "while True:\n  for _ in basketry.open(sys.argv[1]).tree().iterate(step_size=100): pass",
}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty megabytes of incompressible numbers."""
    path = tmp_path_factory.mktemp("large") / "large.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("t", {"x": np.float64}).extend({"x": np.random.default_rng(3).random(5_000_000)})
    return path


def bytes_read(pid: int) -> int:
    """Bytes that a process has read by system calls, including its own modules."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar:"))


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_the_work_and_leaves_no_file(call: str, large: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    code = SLOW.format(call=CALLS[call])
    command = [sys.executable, "-c", code, str(large), str(output)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        imported = bytes_read(process.pid)
        while bytes_read(process.pid) < imported + large.stat().st_size:
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()

    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert process.returncode in (130, -signal.SIGINT)
    assert not list(tmp_path.iterdir())


def test_other_python_threads_run_during_work(large: Path) -> None:
    done = threading.Event()
    counted = 0

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    try:
        bk.rewrite(large, large.with_name("copy.root"), compression="zlib:9", threads=1)
    finally:
        done.set()
        other.join()
    assert counted > 20


def test_importing_basketry_imports_no_array_library() -> None:
    code = "import sys, basketry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.partition(".")[0] for name in done.stdout.split()}

    assert "basketry" in imported
    assert not imported & {"numpy", "awkward", "pandas", "pyarrow", "polars", "uproot"}


def test_reading_numbers_imports_no_classes_of_objects(made: Path) -> None:
    code = "import sys, basketry; basketry.open(sys.argv[1]).arrays(library='np'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, f"{made}:dir/t"], capture_output=True, text=True, check=True)
    imported = done.stdout.split()

    assert "basketry._libraries.numpy" in imported
    assert not [name for name in imported if name.startswith("basketry.objects")]


def test_the_command_comes_with_the_package(made: Path, tmp_path: Path, basketry: Basketry) -> None:
    ours = Basketry(tmp_path / "basketry")
    ours.binary.write_text(f"#!{sys.executable}\nimport sys\nfrom basketry._command import main\nsys.exit(main())\n")
    ours.binary.chmod(0o755)
    assert ours("--version") == basketry("--version")
    assert ours.json("inspect", made) == basketry.json("inspect", made)
    assert ours.run("verify", made, made).code == 0
    assert ours.run("verify", made, tmp_path / "none").code == 2
    scripts = json.dumps((REPO / "pyproject.toml").read_text())

    assert "basketry._command:main" in scripts


def test_messages_name_keywords(made: Path, tmp_path: Path) -> None:
    output = tmp_path / "a --force.root"
    with pytest.raises(ValueError, match=r'would do is memory="\d+MB"'):
        bk.rewrite(made, output, memory="1kB")
    with pytest.raises(ValueError, match=r"first=5 is after last=3$"):
        bk.rewrite(made, output, first=5, last=3)
    with pytest.raises(ValueError, match="cut: no column nothing"):
        bk.rewrite(made, output, cut="nothing")
    with pytest.raises(ValueError, match="for 'compression <"):
        bk.rewrite(made, output, compression="none:such")
    output.touch()
    with pytest.raises(FileExistsError, match=r"give force=True to replace it: '.*a --force\.root'"):
        bk.rewrite(made, output)


def test_types_are_shipped() -> None:
    assert bk.__file__ is not None
    assert (Path(bk.__file__).parent / "py.typed").is_file()
    for name in bk.__all__:
        assert inspect.getdoc(getattr(bk, name)), name


def test_a_killed_job_is_recovered(tmp_path: Path) -> None:
    folder = make_files.made("killed")
    with pytest.raises(ValueError, match="like FILE"):
        bk.recover(folder / "killed900.root", tmp_path / "out.root")
    found = bk.recover(folder / "killed900.root", tmp_path / "out.root", like=folder / "killed0.root")

    assert found.trees[0].saved_entries is None
    assert found.trees[0].entries >= 800
