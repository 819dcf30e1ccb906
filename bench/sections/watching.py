"""The cost of monitoring a job: the monitor's own CPU, as it reports."""

import json
import sys

from harness import Bench, section
from measure import Contender, basketry

#: Idle processes: the monitor's work does not depend on theirs.
SLEEPERS = """
import os, sys, time
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        break
time.sleep(float(sys.argv[2]))
"""


def own(out: str) -> tuple[float, float]:
    """Duration of the job, and CPU of monitoring it."""
    summary = json.loads(out.splitlines()[-1])
    return summary["elapsed"], summary["monitor_cpu"]


def watched(name: str, processes: int, seconds: float, *options: str) -> Contender:
    """A job with a number of processes under the monitor, with 10 samples a second."""
    job = [sys.executable, "-I", "-S", "-c", SLEEPERS, str(processes), str(seconds)]
    contender = basketry(name, "monitor", "--json", "--every", "0.1", *options, "--", *job)
    contender.clock = own
    return contender


@section
def monitor(bench: Bench) -> None:
    """Under 1 % of a core at 10 samples a second."""
    seconds = 2 if bench.quick else 10
    contenders = [
        watched("1 process", 1, seconds),
        watched("20 processes", 20, seconds),
        watched("20 processes, --pss", 20, seconds, "--pss"),
        watched("100 processes", 100, seconds),
    ]
    bench.say("", "| job | watching, % of a core |", "|---|---|")
    for name, one in bench.compare("monitor", contenders, 1 if bench.quick else 3).items():
        bench.say(f"| {name} | {100 * one.cpu / one.wall:.2f} |")
