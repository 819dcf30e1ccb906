"""DataFrames and Series of pandas from arrays. What is not one value for each entry stays one column of awkward's type
where the package awkward-pandas is installed, as in uproot; else it becomes columns of numbers where it can, or one
of objects."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    #: An array as NumPy's, and a function that makes awkward's of it.
    Column = tuple[Any, Callable[[], Any]]


def frame(columns: Mapping[str, Any], index: Any, length: int) -> Any:
    """A DataFrame of `length` rows. `columns` are arrays of awkward, or of NumPy where nothing needs awkward; `index`
    is a list of entry numbers, or the first of consecutive ones."""
    import pandas as pd

    flat: dict[str, Any] = {}
    for name, array in columns.items():
        for path, column in _columns(name, array):
            if path in flat:
                raise ValueError(f"two columns of the DataFrame would be named {path!r}: read them one by one")
            flat[path] = column
    try:
        return pd.DataFrame(flat, index=_index(index, length))
    except (TypeError, ValueError):
        for path, column in flat.items():
            _series(path, column, index, length)
        raise


def single(name: str, array: Any, index: Any, length: int) -> Any:
    """A Series of one array; a DataFrame, if it becomes several columns: `[0]`, `[1]` of a fixed-size array, the names
    of the members of a record."""
    columns = list(_columns("", array))
    if len(columns) == 1 and not columns[0][0]:
        return _series(name, columns[0][1], index, length)
    return frame({path.removeprefix("."): column for path, column in columns}, index, length)


def wants_awkward() -> bool:
    """Whether columns that are not one value for each entry are awkward's."""
    return _extension() is not None


@functools.cache
def _extension() -> Any:
    """The type of awkward's columns; None without the package."""
    if importlib.util.find_spec("awkward_pandas") is None:
        return None
    return importlib.import_module("awkward_pandas").AwkwardExtensionArray


def _columns(name: str, array: Any) -> Iterator[tuple[str, Any]]:
    """The columns that an array becomes."""
    import numpy as np

    if not isinstance(array, np.ndarray):
        yield name, _extension()(array)
    elif array.ndim > 1:
        for at in itertools.product(*map(range, array.shape[1:])):
            place: Any = (slice(None), *at)
            yield from _columns(f"{name}{''.join(f'[{one}]' for one in at)}", array[place])
    elif array.dtype.names is not None:
        for part in array.dtype.names:
            yield from _columns(f"{name}.{part}", array[part])
    else:
        yield name, array


def _series(name: str, column: Any, index: Any, length: int) -> Any:
    import pandas as pd

    try:
        return pd.Series(column, index=_index(index, length), name=name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} cannot be pandas's: {error}") from error


def _index(index: Any, length: int) -> Any:
    import numpy as np
    import pandas as pd

    return pd.RangeIndex(index, index + length) if isinstance(index, int) else np.asarray(index, np.int64)
