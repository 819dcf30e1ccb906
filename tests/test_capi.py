"""The library for C and C++: programs that are compiled against it write and read. Real ROOT and uproot find the same
values, and `verify` finds copies equal.

The programs are in tests/capi. They are compiled as C99, C11, C++17 and C++20 with all warnings as errors, and run
plain, and with `--full` under AddressSanitizer and under ThreadSanitizer. What a machine lacks (a sanitizer, oneTBB,
Fortran, Go, Julia) is skipped by its name.
"""

import functools
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import c_programs
from referee.c_programs import LIBRARY, Way
from referee.frames_as_lists import read_by_root
from referee.paths import REPO

CONTAINERS = ["ttree", "rntuple"]
EACH = 500
PLAIN = Way("c++17")
NM = ["nm", "-D", "--defined-only", str(LIBRARY)]
# What each C library of glibc's has.
SYSTEM = {"libc", "libgcc_s", "libm", "libdl", "libpthread", "librt", "libutil", "ld-linux-x86-64", "ld-linux-aarch64"}

pytestmark = pytest.mark.skipif(bool(c_programs.is_missing("cc", "c++")), reason=c_programs.is_missing("cc", "c++"))


@functools.cache
def sanitizer(name: str) -> str:
    """Why a sanitizer cannot be used, or nothing."""
    words = ["c++", f"-fsanitize={name}", "-x", "c++", "-", "-o", "/dev/null"]
    done = subprocess.run(words, input="int main() {}", capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"no -fsanitize={name}"


def sequential_events(entries: int) -> dict[str, list[Any]]:
    """What sequential.c writes."""
    numbers = range(entries)
    return {
        "run": [i // 100 for i in numbers],
        "number": [(1 << 40) + i for i in numbers],
        "weight": [0.5 * i for i in numbers],
        "flag": [i % 251 for i in numbers],
        "nMuon": [i % 5 for i in numbers],
        "Muon_pt": [[float(i + j) for j in range(i % 5)] for i in numbers],
        "grid": [[i % 7, -(i % 9)] for i in numbers],
    }


def slot_events(tasks: int) -> dict[str, list[Any]]:
    """What slots.cpp writes."""
    numbers = range(tasks * EACH)
    return {
        "number": list(numbers),
        "weight": [i * 0.25 for i in numbers],
        "tag": [f"event {i}" for i in numbers],
        "pt": [[float(i)] * (i % 6) for i in numbers],
        "links": [[[i + j] * (j + 1) for j in range(i % 3)] for i in numbers],
        "grid": [[0, 0, i % 11] for i in numbers],
        "names": [[f"n{i}"] * (i % 2) for i in numbers],
        "trigger": [i % EACH if i % EACH >= EACH // 2 else 0 for i in numbers],
    }


def by_uproot(path: Path, table: str, names: list[str]) -> dict[str, Any]:
    """The columns as uproot reads them."""
    with uproot.open(path) as file:
        return {name: ak.to_list(file[table][name].array()) for name in names}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("standard", ["c99", pytest.param("c11", marks=pytest.mark.only_full)])
def test_a_c_program_writes_its_variables(standard: str, container: str, tmp_path: Path) -> None:
    path, entries = tmp_path / "out.root", 3000
    c_programs.run(c_programs.compiled("sequential.c", Way(standard)), path, container, entries)
    expected = sequential_events(entries)
    assert by_uproot(path, "Events", list(expected)) == expected
    assert read_by_root(path, "Events", list(expected)) == expected


@pytest.mark.parametrize("container", CONTAINERS)
def test_arrow_batches_go_in_and_come_back(container: str, tmp_path: Path) -> None:
    path, entries = tmp_path / "out.root", 7000
    c_programs.run(c_programs.compiled("arrow.c", Way("c99")), path, container, entries)
    expected = {
        "number": list(range(entries)),
        "pt": [[i + 0.25 * j for j in range(i % 4)] for i in range(entries)],
    }
    assert by_uproot(path, "Events", list(expected)) == expected
    assert read_by_root(path, "Events", list(expected)) == expected


def digest(path: Path) -> str:
    """The digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def slots(folder: Path, container: str, threads: int, ways: str, way: Way = PLAIN, tasks: int = 8) -> str:
    """Runs slots.cpp in a folder, which is made."""
    folder.mkdir(exist_ok=True)
    return c_programs.run(c_programs.compiled("slots.cpp", way), folder, container, threads, tasks, ways)


@pytest.mark.parametrize("container", CONTAINERS)
def test_slots_write_the_same_bytes_with_any_threads(container: str, tmp_path: Path) -> None:
    kinds = [(1, "wait"), (8, "wait"), (3, "hand-back"), (8, "hand-back")]
    folders = [tmp_path / f"{threads}-{ways}" for threads, ways in kinds]
    for folder, (threads, ways) in zip(folders, kinds, strict=True):
        slots(folder, container, threads, ways, Way("c++20" if threads == 8 else "c++17"))
    for name in ("all.root", "small.root"):
        assert len({digest(folder / name) for folder in folders}) == 1
    path, expected = folders[0] / "all.root", slot_events(8)
    assert by_uproot(path, "Events", list(expected)) == expected
    assert read_by_root(path, "Events", list(expected)) == expected
    numbers = [i for i in range(8 * EACH) if i % 10 == 0]
    assert read_by_root(folders[0] / "small.root", "dir/Numbers", ["number"]) == {"number": numbers}
    hits = [[i + 0.5 * j for j in range(i % 4)] for i in range(8 * EACH)]
    assert read_by_root(path, "Events", ["hits.x"]) == {"hits.x": hits}


@pytest.mark.parametrize("container", CONTAINERS)
def test_columns_that_become_known_late(container: str, tmp_path: Path) -> None:
    path = tmp_path / "late.root"
    c_programs.run(c_programs.compiled("late.cpp", Way("c++17")), path, container)
    expected = {
        "number": list(range(400)),
        "bit": [100 <= i < 200 or i >= 300 for i in range(400)],
        "list": [[0.5] * (i % 3) if i >= 300 else [] for i in range(400)],
    }
    assert by_uproot(path, "Events", list(expected)) == expected
    assert read_by_root(path, "Events", list(expected)) == expected


@pytest.mark.parametrize("standard", ["c++17", pytest.param("c++20", marks=pytest.mark.only_full)])
@pytest.mark.parametrize("container", CONTAINERS)
def test_an_event_loop_reads_what_was_written(container: str, standard: str, tmp_path: Path) -> None:
    slots(tmp_path, container, 2, "wait")
    c_programs.run(c_programs.compiled("reading.cpp", Way(standard)), tmp_path, 8 * EACH)


@pytest.mark.parametrize("standard", ["c++17", pytest.param("c++20", marks=pytest.mark.only_full)])
def test_failures_are_objects_and_leave_nothing(standard: str, tmp_path: Path) -> None:
    c_programs.run(c_programs.compiled("failures.cpp", Way(standard)), tmp_path)


def documents(seed: int, count: int) -> Iterator[str]:
    """Texts of JSON, whole ones and some in which a character is another one, is lost or comes twice."""
    chance = random.Random(seed)

    def made(depth: int) -> Any:
        kind = chance.randrange(8 if depth else 6)
        if kind < 2:
            return chance.choice([0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.1, -2.5e-300, 1e308, chance.random()])
        if kind < 4:
            return "".join(chance.choice('aä€😀"\\/\n\t\x01\x7f ') for _ in range(chance.randrange(5)))
        if kind < 6:
            return chance.choice([None, True, False])
        if kind == 6:
            return [made(depth - 1) for _ in range(chance.randrange(4))]
        return {f"k{n}": made(depth - 1) for n in range(chance.randrange(4))}

    for _ in range(count):
        text = json.dumps(made(4), ensure_ascii=chance.random() < 0.5)
        yield text
        at = chance.randrange(len(text))
        yield text[:at] + chance.choice(["", text[at] * 2, chance.choice('{}[],:"0-e.tn\\u ')]) + text[at + 1 :]


def read_strictly(text: str) -> Any:
    """What Python reads of a text; None behind False where it is no JSON. Halves of characters are none, nor are
    numbers beyond a double's; whole numbers of more than 64 bits are fractions."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    def number(digits: str) -> int | float:
        return int(digits) if -(2**63) <= int(digits) < 2**64 else float(digits)

    try:
        value = json.loads(text, parse_constant=refuse, parse_int=number)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False, None
    return True, value


def test_threads_that_wait_for_each_other_go_on(tmp_path: Path) -> None:
    """They hold memory with one context and want more with another: a hang ends the program after its time."""
    c_programs.run(c_programs.compiled("cycles.cpp", Way("c++17")), tmp_path)


@pytest.mark.parametrize("standard", ["c++17", pytest.param("c++20", marks=pytest.mark.only_full)])
def test_json_is_read_as_python_reads_it(standard: str, tmp_path: Path) -> None:
    texts = list(documents(7, 2000))
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{text}\n" for text in texts))
    said = c_programs.run(c_programs.compiled("json.cpp", Way(standard)), lines).split("\n")[:-1]
    assert len(said) == len(texts)
    whole = 0
    for text, answer in zip(texts, said, strict=True):
        is_json, value = read_strictly(text)
        assert answer.startswith("error ") != is_json, (text, answer)
        if is_json:
            assert json.loads(answer) == value, (text, answer)
            whole += 1
    assert len(texts) // 2 <= whole < len(texts)


@pytest.mark.parametrize("standard", ["c++17", pytest.param("c++20", marks=pytest.mark.only_full)])
def test_structures_say_what_reports_say(standard: str, tmp_path: Path) -> None:
    # A tree and an RNTuple, and a file that its writer did not end.
    whole, damaged = tmp_path / "whole.root", tmp_path / "damaged.root"
    numbers = np.arange(3000, dtype=np.int32)
    columns = {"number": numbers, "weight": numbers * 0.5, "list": ak.Array([[0.5] * (i % 3) for i in range(3000)])}
    with bk.recreate(whole) as file:
        file["Events"] = columns
        file.mkrntuple("Other", columns).extend(columns)
    damaged.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    c_programs.run(c_programs.compiled("reports.cpp", Way(standard)), tmp_path, whole, damaged)
    # What the program made is what the package finds.
    assert bk.verify(whole, tmp_path / "merged.root").equal is False
    assert bk.inspect(tmp_path / "other.root").trees[0].entries == 2 * 2996
    joined = by_uproot(tmp_path / "joined.root", "Events", ["number", "twice", "half", "weight_b"])
    # The first 2500 from the largest number down have a partner in the first table.
    there = numbers >= 500
    assert joined["number"] == numbers.tolist()
    assert joined["twice"] == (2 * numbers * there).tolist()
    assert joined["half"] == (numbers / 2).tolist()
    assert joined["weight_b"] == (numbers * 0.5 * there).tolist()
    sorted_by_number = by_uproot(tmp_path / 'by "number", down.root', "Events", ["number"])
    assert sorted_by_number == {"number": numbers[::-1].tolist()}


@pytest.mark.only_full
@pytest.mark.skipif(bool(sanitizer("address")), reason=sanitizer("address"))
def test_programs_under_address_sanitizer(tmp_path: Path) -> None:
    way = Way("c++17", "address,undefined")
    slots(tmp_path, "rntuple", 4, "wait", way, tasks=4)
    c_programs.run(c_programs.compiled("reading.cpp", way), tmp_path, 4 * EACH)
    empty = tmp_path / "failures"
    empty.mkdir()
    c_programs.run(c_programs.compiled("failures.cpp", way), empty)
    c_programs.run(
        c_programs.compiled("sequential.c", Way("c99", "address,undefined")), tmp_path / "c.root", "ttree", 500
    )
    c_programs.run(c_programs.compiled("arrow.c", Way("c99", "address,undefined")), tmp_path / "a.root", "ttree", 3000)
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{text}\n" for text in documents(11, 500)))
    c_programs.run(c_programs.compiled("json.cpp", way), lines)


@pytest.mark.only_full
@pytest.mark.skipif(bool(sanitizer("thread")), reason=sanitizer("thread"))
def test_the_writer_under_thread_sanitizer(tmp_path: Path) -> None:
    # What the library does inside is not instrumented: the sanitizer sees the program's side of each call.
    slots(tmp_path, "ttree", 4, "hand-back", Way("c++17", "thread"), tasks=4)


@functools.cache
def has_tbb() -> bool:
    """Whether oneTBB can be compiled against."""
    words = ["c++", "-std=c++17", "-x", "c++", "-", "-o", "/dev/null", "-ltbb"]
    source = "#include <oneapi/tbb/parallel_for.h>\nint main() { oneapi::tbb::parallel_for(0, 1, [](int) {}); }"
    return subprocess.run(words, input=source, capture_output=True, text=True, check=False).returncode == 0


@pytest.mark.skipif(not has_tbb(), reason="no oneTBB (libtbb-dev)")
@pytest.mark.parametrize("ways", ["wait", "hand-back"])
def test_tasks_of_onetbb_in_a_stolen_order(ways: str, tmp_path: Path) -> None:
    slots(tmp_path / "plain", "ttree", 1, "wait")
    slots(tmp_path / "tbb", "ttree", 4, ways, Way("c++17", options=("-DBASKETRY_WITH_TBB", "-ltbb")))
    assert digest(tmp_path / "plain/all.root") == digest(tmp_path / "tbb/all.root")


def symbols() -> dict[str, str]:
    """The symbols that the library exports, with their versions."""
    said = subprocess.run(NM, capture_output=True, text=True, check=True).stdout
    named = [line.split()[-1] for line in said.splitlines() if line.split()[1] in "TDBRW"]
    return {name.partition("@")[0]: name.rpartition("@")[2] for name in named}


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_the_library_exports_its_interface_and_nothing_else() -> None:
    relied_on = set(re.findall(r"\b(basketry_\w+)\(", (REPO / "crates/capi/abi.txt").read_text()))
    assert symbols() == dict.fromkeys(relied_on, "BASKETRY_1")


def test_the_library_needs_the_system_only() -> None:
    said = subprocess.run(["readelf", "-d", str(LIBRARY)], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[([a-z_0-9+-]+)\.so", said))
    assert needed <= SYSTEM


CMAKE = """cmake_minimum_required(VERSION 3.16)
project(consumer C CXX)
find_package(basketry 0.2 REQUIRED)
add_executable(slots slots.cpp)
find_package(Threads REQUIRED)
target_link_libraries(slots PRIVATE basketry::basketry Threads::Threads)
add_executable(sequential sequential.c)
target_link_libraries(sequential PRIVATE basketry::static)
"""


def test_an_installed_library_is_found(tmp_path: Path) -> None:
    """By pkg-config and by CMake, from a place of its own."""
    profile = LIBRARY.parents[1].name
    prefix, stage = tmp_path / "usr", tmp_path / "stage"
    # What is built is not built again: cargo is no part of this.
    words = ["make", "install", "--old-file=capi", f"PROFILE={profile}", f"PREFIX={prefix}", f"DESTDIR={stage}"]
    subprocess.run(words, cwd=REPO, check=True, capture_output=True)
    shutil.move(stage / str(prefix).lstrip("/"), prefix)
    assert "zstd-sys" in (prefix / "share/doc/basketry/THIRD-PARTY.txt").read_text()
    source = c_programs.SOURCES
    if shutil.which("pkg-config"):
        found = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "PATH": "/usr/bin:/bin"}
        asked = ["pkg-config", "--cflags", "--libs", "basketry"]
        flags = subprocess.run(asked, env=found, capture_output=True, text=True, check=True).stdout.split()
        program = tmp_path / "by-pkg-config"
        subprocess.run(["cc", "-std=c99", str(source / "sequential.c"), "-o", str(program), *flags], check=True)
        c_programs.run(program, tmp_path / "p.root", "ttree", 100, environment={"LD_LIBRARY_PATH": str(prefix / "lib")})
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    consumer = tmp_path / "consumer"
    consumer.mkdir()
    (consumer / "CMakeLists.txt").write_text(CMAKE)
    for name in ("slots.cpp", "sequential.c", "check.h"):
        shutil.copy(source / name, consumer)
    built = consumer / "build"
    configure = ["cmake", "-S", str(consumer), "-B", str(built), f"-DCMAKE_PREFIX_PATH={prefix}"]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(built)], check=True, capture_output=True)
    c_programs.run(built / "slots", consumer, "rntuple", 2, 2, "wait")
    c_programs.run(built / "sequential", tmp_path / "s.root", "rntuple", 100)
    assert by_uproot(tmp_path / "s.root", "Events", ["nMuon"])["nMuon"] == [i % 5 for i in range(100)]


def other_language(language: str, folder: Path) -> None:
    """Runs the program of a language, which writes out.root."""
    source = c_programs.SOURCES / {"Fortran": "program.f90", "Go": "program.go", "Julia": "program.jl"}[language]
    path, library = (
        folder / "out.root",
        ["-L" + str(c_programs.FOLDER), "-lbasketry", f"-Wl,-rpath,{c_programs.FOLDER}"],
    )
    if language == "Fortran":
        program = folder / "program"
        subprocess.run(["gfortran", "-Wall", str(source), "-o", str(program), *library], check=True, cwd=folder)
        c_programs.run(program, path)
    elif language == "Go":
        program = folder / "program"
        flags = {"CGO_CFLAGS": f"-I{c_programs.HEADERS}", "CGO_LDFLAGS": " ".join(library), "CGO_ENABLED": "1"}
        words = ["go", "build", "-o", str(program), str(source)]
        settings = {
            **os.environ,
            **flags,
            "GOFLAGS": "-mod=mod",
            "GOCACHE": str(folder / "cache"),
            "GOTOOLCHAIN": "local",
        }
        subprocess.run(words, check=True, cwd=folder, env=settings)
        c_programs.run(program, path)
    else:
        c_programs.run(Path("julia"), source, LIBRARY, path)


# Go compiles its own library first, which takes most of a minute.
GO = pytest.param("Go", "go", marks=pytest.mark.only_full)


@pytest.mark.parametrize(("language", "tool"), [("Fortran", "gfortran"), GO, ("Julia", "julia")])
def test_other_languages_call_the_library(language: str, tool: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool}")
    other_language(language, tmp_path)
    expected = {"number": list(range(100)), "energy": [0.5 * i for i in range(100)]}
    assert read_by_root(tmp_path / "out.root", "Events", list(expected)) == expected


def page_programs() -> list[str]:
    """The programs of the page for frameworks, in order."""
    text = (REPO / "docs/frameworks.md").read_text()
    return re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)


def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    programs = [tmp_path / name for name in ("arrow", "addresses", "reading", "keys")]
    arrow, addresses, reading, keys = programs
    for program, text in zip(programs, page_programs(), strict=True):
        source = program.with_suffix(".cpp")
        source.write_text(text)
        words = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", str(source)]
        words += [f"-I{c_programs.HEADERS}", f"-I{c_programs.SOURCES}"]
        linked = ["-o", str(program), str(LIBRARY), f"-Wl,-rpath,{c_programs.FOLDER}", "-pthread"]
        subprocess.run([*words, *linked], check=True)
    events, tags, copy, merged = (tmp_path / f"{name}.root" for name in ("events", "tags", "copy", "merged"))
    c_programs.run(addresses, events, tags)
    c_programs.run(arrow, events, copy)
    assert "20000 entries" in c_programs.run(reading, copy, merged)
    # Sorted, twice in two files, left out, joined.
    assert c_programs.run(keys, copy, tmp_path) == "10000 entries\n" * 4
    numbers = list(range(10_000))
    assert read_by_root(copy, "Events", ["number"]) == {"number": numbers}
    assert read_by_root(tags, "Tags", ["tag"]) == {"tag": [f"event {i}" for i in numbers]}
    assert by_uproot(events, "Events", ["number"]) == {"number": numbers}
