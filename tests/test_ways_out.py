"""What errors advise: options that a message names are those of the verb, or stand with the name of another command."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import basketry as bk
from referee.command import Basketry

#: Verbs that take several files as one, or each by itself, with what they need besides.
VERBS = {
    "merge": ["-o", "{out}.root"],
    "rewrite": ["-o", "{out}.root"],
    "hadd": [],
    "sort": ["--by", "n", "-o", "{out}.root"],
    "pick": ["--cut", "n >= 0", "-o", "{out}.root"],
    "convert": ["-o", "{out}.parquet"],
    "join": ["--with", "{first}", "--on", "n", "--suffix", "_r", "--first", "-o", "{out}.root"],
    "index": ["--key", "n", "-o", "{out}.parquet"],
    "readspeed": [],
    "tune": [],
    "check": ["--keys", "n"],
    "verify": [],
}


@pytest.fixture(scope="module")
def options(basketry: Basketry) -> dict[str, set[str]]:
    """The options of each verb, by the command's own list."""
    listed: dict[str, Any] = json.loads(basketry("options"))
    known = {verb: {one["name"] for one in found} for verb, found in listed.items()}
    known["hadd"] = set(re.findall(r"--([a-z][a-z-]*)", basketry("hadd", "-h")))
    return known


def named(text: str) -> set[str]:
    """The options that a text names for the verb itself: other commands are in quotes."""
    return set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", re.sub(r"`[^`]*`", "", text)))


@pytest.fixture(scope="module", params=["tree", "ntuple"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Pairs of files whose columns differ, each in another way."""
    folder = tmp_path_factory.mktemp("differ")
    numbers = np.arange(10, dtype="i4")
    columns = {
        "more": {"n": numbers, "x": numbers * 1.5},
        "less": {"n": numbers},
        "wider": {"n": numbers, "x": numbers.astype("f4")},
        "other": {"n": numbers, "x": ["text"] * 10},
    }
    made = {}
    for name, content in columns.items():
        made[name] = folder / f"{name}.root"
        with bk.recreate(made[name]) as out:
            (out.mktree if request.param == "tree" else out.mkrntuple)("t", content)
    return {name: (made["more"], made[name]) for name in ("less", "wider", "other")}


@pytest.mark.parametrize("verb", list(VERBS))
def test_options_in_errors_are_those_of_the_verb(
    verb: str, pair: dict[str, tuple[Path, Path]], options: dict[str, set[str]], basketry: Basketry, tmp_path: Path
) -> None:
    for first, second in [*pair.values(), *(files[::-1] for files in pair.values())]:
        words = [word.format(out=tmp_path / "out", first=first) for word in VERBS[verb]]
        files = [tmp_path / "out.root", first, second] if verb == "hadd" else [first, second]
        for more in ([], ["--common"], ["--fill"]):
            if more and more[0][2:] not in options[verb]:
                continue
            said = basketry.run(verb, *more, *files, *words)
            unknown = named(said.err) - options[verb]
            assert not unknown, f"{verb} has no {unknown}: {said}"
            for left in tmp_path.iterdir():
                left.unlink()


def test_verbs_that_join_files_offer_their_ways(
    pair: dict[str, tuple[Path, Path]], basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    for words in (["merge"], ["pick", "--cut", "n >= 0"]):
        assert {"common", "fill"} <= named(basketry.refuses(*words, *pair["less"], "-o", out))


@pytest.mark.parametrize("verb", ["split", "schema", "count", "ls", "inspect", "cp", "rm", "show", "stats"])
def test_names_that_mean_nothing(
    verb: str, pair: dict[str, tuple[Path, Path]], options: dict[str, set[str]], basketry: Basketry, tmp_path: Path
) -> None:
    file = f"{pair['less'][0]}:nothing"
    more: list[str] = {"split": ["--entries", "5"], "cp": [str(tmp_path / "o.root")]}.get(verb, [])
    said = basketry.run(verb, file, *more)
    assert said.code == 2, said
    assert not named(said.err) - options[verb], said
