"""The tool that freezes outputs: it names the first record, value or line that is another, and its answer is an exit
code."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import basketry as bk
from freezing import comparison, corpus, parts


def file_of(path: Path, x: float) -> bytes:
    """A file with two trees; the second one has this value."""
    with bk.recreate(path) as file:
        file.mktree("first", {"a": "float64", "b": "int64"}).extend({"a": np.arange(9.0), "b": np.arange(9)})
        file.mktree("second", {"x": "float64"}).extend({"x": np.full(5, x)})
    return path.read_bytes()


def test_a_record_that_differs_is_named(tmp_path: Path) -> None:
    one = parts.of_file(file_of(tmp_path / "file.root", 1.0))
    other = dict(one) | {"TBasket second/x": "another", "all": "another"}

    assert {"TBasket first/a", "TBasket first/b", "TBasket second/x", "TTree first;1"} <= one.keys()
    assert comparison.first_difference(one, other) == f"TBasket second/x: {one['TBasket second/x']} -> another"


@pytest.mark.parametrize("more", [b"", b"more", bytes(100), b"\1" * 100])
def test_all_bytes_of_a_file_are_in_a_part(tmp_path: Path, more: bytes) -> None:
    content = file_of(tmp_path / "file.root", 1.0) + more

    assert parts.BEGIN + sum(len(record) for _, record in parts.records(content)) == len(content)


def test_a_byte_that_differs_is_in_the_part_of_its_record(tmp_path: Path) -> None:
    content = bytearray(file_of(tmp_path / "file.root", 1.0))
    one = parts.of_file(bytes(content))
    at = content.index(struct.pack(">d", 1.0)) if struct.pack(">d", 1.0) in content else len(content) // 2
    content[at] ^= 1
    other = parts.of_file(bytes(content))

    differing = [name for name in one if one[name] != other.get(name)]
    assert differing[0] == "all"
    assert len(differing) == 2


def test_a_value_of_a_document_that_differs_is_named() -> None:
    one, other = ({"trees": [{"path": "t", "entries": n, "columns": [{"name": "x", "size": 1}]}]} for n in (1, 2))

    difference = comparison.first_difference(
        dict(parts.of_text(json.dumps(one))), dict(parts.of_text(json.dumps(other)))
    )

    assert difference == ".trees[0 t].entries: 1 -> 2"


def test_the_answer_is_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    base = {"rewrite a": {"code": "0", "all": "1"}, "rewrite b": {"code": "0"}, "verify a": {"code": "too long"}}

    assert comparison.compare(base, base, most=9) == 0
    assert comparison.compare(base, base | {"rewrite a": {"code": "0", "all": "2"}}, most=9) == 1
    assert capsys.readouterr().out == "rewrite a: all: 1 -> 2\n"
    # What took too long says nothing, and nothing is no answer.
    assert comparison.compare(base, base | {"verify a": {"code": "0"}}, most=9) == 0
    assert comparison.compare(base, {"merge a": {"code": "0"}}, most=9) == 2


def test_a_frozen_build_is_read_as_it_was_written(tmp_path: Path) -> None:
    frozen = {"rewrite a": {"code": "0", "TBasket t/ä": "1"}, "rewrite b": {}}
    path = tmp_path / "frozen.json"
    path.write_text(comparison.text(frozen))

    assert comparison.read(path) == frozen


def test_a_quick_sample_has_small_files_of_each_kind(tmp_path: Path) -> None:
    for folder in ("files", "found"):
        (tmp_path / folder).mkdir()
    for number in range(20):
        (tmp_path / "files" / f"{number}.root").write_bytes(b"root TTree")
        (tmp_path / "found" / f"{number}.root").write_bytes(b"root TTree")
    (tmp_path / "files" / "only.root").write_bytes(b"root RNTuple")
    (tmp_path / "files" / "large.root").write_bytes(b"root" + bytes(corpus.SMALL))

    quick = corpus.sample(tmp_path, every=1, is_quick=True)

    assert "only.root" in quick
    assert "large.root" not in quick
    assert any(name.startswith("found/") for name in quick)
    assert len(corpus.sample(tmp_path, every=1, is_quick=False)) == 42
    assert len(corpus.sample(tmp_path, every=10, is_quick=False)) == 5
