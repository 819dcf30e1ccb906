"""How long each test takes: wall time and CPU seconds, of pytest's process and of all programs that a test starts.

A run writes them, slowest first, to `build/tests/durations.tsv`. CPU seconds say more where other programs share the
machine.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.paths import BUILD

_TICK = os.sysconf("SC_CLK_TCK")
_CPU = "cpu"


def _cpu(pid: str) -> float:
    """The CPU seconds of a process, of the children that it has waited for, and of those that run."""
    seconds = 0.0
    # A process or a thread may end meanwhile.
    with contextlib.suppress(OSError):
        # Behind the name, which may contain spaces: user and system time, of the process and of ended children.
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        seconds = sum(map(int, times)) / _TICK
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                seconds += sum(map(_cpu, (thread / "children").read_text().split()))
    return seconds


class Durations:
    """A plugin of pytest."""

    def __init__(self) -> None:
        """Nothing is measured yet."""
        self._found: dict[str, tuple[float, float]] = {}
        self._used = _cpu("self")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Notes the CPU seconds since the last test of this process; the report of this phase has them."""
        try:
            return (yield)
        finally:
            before, self._used = self._used, _cpu("self")
            item.user_properties.append((_CPU, self._used - before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the phases of a test. With several processes this is called in the one that writes the file, too."""
        seconds, cpu = self._found.get(report.nodeid, (0.0, 0.0))
        for name, value in report.user_properties:
            if name == _CPU:
                cpu = float(str(value))
        self._found[report.nodeid] = (seconds + report.duration, cpu)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the file."""
        if hasattr(session.config, "workerinput") or not self._found:
            return
        rows = sorted(((seconds, cpu, name) for name, (seconds, cpu) in self._found.items()), reverse=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        lines = [f"{seconds:.2f}\t{cpu:.2f}\t{name}\n" for seconds, cpu, name in rows]
        (BUILD / "durations.tsv").write_text("seconds\tcpu\ttest\n" + "".join(lines))
