"""Exact narrowing: columns of RNTuples take the fewest bits that keep every value. Real ROOT reads the values back bit
by bit, a value that does not fit keeps its column in full, and `tune` proposes it only where it is better."""

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt
import pytest
import uproot

import basketry as bk
from referee import root_bits
from referee.command import Basketry

ZERO_BITS = (8, 12, 16, 20)
# Zeros, infinities, NaNs with payloads, quiet and signalling, and a denormal, which 16 bits hold.
ODD = [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC10000, 0x7F810000, 0x00010000]


def floats(n: int, zero_bits: int, seed: int) -> npt.NDArray[np.float32]:
    """Floats whose last bits are zero; the one before these is set somewhere."""
    bits = np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    odd = np.array(ODD, dtype=np.uint32)
    bits[: len(odd)] = odd
    bits = (bits >> np.uint32(zero_bits)) << np.uint32(zero_bits)
    bits[len(odd)] = np.uint32(0x3F800000 | (1 << zero_bits))
    return bits.view(np.float32)


def no_nan(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Doubles of these values: a conversion makes signalling NaNs quiet."""
    return np.where(np.isnan(values), 1.5, values).astype(np.float64)


def made(n: int = 3000) -> dict[str, Any]:
    """Columns that take fewer bits, and some that do not."""
    counts = np.random.default_rng(1).integers(0, 4, n)
    wide = floats(n, 16, 5)
    # The last entry alone needs all bits.
    last = floats(n, 16, 6)
    last[-1] = np.float32(1.1)
    double_last = no_nan(floats(n, 0, 7))
    double_last[-1] = 0.1
    return {
        **{f"zero_{bits}": floats(n, bits, bits) for bits in ZERO_BITS},
        "list": ak.unflatten(floats(int(counts.sum()), 12, 2), counts),
        "full": floats(n, 0, 3),
        "last": last,
        "double": no_nan(floats(n, 0, 4)),
        "double_16": no_nan(wide),
        "double_last": double_last,
        "double_nan": np.array([0x7FF8000000000001] * n, dtype=np.uint64).view(np.float64),
        "number": np.arange(n, dtype=np.int32),
    }


def expected(data: dict[str, Any]) -> dict[str, npt.NDArray[np.generic]]:
    """The values of each column, those of lists one behind the other."""
    return {name: ak.to_numpy(ak.flatten(ak.Array(values), axis=None)) for name, values in data.items()}


def bits(values: npt.NDArray[np.generic]) -> bytes:
    """All bits, which NumPy does not compare by itself."""
    return np.ascontiguousarray(values).tobytes()


def name_of(path: str) -> str:
    """The name of a column by the path of its field: of lists that of the items, or a member of a collection."""
    return path.removesuffix("._0").rsplit(".", 1)[-1]


def stored(basketry: Basketry, path: Path) -> dict[str, tuple[str, int]]:
    """Type and bits of the column with the numbers of each field."""
    fields = basketry.json("inspect", path)["ntuples"][0]["fields"]
    columns = {name_of(field["path"]): field["columns"] for field in fields if field["columns"]}
    return {name: (found[-1]["type"], found[-1]["bits"]) for name, found in columns.items()}


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """The columns."""
    return made()


@pytest.mark.parametrize("source", ["rntuple", "ttree"])
@pytest.mark.parametrize("codec", ["none", "zstd:5"])
def test_real_root_reads_every_bit(
    source: str, codec: str, data: dict[str, Any], basketry: Basketry, tmp_path: Path
) -> None:
    wide, narrow = tmp_path / "wide.root", tmp_path / "narrow.root"
    with bk.recreate(wide, compression=codec, container=source) as file:
        file["t"] = data
    layout = ("--container", "rntuple", "--encoding", "exact", "--compression", codec)
    report = basketry.json("rewrite", wide, *layout, "-o", narrow)

    found = stored(basketry, narrow)
    split = "Split" if codec != "none" else ""
    for zero_bits in ZERO_BITS:
        assert found[f"zero_{zero_bits}"] == ("Real32Trunc", 32 - zero_bits)
    assert found["list"] == ("Real32Trunc", 20)
    assert found["double"] == (f"{split}Real32", 32)
    assert found["double_16"] == ("Real32Trunc", 16)
    for name, wanted in (("full", "Real32"), ("last", "Real32"), ("double_last", "Real64"), ("double_nan", "Real64")):
        assert found[name] == (f"{split}{wanted}", int(wanted[-2:])), name
    # The report says what became narrower, and what did not.
    exact = report["tables"][0]["exact"]
    before = {name_of(column["field"]): column["before"] for column in exact["narrowed"]}
    assert before == {f"zero_{n}": 32 for n in ZERO_BITS} | {"list": 32, "double": 64, "double_16": 64}
    assert sorted(exact["full"]) == ["double_last", "double_nan", "full", "last"]
    assert any("in fewer bits" in note and "double_last" in note for note in report["notes"])

    values = expected(data)
    for name, read in root_bits.numbers(narrow, "t", list(data)).items():
        assert read.dtype == values[name].dtype, name
        assert bits(read) == bits(values[name]), name
    with uproot.open(narrow) as file:
        for name in data:
            read = ak.to_numpy(ak.flatten(file["t"][name].array(), axis=None))
            # uproot hands out floats where the file has floats.
            assert read.dtype == (np.float32 if name in ("double", "double_16") else values[name].dtype), name
            assert bits(read.astype(values[name].dtype)) == bits(values[name]), name
    assert basketry.run("verify", wide, narrow).code == 0


def test_verify_sees_a_single_bit(basketry: Basketry, tmp_path: Path) -> None:
    def written(name: str, values: npt.NDArray[np.float32], **layout: Any) -> Path:
        path = tmp_path / f"{name}.root"
        with bk.recreate(path, **layout) as file:
            file["t"] = {"x": values}
        return path

    ones = np.ones(100, dtype=np.float32)
    for name, first, other in (("zero", 0x00000000, 0x80000000), ("nan", 0x7FC00000, 0x7FC10000)):
        pair = [ones.copy(), ones.copy()]
        pair[0].view(np.uint32)[99], pair[1].view(np.uint32)[99] = first, other
        tree = written(f"{name}-tree", pair[0], container="ttree")
        wide = written(f"{name}-wide", pair[0], container="rntuple")
        same = written(f"{name}-same", pair[0], container="rntuple", encoding="truncated:16")
        differs = written(f"{name}-differs", pair[1], container="rntuple", encoding="truncated:16")
        for against in (tree, wide):
            assert basketry.run("verify", against, same).code == 0
            assert basketry.run("verify", against, differs).code == 1


def test_files_of_a_data_set_can_have_the_same_bits(basketry: Basketry, tmp_path: Path) -> None:
    for number, zero_bits in enumerate((20, 12)):
        with bk.recreate(tmp_path / f"{number}.root", container="rntuple") as file:
            file["t"] = {"x": floats(500, zero_bits, number)}
        basketry("rewrite", tmp_path / f"{number}.root", "--encoding", "exact:16", "-o", tmp_path / f"e{number}.root")
    # One has fewer, and takes 16; the other needs more, and gets them.
    assert stored(basketry, tmp_path / "e0.root")["x"] == ("Real32Trunc", 16)
    assert stored(basketry, tmp_path / "e1.root")["x"] == ("Real32Trunc", 20)
    both = [tmp_path / "0.root", tmp_path / "1.root"]
    basketry("merge", *both, "--encoding", "exact", "-o", tmp_path / "merged.root")
    assert stored(basketry, tmp_path / "merged.root")["x"] == ("Real32Trunc", 20)
    assert basketry.run("verify", *both, tmp_path / "merged.root").code == 0


def test_only_selected_entries_count(basketry: Basketry, data: dict[str, Any], tmp_path: Path) -> None:
    wide, narrow = tmp_path / "wide.root", tmp_path / "narrow.root"
    with bk.recreate(wide, container="rntuple") as file:
        file["t"] = data
    basketry("rewrite", wide, "--entries", "0:2999", "--encoding", "exact", "-o", narrow)
    found = stored(basketry, narrow)
    assert found["last"] == ("Real32Trunc", 16)
    assert found["double_last"][1] == 32
    read = root_bits.numbers(narrow, "t", ["last"])["last"]
    assert bits(read) == bits(data["last"][:2999])


def test_columns_of_fewer_bits_stay_and_become_narrower(basketry: Basketry, tmp_path: Path) -> None:
    wide, half = tmp_path / "wide.root", tmp_path / "half.root"
    values = (np.arange(100) / 4).astype(np.float32)
    with bk.recreate(wide, container="rntuple") as file:
        file["t"] = {"x": values, "empty": ak.Array([np.zeros(0, dtype=np.float32)] * 100)}
    for encoding, before in (("truncated:30", 30), ("half", 16), ("quantized:20:0:100", 20)):
        basketry("rewrite", wide, "--encoding", encoding, "-o", half, "-f")
        assert stored(basketry, half)["x"][1] == before
        basketry("rewrite", half, "--encoding", "exact", "-o", tmp_path / "exact.root", "-f")
        found = stored(basketry, tmp_path / "exact.root")["x"]
        # What a quantised column holds stays there.
        assert found == (("Real32Quant", 20) if encoding.startswith("quantized") else ("Real32Trunc", 15))
        assert basketry.run("verify", half, tmp_path / "exact.root").code == 0
        again = tmp_path / "again.root"
        basketry("rewrite", tmp_path / "exact.root", "--encoding", "exact", "-o", again, "-f")
        assert stored(basketry, again)["x"] == found


def test_a_writer_that_is_filled_refuses_what_it_would_lose(tmp_path: Path) -> None:
    path = tmp_path / "filled.root"

    def fill(encoding: str, *batches: npt.NDArray[np.float32]) -> None:
        with bk.recreate(path, container="rntuple", encoding=encoding) as file:
            table = file.mkrntuple("t", {"x": batches[0]})
            for more in batches[1:]:
                table.extend({"x": more})

    with pytest.raises(ValueError, match="exact:BITS"):
        fill("exact", np.ones(3, dtype=np.float32))
    assert not path.exists()
    with bk.recreate(path, container="rntuple", encoding="exact:16") as file:
        file["t"] = {"x": floats(100, 16, 1), "d": floats(100, 16, 2)[10:].astype(np.float64).repeat(2)[:100]}
    read = root_bits.numbers(path, "t", ["x"])["x"]
    assert bits(read) == bits(floats(100, 16, 1))
    path.unlink()
    with pytest.raises(ValueError, match="would change in a column of Real32Trunc with 16 bits"):
        fill("exact:16", floats(100, 16, 1), np.array([1.1], dtype=np.float32))
    assert not path.exists()


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Columns as in a NanoAOD: some of reduced precision, some not, and numbers that are never narrowed."""
    path = tmp_path_factory.mktemp("exact") / "events.root"
    random, n = np.random.default_rng(11), 5000
    counts = random.integers(0, 4, n)
    items = int(counts.sum())
    with bk.recreate(path, container="rntuple", compression="none") as file:
        file["Events"] = {
            **{f"x_{i}": floats(n, 13, i) for i in range(8)},
            "Jet_pt": ak.unflatten(floats(items, 15, 20), counts),
            "weight": floats(n, 0, 21),
            "time": no_nan(floats(n, 0, 22)),
            "run": np.full(n, 362_000, dtype=np.int32),
        }
    return path


def test_tune_finds_what_is_free_and_proves_it(events: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    report = basketry.json("tune", events, "--max-read-time", "100x", "-o", out)
    assert report["delivered"], report["verdict"]
    assert report["proof"]["equal"]
    measuring = report["measuring"]
    assert {"none exact", "lz4:1 exact"} <= {*measuring["codecs"], *measuring["dropped"]}
    # Which columns are better so is a matter of clocks; those that are have the layout, and keep every bit.
    exact = sum(group["columns"] for group in report["groups"] if group["to"].endswith("exact"))
    assert (exact > 0) == ('encoding = "exact"' in report["layout"])
    assert (exact > 0) == any(why.startswith("exact: ") for why in report["why"])
    found = stored(basketry, out)
    assert {found[f"x_{i}"][1] for i in range(8)} <= {19, 32}
    assert found["weight"][1] == found["run"][1] == 32
    with uproot.open(events) as file:
        values = {name: ak.to_numpy(ak.flatten(file["Events"][name].array(), axis=None)) for name in ("x_1", "Jet_pt")}
    for name, read in root_bits.numbers(out, "Events", list(values)).items():
        assert read.dtype == values[name].dtype
        assert bits(read) == bits(values[name]), name


def test_tune_leaves_it_where_it_is_not_wanted(events: Path, basketry: Basketry, tmp_path: Path) -> None:
    def tried(*words: str | Path) -> bool:
        measuring = basketry.json("tune", *words, "--max-read-time", "100x")["measuring"]
        return any(codec.endswith("exact") for codec in [*measuring["codecs"], *measuring["dropped"]])

    tree = tmp_path / "tree.root"
    basketry("rewrite", events, "--container", "ttree", "-o", tree)
    assert not tried(events, "--exact=false")
    assert not tried(tree)
    assert tried(tree, "--container", "rntuple")
