"""Options are declared once, in the command: Python's keywords with their types, defaults and docstrings, and the table
of keys are made of what it tells. Values of a program reach it as they are, whatever characters they have."""

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

import basketry as bk
import option_types
from basketry.verbs import options as types
from referee.command import Basketry

MAKER = option_types.Maker()
VERBS = [verb for verb in MAKER.verbs() if hasattr(bk, {"run": "run_task"}.get(verb, verb))]


def test_what_is_made_of_the_options_is_checked_in() -> None:
    # `python tools/option_types.py` writes them.
    assert [path.name for path, text in MAKER.files().items() if path.read_text() != text] == []


@pytest.mark.parametrize("verb", VERBS)
def test_keywords_equal_the_options_of_the_command(verb: str) -> None:
    parameters = inspect.signature(getattr(bk, {"run": "run_task"}.get(verb, verb))).parameters
    known = {name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    # Columns stand behind the file, as in `show`.
    known |= {"columns"} if verb == "stats" else set()
    # `with` is a word of the language.
    known = {{"besides": "with"}.get(name, name) for name in known}
    if verb == "plan":
        # The others are those of the verb.
        known = {"force", "skip_bad", *types.Planning.__annotations__}

    assert known - {"progress", "dry_run", "output", "grid"} == MAKER.options(verb).keys()


def test_every_key_of_a_layout_is_an_option(made: Path, tmp_path: Path, basketry: Basketry) -> None:
    keys = [*types.Shape.__annotations__]
    assert {"page_checksums", "share_pages", "unzipped_cluster", "cluster_group"} <= {*keys}
    out = tmp_path / "out.root"
    basketry("rewrite", made, "-o", out, "--container", "rntuple", "--page-checksums=false", "--cluster-group", "3")
    assert bk.inspect(out).ntuples[0].checksums == "none"
    bk.rewrite(made, tmp_path / "same.root", container="rntuple", page_checksums=False, cluster_group=3)
    assert bk.inspect(tmp_path / "same.root").ntuples[0].checksums == "none"
    with bk.recreate(tmp_path / "new.root", container="rntuple", page_checksums=False) as file:
        file["t"] = {"x": np.arange(10.0)}
    assert bk.inspect(tmp_path / "new.root").ntuples[0].checksums == "none"


def test_a_truth_value_of_a_layout_can_be_taken_back(tmp_path: Path) -> None:
    counts = []
    for given in (None, False):
        layout, path = {"one-basket-per-cluster": True, "basket": 100}, tmp_path / f"{given}.root"
        with bk.recreate(path, layout=layout, one_basket_per_cluster=given) as file:
            file["t"] = {"x": np.arange(1000.0)}
        counts.append(bk.inspect(path).trees[0].baskets)
    assert counts[0] == 1 < counts[1]


def test_names_of_files_are_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with bk.recreate("plain.root") as file:
        file["t"] = {"x": np.arange(100.0), "-y": np.arange(100)}
    odd = os.fsdecode(b"-\xff,a=b *.root")
    bk.rewrite("plain.root", odd, compression="lz4:4", column_set={"-y": {"compression": "zlib:1"}})
    bk.rewrite(odd, "--json", compression="lzma:1")
    bk.merge([odd, "--json"], "-", layout={"compression": "none"})

    assert {odd, "--json", "-"} < {path.name for path in Path().iterdir()}
    assert bk.verify(odd, "--json", "-", drop="none,*", allow_no_match=True).equal
    assert [next(iter(branch.codecs)) for branch in bk.inspect(odd).trees[0].branches] == ["lz4", "zlib"]
    with pytest.raises(FileExistsError):
        bk.rewrite("plain.root", odd)


def test_a_comma_is_of_its_text(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "plain.root") as file:
        file["t"] = {"x": np.arange(100.0), "xx": np.arange(100)}
    given: Any = {"grid": {"basket": ["1kB"]}, "columns": ["/x{1,1}/", "xx"], "only": ["chosen"], "dry_run": True}
    assert bk.sweep(tmp_path / "plain.root", tmp_path / "sweep", **given).points
    with pytest.raises(ValueError, match=r"x\{1"):
        # A text is that of the command, which has commas between patterns.
        bk.sweep(tmp_path / "plain.root", tmp_path / "other", **(given | {"columns": "/x{1,1}/"}))


@pytest.mark.parametrize("number", [0.1 + 0.2, -5e-324, -1.7976931348623157e308])
def test_numbers_keep_all_their_digits(number: float, tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"x": pyarrow.array([1.5, None])}), tmp_path / "in.parquet")
    bk.convert(tmp_path / "in.parquet", tmp_path / "out.root", fill_null=np.float64(number))
    assert list(bk.concatenate(tmp_path / "out.root", library="np")["x"]) == [1.5, number]


def test_options_of_a_planned_verb_are_its_own(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "plain.root") as file:
        file["t"] = {"x": np.arange(100.0), "y": np.arange(100)}
    given: Any = {"keep": ["x"], "one_basket_per_cluster": True, "column_set": {"x": {"compression": "none"}}}
    plan, name = tmp_path / "plan.json", str(tmp_path / "{stem}_out.root")
    bk.plan("rewrite", tmp_path / "plain.root", plan, name=name, **given)
    bk.run_task(plan, 0)

    (branch,) = bk.inspect(tmp_path / "plain_out.root").trees[0].branches
    assert (branch.name, [*branch.codecs]) == ("x", ["none"])


@pytest.mark.parametrize("verb", ["merge", "rewrite", "convert", "verify", "check", "readspeed", "tune", "sweep"])
def test_plan_refuses_options_as_the_verb_does(verb: str, tmp_path: Path) -> None:
    for name in ("nonsense", "baskets"):
        given: Any = {name: 1}
        with pytest.raises(TypeError, match=rf"{verb}\(\) got an unexpected keyword argument '{name}'"):
            bk.plan(verb, tmp_path / "in.root", tmp_path / "plan.json", **given)


def test_plan_takes_the_grid_of_sweep(made: Path, tmp_path: Path) -> None:
    plans = []
    for number, grid in enumerate(({"basket": ["2kB", "32kB"]}, "basket=2kB,32kB", ["basket=2kB,32kB"])):
        plan = tmp_path / f"{number}.json"
        assert bk.plan("sweep", made, plan, grid=grid, repeat=1).tasks
        plans.append(plan.read_text().replace(str(plan), ""))
    assert "basket=2kB,32kB" in plans[0]
    assert len({*plans}) == 1


@pytest.mark.parametrize("rules", [{"x": 3}, {"x": ["compression"]}])
def test_settings_are_mappings(rules: Any, made: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="settings are a mapping"):
        bk.rewrite(made, tmp_path / "out.root", column_set=rules)


def test_a_budget_is_named_as_it_was_given(made: Path, tmp_path: Path) -> None:
    said = "a memory budget of 1kB is too small: the smallest that would do is memory="
    with pytest.raises(ValueError, match=said):
        bk.rewrite(made, tmp_path / "out.root", memory="1kB")
    with pytest.raises(ValueError, match=said), bk.recreate(tmp_path / "new.root", memory="1kB") as file:
        file["t"] = {"x": np.arange(10.0)}
