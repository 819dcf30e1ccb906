"""What users see, as texts that are checked in (tests/snapshots): the help of each verb, messages of usual mistakes,
`inspect` of small files, and which bytes of a remote file are asked for. `make snapshots` renews them after a change
that is meant; a review then shows what changed. They have no times, versions and paths of a machine."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import basketry as bk
import site_pages
from referee.command import Basketry, run
from referee.paths import BINARY
from servers.odd import Behaviour, OddServer

FOLDER = Path(__file__).parent / "snapshots"
Compare = Callable[[str, str], None]


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Compare:
    """Compares a text with the snapshot of a name, or writes the snapshot."""

    def compared(name: str, text: str) -> None:
        path = FOLDER / name
        text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
        if request.config.getoption("--renew"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        # `make snapshots` writes it.
        assert text == path.read_text()

    return compared


def said(folder: Path, words: str, **environment: str) -> str:
    """A command with what it prints and its exit code."""
    outcome = run([BINARY, *shlex.split(words)], cwd=folder, env=environment)
    text = re.sub(r"basketry \d+\.\d+\.\d+", "basketry VERSION", outcome.out + outcome.err)
    return f"$ basketry {words}\n{text}[exit {outcome.code}]\n\n"


def columns(entries: int, shift: int = 0) -> dict[str, ak.Array]:
    """Columns whose values and sizes are known."""
    counts = np.arange(entries) % 4
    return {
        "x": np.arange(entries, dtype="f8") + shift,
        "n": (np.arange(entries) % 7).astype("i4"),
        "pt": ak.unflatten(np.arange(counts.sum(), dtype="f4"), counts),
    }


def verbs() -> list[str]:
    """The verbs, and the verbs below them."""
    found = site_pages.verbs(BINARY)
    return [
        "",
        *found,
        *(f"{verb} {below}" for verb in found for below in site_pages.commands(site_pages.help_text(BINARY, verb))),
    ]


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb or "all")
def test_help(verb: str, compare: Compare) -> None:
    compare(f"help/{verb.replace(' ', '-') or 'basketry'}.txt", site_pages.help_text(BINARY, *verb.split()))


def test_every_help_is_of_a_verb() -> None:
    """A verb that is gone takes its snapshot along."""
    names = {verb.replace(" ", "-") or "basketry" for verb in verbs()}
    assert {path.stem for path in (FOLDER / "help").iterdir()} == names


MISTAKES = """\
rewrit small.root -o out.root
xyzzy
head small.root
rename small.root:x small.root:y
rewrite
rewrite --json
rewrite absent.root -o out.root --json
ls small.root:Evnts
ls gzip.root
show small.root Pt
show small.root:evnts
show small.root --entries 5000:
count small.root:Evnts
schema small.root --dif other.root
stats small.root none
draw small.root ptt
cp small.root:Evnts out.root
rm small.root
mkdir small.root
mv small.root:none small.root:x
split small.root
split small.root --by pt
rewrite small.root
rewrite small.root -o out.root --kep x
rewrite small.root -o out.root --threads many
rewrite small.root -o out.root --memory much
rewrite small.root -o out.root --memory 1kB -j 1
rewrite small.root -o out.root --compression zip
rewrite small.root -o out.root --compression zstd:99
rewrite small.root -o out.root --cluster 5parsecs
rewrite small.root -o out.root --basket 2GiB
rewrite small.root -o out.root --memory-ratio 0.5
rewrite small.root -o out.root --split-level 1000
rewrite small.root -o out.root --container parquet
rewrite small.root -o out.root --encoding truncated:99
rewrite small.root -o out.root --page-checksums=maybe
rewrite small.root -o out.root --cluster-group 0
rewrite small.root -o out.root --tree-set Events basket
rewrite small.root -o out.root --tree-set Events clutser=1
rewrite small.root -o out.root --column-set x cluster=1
rewrite small.root -o out.root --layout bad.toml
rewrite small.root -o out.root --layout absent.toml
rewrite small.root -o out.root --keep 'none*'
rewrite small.root -o out.root --keep 'PT*'
rewrite small.root -o out.root --drop none
rewrite small.root -o out.root --first 5000
rewrite small.root -o out.root --entries 100:50
rewrite small.root -o out.root --tree-set Evnts basket=1kB
rewrite small.root -o out.root --column-set Pt basket=1kB
rewrite small.root -o out.root --keep 'none*' --allow-no-match
rewrite small.root -o out.root --keep '/(/'
rewrite small.root -o out.root --first 5 --last 2
rewrite small.root -o out.root --entries many
rewrite small.root -o out.root --where none
rewrite small.root -o out.root --cut 'nn > 1'
rewrite small.root -o out.root --cut 'x >'
rewrite small.root -o out.root --weight x
rewrite small.root:Evnts -o out.root
rewrite small.root -o small.root
rewrite small.root -o other.root
rewrite small.root -o absent/out.root
rewrite absent.root -o out.root
rewrite 'none*.root' -o out.root
rewrite @absent.txt -o out.root
rewrite folder -o out.root
rewrite text.root -o out.root
rewrite empty.root -o out.root
rewrite cut.root -o out.root
rewrite damaged.root -o out.root --compression zlib:1
merge small.root other.root -o out.root
merge small.root ntuple.root -o out.root
merge small.root other.root -o out.root --common --fill
verify small.root
verify small.root other.root -q
check small.root:Events
check cut.root text.root
convert small.root -o out.root
convert small.root -o out.txt
inspect small.root --baskets
readspeed small.root --branches none
tune small.root --workload some
tune small.root --workload 'columns:PT*'
tune small.root --max-size little
sweep small.root -o sweep --grid none=1
generate nana -o out.root
plan hadd small.root -o plan.json
run plan.json --task 0
recover small.root -o small.root
monitor nonesuch
hadd out.root absent.root
"""


def test_messages(tmp_path: Path, compare: Compare) -> None:
    folder = tmp_path
    with bk.recreate(folder / "small.root", compression="zstd:1", cluster=250) as file:
        file["Events"] = columns(1000)
    with bk.recreate(folder / "other.root", compression="zstd:1") as file:
        file["Events"] = {**columns(500), "more": np.arange(500)}
    with bk.recreate(folder / "ntuple.root", container="rntuple") as file:
        file["Events"] = columns(100)
    content = bytearray((folder / "small.root").read_bytes())
    (folder / "cut.root").write_bytes(content[: len(content) // 2])
    (basket, *_) = bk.inspect(folder / "small.root", baskets=True).trees[0].branches[0].baskets or ()
    content[basket.seek + basket.bytes - 20] ^= 0xFF
    (folder / "damaged.root").write_bytes(content)
    (folder / "text.root").write_text("no file of ROOT's, but long enough to be one\n" * 20)
    (folder / "empty.root").touch()
    (folder / "gzip.root").write_bytes(b"\x1f\x8b\x08" + b"x" * 600)
    (folder / "bad.toml").write_text('clutser = "30MB"\n')
    (folder / "folder").mkdir()

    text = ""
    for words in MISTAKES.splitlines():
        text += said(folder, words)
        (folder / "out.root").unlink(missing_ok=True)

    compare("messages.txt", text)


INSPECTED = {
    "single": "generate single --size 100kB",
    "single as an RNTuple": "generate single --size 100kB --compression none --container rntuple",
    "multi": "generate multi --size 200kB --branches 2 --events 3",
    "multi, unsplit": "generate multi --size 200kB --branches 2 --events 3 --split-level 0",
    "multi as an RNTuple": "generate multi --size 200kB --branches 2 --events 3 --compression none --container rntuple",
    "nano": "generate nano --size 200kB --compression none",
    "nano as an RNTuple": "generate nano --size 200kB --compression none --container rntuple",
    "lhcb": "generate lhcb --size 100kB --compression none",
    "aod": "generate aod --size 100kB --compression none",
    "esd": "generate esd --size 100kB --compression none",
    "small baskets": "rewrite plain.root --basket 200B",
    "small clusters": "rewrite plain.root --cluster 10",
    "one basket a cluster": "rewrite plain.root --one-basket-per-cluster --cluster 500",
    "lzma": "rewrite plain.root --compression lzma:9",
    "mixed codecs": "rewrite plain.root --column-set x compression=lz4:4 --column-set n compression=zlib:1",
    "small pages": "rewrite plain.root --container rntuple --basket 100B --compression none",
    "no checksums": "rewrite plain.root --container rntuple --page-checksums=false --compression none",
    "halves": "rewrite plain.root --container rntuple --encoding half --compression none",
    "folder, histogram, text": "",
    "cut short": "",
}


def test_inspected_files(tmp_path: Path, compare: Compare) -> None:
    with bk.recreate(tmp_path / "plain.root", compression="zstd:1", cluster=1000) as file:
        file["Events"] = columns(2000)
    text = ""
    for name, words in INSPECTED.items():
        path = tmp_path / f"{name}.root"
        if words:
            said(tmp_path, f"{words} -q -o '{path.name}'")
        elif name == "cut short":
            path.write_bytes((tmp_path / "plain.root").read_bytes()[:4000])
        else:
            with bk.recreate(path, compression="zlib:1") as file:
                file["dir/Events"] = columns(10)
                file["More"] = columns(20)
                file["h"] = np.histogram(np.arange(10), bins=5)
                file["word"] = "text"
        text += said(tmp_path, f"inspect -n 4 '{path.name}'")

    assert len(INSPECTED) == 20
    compare("inspect.txt", text)


LOOKED = """\
ls all.root
ls -r -t all.root
ls -1 -r all.root
show all.root:dir/Events
show all.root:dir/Events n pt --entries 3:6
show all.root:dir/Events --long
show all.root:dir/Events --csv -n 3
show all.root:dir/Events --jsonl --entries -2:
show all.root:h
show empty.root
count all.root
count all.root more.root
schema all.root:dir/Events
schema all.root:dir/Events --diff more.root
stats all.root:dir/Events
draw all.root:dir/Events n
draw all.root:dir/Events pt --bins 5,0,10 --cut 'n < 9' --cut 'n >= 9'
draw all.root:dir/Events n:pt --bins 8,0,8
draw all.root:h
"""


def test_what_is_looked_at(tmp_path: Path, compare: Compare) -> None:
    with bk.recreate(tmp_path / "all.root", compression="zlib:1") as file:
        words = [f"word {n}" * (n % 3) for n in range(20)]
        file["dir/Events"] = {**columns(20), "word": words, "a_long_name_of_a_column_that_says_much": np.arange(20)}
        file["More"] = {"y": np.arange(3)}
        file["h"] = np.histogram(np.arange(100) ** 2, bins=8)
    with bk.recreate(tmp_path / "more.root") as file:
        file["dir/Events"] = {"x": np.arange(5), "z": np.arange(5)}
    with bk.recreate(tmp_path / "empty.root") as file:
        file.mktree("Events", {"x": "f8"})

    compare("looked.txt", "".join(said(tmp_path, words, COLUMNS="80") for words in LOOKED.splitlines()))


def pieces(path: Path) -> list[tuple[int, str, int, int]]:
    """Cluster, column, begin and end of each basket or page."""
    report = bk.inspect(path, baskets=True)
    found = [
        (basket.first_entry // 250, branch.name, basket.seek, basket.seek + basket.bytes)
        for tree in report.trees
        for branch in tree.branches
        for basket in branch.baskets or ()
    ]
    found += [
        (page.cluster, f"{field.path} ({column.type})", page.seek or 0, (page.seek or 0) + page.bytes)
        for ntuple in report.ntuples
        for field in ntuple.fields
        for column in field.columns
        for page in column.page_list or ()
    ]
    return sorted(found)


def spans(asked: str) -> list[tuple[int, int]]:
    """First and last bytes of a header `Range`, without those that count from the end."""
    parts = [part.split("-") for part in asked.removeprefix("bytes=").split(",")]
    return [(int(first), int(last)) for first, last in parts if first]


REQUESTS = {
    "one column": ["x"],
    "one column, the first ten entries": ["x", "--entries", "0:10"],
    "one column, entries at the end of one cluster and the begin of the next": ["x", "--entries", "245:255"],
    "lists": ["pt"],
    "two columns": ["x", "pt"],
    "all columns": [],
}


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_what_is_asked_for(
    container: str, tmp_path: Path, odd_server: OddServer, basketry: Basketry, compare: Compare
) -> None:
    """For each cluster and column: how many requests bring its bytes, and how many bytes. The begin and the end of a
    file are asked for whatever is read."""
    path = tmp_path / "events.root"
    # Larger than what is fetched of the begin and the end, so that requests for the first cluster are seen.
    filler = np.zeros((1000, 200))
    with bk.recreate(path, compression=None, cluster=250, container=container) as file:
        file["Events"] = {"first": filler, **columns(1000), "last": filler}
    stored, text = pieces(path), ""
    for name, selected in REQUESTS.items():
        odd_server.requests.clear()
        url = odd_server.put("events.root", path.read_bytes(), Behaviour(ranges="several"))
        basketry("readspeed", url, "-j", "1", "-q", *(["--branches", *selected] if selected else []))
        asked = [spans(request.range) for request in odd_server.requests if request.range]
        text += f"{name}\n"
        for cluster, column in dict.fromkeys((cluster, column) for cluster, column, _, _ in stored):
            own = [(begin, end) for *piece, begin, end in stored if piece == [cluster, column]]
            # The numbers of the requests that bring them.
            by = [
                number
                for number, ranges in enumerate(asked[2:])
                for begin, end in own
                if any(first < end and begin <= last for first, last in ranges)
            ]
            if by:
                size = sum(end - begin for begin, end in own)
                text += f"  cluster {cluster}, column {column}: {len({*by})} request, {size} B\n"
    compare(f"requests-{container}.txt", text)
