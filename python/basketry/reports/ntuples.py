"""RNTuples in the report of `inspect`; see docs/inspect-schema.md."""

from dataclasses import dataclass
from typing import Literal

from .shown import Shown
from .values import Memory, Mixed, ReadTime, Sizes, Spread, Trial


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttributeSetReport(Shown):
    """A linked attribute set: an RNTuple with data about ranges of entries."""

    name: str
    """Its name."""
    schema_version: str
    """The version of its schema: `1.0`."""
    entries: int | None = None
    """Its entries; absent where it could not be read."""
    top_fields: int | None = None
    """Its fields at the top; absent where it could not be read."""
    reason: str = ""
    """Why it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PageReport(Shown):
    """A page."""

    cluster: int
    """The number of its cluster."""
    elements: int
    """Elements in it."""
    bytes: int
    """Bytes on disk without the checksum."""
    seek: int | None = None
    """Offset in the file; absent for a page in other storage."""
    checksum: bool
    """Whether a checksum follows it."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnReport(Shown):
    """A column."""

    id: int
    """Its physical ID."""
    type: str
    """Its type in the specification: `SplitReal32`."""
    bits: int
    """Bits of an element in a page."""
    range: tuple[float, float] | None = None
    """The least and the greatest value of a quantised column."""
    representation: int
    """Which of its field's representations it belongs to, from 0."""
    in_extension: bool = False
    """Whether it was added while the RNTuple was written."""
    first_element: int | None = None
    """For a deferred column: the index of its first stored element. Elements before it are zero."""
    suppressed_clusters: int = 0
    """Clusters in which another representation of the field has the data."""
    absent_clusters: int = 0
    """Clusters from before the column was added."""
    compression: dict[str, int]
    """ROOT's compression settings, with the number of pages that were written under each."""
    elements: int
    """Stored elements."""
    pages: int
    """Pages."""
    shared_pages: int = 0
    """Pages that have the same bytes in the file as a page before them."""
    checked_pages: int
    """Pages that a checksum follows."""
    tot_bytes: int
    """Bytes before compression, each range of bytes once."""
    zip_bytes: int
    """Bytes on disk without checksums, each range of bytes once."""
    disk: Spread | None
    """Least, mean, median and greatest page on disk."""
    raw: Spread | None
    """The same before compression."""
    codecs: dict[str, int]
    """Pages by codec; `none` for a page that is not compressed."""
    page_list: tuple[PageReport, ...] | None = None
    """Every page, if requested."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FieldReport(Shown):
    """A field."""

    id: int
    """Its ID."""
    path: str
    """Names from the top, joined by dots."""
    type: str
    """C++ type; empty for untyped records and collections."""
    type_alias: str = ""
    """The name of the type in the source code, if it is another one."""
    description: str = ""
    """Description."""
    role: Literal["leaf", "collection", "record", "variant", "streamer", "unknown"]
    """Structural role. "leaf": A value of its own, or a wrapper around its only subfield. "collection": any number of
    values of its subfield. "record": one value of each subfield. "variant": one value of one of its subfields.
    "streamer": an object as ROOT's streamer writes it. "unknown": A role that the specification does not define."""
    array_size: int | None = None
    """Length of a fixed-size array or a bitset."""
    source: str | None = None
    """For a projected field: the path of the field that it shows."""
    soa: bool = False
    """Whether the class is a struct of arrays."""
    in_extension: bool = False
    """Whether it was added while the RNTuple was written."""
    decoded: Literal["numbers", "lists", "objects", "bytes"] | None = None
    """For a field at the top: its values after decoding. "numbers": numbers, a fixed count in each entry. "lists":
    lists of numbers, or texts. "objects": objects, or lists of anything else: each is decoded by itself. "bytes":
    bytes: it cannot be decoded."""
    opaque: str | None = None
    """For a field at the top: why it cannot be decoded."""
    tot_bytes: int
    """Bytes of its own columns before compression."""
    zip_bytes: int
    """Bytes of its own columns on disk."""
    share: float
    """The share of its own columns of the RNTuple's bytes on disk, 0 to 1."""
    with_subfields: Sizes
    """Bytes of its columns and of those below it."""
    elements: int
    """Elements of its first column, over all representations: for a field outside of collections, one for each
    entry."""
    pages: int
    """Pages of its own columns."""
    columns: tuple[ColumnReport, ...]
    """Its columns: of all representations, those of representation 0 first."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NtupleReport(Shown):
    """An RNTuple."""

    path: str
    """Path of its key in the file."""
    cycle: int
    """Cycle of its key."""
    newest: bool
    """Whether no key of this path has a higher cycle."""
    name: str
    """Name, which may differ from the key's."""
    description: str
    """Description."""
    writer: str
    """The program that wrote it."""
    format: str
    """The format's version in the anchor: `1.0.1.0`."""
    features: tuple[int, ...]
    """The numbers of the feature flags that are set."""
    entries: int
    """Entries."""
    top_fields: int
    """Fields at the top."""
    columns: int
    """Columns in the file."""
    projected_fields: int
    """Fields that show the columns of others."""
    streamer_fields: int
    """Fields with objects as ROOT's streamer writes them."""
    alternative_fields: int
    """Fields with several representations."""
    extension_fields: int
    """Fields that were added while the RNTuple was written."""
    extension_columns: int
    """Columns that were added while the RNTuple was written."""
    tot_bytes: int
    """Bytes of all pages before compression, each range of bytes once."""
    zip_bytes: int
    """Bytes of all pages on disk without their checksums, each range of bytes once."""
    pages: int
    """Pages in the page lists."""
    shared_pages: int
    """Pages that have the same bytes in the file as a page before them."""
    pages_elsewhere: int = 0
    """Pages in storage other than the file, which are not in the sizes."""
    checked_pages: int
    """Pages that a checksum follows."""
    checksums: Literal["all", "some", "none"]
    """Whether pages have checksums. "all": all pages. "some": some pages. "none": no page."""
    codecs: dict[str, int]
    """Pages by codec; `none` for a page that is not compressed."""
    metadata: Sizes
    """The metadata: anchor, header, footer and page lists."""
    header: Sizes
    """The header."""
    footer: Sizes
    """The footer."""
    page_lists: Sizes
    """All page lists."""
    cluster_groups: int
    """Groups of clusters: each has a page list of its own."""
    cluster_count: int
    """Clusters."""
    clusters: tuple[int, ...]
    """First entry of each cluster."""
    clusters_cut: bool = False
    """Whether `clusters` ends before the RNTuple does, because there are too many clusters."""
    largest_cluster: int
    """Compressed bytes of the largest cluster."""
    trials: tuple[Trial, ...] = ()
    """Other codecs on a sample of the pages; absent where not tried."""
    mixed: Mixed | None = None
    """The best of these codecs for each page of the sample, in no more bytes; absent where not tried."""
    memory: Memory
    """Memory that readers and writers need."""
    read_time: ReadTime
    """Time that a reader of everything needs, about."""
    attribute_sets: tuple[AttributeSetReport, ...]
    """Linked attribute sets."""
    fields: tuple[FieldReport, ...]
    """Fields, depth first."""
