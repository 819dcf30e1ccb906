"""The options of verbs as types, for all functions that hand them on: of the verbs, of `plan` and of
`basketry.distributed`. Made of the command's own options by tools/option_types.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import SupportsInt, TypeAlias

    from ..reports.tuning import Tuning

    #: FILE, FILE:TREE or @list.txt; a path on this machine or a URL.
    Place: TypeAlias = str | os.PathLike[str]
    Places: TypeAlias = Place | Iterable[Place]
    #: Bytes, or a text such as "30MB"; of a cluster also a number of entries.
    Size: TypeAlias = int | str
    #: Bytes or seconds, or a multiple of the input's, such as "1.05x".
    Limit: TypeAlias = float | str
    #: A TOML file, its text, or a value of `layout()`.
    Layout: TypeAlias = Place | Mapping[str, object]
    #: Keys of a layout by pattern.
    Rules: TypeAlias = Mapping[str, Mapping[str, object]]
    Names: TypeAlias = str | Iterable[str]
    #: Columns that are defined, as texts such as "ht=sum(Jet_pt)", or their expressions by their names.
    Defines: TypeAlias = Names | Mapping[str, str]
    #: An event, as its values or as "1:24:30017", or a file of events; several.
    Events: TypeAlias = Place | Iterable[Place | Sequence[object] | SupportsInt]
    Values: TypeAlias = object | Iterable[object]


class Limits(TypedDict, total=False):
    """Limits of the work."""

    threads: int
    """Threads to use; 0 means all cores."""
    memory: Size | None
    """Maximum memory of the work, such as 512MB."""


class Shape(TypedDict, total=False):
    """The keys of a layout, all but the compression."""

    container: str | None
    """Write tables as ttree or rntuple, whatever they are in the input."""
    cluster: Size | None
    """Size of a cluster: compressed bytes (30MB) or entries (1000)."""
    unzipped_cluster: Size | None
    """Most bytes of a cluster of an RNTuple before compression."""
    basket: Size | None
    """Buffer size at which a basket is closed, as in ROOT; in an RNTuple the largest size of a page."""
    basket_memory: Size | None
    """Memory that the baskets of all branches share (ROOT's OptimizeBaskets)."""
    one_basket_per_cluster: bool | None
    """Write one basket for each branch in each cluster, of any size."""
    memory_ratio: float | None
    """Record buffer sizes as this multiple of the largest basket, such as 1.1."""
    split_level: int | None
    """Split objects into branches: 0 not at all, 1 into their members, 99 as deeply as ROOT does."""
    streaming: str | None
    """Streaming of unsplit collections: member-wise or object-wise."""
    encoding: str | None
    """Encoding of the columns of RNTuples: plain, split, and for floats half (16 bits), single (32), double (64, where
    the field is one), mantissa:BITS (rounded where they are), truncated:BITS or quantized:BITS:LEAST:MOST. In trees
    mantissa and truncated round numbers where they are; half, single and quantized make Float16_t and Double32_t of
    branches of one leaf. `tolerance` of `verify` proves the error. With exact a rewrite of an RNTuple takes the fewest
    bits that keep every value, at least BITS with exact:BITS."""
    page_checksums: bool | None
    """Write a checksum behind each page of an RNTuple."""
    share_pages: bool | None
    """Store pages of a cluster of an RNTuple that have the same bytes once."""
    cluster_group: int | None
    """Clusters of an RNTuple in a cluster group, which has one page list. Default: as many as a list of 8 MiB
    describes."""
    tree_set: Rules
    """Settings for matching trees, such as `{"Meta*": {"basket": "1kB"}}`."""
    column_set: Rules
    """Settings for matching branches, such as `{"Mu*": {"compression": "lz4:4"}}`. The last match wins."""


class Selection(TypedDict, total=False):
    """Branches and entries to keep."""

    keep: Names
    """Keep only branches that match a glob or /regex/, with the branches below them and their counters."""
    drop: Names
    """Drop branches that match a glob or /regex/."""
    first: int | None
    """First entry to keep, of all trees."""
    last: int | None
    """Last entry to keep, of all trees."""
    entries: Names | os.PathLike[str] | None
    """Keep only these entries: ranges as in Python (100:200, or :10,-10:), a random share (1%), or entries listed in a
    file. They apply to all trees, or to trees that match a pattern (Events=100:200). Several inputs count as one."""
    cut: Names
    """Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'. Several cuts are
    applied one after the other, and the cut flow tells what each leaves. Of several trees those without the columns of
    a cut are taken whole."""
    weight: str | None
    """Sum this expression, such as the column genWeight, over the entries before and after each cut."""
    define: Defines | None
    """Add a column with the values of an expression, such as ht='sum(Jet_pt)'. Later ones and cuts may name it."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Copying(Shape, Selection, total=False):
    """Options of `rewrite`, without the limits of the work."""

    skip_bad: bool
    """Leave out damaged or unreadable inputs; of a single input, leave out damaged objects and directories. All are
    listed."""
    force: bool
    """Replace an existing output."""
    widen: bool
    """Join leaves of trees whose numbers have other types in some inputs (Int_t with Short_t, Long64_t with Long_t,
    Float_t with Double_t) in the smallest type that holds all of them without a loss; notes name them. Without this
    option, and where no type holds all (Long64_t with ULong64_t or Float_t), such inputs are refused. Not for RNTuples
    and classes."""
    skip_absent: bool
    """Leave out branches whose baskets are in a missing file, with a note, instead of stopping."""
    build_index: str | None
    """Give trees that have these columns an index (TTreeIndex) of one or two expressions, as BuildIndex makes it, in
    place of their own: ROOT then finds entries by their values, and friends by them. Columns, or sums and products of
    columns."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""
    all_cycles: bool
    """Keep older cycles too (`t;1` beside `t;2`). Cycles of several inputs are merged newest with newest, second newest
    with second newest; `first`, `last`, `entries` and `cut` select entries of the newest only. An earlier save of a
    tree then takes space of its own. Default: only the newest cycle of each tree and merged object is kept, and notes
    name the older cycles."""
    check: bool
    """Decompress copied baskets and pages as well, to check that they can be read. Without this option only the header
    of a copied basket is checked against the tree. Of an RNTuple the ends of collections and the tags of variants are
    followed in any case, and checksums of pages are compared; other pages that are copied are not decompressed."""
    strict: bool
    """Write nothing if something of the inputs would be lost, and say what: objects that are not merged, and what the
    output has no place for when a tree becomes an RNTuple or an RNTuple a tree. Without this option notes name each
    loss."""
    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    compression: int | str | None
    """Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505)."""


class Making(Copying, Limits, total=False):
    """Options of `rewrite`; `merge` has them, too."""


class Joining(Copying, total=False):
    """Options of `merge`, without the limits of the work."""

    common: bool
    """Keep only branches that all inputs have."""
    fill: bool
    """Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input lacks."""
    drop_index: bool
    """Leave out the index (BuildIndex) of a tree where not all inputs have one. Without this option it is made for the
    others, from the columns that it names; where that cannot be done it is left out, with a note."""
    unique: Names
    """Keep each key once: columns, or expressions, with commas between them. Of entries with the same key the first is
    kept, in the order of the inputs; the others are reported. Trees without these columns are taken whole."""
    on_duplicate: str
    """What becomes of entries with the key of an earlier one: they are left out (drop), or nothing is written
    (refuse)."""
    by: Names
    """Merge inputs whose entries are sorted by this key into one that is, in one pass: columns, or expressions, with
    commas between them, and a minus before one that descends. Of equal keys the entries of the first input come first.
    If an input is not sorted, a note says where, and entries wait in a temporary file, as in `sort`. Trees without
    these columns are joined one after the other."""
    pack: Size | None
    """Combine neighbouring clusters up to this size; 0B keeps all clusters. Default: the target size of the first input
    (its AutoFlush), usually 30MB."""
    append: bool
    """Add the inputs to the output, which may be there already and is updated in place: its baskets and pages stay
    where they are, and new ones follow. It is the old file or the new one at any moment, and keeps its layout. An
    output that is not there is made."""
    replace: Names
    """Remove this object or directory of the output before the inputs are added: what they have of that name takes its
    place."""


class Merging(Joining, Limits, total=False):
    """Options of `merge`."""


class Sorting(Making, total=False):
    """Options of `sort`."""

    by: Names
    """The key: columns, or expressions with one number for each entry, with commas between them; the first counts most.
    A minus before one lets it descend, as in -pt,event."""
    descending: bool
    """From the largest key to the least; a minus before a column then lets it ascend."""
    common: bool
    """Keep only branches that all inputs have."""
    fill: bool
    """Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input lacks."""


class Verifying(Selection, Limits, total=False):
    """Options of `verify`."""

    tree: str | None
    """Compare only this tree, by its path."""
    by: Names
    """Compare each entry with that of the same key, whatever their order: columns, or expressions, with commas between
    them. Of entries with equal keys the first is compared with the first, the second with the second. Keys that one
    side lacks are differences."""
    common: bool
    """Compare only trees, branches and objects that both sides have."""
    fill: bool
    """Expect defaults for branches that an input lacks (`fill` of `merge`)."""
    widen: bool
    """Expect numbers of other types in the smallest type that holds all (`widen` of `merge`)."""
    tolerance: float | Names | None
    """Let floating-point numbers differ by at most this: a number, or a share of the larger one such as 0.1%. With
    COLUMN= it is for columns that match; the last one that matches counts. Proves rounded, truncated, quantized and
    narrowed columns; the largest error of each column is reported."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""


class Recovering(Limits, total=False):
    """Options of `recover`."""

    like: Place | None
    """A file of the same job: trees without a saved record take their branches from it."""
    force: bool
    """Replace an existing output."""


class Converting(Shape, Limits, total=False):
    """Options of `convert`."""

    force: bool
    """Replace an existing output."""
    tree: str | None
    """Name of the tree to write. Default: the tree that the Parquet file was made from, or Events."""
    fill_null: float | None
    """Value for missing numbers; missing texts and lists become empty."""
    build_index: str | None
    """Give the tree an index (TTreeIndex) of one or two columns, or sums and products of columns, as BuildIndex makes
    it: ROOT then finds entries by their values, and friends by them."""
    row_group: Size | None
    """Size of a row group: entries (100000) or bytes before compression (64MB). Default: one cluster."""
    compression: int | str | None
    """Codec and level. Trees: as for rewrite. Parquet: none, snappy, lz4, zlib:6, zstd:3, with the levels of the
    codec."""
    keep: Names
    """Convert only columns that match a glob or /regex/. A branch includes the branches below it."""
    drop: Names
    """Leave out columns that match a glob or /regex/."""
    entries: str | os.PathLike[str] | None
    """Convert only these entries: a random share (1%), a range (100:200), or entries listed in a file."""
    seed: int
    """Seed of a random share."""
    cut: Names
    """Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'. Several cuts are
    applied one after the other, and the cut flow tells what each leaves. Of several trees those without the columns of
    a cut are taken whole."""
    weight: str | None
    """Sum this expression, such as the column genWeight, over the entries before and after each cut."""
    define: Defines | None
    """Add a column with the values of an expression, such as ht='sum(Jet_pt)'. Later ones and cuts may name it."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""
    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Generating(Shape, Limits, total=False):
    """Options of `generate`."""

    force: bool
    """Replace an existing output."""
    size: Size | None
    """Bytes of payload."""
    seed: int
    """Seed of the numbers."""
    branches: int
    """Branches of `multi`."""
    events: int
    """Events in an entry of each branch of `multi`."""
    outputs: int
    """Number of files to write at once, each with the whole data set: OUT, OUT-1, OUT-2 and so on. They share memory
    and threads."""
    rate: Size | None
    """Make at most SIZE of payload a second, like a job that computes its events: for files to watch and to read while
    they grow."""
    autoflush: str | None
    """End a cluster after this share of the entries (1%). For sizes and numbers of entries see `cluster`."""
    autosave: Size | None
    """Save the metadata of the trees after each SIZE: bytes (300MB), entries (1000) or a share of the entries (10%)."""
    arrival: bool
    """Write clusters in the order in which they are finished. The order of entries then depends on timing."""
    no_write: bool
    """Make the output, but do not write it."""
    no_fill: bool
    """Make the numbers, but do not fill them."""
    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    compression: int | str | None
    """Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505)."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Deciding(TypedDict, total=False):
    """Options of `tune`, without the output and the limits of the work."""

    keep: Names
    """Keep only branches that match a glob or /regex/, in the measured file and in the output."""
    drop: Names
    """Drop branches that match a glob or /regex/."""
    force: bool
    """Replace an existing output."""
    layout_out: Place | None
    """Write the chosen layout to this file, for `layout` of `rewrite`."""
    page: Place | None
    """Also write a page with the choices, figures before and after and the reasons, in one HTML file that needs no
    network."""
    workload: str
    """How the file will be read: full, sparse:1%, columns:GLOB,..., cut:3%,GLOB,... (the columns of a cut, and of the
    others what passes), or a mix such as full=0.3,columns:Muon_*=0.7."""
    cut: Names
    """The workload reads the entries that pass this condition: the columns of the condition, and of the columns of the
    workload the share that passes, which is counted in the file. Several conditions must all be true."""
    define: Defines | None
    """Give the values of an expression a name, such as ht='sum(Jet_pt)', which later ones, cuts and other expressions
    may use."""
    goal: str
    """What to minimise: balanced (the price of the file's life; see `price`), reading (the time to read the workload),
    or size. Where reading is not the goal, codecs that take long to write are tried, too."""
    choose: int | str | None
    """Take this choice of the report: smallest, balanced, fastest, today, best-tree, best-rntuple, or its number. The
    smallest and the fastest may read slower than today if `max_read_time` does not say otherwise; none is larger than
    `max_size`. For the smallest LZMA is tried, too. Default: the best by the goal."""
    price: bool | Place | Mapping[str, object] | None
    """Count money: what a file costs over its life on disk, on tape, over the network, and in CPU time, by the default
    prices or by those of a TOML file with what differs from them (docs/howto/cost.md). Give it behind the inputs."""
    again: Place | Tuning | None
    """Choose again, by other prices, limits, or a name, among the choices of a saved report (`json` of `tune`), without
    measuring. With an output the file of the report is rewritten, or the FILE that is given."""
    max_size: Limit | None
    """Maximum size of the file: a size, or a multiple of today's such as 1.05x. Default: 1x."""
    max_read_memory: Limit | None
    """Maximum memory of a reader of all columns: its largest baskets and one cluster. Default: 256MB, or 1.5x today's
    if that is more."""
    max_write_time: Limit | None
    """Maximum CPU time of compression: 90s, 5min, or a multiple of the time with today's codec, such as 2x."""
    max_read_time: Limit | None
    """Maximum time to read the workload: 90s, 5min, or a multiple of today's, such as 0.8x. Default: 1x, of the
    expected time and of the measured time in the proof; with `goal` reading of the measured time alone; none for a
    choice by `choose`."""
    min_clusters: int | None
    """Minimum number of clusters of the largest table, for threads and jobs that share it. Default: 1; of a table of
    more than 30 MB one for each 30 MB, up to 8; and never more than today, if it has fewer."""
    reader: str | os.PathLike[str]
    """The program that will read the file: basketry, root, uproot, or a profile (FILE.toml) of another program's
    reading costs. Expected times are for this reader; if it is installed, it reads input and output in the proof."""
    recode: bool
    """Also try columns of objects split (level 99) and unsplit (member-wise). Without this option their branches stay
    as they are: programs that read members by branch names find them only where they are split."""
    exact: bool
    """Let floating-point numbers in an RNTuple have the fewest bits that keep every value, where this is better: floats
    whose last bits are all zero, doubles that are floats. With an output all values are looked at before they are
    written."""
    container: str | None
    """The container of the output: ttree, rntuple, or any for the better of both. Without this option it is that of the
    input. The report has the best tree and the best RNTuple side by side. To measure the other container, the input is
    converted into a temporary file (of a large file with one table about 64 MB of it)."""
    seed: int
    """Seed of the samples: the same seed samples the same baskets."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Tuned(Deciding, Limits, total=False):
    """Options of `tune`, without the output."""


class Reducing(Limits, total=False):
    """Options of `precision`."""

    max_error: float | Names | None
    """The largest relative error: a share of each number, such as 1e-3 or 0.1%. With COLUMN= it is for columns that
    match; the last one that matches counts. Limits for columns by name replace those for all, of `max_abs` as well.
    Default: 0.1%, if there is no other limit."""
    max_abs: float | Names | None
    """The largest absolute error, such as 0.001; with COLUMN= as in `max_error`. Where both are given, both must be
    kept."""
    columns: Names
    """Look only at these columns: names, globs or /regex/."""
    layout_out: Place | None
    """Write the layout with the proposed encodings to this file, for `layout` of `rewrite`."""
    report: Place | None
    """Also write a page with charts and tables, in one HTML file that needs no network."""
    force: bool
    """Replace existing files."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""


class Measuring(TypedDict, total=False):
    """Options of `readspeed`."""

    trees: Names
    """The tree in all files, or the tree in each."""
    branches: Names
    """Read these branches, with the branches below them: names, globs or /regex/. Branches of a friend are
    friend.branch."""
    branches_regex: Names
    """Read branches whose whole name matches a regular expression."""
    entries: str | os.PathLike[str] | None
    """Read only these entries: a random share (1%), ranges as in Python (100:200, or :10,-10:), or entries listed in a
    file."""
    cut: Names
    """Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'. Several cuts are
    applied one after the other, and the cut flow tells what each leaves. Of several trees those without the columns of
    a cut are taken whole."""
    weight: str | None
    """Sum this expression, such as the column genWeight, over the entries before and after each cut."""
    define: Defines | None
    """Give the values of an expression a name, such as ht='sum(Jet_pt)', which later ones, cuts and other expressions
    may use."""
    repeat: int
    """Number of readings; the report shows the median."""
    cold: bool
    """Drop the files from the page cache before each reading, and report the share that was really dropped."""
    throttle: Size | None
    """Simulate slow storage: at most this many bytes a second, over all files, and a wait for the first byte of each
    request."""
    application: float | None
    """Seconds that your own job takes for the same data."""
    layouts: bool
    """Forecast other layouts, from samples of at most five files: each codec, and the choice of tune."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""
    seed: int
    """Seed of a random share."""
    threads: int | str
    """Threads to use, at most the number of processors; 0 means all. Default: 1, as in rootreadspeed. Several numbers
    (1,2,4 or 1..8) are compared: the speed-up of reading beside that of a loop that only computes, which shows how many
    cores the threads really have. All other figures are those of the largest number."""
    page: Place | None
    """With several numbers of threads: also write a page with their curves, in one HTML file that needs no network."""
    force: bool
    """Replace an existing page."""
    memory: Size | None
    """Maximum memory of the work, such as 512MB."""


class Checking(Limits, total=False):
    """Options of `check`."""

    deep: bool
    """Decompress every basket, page and object."""
    keys: Names
    """Look for entries with the same key: columns, or expressions, with commas between them. The whole numbers, truth
    values and floats of a key take 128 bits at most."""
    skip_bad: bool
    """With `keys`, leave out whole files that lack the table or the columns of the key. They are listed."""


class Surveying(Limits, total=False):
    """Options of `fileset`, without the output."""

    force: bool
    """Replace an existing output."""
    tree: str | None
    """The tree or RNTuple in all files, by its path. Default: the only one, or Events."""
    dataset: str
    """The name of the data set of all files that name none."""
    step_size: int
    """The fewest entries of a step, except for the last one of a file."""
    split_clusters: bool
    """Make steps of nearly the same size, which may end within clusters."""
    skip_bad: bool
    """Leave out files that cannot be read. They are listed."""


class Indexing(Limits, total=False):
    """Options of `index`, without the output."""

    key: Names
    """The key: columns, or expressions, with commas between them. Whole numbers, truth values and floats, which take
    128 bits at most."""
    extend: bool
    """Add the files to the index that is there."""
    remove: bool
    """Take the files out of the index that is there. They need not exist any more."""
    force: bool
    """Replace an existing file."""
    skip_bad: bool
    """Leave out files that cannot be read, or lack the table or the columns of the key. They are listed."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""


class Picking(Shape, Limits, total=False):
    """Options of `pick`, without the output."""

    events: Events | None
    """The events: one such as 1:24:30017, or a file with a line for each. The values are those of the key in its order,
    with colons, commas or blanks between them; fewer values mean all events that begin with them. A JSON file is a mask
    of luminosity sections, such as {"1": [[10, 20]]}. FILE.root:LIST is a TEntryList, whose files are found among the
    inputs by their paths, or else by their names; or a TEventList, whose numbers go through all inputs."""
    key: Names
    """The key: columns, or expressions, with commas between them. Default: run,luminosityBlock,event, or the key of the
    index."""
    index: Place | None
    """Look the events up in this index."""
    order: str
    """The order of the picked entries: that of the files and their entries (files), or that of the events in the lists
    (asked). An event that is in the lists twice is written once."""
    cut: Names
    """Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'; of the events, if
    they are named."""
    skip_bad: bool
    """Leave out files that cannot be read, or lack the table or the columns. They are listed."""
    keep: Names
    """Keep only branches that match a glob or /regex/, with the branches below them and their counters."""
    drop: Names
    """Drop branches that match a glob or /regex/."""
    common: bool
    """Keep only branches that all inputs have."""
    fill: bool
    """Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input lacks."""
    widen: bool
    """Join leaves of trees whose numbers have other types in some inputs (Int_t with Short_t, Long64_t with Long_t,
    Float_t with Double_t) in the smallest type that holds all of them without a loss; notes name them. Without this
    option, and where no type holds all (Long64_t with ULong64_t or Float_t), such inputs are refused. Not for RNTuples
    and classes."""
    force: bool
    """Replace an existing output."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""
    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    compression: int | str | None
    """Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505)."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Pairing(Shape, Limits, total=False):
    """Options of `join`, without the output and the files on the right."""

    on: Names | Mapping[str, Names] | None
    """The key, which all files have: columns, or expressions, with commas between them; LEFT=RIGHT where the files on
    the right call one otherwise, as in run=Run,event, or LEFT=RIGHT=RIGHT with a name for each `with`."""
    how: str
    """Which entries are written: all on the left (left), or those with a partner in all other files (inner)."""
    suffix: Names
    """What is added to names of columns that are there already: once for all `with`, or once for each."""
    first: bool
    """Take the first of several entries with one key, in the order of the other files. Without this option they are an
    error."""
    friend: bool
    """Write the columns of the other files alone, entry by entry as the files on the left, for TTree::AddFriend."""
    from_key: str | None
    """Join only keys from this one on: its values with colons between them, such as 1:24:30017. Fewer values mean all
    that begin with them."""
    before_key: str | None
    """Join only keys before this one. A plan of several jobs cuts keys so."""
    keep: Names
    """Keep only branches that match a glob or /regex/, with the branches below them and their counters."""
    drop: Names
    """Drop branches that match a glob or /regex/."""
    common: bool
    """Keep only branches that all inputs have."""
    fill: bool
    """Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input lacks."""
    widen: bool
    """Join leaves of trees whose numbers have other types in some inputs (Int_t with Short_t, Long64_t with Long_t,
    Float_t with Double_t) in the smallest type that holds all of them without a loss; notes name them. Without this
    option, and where no type holds all (Long64_t with ULong64_t or Float_t), such inputs are refused. Not for RNTuples
    and classes."""
    force: bool
    """Replace an existing output."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""
    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    compression: int | str | None
    """Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505)."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Planning(TypedDict, total=False):
    """Options of `plan` itself, beside `force` and `skip_bad`."""

    target_size: Size | None
    """Merge inputs up to this size. Default: 2GB."""
    target_events: int | None
    """Merge inputs up to this number of entries of their largest tree. Of pick the events of a task (default 10000), of
    join the entries (default 10000000)."""
    name: str | None
    """Names of outputs: {stem} stands for the name of the input, and the letter n in braces for the number of the
    task."""
    files_per_task: int | None
    """Inputs of a task of check (default 100) or readspeed (default 1)."""
    sample: int | None
    """Inputs that tune measures. Default: 3."""
    submit: str | None
    """Also write a submit file beside the plan."""
    threads: int
    """Threads of each task."""
    memory: Size | None
    """Maximum memory of the work of each task, such as 512MB."""


class Trying(TypedDict, total=False):
    """Options of `sweep`, without the grid and the limits of the work."""

    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    streams: Values
    """Numbers of files to write at once, such as 1,2,5,10. The cost of one more is reported. The same as `grid`
    streams=..."""
    entries: int | None
    """Copy only the first N entries of the tree."""
    only: Values
    """Measure only these jobs: copy; read, which is all of the following; full, everything; columns, each column alone;
    sparse, picked entries; chosen, the columns of `columns`."""
    columns: Values
    """Read these columns as well, as a job of its own."""
    pick: float | str
    """Share of the entries to pick through an index file."""
    repeat: int
    """Repeats of each job."""
    seed: int
    """Seed for the order of jobs and for the picked entries."""
    cold: bool
    """Drop files from the page cache before each job. Default: files are read into the cache."""
    no_pin: bool
    """Let jobs use all processors instead of as many as they have threads."""
    halve: bool
    """From the second round on, drop points that cannot win any more, up to half in each round."""
    goal: Values
    """The figure to minimise: full, columns, sparse, chosen (reading), copy, memory (of copying) or size. Several
    figures have a decision each."""
    max_size: Limit | None
    """Maximum size of the file: 2GB, or 1.05x today's."""
    max_write_time: Limit | None
    """Maximum time of a copy: 90s, 5min, or 2x."""
    max_read_memory: Limit | None
    """Maximum memory of reading: 1GB, or 1.2x."""
    max_memory: Limit | None
    """Maximum memory of copying: 1GB, or 1.2x."""
    runner: str
    """The program that copies and reads: basketry, or root where it is installed."""
    command: str | None
    """Run this command at each point, and measure it, instead of copying: 'cmsRun cfg.py split={split-level}
    out={output}'. {NAME} is the value of a key of the grid; {output} the file to write, {input} FILE, {stream} the
    number of the stream from 0; {{ and }} are braces. Several streams run side by side, a process each. It is split
    into words as a shell does, but no shell runs it."""
    read_command: str | None
    """Read each output with this command, which has the same values, and measure that. Default: basketry reads the
    largest table of the output, as it reads copies."""
    time_limit: float | str | None
    """End a command after this time, such as 90s or 10min. The point has failed then, and others go on."""
    keep: bool
    """Keep the copies that are read."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""


class Sweeping(Trying, total=False):
    """Options of `sweep`, without the grid."""

    threads: Values
    """Threads of a job, such as 1,2. The same as `grid` threads=..."""
    memory: Size | None
    """Memory that each job may take."""


class AnyVerb(TypedDict, total=False):
    """Options of the verbs that `plan` and `distributed.map` hand on, without the limits of the work. A verb refuses
    those that it has not."""

    baskets: bool
    """List every basket, and every page of RNTuples."""
    no_trials: bool
    """Try nothing: neither the commands of findings, nor what trees would take as RNTuples and RNTuples as trees.
    Trials are made on samples, in at most about half a second of one core for each command, and a second for the other
    container, and in 64 MB of memory; nothing is written. Without them, for what needs more memory, for files with more
    than 10 MB of metadata and for files on other machines, commands and prices are estimates."""
    force: bool
    """That of the verb."""
    skip_bad: bool
    """That of the verb."""
    widen: bool
    """That of the verb."""
    skip_absent: bool
    """Leave out branches whose baskets are in a missing file, with a note, instead of stopping."""
    build_index: str | None
    """That of the verb."""
    follow_urls: bool
    """Also read branches and friends from other machines where the inputs name URLs. Your credentials go only to the
    server of the input itself. Default: files name only files that are at hand."""
    all_cycles: bool
    """Keep older cycles too (`t;1` beside `t;2`). Cycles of several inputs are merged newest with newest, second newest
    with second newest; `first`, `last`, `entries` and `cut` select entries of the newest only. An earlier save of a
    tree then takes space of its own. Default: only the newest cycle of each tree and merged object is kept, and notes
    name the older cycles."""
    check: bool
    """Decompress copied baskets and pages as well, to check that they can be read. Without this option only the header
    of a copied basket is checked against the tree. Of an RNTuple the ends of collections and the tags of variants are
    followed in any case, and checksums of pages are compared; other pages that are copied are not decompressed."""
    strict: bool
    """Write nothing if something of the inputs would be lost, and say what: objects that are not merged, and what the
    output has no place for when a tree becomes an RNTuple or an RNTuple a tree. Without this option notes name each
    loss."""
    layout: Layout | None
    """A TOML file, its text, or a value of `layout()`. Other options override it."""
    container: str | None
    """That of the verb."""
    cluster: Size | None
    """Size of a cluster: compressed bytes (30MB) or entries (1000)."""
    unzipped_cluster: Size | None
    """Most bytes of a cluster of an RNTuple before compression."""
    basket: Size | None
    """Buffer size at which a basket is closed, as in ROOT; in an RNTuple the largest size of a page."""
    basket_memory: Size | None
    """Memory that the baskets of all branches share (ROOT's OptimizeBaskets)."""
    one_basket_per_cluster: bool | None
    """Write one basket for each branch in each cluster, of any size."""
    memory_ratio: float | None
    """Record buffer sizes as this multiple of the largest basket, such as 1.1."""
    split_level: int | None
    """Split objects into branches: 0 not at all, 1 into their members, 99 as deeply as ROOT does."""
    streaming: str | None
    """Streaming of unsplit collections: member-wise or object-wise."""
    compression: int | str | None
    """That of the verb."""
    encoding: str | None
    """Encoding of the columns of RNTuples: plain, split, and for floats half (16 bits), single (32), double (64, where
    the field is one), mantissa:BITS (rounded where they are), truncated:BITS or quantized:BITS:LEAST:MOST. In trees
    mantissa and truncated round numbers where they are; half, single and quantized make Float16_t and Double32_t of
    branches of one leaf. `tolerance` of `verify` proves the error. With exact a rewrite of an RNTuple takes the fewest
    bits that keep every value, at least BITS with exact:BITS."""
    page_checksums: bool | None
    """Write a checksum behind each page of an RNTuple."""
    share_pages: bool | None
    """Store pages of a cluster of an RNTuple that have the same bytes once."""
    cluster_group: int | None
    """Clusters of an RNTuple in a cluster group, which has one page list. Default: as many as a list of 8 MiB
    describes."""
    tree_set: Rules
    """Settings for matching trees, such as `{"Meta*": {"basket": "1kB"}}`."""
    column_set: Rules
    """Settings for matching branches, such as `{"Mu*": {"compression": "lz4:4"}}`. The last match wins."""
    keep: Names
    """That of the verb."""
    drop: Names
    """That of the verb."""
    first: int | None
    """First entry to keep, of all trees."""
    last: int | None
    """Last entry to keep, of all trees."""
    entries: Names | os.PathLike[str] | None
    """That of the verb."""
    cut: Names
    """That of the verb."""
    weight: str | None
    """Sum this expression, such as the column genWeight, over the entries before and after each cut."""
    define: Defines | None
    """That of the verb."""
    allow_no_match: bool
    """Go on where a name, a pattern or a range of entries matches nothing in any input. Without this option that is an
    error, with the names that are most like it."""
    common: bool
    """That of the verb."""
    fill: bool
    """That of the verb."""
    drop_index: bool
    """Leave out the index (BuildIndex) of a tree where not all inputs have one. Without this option it is made for the
    others, from the columns that it names; where that cannot be done it is left out, with a note."""
    unique: Names
    """Keep each key once: columns, or expressions, with commas between them. Of entries with the same key the first is
    kept, in the order of the inputs; the others are reported. Trees without these columns are taken whole."""
    on_duplicate: str
    """What becomes of entries with the key of an earlier one: they are left out (drop), or nothing is written
    (refuse)."""
    by: Names
    """That of the verb."""
    pack: Size | None
    """Combine neighbouring clusters up to this size; 0B keeps all clusters. Default: the target size of the first input
    (its AutoFlush), usually 30MB."""
    append: bool
    """Add the inputs to the output, which may be there already and is updated in place: its baskets and pages stay
    where they are, and new ones follow. It is the old file or the new one at any moment, and keeps its layout. An
    output that is not there is made."""
    replace: Names
    """Remove this object or directory of the output before the inputs are added: what they have of that name takes its
    place."""
    like: Place | None
    """A file of the same job: trees without a saved record take their branches from it."""
    tree: str | None
    """That of the verb."""
    fill_null: float | None
    """Value for missing numbers; missing texts and lists become empty."""
    row_group: Size | None
    """Size of a row group: entries (100000) or bytes before compression (64MB). Default: one cluster."""
    seed: int
    """That of the verb."""
    tolerance: float | Names | None
    """Let floating-point numbers differ by at most this: a number, or a share of the larger one such as 0.1%. With
    COLUMN= it is for columns that match; the last one that matches counts. Proves rounded, truncated, quantized and
    narrowed columns; the largest error of each column is reported."""
    deep: bool
    """Decompress every basket, page and object."""
    keys: Names
    """Look for entries with the same key: columns, or expressions, with commas between them. The whole numbers, truth
    values and floats of a key take 128 bits at most."""
    trees: Names
    """The tree in all files, or the tree in each."""
    branches: Names
    """Read these branches, with the branches below them: names, globs or /regex/. Branches of a friend are
    friend.branch."""
    branches_regex: Names
    """Read branches whose whole name matches a regular expression."""
    repeat: int
    """Number of readings; the report shows the median."""
    cold: bool
    """Drop the files from the page cache before each reading, and report the share that was really dropped."""
    throttle: Size | None
    """Simulate slow storage: at most this many bytes a second, over all files, and a wait for the first byte of each
    request."""
    application: float | None
    """Seconds that your own job takes for the same data."""
    layouts: bool
    """Forecast other layouts, from samples of at most five files: each codec, and the choice of tune."""
    page: Place | None
    """That of the verb."""
    layout_out: Place | None
    """Write the chosen layout to this file, for `layout` of `rewrite`."""
    workload: str
    """How the file will be read: full, sparse:1%, columns:GLOB,..., cut:3%,GLOB,... (the columns of a cut, and of the
    others what passes), or a mix such as full=0.3,columns:Muon_*=0.7."""
    goal: str
    """What to minimise: balanced (the price of the file's life; see `price`), reading (the time to read the workload),
    or size. Where reading is not the goal, codecs that take long to write are tried, too."""
    choose: int | str | None
    """Take this choice of the report: smallest, balanced, fastest, today, best-tree, best-rntuple, or its number. The
    smallest and the fastest may read slower than today if `max_read_time` does not say otherwise; none is larger than
    `max_size`. For the smallest LZMA is tried, too. Default: the best by the goal."""
    price: bool | Place | Mapping[str, object] | None
    """Count money: what a file costs over its life on disk, on tape, over the network, and in CPU time, by the default
    prices or by those of a TOML file with what differs from them (docs/howto/cost.md). Give it behind the inputs."""
    again: Place | Tuning | None
    """Choose again, by other prices, limits, or a name, among the choices of a saved report (`json` of `tune`), without
    measuring. With an output the file of the report is rewritten, or the FILE that is given."""
    max_size: Limit | None
    """Maximum size of the file: a size, or a multiple of today's such as 1.05x. Default: 1x."""
    max_read_memory: Limit | None
    """Maximum memory of a reader of all columns: its largest baskets and one cluster. Default: 256MB, or 1.5x today's
    if that is more."""
    max_write_time: Limit | None
    """Maximum CPU time of compression: 90s, 5min, or a multiple of the time with today's codec, such as 2x."""
    max_read_time: Limit | None
    """Maximum time to read the workload: 90s, 5min, or a multiple of today's, such as 0.8x. Default: 1x, of the
    expected time and of the measured time in the proof; with `goal` reading of the measured time alone; none for a
    choice by `choose`."""
    min_clusters: int | None
    """Minimum number of clusters of the largest table, for threads and jobs that share it. Default: 1; of a table of
    more than 30 MB one for each 30 MB, up to 8; and never more than today, if it has fewer."""
    reader: str | os.PathLike[str]
    """The program that will read the file: basketry, root, uproot, or a profile (FILE.toml) of another program's
    reading costs. Expected times are for this reader; if it is installed, it reads input and output in the proof."""
    recode: bool
    """Also try columns of objects split (level 99) and unsplit (member-wise). Without this option their branches stay
    as they are: programs that read members by branch names find them only where they are split."""
    exact: bool
    """Let floating-point numbers in an RNTuple have the fewest bits that keep every value, where this is better: floats
    whose last bits are all zero, doubles that are floats. With an output all values are looked at before they are
    written."""


#: What options are that are not given, where that is neither None nor False.
DEFAULTS: dict[str, dict[str, object]] = {
    "check": {
        "threads": 0,
        "memory": "1GiB",
    },
    "convert": {
        "seed": 1,
        "threads": 0,
        "memory": "1GiB",
    },
    "fileset": {
        "dataset": "dataset",
        "step_size": 100000,
        "threads": 0,
        "memory": "1GiB",
    },
    "generate": {
        "size": "100MB",
        "seed": 1,
        "branches": 10,
        "events": 10,
        "outputs": 1,
        "threads": 0,
        "memory": "1GiB",
    },
    "index": {
        "threads": 0,
        "memory": "1GiB",
    },
    "join": {
        "how": "left",
        "threads": 0,
        "memory": "1GiB",
    },
    "merge": {
        "on_duplicate": "drop",
        "threads": 0,
        "memory": "1GiB",
    },
    "pick": {
        "order": "files",
        "threads": 0,
        "memory": "1GiB",
    },
    "plan": {
        "threads": 1,
        "memory": "1GiB",
    },
    "precision": {
        "threads": 0,
        "memory": "1GiB",
    },
    "readspeed": {
        "repeat": 1,
        "seed": 1,
        "threads": "1",
        "memory": "1GiB",
    },
    "recover": {
        "threads": 0,
        "memory": "1GiB",
    },
    "rewrite": {
        "threads": 0,
        "memory": "1GiB",
    },
    "sort": {
        "threads": 0,
        "memory": "1GiB",
    },
    "sweep": {
        "pick": "1%",
        "repeat": 5,
        "seed": 1,
        "memory": "1GiB",
        "runner": "basketry",
    },
    "tune": {
        "workload": "full",
        "goal": "balanced",
        "reader": "basketry",
        "exact": True,
        "seed": 1,
        "threads": 0,
        "memory": "1GiB",
    },
    "verify": {
        "threads": 0,
        "memory": "1GiB",
    },
}
