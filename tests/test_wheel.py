"""The wheels of `make wheel` and `make wheels` for this processor, as a user installs them: into an empty environment,
where no compiler is found."""

import email
import os
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import notices
from referee.paths import REPO

FOLDERS = ("wheels", "manylinux")
WHEELS = sorted(found for name in FOLDERS for found in (REPO / "build" / name).glob(f"*_{platform.machine()}.whl"))


@pytest.mark.skipif(not WHEELS, reason="no wheel in build/wheels: run `make wheel`")
@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: wheel.parent.name)
def test_the_wheel_installs_and_works_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    programs = tmp_path / "venv" / "bin"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    bare = {"PATH": str(programs), "HOME": str(tmp_path)}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python"), "install"]

    subprocess.run([*pip, "--quiet", "--only-binary", ":all:", str(wheel)], check=True, env=bare)
    subprocess.run(
        [programs / "basketry", "generate", "nano", "--size", "1MB", "--quiet", "-o", "command.root"],
        cwd=tmp_path,
        env=bare,
        check=True,
    )
    smoke: list[str | Path] = [programs / "python", "-I", REPO / "packaging" / "smoke.py"]
    done = subprocess.run(smoke, cwd=tmp_path, env=bare, capture_output=True, text=True, check=True)

    _, where, files = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path)
    assert len(list(tmp_path.glob("*.root"))) == int(files) + 1
    command, python = programs / "basketry", programs / "python"
    if not command.read_bytes().startswith(b"\x7fELF"):
        return
    # The command is a program, without an interpreter, and the same as that of Python; also by a link from elsewhere.
    (tmp_path / "link").symlink_to(command)
    calls: list[list[str | Path]] = [[command], [tmp_path / "link"], [python, "-m", "basketry"]]
    for words, code in (["count", "-q", "command.root"], 0), (["count", "no.root"], 2), (["cuont"], 2):
        ends = [subprocess.run([*call, *words], cwd=tmp_path, env=bare, capture_output=True) for call in calls]
        assert [end.returncode for end in ends] == [code] * 3, ends
        assert len({(end.stdout, end.stderr) for end in ends}) == 1, ends
    version = subprocess.run([command, "--version"], env=bare, capture_output=True, check=True)
    assert not os.path.lexists(programs / "basketry-script.py")
    (programs / "python3").rename(programs / "python3.away")
    again = subprocess.run([command, "--version"], env=bare, capture_output=True, check=True)
    assert again.stdout == version.stdout
    (programs / "python3.away").rename(programs / "python3")
    # Each job of a sweep starts the program again.
    words = "sweep command.root -o swept --grid compression=lz4:1 --repeat 1 --only full".split()
    subprocess.run([command, *words], cwd=tmp_path, env=bare, capture_output=True, check=True)
    # What only fsspec opens is Python's.
    asked = subprocess.run([command, "count", "nosuch://a/b.root"], env=bare, capture_output=True, text=True)
    by_python = subprocess.run(
        [python, "-m", "basketry", "count", "nosuch://a/b.root"], env=bare, capture_output=True, text=True
    )
    assert (asked.returncode, asked.stderr) == (by_python.returncode, by_python.stderr)


@pytest.mark.skipif(not WHEELS, reason="no wheel in build/wheels: run `make wheel`")
def test_the_command_finds_the_package_beside_it_alone(tmp_path: Path) -> None:
    """Installed into a folder (`--target`), and where its package has gone or has another version."""
    wheel = WHEELS[-1]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", str(tmp_path / "here"), str(wheel)], check=True)
    command = tmp_path / "here" / "bin" / "basketry"
    bare = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    assert subprocess.run([command, "--version"], env=bare, capture_output=True, check=True).stdout
    (about,) = (tmp_path / "here").glob("*.dist-info")
    about.rename(about.with_name("basketry-0.0.1.dist-info"))
    lost = subprocess.run([command, "--version"], env=bare, capture_output=True, text=True)
    assert lost.returncode == 2
    assert "finds neither the package basketry" in lost.stderr


#: Builds a wheel as pip does, by the backend of pyproject.toml; a wheel that is there stands for the compilation.
BUILD = """
import importlib, shutil, sys, tomllib
from pathlib import Path
import maturin
made, folder = map(Path, sys.argv[1:])
maturin.build_wheel = lambda folder, *_: Path(shutil.copy(made, folder)).name
system = tomllib.loads(Path("pyproject.toml").read_text())["build-system"]
sys.path[:0] = system["backend-path"]
print(importlib.import_module(system["build-backend"]).build_wheel(str(folder)))
"""


@pytest.mark.skipif(not WHEELS, reason="no wheel in build/wheels: run `make wheel`")
def test_an_installation_of_the_sources_has_the_command_as_a_program(tmp_path: Path) -> None:
    """`pip install .` of a source distribution once made a script of Python."""
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=REPO, capture_output=True, check=True)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "sources", filter="data")
    (sources,) = (tmp_path / "sources").iterdir()
    # As maturin leaves it.
    made = tmp_path / WHEELS[-1].name
    with zipfile.ZipFile(WHEELS[-1]) as whole, zipfile.ZipFile(made, "w") as scripted:
        own = next(name for name in whole.namelist() if name.endswith("/RECORD")).removesuffix("RECORD")
        for name in whole.namelist():
            if not name.endswith(".data/scripts/basketry"):
                scripted.writestr(name, whole.read(name))
        scripted.writestr(own + "entry_points.txt", "[console_scripts]\nbasketry=basketry._command:main\n")

    for compiler in ("cc", str(tmp_path / "no-compiler")):
        folder = tmp_path / Path(compiler).name
        folder.mkdir()
        built = subprocess.run(
            [sys.executable, "-c", BUILD, made, folder],
            cwd=sources, env={**os.environ, "CC": compiler}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert built.stdout.split() == [made.name]
        with zipfile.ZipFile(folder / made.name) as wheel:
            is_script = own + "entry_points.txt" in wheel.namelist()
        assert is_script == ("stays a script" in built.stderr) == (compiler != "cc")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", tmp_path / "here", tmp_path / "cc" / made.name], check=True)
    command = tmp_path / "here" / "bin" / "basketry"
    assert command.read_bytes().startswith(b"\x7fELF")
    assert subprocess.run([command, "--version"], env={"PATH": str(tmp_path)}, capture_output=True, check=True).stdout


@pytest.mark.skipif(not WHEELS, reason="no wheel in build/wheels: run `make wheel`")
@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: wheel.parent.name)
def test_a_wheel_says_what_it_contains(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [information] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        about = email.message_from_bytes(archive.read(information))
        text = archive.read(information.replace("METADATA", "licenses/THIRD-PARTY.txt")).decode()
    assert about.get_all("License-File") == ["LICENSE", "THIRD-PARTY.txt"]
    assert about["Author"] == "The basketry authors"
    assert "Programming Language :: Rust" in about.get_all("Classifier", [])

    libraries = notices.libraries()
    names = {one.name for one in libraries}
    locked = {(one["name"], one["version"]) for one in tomllib.loads((REPO / "Cargo.lock").read_text())["package"]}
    assert {(one.name, one.version) for one in libraries} < locked
    assert {"zstd-sys", "liblzma-sys", "lz4-sys", "libdeflate-sys", "arrow-array", "pyo3"} < names
    parts = re.findall(r"^={80}\n(.*?)\n-{80}$", text, re.MULTILINE | re.DOTALL)
    told = {line.partition(" (")[0] for part in parts for line in part.splitlines()}
    assert {one.title for one in libraries} == told
    assert "Yann Collet" in text
    assert "GENERAL PUBLIC" not in text
