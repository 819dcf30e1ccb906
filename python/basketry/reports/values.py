"""Parts of the report of `inspect` that trees and RNTuples have in common."""

from dataclasses import dataclass

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sizes(Shown):
    """A size on disk and before compression."""

    bytes: int
    """Bytes on disk."""
    raw_bytes: int
    """Bytes before compression."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Memory(Shown):
    """Memory that jobs need for a tree's baskets or an RNTuple's pages, in bytes."""

    read_baskets: int
    """A reader of all branches or columns: the largest basket or page of each, unpacked."""
    read_compressed: int
    """The same baskets or pages on disk."""
    read_cache: int
    """A read cache that holds the largest cluster."""
    read: int
    """The three together."""
    write: int
    """A writer of all branches: the buffer of each. Of an RNTuple: the largest page of each column, and the largest
    cluster, which ROOT's writer keeps until it is complete."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Spread(Shown):
    """Least, mean, median and greatest of some sizes."""

    min: int
    """Least."""
    mean: int
    """Mean, rounded down."""
    median: int
    """Median."""
    max: int
    """Greatest."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadTime(Shown):
    """Seconds of one core that a reader of all branches or fields needs, without storage: estimates from fixed
    speeds."""

    open: float
    """To read the tree's own record, or header, footer and page lists of an RNTuple."""
    decompress: float
    """To decompress."""
    decode: float
    """To decode."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trial(Shown):
    """A codec that was tried on a sample of a tree's baskets, or of an RNTuple's pages."""

    compression: str
    """The codec and its level."""
    size: float
    """Bytes of the sample in this codec over its bytes on disk."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Mixed(Shown):
    """A sample of baskets or pages, each in the codec that is quickest so that all together are no larger than
    today."""

    time: float
    """Seconds to decompress them over today's, estimated with fixed speeds."""
    size: float
    """Bytes over those on disk."""
