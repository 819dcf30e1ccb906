"""Questions to a process with real ROOT in it: one of these modules as a script, which prints its answer as JSON."""

import json
import os
import subprocess
import sys
from typing import Any

from referee.paths import REPO


def answer_of(module: str, question: dict[str, Any]) -> dict[str, Any]:
    """The answer of a module to a question, and in `said` what ROOT warns of."""
    command = [sys.executable, "-W", "ignore", "-m", module, json.dumps(question)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPO / "tests"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"ROOT ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(lines[-1])
    answer["said"] = [line for line in done.stderr.splitlines() if line.startswith(("Error", "Warning"))]
    return answer
