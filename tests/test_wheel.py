"""The wheels of `make wheel` and `make wheels` for this processor, as a user installs them: into an empty environment,
where no compiler is found."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

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
