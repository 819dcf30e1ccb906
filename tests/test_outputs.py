"""No way to lose a file: an output is never an input, and never an existing file without --force."""

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import basketry as bk
from referee.command import Basketry

SMALL = ("generate", "multi", "--size", "1MB", "-j", "1")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """Files of all kinds that verbs read: trees, a Parquet file, a layout, a list of entries and a list of inputs."""
    (tmp_path / "t.root").write_bytes(made.read_bytes())
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "n.parquet")
    (tmp_path / "layout.toml").write_text('compression = "zstd:1"\n')
    (tmp_path / "entries.txt").write_text("1\n2\n")
    (tmp_path / "list.txt").write_text(f"{tmp_path / 't.root'}\n")
    os.link(tmp_path / "t.root", tmp_path / "hard.root")
    (tmp_path / "soft.root").symlink_to(tmp_path / "t.root")
    os.link(tmp_path / "n.parquet", tmp_path / "hard.parquet")
    os.link(tmp_path / "layout.toml", tmp_path / "layout.root")
    os.link(tmp_path / "list.txt", tmp_path / "list.parquet")
    os.link(tmp_path / "t.root", tmp_path / "t.parquet")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """The content of every file in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# Even with --force, which allows overwriting files that are not inputs.
INPUTS = [
    "rewrite {f}/t.root -o {f}/t.root",
    "rewrite {f}/t.root -o {f}/../{n}/t.root",
    "rewrite {f}/t.root -o {f}/hard.root",
    "rewrite {f}/t.root -o {f}/soft.root",
    "rewrite @{f}/list.txt -o {f}/list.txt",
    "rewrite @{f}/list.txt -o {f}/t.root",
    "rewrite {f}/t.root -o {f}/layout.toml --layout {f}/layout.toml",
    "rewrite {f}/t.root -o {f}/entries.txt --entries {f}/entries.txt",
    "rewrite {f}/t.root -o {f}/entries.txt --entries dir/t={f}/entries.txt",
    "merge {f}/t.root {f}/soft.root -o {f}/hard.root",
    "merge {f}/*.root -o {f}/t.root --drop x",
    "recover {f}/t.root -o {f}/t.root",
    "recover {f}/soft.root -o {f}/hard.root",
    "recover {f}/t.root -o {f}/soft.root --like {f}/soft.root",
    "tune {f}/t.root -o {f}/t.root",
    "tune {f}/t.root -o {f}/hard.root",
    "tune {f}/t.root --layout-out {f}/t.root",
    "tune {f}/t.root --layout-out {f}/soft.root",
    "tune @{f}/list.txt --layout-out {f}/list.txt",
    "convert {f}/t.root -o {f}/t.parquet",
    "convert {f}/n.parquet -o {f}/layout.root --layout {f}/layout.toml",
    "convert @{f}/list.txt -o {f}/list.parquet",
    "generate multi --size 1MB -o {f}/layout.root --layout {f}/layout.toml",
]

# Without --force: existing files that are not inputs.
EXISTING = [
    "rewrite {f}/t.root -o {f}/layout.root",
    "merge {f}/t.root {f}/hard.root -o {f}/entries.txt",
    "recover {f}/t.root -o {f}/n.parquet",
    "tune {f}/t.root -o {f}/n.parquet",
    "tune {f}/t.root --layout-out {f}/layout.toml",
    "convert {f}/t.root -o {f}/n.parquet",
    "convert {f}/n.parquet -o {f}/t.root",
    "generate multi --size 1MB -o {f}/t.root",
    "monitor -o {f}/t.root -- true",
    "monitor -o {f}/n.parquet -- true",
    "hadd {f}/n.parquet {f}/t.root",
]


def command_line(line: str, folder: Path) -> list[str]:
    """The arguments of a command, with patterns unexpanded."""
    return [word.format(f=folder, n=folder.name) for word in line.split()]


@pytest.mark.parametrize("line", INPUTS)
def test_an_input_is_never_written(line: str, folder: Path, basketry: Basketry) -> None:
    before = contents(folder)
    assert "choose another output" in basketry.refuses(*command_line(line, folder), "--force")
    assert contents(folder) == before


@pytest.mark.parametrize("line", EXISTING)
def test_an_existing_file_is_kept(line: str, folder: Path, basketry: Basketry) -> None:
    before = contents(folder)
    hadd = line.startswith("hadd")
    outcome = basketry.run(*command_line(line, folder))

    assert outcome.code == (1 if hadd else 2), str(outcome)
    assert ("-f" if hadd else "--force") in outcome.err, str(outcome)
    assert contents(folder) == before


def test_hadd_does_not_write_its_sources(folder: Path, basketry: Basketry) -> None:
    before = contents(folder)
    outcome = basketry.run("hadd", "-f", folder / "hard.root", folder / "t.root")

    assert outcome.code == 1, str(outcome)
    assert contents(folder) == before


def test_two_outputs_of_one_command_are_two_files(folder: Path, basketry: Basketry) -> None:
    out = folder / "out"
    for other in (out, folder / ".." / folder.name / "out"):
        refused = basketry.refuses("tune", folder / "t.root", "-o", out, "--layout-out", other, "--force")
        assert "same file" in refused
    # All outputs are checked before the first is written.
    (folder / "new-2.root").touch()
    before = contents(folder)

    assert "new-2.root" in basketry.refuses(*SMALL, "-o", folder / "new.root", "--outputs", "3")
    assert contents(folder) == before


def test_an_absent_folder_is_refused_before_any_work(folder: Path, basketry: Basketry) -> None:
    for verb in (("rewrite", folder / "t.root"), ("recover", folder / "t.root"), SMALL):
        assert "does not exist" in basketry.refuses(*verb, "-o", folder / "no" / "such" / "out.root")


def test_a_report_must_be_an_html_file(folder: Path, basketry: Basketry) -> None:
    (folder / "study").mkdir()
    for name in ("points.jsonl", "study.json"):
        refused = basketry.run("sweep", "report", folder / "study", "-o", folder / name, "--force")
        assert refused.code == 2
        assert "ends in .html" in refused.err


def test_python_does_not_overwrite_inputs(folder: Path) -> None:
    before = contents(folder)
    for verb in (bk.rewrite, bk.recover):
        with pytest.raises(ValueError, match="choose another output"):
            verb(folder / "t.root", folder / "hard.root", force=True)
    with pytest.raises(ValueError, match="choose another output"):
        bk.merge([folder / "t.root", folder / "soft.root"], folder / "t.root", force=True)
    with pytest.raises(ValueError, match="choose another output"):
        bk.recreate(folder / "hard.root", classes=folder / "t.root")
    with pytest.raises(FileExistsError, match="force=True"):
        bk.Monitor(folder / "t.root").__enter__()

    assert contents(folder) == before


# Each with an existing file and --force.
WRITERS = [
    "rewrite {f}/t.root -o {o}",
    "merge {f}/t.root {f}/t.root -o {o}",
    "hadd -f {o} {f}/t.root {f}/t.root",
    "recover {f}/t.root -o {o}",
    "tune {f}/t.root -o {o} --max-size 10x",
    "tune {f}/t.root --layout-out {o}",
    "convert {f}/t.root -o {f}/old.parquet",
    "convert {f}/n.parquet -o {o}",
    "generate multi --size 1MB -o {o}",
    "monitor -o {o} --force -- true",
]


@pytest.mark.parametrize("line", WRITERS)
def test_a_limit_of_file_sizes_leaves_existing_files(line: str, folder: Path, basketry: Basketry) -> None:
    """An unhandled SIGXFSZ ended the process and left the hidden file."""
    for name in ("old.root", "old.parquet"):
        (folder / name).write_bytes(b"old")
    before = contents(folder)
    line = line.format(f=folder, o=folder / "old.root")
    force = [] if line.startswith(("hadd", "monitor")) else ["--force"]
    done = subprocess.run(
        [basketry.binary, *line.split(), *force],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)),
        check=False,
    )

    # The exit code of monitor is always that of its job.
    expected = (0,) if line.startswith("monitor") else (1, 2)
    assert done.returncode in expected, f"{done.returncode} {done.stderr}"
    assert "old.root" in done.stderr or "old.parquet" in done.stderr or "scratch" in done.stderr, done.stderr
    assert contents(folder) == before
    assert not [path.name for path in folder.iterdir() if "scratch" in path.name]


def test_output_names_may_have_the_longest_allowed_length(folder: Path, basketry: Basketry) -> None:
    long = folder / ("ö" * 124 + ".root")
    assert len(os.fsencode(long.name)) > 250
    basketry("rewrite", folder / "t.root", "-o", long)
    basketry("verify", folder / "t.root", long)
    # The remains of a killed process are known by the shortened name.
    left = folder / ("." + "ö" * 110 + ".1.tmp")
    left.touch()
    basketry("rewrite", folder / "t.root", "-o", long, "--force")

    assert not left.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_scratch_folders_are_removed(number: signal.Signals, folder: Path, basketry: Basketry) -> None:
    """Files of a kind are measured in a temporary copy, which once stayed."""
    scratch = folder / "scratch"
    scratch.mkdir()
    big = folder / "big.root"
    basketry("generate", "aod", "--size", "20MB", "--compression", "none", "-o", big)
    command_line = [str(basketry.binary), "tune", str(big), "--drop", "nothing*", "--allow-no-match"]
    command_line += ["--memory", "200MB"]
    environment = os.environ | {"TMPDIR": str(scratch)}
    job = subprocess.Popen(
        command_line,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)],
    )
    deadline = time.monotonic() + 60
    while not any(scratch.iterdir()) and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    assert any(scratch.iterdir())
    job.send_signal(number)
    code = job.wait(60)
    if number == signal.SIGKILL:
        assert code == -number
        assert any(scratch.iterdir())
        # The next run removes folders that no process holds.
        subprocess.run(command_line, stdout=subprocess.DEVNULL, env=environment, check=True)
    else:
        assert code == 128 + number

    assert not any(scratch.iterdir())


def test_runs_end_with_their_command(folder: Path, basketry: Basketry) -> None:
    """write-bench and sweep start a process for each run, which once continued after the command had ended."""
    media = folder / "media"
    media.mkdir()
    # A whole run would take minutes.
    command_line = (
        "write-bench",
        "multi",
        "--size",
        "2GB",
        "--compression",
        "lzma:9",
        "--repeat",
        "1",
        "--media",
        media,
    )
    job = subprocess.Popen([basketry.binary, *command_line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not any(media.iterdir()) and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    assert any(media.iterdir())
    job.kill()
    job.wait(60)
    while any(media.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)

    assert not any(media.iterdir())
