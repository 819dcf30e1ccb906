"""Codecs with their levels, as objects: `ZLIB(1)`, `LZMA(8)`, `LZ4(4)`, `ZSTD(5)`. New files and their tables take
them as `compression`, beside "zlib:1"; options of verbs take texts, or ROOT's number (`ZSTD(5).code`)."""

from __future__ import annotations

from typing import Any

from . import _core

_CODECS = {name: (number, highest) for name, number, highest in _core.codecs()}


class Codec:
    """A codec and its level."""

    #: ROOT's number of the codec, the name in a layout, and the highest level.
    number: int
    name: str
    max_level: int

    def __init_subclass__(cls) -> None:
        cls.name = cls.__name__.lower()
        cls.number, cls.max_level = _CODECS[cls.name]

    def __init__(self, level: int) -> None:
        if not 0 <= int(level) <= self.max_level:
            raise ValueError(f"a level of {self.name} is a number from 0 to {self.max_level}, not {level}")
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


class LZMA(Codec):
    """LZMA (xz)."""


class LZ4(Codec):
    """LZ4."""


class ZSTD(Codec):
    """Zstandard."""


_KINDS: dict[str, type[Codec]] = {kind.name: kind for kind in (ZLIB, LZMA, LZ4, ZSTD)}


def _codec(found: tuple[str, int] | None) -> Codec | None:
    return None if found is None else _KINDS[found[0]](found[1])


def of_code(code: int) -> Codec | None:
    """The codec of ROOT's number; None where nothing is compressed."""
    return _codec(_core.codec_of_number(code))


def of_setting(value: int | str) -> Codec | None:
    """The codec that a layout names, by number or as "zstd:5"; None where nothing is compressed."""
    return of_code(value) if isinstance(value, int) else _codec(_core.codec_of_text(value))


#: uproot's name of the class.
Compression = Codec


def setting(compression: Any) -> Any:
    """A compression as a layout has it: None is "none", as in uproot."""
    if compression is None:
        return "none"
    return getattr(compression, "code", compression)
