"""The Python package beside uproot and RDataFrame: speed, memory, and time of its import."""

import statistics
import sys

import inputs
import native
from harness import Bench, megabytes, read_files, report, section
from measure import SCRATCH, Contender, in_page_cache, inside, reader, writer


@section
def python(bench: Bench) -> None:
    """uproot's `arrays` 4 x faster; the sum of all columns 10 x faster than RDataFrame's. One thread."""
    head = "| file | codec | payload MB | arrays GB/s | uproot | x | arrays and sums GB/s | RDataFrame | x |"
    bench.say("", head, "|---|---|---|---|---|---|---|---|---|")
    for kind, codec, path in read_files(bench):
        contenders = [
            reader("arrays", "basketry", "arrays", path, "threads=1"),
            reader("sum", "basketry", "sum", path, "threads=1"),
            Contender("RDataFrame", [native.program("sums"), path, "Events"], clock=inside),
        ]
        if kind != "event_unsplit":
            # RDataFrame or uproot misreads member-wise data, and stops.
            contenders.append(reader("uproot", "uproot", "arrays", path))
        done = bench.compare(f"{kind} {codec}", contenders, 1 if bench.quick else 3)
        payload = report(path)["uncompressed"]
        speed = {name: payload / one.cpu / 1e9 for name, one in done.items()}
        cells = [kind, codec, f"{payload / 1e6:.0f}"]
        for ours, rival in (("arrays", "uproot"), ("sum", "RDataFrame")):
            cells.append(f"{speed[ours]:.2f}")
            cells += [f"{speed[rival]:.3f}", f"{speed[ours] / speed[rival]:.1f}"] if rival in speed else ["", ""]
        bench.say("| " + " | ".join(cells) + " |")


@section
def extend(bench: Bench) -> None:
    """`extend` with jagged awkward arrays beside uproot's: 5 x faster. One thread; arrays are made before."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    size = megabytes(bench, "none")
    bench.say("", f"| {size} MB | basketry cpu s | file MB | uproot cpu s | file MB | x |", "|---|---|---|---|---|---|")
    for codec in ("none", "lz4:1", "zlib:1", "zstd:1"):
        contenders = [writer(name, SCRATCH / f"{name}.root", codec, str(size)) for name in ("basketry", "uproot")]
        ours, rival = bench.compare(codec, contenders).values()
        cells = [codec, *(f"{one:.2f}" for w in (ours, rival) for one in (w.cpu, w.size / 1e6))]
        bench.say(f"| {' | '.join(cells)} | {rival.cpu / ours.cpu:.1f} |")


@section
def cut(bench: Bench) -> None:
    """`arrays` with a cut: of the other columns only baskets with a kept entry are read. One thread."""
    path = inputs.read("flat", "zlib:1", megabytes(bench, "zlib:1"))
    in_page_cache(path)
    bench.say("", "| flat, zlib-1: cut | basketry cpu s | uproot cpu s | x |", "|---|---|---|---|")
    # All, half, 1 % and some 3 in a million entries.
    for text in ("", "f0 > 0", "f0 > 2.33", "f0 > 4.5"):
        options = [f'cut="{text}"'] if text else []
        contenders = [
            reader("basketry", "basketry", "arrays", path, "threads=1", *options),
            reader("uproot", "uproot", "arrays", path, *options),
        ]
        cpu = {name: one.cpu for name, one in bench.compare(text, contenders).items()}
        ratio = cpu["uproot"] / cpu["basketry"]
        bench.say(f"| {text or 'none'} | {cpu['basketry']:.3f} | {cpu['uproot']:.3f} | {ratio:.1f} |")


@section
def rss(bench: Bench) -> None:
    """Peak memory above the imports: of `arrays` the arrays and the budget, of `iterate` the budget."""
    head = "| file | job | memory= MB | arrays or largest step MB | peak MB | allowed MB | within |"
    bench.say("", head, "|---|---|---|---|---|---|---|")
    for kind, codec in (("nano", "none"), ("nano", "zlib:1"), ("event_split", "none"), ("flat", "zlib:1")):
        path = inputs.read(kind, codec, megabytes(bench, codec))
        in_page_cache(path)
        for job in ("arrays", "iterate"):
            steps = ['step_size="100 MB"'] if job == "iterate" else []
            for budget in (64, 256, 1024):
                options = [f'memory="{budget} MB"', "threads=2", *steps]
                base, peak, arrays = memory(
                    bench, f"{kind} {codec} {job} {budget}", reader("basketry", "basketry", job, path, *options)
                )
                allowed = budget + (arrays if job == "arrays" else 0)
                row = [kind, codec, job, budget, arrays, peak - base, allowed]
                said = " | ".join([f"{row[0]} {row[1]}", *(str(one) for one in row[2:])])
                bench.say(f"| {said} | {'yes' if peak - base <= allowed else 'NO'} |")
            label = f"{kind} {codec} {job}"
            base, peak, arrays = memory(bench, f"{label} uproot", reader("uproot", "uproot", job, path, *steps))
            bench.say(f"| {kind} {codec} | uproot's {job} | | {arrays} | {peak - base} | | |")


def memory(bench: Bench, label: str, contender: Contender) -> tuple[int, int, int]:
    """Memory before, at the peak, and in arrays, in MB."""
    done = bench.compare(label, [contender], 1)
    words = next(line for line in done[contender.name].samples[0].out.splitlines() if line.startswith("memory "))
    base, peak, arrays = (round(int(word) / 1e6) for word in words.split()[1:])
    return base, peak, arrays


@section
def imports(bench: Bench) -> None:
    """`import basketry` in under 60 ms."""
    codes = {"nothing": "pass", "basketry": "import basketry", "uproot": "import uproot"}
    contenders = [Contender(name, [sys.executable, "-c", code]) for name, code in codes.items()]
    done = bench.compare("imports", contenders, 3 if bench.quick else 15)

    def median(name: str, of: str) -> float:
        return 1000 * statistics.median(float(getattr(sample, of)) for sample in done[name].samples)

    bench.say("", "| import | ms | cpu ms | more than nothing, ms |", "|---|---|---|---|")
    for name in done:
        more = median(name, "wall") - median("nothing", "wall")
        bench.say(f"| {name} | {median(name, 'wall'):.0f} | {median(name, 'cpu'):.0f} | {more:.0f} |")
