"""The wheel of `make wheel`, as a user installs it: into an empty environment, where no compiler is found."""

import subprocess
import sys
from pathlib import Path

import pytest

from referee.paths import REPO

WHEELS = sorted((REPO / "build" / "wheels").glob("*.whl"))


@pytest.mark.skipif(not WHEELS, reason="no wheel in build/wheels: run `make wheel`")
def test_the_wheel_installs_and_reads_without_a_compiler(tmp_path: Path) -> None:
    programs = tmp_path / "venv" / "bin"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    bare = {"PATH": str(programs), "HOME": str(tmp_path)}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python"), "install"]

    subprocess.run([*pip, "--quiet", "--only-binary", ":all:", str(WHEELS[0])], check=True, env=bare)
    subprocess.run(
        [programs / "basketry", "generate", "nano", "--size", "1MB", "--quiet", "-o", "made.root"],
        cwd=tmp_path,
        env=bare,
        check=True,
    )
    code = "import basketry as bk; print(bk.__file__, len(bk.open('made.root:Events').arrays(['Muon_pt'])))"
    done = subprocess.run(
        [programs / "python", "-c", code], cwd=tmp_path, env=bare, capture_output=True, text=True, check=True
    )

    where, entries = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path)
    assert int(entries) > 100
