"""Objects in NumPy's arrays are equal to dicts with the same members, whatever arrays are among these."""

from pathlib import Path

import awkward as ak
import numpy as np

import basketry as bk


def test_records_are_equal_to_dicts(tmp_path: Path) -> None:
    path = tmp_path / "r.root"
    records = [{"a": 1, "l": []}, {"a": 2, "l": [1.5, 2.5]}]
    with bk.recreate(path) as file:
        file.mkrntuple("n", {"r": ak.Array(records)})
    none, two = bk.open(path)["n"].arrays(["r"], library="np")["r"]
    for first, second in ((none, records[0]), (two, records[1])):
        assert first == second
        assert second == first
        # The order of members and the kind of a list are no content.
        assert first == {"l": np.array(second["l"]), "a": second["a"]}
        assert first == type(first)(second)
        assert hash(first) == hash(type(first)(second))
    assert none != two
    assert none != records[1]
    assert two != {"a": 2, "l": [1.5]}
    assert two != {"a": 2}
    assert none != 1
