"""Real hadd, which merges the same files as basketry does."""

import subprocess
from pathlib import Path

from referee import paths


def merge(output: Path, *sources: Path, flags: tuple[str, ...] = ("-f",)) -> str | None:
    """Merges with real hadd and returns its stderr; none where hadd fails or crashes."""
    command = [str(paths.root_command("hadd")), "-v", "0", *flags, str(output), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=sources[0].parent)
    return done.stderr if done.returncode == 0 and output.exists() else None
