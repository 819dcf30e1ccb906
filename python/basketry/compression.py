"""Codecs with their levels, as objects: `ZLIB(1)`, `LZMA(8)`, `LZ4(4)`, `ZSTD(5)`. Every option
`compression` takes them, beside "zlib:1"."""

from __future__ import annotations

from typing import Any


class Codec:
    """A codec and its level."""

    #: ROOT's number of the codec, and the name in a layout.
    number: int
    name: str

    def __init__(self, level: int) -> None:
        if not 0 <= int(level) <= 9:
            raise ValueError(f"a level is a number from 0 to 9, not {level}")
        self.level = int(level)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.level})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codec) and (self.number, self.level) == (other.number, other.level)

    def __hash__(self) -> int:
        return hash((self.number, self.level))

    @property
    def code(self) -> int:
        """ROOT's number for both."""
        return self.number * 100 + self.level

    @property
    def code_pair(self) -> tuple[int, int]:
        """ROOT's number of the codec, and the level."""
        return self.number, self.level

    @staticmethod
    def from_code(code: int) -> Codec | None:
        """The codec of ROOT's number for both; None where nothing is compressed."""
        return of_code(code)

    @staticmethod
    def from_code_pair(number: int, level: int) -> Codec | None:
        """The codec of ROOT's number for it, and the level."""
        return of_code(100 * number + level)


class ZLIB(Codec):
    """zlib."""

    number, name = 1, "zlib"


class LZMA(Codec):
    """LZMA (xz)."""

    number, name = 2, "lzma"


class LZ4(Codec):
    """LZ4."""

    number, name = 4, "lz4"


class ZSTD(Codec):
    """Zstandard."""

    number, name = 5, "zstd"


def of_code(code: int) -> Codec | None:
    """The codec of ROOT's number; None where nothing is compressed."""
    number, level = divmod(max(code, 0), 100)
    kinds: dict[int, type[Codec]] = {0: ZLIB, 1: ZLIB, 2: LZMA, 4: LZ4, 5: ZSTD}
    return kinds[number](min(level, 9)) if level and number in kinds else None


def of_setting(value: int | str) -> Codec | None:
    """The codec that a layout names, by number or as "zstd:5"; None where nothing is compressed."""
    if isinstance(value, int):
        return of_code(value)
    name, _, level = value.partition(":")
    kinds: dict[str, type[Codec]] = {kind.name: kind for kind in (ZLIB, LZMA, LZ4, ZSTD)}
    return kinds[name](int(level or 1)) if name in kinds else None


#: uproot's name of the class.
Compression = Codec


def setting(compression: Any) -> Any:
    """A compression as a layout has it: None is "none", as in uproot."""
    if compression is None:
        return "none"
    return getattr(compression, "code", compression)
