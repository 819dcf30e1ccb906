"""A name, a pattern, a range of entries or a workload that matches nothing is refused with the names that are near, in
every verb and in Python; `--allow-no-match` lets it pass. The options are those that the command lists: a new one is in
`CASES`, or its value names nothing in the inputs."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import basketry as bk
from referee.command import Basketry
from referee.paths import BINARY

#: Names of values that mean nothing in the inputs: sizes, files, settings.
OTHER_VALUES = {
    "SIZE", "N", "FILE", "NAME|N", "CODEC", "KIND", "LEVEL", "HOW", "RATIO", "true|false", "NUMBER", "SECONDS",
    "PERCENT", "GOAL", "LIMIT", "READER", "CONTAINER", "CONTAINER,...", "REPORT.json", "FILE.toml", "SHARE", "WHO",
    "COMMAND", "TIME", "DIR", "DIR,...", "SYSTEM", "OTHER", "BxM,...", "KIND,...", "N,...", "CODEC,...", "WHAT,...",
    "20MB/s,30ms", "N|1..N", "KEY=VALUE,...", "N|N,LOW,HIGH", "FILE.html",
}  # fmt: skip
#: Options with such a value that is no name in an input after all: names of outputs, of data sets, of other files.
OTHER_OPTIONS = {
    ("convert", "tree"),
    ("fileset", "dataset"),
    ("plan", "name"),
    ("monitor", "file"),
    ("schema", "diff"),
    ("draw", "with"),
    ("pick", "events"),
    ("pick", "order"),
    ("join", "with"),
    ("join", "suffix"),
    ("join", "how"),
    ("join", "from-key"),
    ("join", "before-key"),
    ("merge", "replace"),
    # Of an index of ours, a file; of a Parquet file that becomes a tree.
    ("index", "remove"),
    # Only what a cut names is looked at.
    ("tune", "define"),
    ("convert", "build-index"),
}
#: What each option may name, and matches nothing; the file has Muon_pt, Muon_eta, nMuon and x in Events, run in Runs.
CASES: dict[tuple[str, str], list[list[str]]] = {
    **{
        (verb, option): values
        for verb in ("rewrite", "merge", "sort")
        for option, values in {
            "keep": [["muon_*"], ["Evnts/x"]],
            "drop": [["muon_*"], ["/^muon/"]],
            "first": [["500"]],
            "last": [],
            "entries": [["100:50"], ["500:600"], ["Evnts=0:1"], ["-3:-5"]],
            "cut": [["goood"]],
            # Beside a cut only.
            "weight": [],
            "define": [["y=goood"]],
            "tree-set": [["Evnts", "basket=1kB"]],
            "column-set": [["muon_*", "basket=1kB"]],
        }.items()
    },
    ("convert", "keep"): [["muon_*"]],
    ("convert", "drop"): [["muon_*"]],
    ("convert", "entries"): [["500:600"]],
    ("convert", "tree-set"): [],
    ("convert", "column-set"): [],
    ("generate", "tree-set"): [["Evnts", "basket=1kB"]],
    ("generate", "column-set"): [["muon_*", "basket=1kB"]],
    ("verify", "tree"): [["Evnts"]],
    ("verify", "keep"): [["muon_*"]],
    ("verify", "drop"): [["muon_*"]],
    ("verify", "first"): [["500"]],
    ("verify", "last"): [],
    ("verify", "entries"): [["100:50"]],
    ("verify", "cut"): [["goood"]],
    ("verify", "weight"): [],
    ("verify", "tolerance"): [["muon_*=0.1"]],
    ("tune", "keep"): [["muon_*"]],
    ("tune", "drop"): [["muon_*"]],
    ("tune", "workload"): [["columns:muon_*"], ["full=0.3,columns:Foo*=0.7"]],
    ("precision", "columns"): [["muon_*"]],
    ("precision", "max-error"): [["muon_*=0.1"]],
    ("precision", "max-abs"): [["muon_*=0.1"]],
    ("readspeed", "trees"): [["Evnts"]],
    ("readspeed", "branches"): [["muon_*"]],
    ("readspeed", "branches-regex"): [["muon.*"]],
    ("readspeed", "entries"): [["500:600"]],
    ("sweep", "grid"): [["column:muon_*:basket=1kB,2kB"], ["tree:Evnts:basket=1kB,2kB"]],
    ("sweep", "columns"): [["muon_*"]],
    ("sweep", "entries"): [],
    ("fileset", "tree"): [["Evnts"]],
    ("show", "entries"): [["500:600"]],
    ("stats", "entries"): [["500:600"]],
    ("stats", "columns"): [["muon_*"]],
    **{(verb, "cut"): [["goood"]] for verb in ("convert", "readspeed", "show", "stats", "draw")},
    **{(verb, "weight"): [] for verb in ("convert", "readspeed", "show", "stats")},
    **{(verb, "define"): [["y=goood"]] for verb in ("convert", "show", "verify", "stats", "draw", "readspeed")},
    ("draw", "entries"): [["500:600"]],
    ("draw", "weight"): [["goood"]],
    ("split", "by"): [["goood"]],
    ("check", "keys"): [["goood"]],
    ("merge", "unique"): [["goood"]],
    ("merge", "on-duplicate"): [],
    **{(verb, "build-index"): [["goood"]] for verb in ("rewrite", "merge", "sort")},
    ("tune", "cut"): [["goood"]],
    ("merge", "by"): [["goood"]],
    ("verify", "by"): [["goood"]],
    ("sort", "by"): [["goood"]],
    ("index", "key"): [["goood"]],
    ("pick", "key"): [["goood"]],
    ("pick", "cut"): [["goood"]],
    ("pick", "keep"): [["muon_*"]],
    ("pick", "drop"): [["muon_*"]],
    ("pick", "tree-set"): [["Evnts", "basket=1kB"]],
    ("pick", "column-set"): [["muon_*", "basket=1kB"]],
    ("join", "on"): [["goood"]],
    ("join", "keep"): [["muon_*"]],
    ("join", "drop"): [["muon_*"]],
    ("join", "tree-set"): [["Evnts", "basket=1kB"]],
    ("join", "column-set"): [["muon_*", "basket=1kB"]],
}
#: Options of which the message names no near name: there is none for numbers of entries and for what another test
#: knows.
WITHOUT_NAMES = {"key", "on", "keys", "unique", "entries", "first", "cut", "weight", "define", "by", "build-index"}
#: What cannot be let pass: without the table there is nothing to do.
NEEDED = {"tree", "trees", "cut", "weight", "define", "key", "keys", "on", "unique", "by", "build-index"}


def options() -> Iterator[tuple[str, str]]:
    """The options whose value may name something in the inputs."""
    listed = json.loads(subprocess.run([BINARY, "options"], capture_output=True, text=True, check=True).stdout)
    for verb, found in listed.items():
        for option in found:
            if not set(option["values"]) <= OTHER_VALUES or (verb, option["name"]) in CASES:
                yield verb, option["name"]


def test_no_option_is_forgotten() -> None:
    """A new option with names or patterns needs a case; a value that names nothing in the inputs is among
    `OTHER_VALUES`."""
    assert sorted(set(options()) - set(CASES) - OTHER_OPTIONS) == []
    assert sorted(set(CASES) - set(options())) == []


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "events.root"
    with bk.recreate(path, compression="zstd:1") as file:
        values = np.arange(876, dtype="f4")
        pairs = values.reshape(438, 2)
        file["Events"] = {"Muon_pt": pairs, "Muon_eta": pairs, "x": np.arange(438.0), "good": np.ones(438, bool)}
        file["Runs"] = {"run": np.arange(1)}
    return path


def command(verb: str, option: str, values: list[str], file: Path, out: Path) -> list[str]:
    """A command with the option."""
    named = [f"--{option}", *values]
    if verb == "generate":
        return [verb, "nano", "--size", "100kB", "-o", f"{out}.root", *named]
    if verb == "verify":
        return [verb, str(file), str(file), *named]
    if verb == "sweep":
        grid = [] if option == "grid" else ["--grid", "basket=1kB"]
        return [verb, f"{file}:Events", "-o", str(out), "--dry-run", *grid, *named]
    if verb == "convert":
        return [verb, f"{file}:Events", "-o", f"{out}.parquet", *named]
    if verb == "index":
        return [verb, str(file), "-o", f"{out}.parquet", *named]
    if verb == "pick":
        picked = {"key": ["--events", "1"], "cut": []}.get(option, ["--cut", "x < 5"])
        return [verb, str(file), "-o", f"{out}.root", *picked, *named]
    if verb == "join":
        key = [] if option == "on" else ["--on", "x"]
        named += ["--with", f"{file}:Events", "--suffix", "_b"]
        return [verb, f"{file}:Events", "-o", f"{out}.root", *key, *named]
    if verb == "sort":
        return [verb, str(file), "-o", f"{out}.root", *([] if option == "by" else ["--by", "x"]), *named]
    if verb in ("rewrite", "merge"):
        return [verb, str(file), "-o", f"{out}.root", *named]
    if verb == "readspeed" and option != "trees":
        return [verb, f"{file}:Events", *named]
    if verb == "draw":
        return [verb, f"{file}:Events", "x", *named]
    if verb in ("show", "stats", "precision", "tune", "split"):
        return [verb, f"{file}:Events", *named]
    return [verb, str(file), *named]


@pytest.mark.parametrize(
    ("verb", "option", "values"),
    [(verb, option, values) for (verb, option), cases in CASES.items() for values in cases],
    ids=lambda value: "_".join(value) if isinstance(value, list) else value,
)
def test_what_matches_nothing_is_refused(
    verb: str, option: str, values: list[str], file: Path, basketry: Basketry, tmp_path: Path
) -> None:
    words = command(verb, option, values, file, tmp_path / "out")
    said = basketry.refuses(*words)

    assert any(words in said for words in ("match", "no such", "has no", "no column"))
    if option not in WITHOUT_NAMES:
        assert "near it: " in said or "there are: " in said
    if "muon" in values[0] and verb != "generate":
        assert "Muon_pt" in said
    if values[0] == "Evnts":
        assert "Events" in said
    assert list(tmp_path.iterdir()) == []
    if option not in NEEDED and not values[0].startswith("Evnts="):
        assert "--allow-no-match" in said
        passed = basketry.run(*words, "--allow-no-match")
        # Nothing is left to convert, read or look at, which is an error of its own.
        # A side without entries differs from the other.
        allowed = ("no column", "nothing", "with entries", "reads none")
        assert passed.code <= (verb == "verify") or any(why in passed.err for why in allowed), str(passed)


@pytest.mark.parametrize("verb", ["rewrite", "merge", "sort", "convert", "verify", "pick", "join"])
@pytest.mark.parametrize("choice", [["--keep", "x", "--drop", "x"], ["--drop", "*"]])
def test_some_columns_are_left(verb: str, choice: list[str], file: Path, basketry: Basketry, tmp_path: Path) -> None:
    words = [*command(verb, "drop", ["Muon_pt"], file, tmp_path / "out"), *choice]
    said = basketry.refuses(*words)
    assert "--drop leaves no column of any table" in said
    assert "--allow-no-match" in said
    assert list(tmp_path.iterdir()) == []


def test_new_columns_may_be_alone(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    words = ["--drop", "*", "--define", "twice=2*x"]
    basketry("rewrite", f"{file}:Events", "-o", tmp_path / "out.root", *words)
    assert bk.open(tmp_path / "out.root:Events").keys() == ["twice"]


def test_one_of_several_inputs_suffices(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    other = tmp_path / "other.root"
    with bk.recreate(other) as made:
        made["Events"] = {"Muon_pt": np.zeros((2, 2), "f4"), "Muon_eta": np.zeros((2, 2), "f4"), "y": np.arange(2)}
    for inputs in ([file, other], [other, file]):
        basketry("merge", *inputs, "-o", tmp_path / "out.root", "--force", "--fill", "--drop", "y", "--first", "430")
    assert "no column of any table" in basketry.refuses("merge", file, other, "-o", tmp_path / "o.root", "--drop", "z")


def test_a_file_without_entries_has_none_to_choose_from(basketry: Basketry, tmp_path: Path) -> None:
    """A skim that kept nothing goes through the same commands as others."""
    with bk.recreate(tmp_path / "empty.root") as made:
        made.mktree("Events", {"x": "f8"})
    basketry("rewrite", tmp_path / "empty.root", "-o", tmp_path / "out.root", "--first", "5", "--keep", "x")


def printed_names(basketry: Basketry, path: Path) -> list[str]:
    """The columns of a file as reports name them."""
    inspected = basketry.json("inspect", path)
    names = [branch["name"] for tree in inspected["trees"] for branch in tree["branches"]]
    names += [field["path"] for ntuple in inspected["ntuples"] for field in ntuple["fields"]]
    return names + [column["name"] for column in basketry.json("readspeed", path)["columns"]]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_names_that_reports_print_are_understood(container: str, basketry: Basketry, tmp_path: Path) -> None:
    """By all that name columns: of branches and fields below others their paths, too."""
    path, tree = tmp_path / "in.root", tmp_path / "tree.root"
    basketry("generate", "aod", "--size", "200kB", "--cluster", "100kB", "--seed", "3", "-o", tree)
    basketry("rewrite", tree, "-o", path, "--container", container)
    names = printed_names(basketry, path)
    assert any(("/" if container == "ttree" else "._0.") in name for name in names)

    keep = [argument for name in names for argument in ("--keep", name)]
    basketry("rewrite", path, "-o", tmp_path / "kept.root", *keep)
    basketry("verify", path, tmp_path / "kept.root", *keep)
    rules = [argument for name in names for argument in ("--column-set", name, "basket=2kB")]
    basketry("rewrite", path, "-o", tmp_path / "ruled.root", *rules)
    whole = {column["name"]: column for column in basketry.json("readspeed", path)["columns"]}
    for number, name in enumerate([*whole][:3]):
        out = tmp_path / f"{number}.root"
        basketry("rewrite", path, "-o", out, "--keep", name)
        basketry("verify", path, out, "--keep", name)
        assert {column["name"] for column in basketry.json("readspeed", out)["columns"]} >= {name}
        assert len(printed_names(basketry, out)) < len(names) / 2


def test_rules_of_a_layout_file_need_not_match(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    """Several data sets share one: a note says which rules match nothing."""
    layout = tmp_path / "layout.toml"
    layout.write_text('[column."Jet_*"]\nbasket = "1kB"\n[column.x]\nbasket = "1kB"\n[tree.Lumi]\nbasket = "1kB"\n')
    report = basketry.json("rewrite", file, "-o", tmp_path / "out.root", "--layout", layout)

    notes = [note for note in report["notes"] if note.startswith("layout")]
    assert len(notes) == 2
    assert '[tree."Lumi"] matches no tree or RNTuple' in notes[0]
    assert '[column."Jet_*"] matches no column' in notes[1]


def test_python_refuses_as_well(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"muon_\*.*near it: Muon_.*allow_no_match=True"):
        bk.rewrite(file, tmp_path / "out.root", keep="muon_*")
    with pytest.raises(ValueError, match="no such entries"):
        bk.rewrite(file, tmp_path / "out.root", entries="500:600")
    with pytest.raises(ValueError, match="near it: Muon_"):
        bk.rewrite(file, tmp_path / "out.root", column_set={"muon_*": {"basket": "1kB"}})
    bk.rewrite(file, tmp_path / "out.root", keep="muon_*", allow_no_match=True)
