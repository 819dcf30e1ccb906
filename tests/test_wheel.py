"""The wheels of `make wheel` and `make wheels` for this processor, as a user installs them: into an empty environment,
where no compiler is found."""

import email
import platform
import re
import subprocess
import sys
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
