"""Files that a Python program leaves open: completed at its end, given up after an exception, and never touched by a
process that was forked. Each program runs in a process of its own, and uproot reads what it leaves."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import uproot

BEGIN = """
import atexit, contextlib, gc, os, sys, threading, time
import numpy as np
import basketry

def begin(**options):
    file = basketry.recreate("out.root", **options)
    tree = file.mktree("t", {"x": "float64"})
    tree.extend({"x": np.arange(10.0)})
    return file, tree
"""

#: Programs that end well, and the entries of their file.
COMPLETED = {
    "global": ("file, tree = begin()", 10),
    "set item": ("file = basketry.recreate('out.root')\nfile['t'] = {'x': np.arange(10.0)}", 10),
    "cycle": ("file, tree = begin()\nring = [file, tree]\nring.append(ring)\ndel file, tree, ring", 10),
    "collected cycle": (
        "file, tree = begin()\nring = [file]\nring.append(ring)\ndel file, tree, ring\ngc.collect()",
        10,
    ),
    "block by hand": ("file = begin()[0].__enter__()", 10),
    "stack": ("stack = contextlib.ExitStack()\nstack.enter_context(begin()[0])", 10),
    "sys.exit": ("file, tree = begin()\nsys.exit(0)", 10),
    "caught": ("file, tree = begin()\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    pass", 10),
    "late fill": ("file, tree = begin()\natexit.register(lambda: tree.extend({'x': np.arange(5.0)}))", 15),
    "fill context": ("file, tree = begin()\ncontext = tree.fill_context()\ncontext.extend({'x': np.arange(5.0)})", 15),
    "tasks": (
        "file, tree = begin(order='tasks')\ncontexts = [tree.fill_context(n) for n in (2, 1)]\n"
        "for context in contexts:\n    context.extend({'x': np.arange(5.0)})",
        20,
    ),
    "daemon": (
        "def work():\n    with begin()[0]:\n        ready.set()\n        time.sleep(1000)\n"
        "ready = threading.Event()\nthreading.Thread(target=work, daemon=True).start()\nready.wait()",
        10,
    ),
    "objects": ("file, tree = begin()\nfile['name'] = 'text'", 10),
    "update": (
        "with begin()[0]: pass\nfile = basketry.update('out.root')\nfile['u'] = {'y': np.arange(3.0)}",
        10,
    ),
}

#: Programs that an exception ends, and their exit codes.
ABANDONED = {
    "global": ("file, tree = begin()\nraise ValueError('no')", 1),
    "function": ("def work():\n    file, tree = begin()\n    raise ValueError('no')\nwork()", 1),
    "block": ("with begin()[0]:\n    raise ValueError('no')", 1),
    "exit in block": ("with begin()[0]:\n    sys.exit(3)", 3),
    "Ctrl-C": ("import signal\nfile, tree = begin()\nsignal.raise_signal(signal.SIGINT)", -2),
    "hook": ("sys.excepthook = lambda *_: None\nfile, tree = begin()\nraise ValueError('no')", 1),
}

FORKED = {
    "nothing": ("os._exit(0)", 0),
    "exit": ("sys.exit(0)", 0),
    "exception": ("raise ValueError('in the child')", 1),
    "collected": ("del file, tree\ngc.collect()\nos._exit(0)", 0),
    "close": ("file.close()", 1),
    "extend": ("tree.extend({'x': np.arange(5.0)})", 1),
    "flush": ("tree.flush()", 1),
    "save": ("file.save()", 1),
    "abandon": ("file.abandon()\nos._exit(0)", 0),
    "set item": ("file['u'] = {'y': np.arange(3.0)}", 1),
    "block": ("with file:\n    sys.exit(4)", 4),
    "context": ("context.extend({'x': np.arange(5.0)})", 1),
    "context dropped": ("del context\ngc.collect()\nos._exit(0)", 0),
    "stop of all": ("basketry._core.abandon()\nos._exit(0)", 0),
    "own": ("with basketry.recreate('own.root') as own:\n    own['t'] = {'x': np.arange(3.0)}\nos._exit(0)", 0),
}


def ran(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BEGIN + textwrap.dedent(program)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)


def entries(path: Path) -> int:
    with uproot.open(path) as file:
        return int(file["t"].num_entries)


@pytest.mark.parametrize("how", COMPLETED)
def test_open_files_are_completed_at_the_end(tmp_path: Path, how: str) -> None:
    program, expected = COMPLETED[how]
    done = ran(program, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert entries(tmp_path / "out.root") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out.root"]


@pytest.mark.parametrize("how", ABANDONED)
def test_an_exception_that_ends_the_program_leaves_no_file(tmp_path: Path, how: str) -> None:
    program, code = ABANDONED[how]
    (tmp_path / "out.root").write_text("before")
    done = ran(program, tmp_path)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "out.root").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_cannot_be_completed_is_no_success(tmp_path: Path) -> None:
    program = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    file, tree = begin()
    tree.extend({"x": np.random.default_rng(1).random(100_000)})
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    """
    done = ran(program, tmp_path)
    assert done.returncode == 1
    assert "basketry: out.root could not be completed: " in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", FORKED)
def test_a_forked_process_leaves_the_files_of_its_parent_alone(tmp_path: Path, how: str) -> None:
    child, code = FORKED[how]
    program = f"""
file, tree = begin()
context = tree.fill_context()
context.extend({{"x": np.arange(5.0)}})
child = os.fork()
if not child:
{textwrap.indent(child, "    ")}
    sys.exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == {code}, status
assert any(name.startswith(".out.root.") for name in os.listdir()) and not os.path.exists("out.root")
tree.extend({{"x": np.arange(5.0)}})
context.finish()
file.close()
"""
    done = ran(program, tmp_path)
    assert done.returncode == 0, done.stderr
    if code == 1:
        assert "ValueError" in done.stderr
    assert entries(tmp_path / "out.root") == 20
    own = {"own.root"} if how == "own" else set()
    assert {path.name for path in tmp_path.iterdir()} == {"out.root", *own}


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(tmp_path: Path, method: str) -> None:
    """Such a process completes its own files, without `atexit`, and leaves those of its parent alone."""
    (tmp_path / "work.py").write_text(
        "import os, sys\nimport numpy as np\nimport basketry\nKEPT = []\n"
        "def work(name, fails):\n"
        "    file = basketry.recreate(name)\n"
        "    file['t'] = {'x': np.arange(7.0)}\n"
        "    KEPT.append(file)\n"
        "    if fails:\n        raise ValueError('no')\n"
    )
    program = f"""
    import multiprocessing
    sys.path.insert(0, os.getcwd())
    import work
    if __name__ == "__main__":
        file, tree = begin()
        context = multiprocessing.get_context({method!r})
        for name, fails in (("own.root", False), ("failed.root", True)):
            process = context.Process(target=work.work, args=(name, fails))
            process.start()
            process.join()
            assert process.exitcode == int(fails), process.exitcode
        assert not os.path.exists("out.root")
    """
    done = ran(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert entries(tmp_path / "own.root") == 7
    assert entries(tmp_path / "out.root") == 10
    names = {path.name for path in tmp_path.iterdir()} - {"work.py", "__pycache__"}
    assert names == {"own.root", "out.root"}


def test_subprocesses_have_no_part_in_the_files(tmp_path: Path) -> None:
    program = """
    import subprocess
    file, tree = begin()
    subprocess.run([sys.executable, "-c", "import basketry"], check=True)
    subprocess.run(["true"], preexec_fn=lambda: None, check=True)
    """
    assert ran(program, tmp_path).returncode == 0
    assert entries(tmp_path / "out.root") == 10


def test_other_things_of_a_process_stay_its_own(tmp_path: Path) -> None:
    """Temporary folders, parts of a file, a monitor and a reading in steps."""
    program = """
    from basketry.writing.delivery import Delivery
    import io
    with basketry.recreate("a.root") as made:
        made["t"] = {"x": np.arange(1000.0)}
    buffer = io.BytesIO()
    file = basketry.recreate(buffer)
    file["t"] = {"x": np.arange(4.0)}
    folder = basketry._shared.folders.OwnFolder()
    parts = basketry.parts("parts.root").__enter__()
    with parts.recreate(0) as part:
        part["t"] = {"x": np.arange(6.0)}
    monitor = basketry.Monitor().__enter__()
    steps = basketry.open("a.root:t").iterate(step_size=10)
    next(steps)
    child = os.fork()
    if not child:
        file.abandon()
        monitor.events(1)
        end = (None, None, None)
        for run in (lambda: parts.__exit__(*end), lambda: monitor.__exit__(*end), lambda: next(steps)):
            try:
                run()
                os._exit(9)
            except ValueError as error:
                assert "process" in str(error), error
        parts.__exit__(SystemExit, SystemExit(), None)
        del file, folder, parts, monitor, steps
        gc.collect()
        sys.exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert folder.path.is_dir() and os.path.isdir(parts._folder)
    file.close()
    parts.__exit__(None, None, None)
    monitor.__exit__(None, None, None)
    assert len(list(steps)) == 99
    with open("out.root", "wb") as out:
        out.write(buffer.getvalue())
    """
    done = ran(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert entries(tmp_path / "out.root") == 4
    assert entries(tmp_path / "parts.root") == 6
    assert {path.name for path in tmp_path.iterdir()} == {"a.root", "out.root", "parts.root"}


def test_closing_waits_for_calls_that_fill(tmp_path: Path) -> None:
    program = """
    file = basketry.recreate("out.root", memory="20 MB")
    tree = file.mktree("t", {"x": "float64"})
    data, filled, late = {"x": np.arange(200_000.0)}, [], []
    def work():
        while True:
            try:
                tree.extend(data)
            except ValueError as error:
                late.append(str(error))
                return
            filled.append(1)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while len(filled) < 4:
        time.sleep(0.001)
    file.close()
    for thread in threads:
        thread.join()
    assert late == ["the file is closed"] * 3, late
    assert basketry.open("out.root:t").num_entries == 200_000 * len(filled)
    """
    done = ran(program, tmp_path)
    assert done.returncode == 0, done.stderr
