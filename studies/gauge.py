"""How accurate `tune` is on given files: predictions beside measurements, and which limits hold.

    python -m studies.gauge FILE... [--jobs N] [--keep RESULTS.jsonl]

It runs the command that BASKETRY_BIN names, or the installed one. The predictions study uses its parts.
"""

import argparse
import concurrent.futures
import json
import os
import statistics
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from studies.study import basketry

#: Seconds; shorter readings are reported apart, since the effects of clocks and caches are as large.
LONG_ENOUGH = 5e-3
#: A slowdown of less than this share is noise.
NOISE = 0.03


@dataclass(frozen=True)
class Outcome:
    """The result of tuning a file once."""

    name: str
    #: Exit code of the command, and its message if there is no proof.
    code: int
    message: str = ""
    bytes_before: int = 0
    bytes_after: int = 0
    bytes_expected: float = 0
    read_before: float = 0
    read_before_expected: float = 0
    read_after: float = 0
    read_after_expected: float = 0
    rewrite: float = 0
    rewrite_expected: float = 0
    measuring: float = 0
    trials: int = 0
    #: Rewrites until one held.
    attempts: int = 1

    @property
    def proven(self) -> bool:
        """Whether there is an output with a proof."""
        return self.bytes_after > 0

    @property
    def size_error(self) -> float:
        """Error of the expected size, as a share of the written size."""
        return self.bytes_expected / self.bytes_after - 1

    @property
    def read_error(self) -> float:
        """Error of the expected reading time, as a share of the measured time."""
        return self.read_after_expected / self.read_after - 1

    @property
    def today_error(self) -> float:
        """Error of the expected reading time of the input."""
        return self.read_before_expected / self.read_before - 1

    @property
    def rewrite_error(self) -> float:
        """Error of the expected time of the rewrite."""
        return self.rewrite_expected / self.rewrite - 1

    @property
    def takes_long_enough(self) -> bool:
        """Whether reading takes long enough for clocks."""
        return self.read_before > LONG_ENOUGH

    @property
    def over(self) -> bool:
        """Whether the output is larger than the input."""
        return self.bytes_after > self.bytes_before

    @property
    def slower(self) -> bool:
        """Whether the output is slower to read by more than noise."""
        return self.read_after > (1 + NOISE) * self.read_before


def outcome(source: str, *options: str, name: str = "") -> Outcome:
    """Tunes a file, with one thread, within its own size."""
    name = name or source
    path = Path(source.split(".root:")[0] + ".root") if ".root:" in source else Path(source)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / path.name
        command: list[str | Path] = ["tune", source, "-o", output, "-j", "1", "--json", "-q", *options]
        try:
            proof_of = json.loads(basketry(*command))
        except RuntimeError as error:
            # A refused choice is exit code 1 without a message; other failures have one.
            return Outcome(name, 2 if ": basketry: " in str(error) else 1, str(error)[-300:])
        proof = proof_of["proof"]
        if not proof or not output.exists():
            return Outcome(name, 1, "no output")
        measuring = proof_of["measuring"]
        return Outcome(
            name,
            0,
            bytes_before=path.stat().st_size,
            bytes_after=output.stat().st_size,
            bytes_expected=proof["size"]["expected"],
            read_before=proof["read_today"]["measured"],
            read_before_expected=proof["read_today"]["expected"],
            read_after=proof["read_chosen"]["measured"],
            read_after_expected=proof["read_chosen"]["expected"],
            rewrite=proof["rewrite"]["measured"],
            rewrite_expected=proof["rewrite"]["expected"],
            measuring=measuring["cpu_seconds"],
            trials=measuring["trials"],
            attempts=len(proof_of["attempts"]),
        )


def ninth(errors: Iterable[float]) -> float:
    """The ninetieth percentile."""
    ordered = sorted(errors)
    return ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]


def line(title: str, errors: list[float]) -> str:
    """Median, ninetieth percentile and worst of errors."""
    if not errors:
        return f"{title:14}  none"
    errors = [abs(error) for error in errors]
    parts = (statistics.median(errors), ninth(errors), max(errors))
    return f"{title:14} {len(errors):4d}  " + "  ".join(f"{100 * part:6.2f} %" for part in parts)


def main() -> None:
    """Tunes the named files and prints the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        all_of_them = list(pool.map(lambda file: outcome(str(file), name=file.name), arguments.files))
    if arguments.keep:
        arguments.keep.write_text("".join(json.dumps(asdict(one)) + "\n" for one in all_of_them))
    done = [one for one in all_of_them if one.proven]
    timed = [one for one in done if one.takes_long_enough]
    print(f"{len(all_of_them)} files, {len(done)} outputs; number, median, 90 %, worst error:")
    print(line("size", [one.size_error for one in done]))
    print(line("reading the output", [one.read_error for one in timed]))
    print(line("reading the input", [one.today_error for one in timed]))
    print(line("rewriting", [one.rewrite_error for one in timed]))
    over = [one for one in done if one.over]
    slower = [one for one in timed if one.slower]
    print(f"larger than the input: {len(over)}, slower than the input: {len(slower)} of {len(timed)}")
    shares = [one.measuring / one.rewrite for one in done if one.measuring > 2]
    print(f"measuring: most {max((one.measuring for one in done), default=0):.2f} s; over 2 s: {shares}")
    for one in sorted(done, key=lambda one: -abs(one.size_error))[:12]:
        print(
            f"  size {100 * one.size_error:+7.2f} %  {one.bytes_before} to {one.bytes_after}, {one.trials} {one.name}"
        )
    for one in sorted(timed, key=lambda one: -abs(one.read_error))[:12]:
        times = f"{1e3 * one.read_before:.2f} to {1e3 * one.read_after:.2f} ms"
        print(f"  reading {100 * one.read_error:+6.1f} %  {times}, {one.trials} {one.name}")
    for one in [*over, *slower]:
        sizes, seconds = (one.bytes_before, one.bytes_after), (one.read_before, one.read_after)
        print(f"  over or slower: bytes {sizes}, seconds {seconds} {one.name}")
    failed = [one for one in all_of_them if not one.proven]
    for one in failed[: 400 if os.environ.get("ALL") else 10]:
        print(f"  {one.name}: {one.message.strip().splitlines()[-1] if one.message.strip() else one.code}")


if __name__ == "__main__":
    main()
