"""A dataset of pyarrow's over files: who scans it names the columns, and a condition, and gets no others. DuckDB asks
datasets in this way."""

from __future__ import annotations

from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset

from .._shared.names import missing
from ..reading.expressions import Expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .. import _core
    from .source import Source


class ArrowSource(pyarrow.dataset.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """The columns of a source, for what takes datasets."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._schema = pa.table(source.empty(source.names)).schema

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self._schema

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> ArrowScanner:
        """What reads these columns of the entries that pass a condition of pyarrow's. Other options of pyarrow's have
        no effect."""
        wanted = self._schema.names if columns is None else list(columns)
        for name in wanted:
            if name not in self._schema.names:
                raise missing("column", name, self._schema.names, "the dataset")
        return ArrowScanner(self._source, self._schema, wanted, filter)

    def __reduce__(self) -> Any:
        raise TypeError("a dataset of basketry's is for one process")


class ArrowScanner(pyarrow.dataset.Scanner):  # type: ignore[misc]  # pyarrow has no types
    """Reads columns of the entries that pass a condition, once for each reader."""

    def __init__(self, source: Source, schema: Any, wanted: Sequence[str], condition: Any) -> None:
        self._source = source
        self._schema = pa.schema([schema.field(name) for name in wanted])
        self._condition = condition
        self._needs = None if condition is None else needs(condition, schema) or schema.names[:1]

    @property
    def projected_schema(self) -> Any:
        """Names and types of the columns that it reads."""
        return self._schema

    @property
    def dataset_schema(self) -> Any:
        """The same: no others are known here."""
        return self._schema

    def to_reader(self) -> Any:
        """The batches, which are read as they are asked for."""
        return pa.RecordBatchReader.from_batches(self._schema, self.to_batches())

    def to_batches(self) -> Iterator[Any]:
        """The batches."""
        frames = self._source.frames(Arrow(self._condition, self._needs or []), self._schema.names, needs=self._needs)
        for table in frames:
            # The first batch says that columns were found to be bytes, which a fixed schema cannot.
            yield from table.cast(self._schema).to_batches() if table.schema != self._schema else table.to_batches()

    def to_table(self) -> Any:
        """All batches as one table."""
        return self.to_reader().read_all()


def needs(condition: Any, schema: Any) -> list[str]:
    """The columns that a condition of pyarrow's needs: without one of them it cannot be computed. pyarrow does not
    tell."""

    def works_with(names: Sequence[str]) -> bool:
        try:
            pa.schema([schema.field(name) for name in names]).empty_table().filter(condition)
        except pa.ArrowInvalid:
            return False
        return True

    def among(names: Sequence[str], others: Sequence[str]) -> list[str]:
        """Those of these names that are needed beside others."""
        if works_with(others):
            return []
        if len(names) == 1:
            return list(names)
        first, second = names[: len(names) // 2], names[len(names) // 2 :]
        return [*among(first, [*others, *second]), *among(second, [*others, *first])]

    # Nearly always the text of the condition has their names.
    text = str(condition)
    named = [name for name in schema.names if name in text]
    return among(named if works_with(named) else schema.names, [])


class Arrow:
    """Tables of pyarrow; see `source.Frames`."""

    def __init__(self, condition: Any, needs: Sequence[str]) -> None:
        self._condition = condition
        self._needs = needs

    def made(self, batch: _core.Batch) -> Any:
        return pa.table(batch)

    def counted(self, rows: int) -> Any:
        return pa.table({"none": pa.nulls(rows)}).select([])

    def kept(self, frame: Any) -> Any:
        import numpy as np

        numbered = frame.append_column("basketry:row", pa.array(np.arange(len(frame))))
        kept = np.zeros(len(frame), np.bool_)
        kept[numbered.filter(self._condition)["basketry:row"].to_numpy()] = True
        return kept

    def implied(self, column: Callable[[str], int | None]) -> str:
        # pyarrow does not tell what a condition has. Its text does, where names are such of Python's.
        if not all(part.isidentifier() and not iskeyword(part) for name in self._needs for part in name.split(".")):
            return ""
        try:
            return Expression(str(self._condition), lambda name: name in self._needs).implied(column)
        except SyntaxError:
            return ""

    def filtered(self, frame: Any, kept: Any) -> Any:
        return frame.filter(pa.array(kept))

    def joined(self, frames: Sequence[Any], wanted: Sequence[str]) -> Any:
        found = {name: table[name] for table in frames for name in table.column_names}
        return pa.table({name: found[name] for name in wanted})
