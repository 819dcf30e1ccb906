"""basketry::BufferMerger in the place of ROOT::TBufferMerger: one program, compiled with either, fills the same files.

The program (native/merger_cases.cxx) does what ROOT's tests and tutorials of TBufferMerger do, and reads what it wrote
with real ROOT, value by value. `check` looks at the outputs as well.
"""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from referee.c_programs import FOLDER, HEADERS, LIBRARY, made_by_compiler
from referee.command import Basketry
from referee.frames_as_lists import read_by_root
from referee.paths import BUILD, REPO, root_command

SOURCE = REPO / "tests" / "native" / "merger_cases.cxx"
LIBRARIES = "Core RIO Tree TreePlayer ROOTNTuple Hist Physics MathCore Thread Imt".split()
CASES = ["sequential", "parallel", "classes", "often", "histograms", "several"]
# TBufferMerger warns of these, since it merges the objects in memory and not what is in the file.
OURS_ALONE = ["objects", "ntuple", "tasks"]
SETTINGS = [
    "",
    "memory=1MB",
    "auto-save=20kB",
    "compression=zstd:1",
    "cluster=100kB",
    "cluster=500",
    "threads=2,compression=lz4:4",
]

pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() or shutil.which("g++") is None or root_command("root") is None,
    reason=f"no {LIBRARY}, no g++ or no ROOT",
)


@functools.cache
def program(ours: bool, source: Path = SOURCE) -> Path:
    """The program, with basketry's merger or with ROOT's."""
    home = root_command("root").parents[1]
    flags = ["-O1", "-std=c++17", "-pthread", "-Wall", "-Werror"]
    words = ["g++", *flags, "-isystem", str(home / "include"), "-o", source.stem, str(source)]
    if ours:
        words += ["-DOURS", f"-I{HEADERS}", str(LIBRARY), f"-Wl,-rpath,{FOLDER}"]
    words += [f"-L{home / 'lib'}", f"-Wl,-rpath,{home / 'lib'}", f"-Wl,-rpath-link,{home.parent / 'root.libs'}"]
    words += [f"-l{library}" for library in LIBRARIES]
    return made_by_compiler(words, source) / source.stem


def run(ours: bool, *arguments: object) -> str:
    """Runs the program, which must succeed."""
    done = subprocess.run(
        [program(ours), *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("case", CASES)
def test_both_mergers_have_the_same_content(basketry: Basketry, case: str, threads: int, tmp_path: Path) -> None:
    for ours in (True, False):
        output = tmp_path / f"{ours}.root"
        run(ours, case, output, threads)
        run(False, "check", case, output)
    basketry("check", tmp_path / "True.root")


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("case", OURS_ALONE)
def test_what_is_only_in_the_file_is_merged(basketry: Basketry, case: str, threads: int, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    run(True, case, output, threads)
    run(False, "check", case, output)
    basketry("check", output)


# Each setting and each case in the tests of a change, and all pairs with --full.
PAIRS = [
    pytest.param(case, settings, marks=() if (i + j) % 3 == 0 else pytest.mark.only_full)
    for i, case in enumerate(["often", "several", "ntuple", "histograms"])
    for j, settings in enumerate(SETTINGS[1:])
]


@pytest.mark.parametrize(("case", "settings"), PAIRS)
def test_settings_keep_the_content(basketry: Basketry, case: str, settings: str, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    run(True, case, output, 3, settings)
    run(False, "check", case, output)
    basketry("check", output)


@pytest.mark.parametrize("settings", ["", "memory=50kB", "compression=zstd:1"])
def test_the_order_of_tasks_gives_the_same_bytes_for_any_number_of_threads(settings: str, tmp_path: Path) -> None:
    bytes_of = set()
    for threads in (1, 2, 8):
        folder = tmp_path / str(threads)
        folder.mkdir()
        output = folder / "out.root"
        run(True, "tasks", output, threads, ",".join(filter(None, ["order=tasks", settings])))
        bytes_of.add(output.read_bytes())
    run(False, "check", "tasks", output)
    assert len(bytes_of) == 1


def test_a_setting_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    done = subprocess.run(
        [program(True), "sequential", output, "1", "ordre=tasks"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "ordre" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_program_of_the_page_runs(basketry: Basketry, tmp_path: Path) -> None:
    text = re.findall(r"```c\+\+\n(.*?)```", (REPO / "docs" / "frameworks.md").read_text(), re.DOTALL)
    assert len(text) == 1
    # In a place that stays: the program is compiled once for it.
    source, output = BUILD / "files" / "page.cxx", tmp_path / "out.root"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text[0])
    subprocess.run([program(True, source), output], check=True)
    basketry("check", output)
    assert read_by_root(output, "Events", ["number"]) == {"number": list(range(4000))}
