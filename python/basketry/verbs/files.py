"""The verbs of the command as functions: keyword arguments are the command's options.

A size is a number of bytes or a text such as "30MB"; compression is "zstd:5", "none" or ROOT's own 505. `threads=0`
means all cores; `memory` is the memory limit. The result is the JSON of `basketry VERB --json` as data classes. All
functions raise `OSError` (such as `FileNotFoundError`) for errors of the system, and `ValueError` for a wrong file or
argument. Ctrl-C ends them and leaves nothing unfinished behind.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core import report
from .._shared.signatures import spelled
from .calling import ALL_CORES, as_options, as_paths, called
from .options import Converting, Generating, Making, Measuring, Merging, Recovering, Tuned, Verifying

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports import Converted, Generated, Inspection, Outlook, Readspeed, Recovery, Summary, Tuning, Verdict
    from .options import Place, Places


def inspect(file: Place, *, baskets: bool = False) -> Inspection:
    """Content, layout and faults of a file, worst fault first.

    `file` is FILE, or FILE:TREE for one of its trees (or a pattern such as "f.root:dir/*"); `baskets` lists
    every basket.
    """
    from ..reports.inspecting import Inspection
    from ..reports.parse import parse

    return parse(Inspection, report(["inspect", "--json", *as_options({"baskets": baskets}), "--", os.fspath(file)]))


def layout(file: Place) -> dict[str, Any]:
    """The layout of a file as a value that `rewrite` and `merge` take: keys for all trees, and rules by pattern in
    "tree" and "column"."""
    import tomllib

    return tomllib.loads(json.loads(report(["inspect", "--layout", "--", os.fspath(file)])))


@overload
def rewrite(
    inputs: Places,
    output: Place,
    *,
    dry_run: Literal[False] = False,
    progress: Progress = None,
    **options: Unpack[Making],
) -> Summary: ...
@overload
def rewrite(
    inputs: Places, output: Place, *, dry_run: Literal[True], progress: Progress = None, **options: Unpack[Making]
) -> Outlook: ...
@spelled(Making, defaults=ALL_CORES)
def rewrite(
    inputs: Places, output: Place, *, dry_run: bool = False, progress: Progress = None, **options: Unpack[Making]
) -> Summary | Outlook:
    """Rewrites trees in another layout: the same entries, other clusters, baskets and compression.

    `inputs` is FILE, FILE:TREE or @list.txt, or several of these, concatenated. `output` gets its name only when it is
    complete. With `dry_run` nothing is written, and the expected result comes back as an `Outlook`. Each option that is
    not given leaves that property unchanged:

    force: replace an existing output, which is a `FileExistsError` otherwise.
    threads, memory: limits of the work; 0 threads means all cores, memory is bytes or a text such as "2GB".
    layout: a TOML file, its text, or a value of `layout()`; the other options override it.
    compression: codec and level, "none", "zlib:1", "lz4:4", "zstd:5", "lzma:7", or ROOT's own code (505).
    cluster: size of a cluster, compressed bytes ("30MB") or entries (1000).
    basket: bytes at which a basket is closed. basket_memory: bytes to share among the baskets of all branches.
    one_basket_per_cluster: one for each branch, however large.
    memory_ratio: record buffer sizes of this multiple of the largest basket, such as 1.1.
    split_level: depth to which objects are split into branches, 0 to 99. streaming: "object-wise" or "member-wise", for
    unsplit collections.
    tree_set, column_set: rules by pattern, `{"Muon_*": {"compression": "lz4:4"}}`; the last match wins.
    keep, drop: patterns for branches. first, last: the first and the last entry to keep.
    entries: keep only these: ranges as in Python ("100:200", or ":10,-10:"), a random share ("1%"), or the entries
    listed in a file; for all trees, or for trees that match a pattern ("Events=100:200").
    where: keep only the entries for which this column is true, or not zero, in trees that have it.
    widen: join leaves of trees whose numbers have other types in some inputs (`Int_t` with `Short_t`, `Long64_t` with
    `Long_t`, `Float_t` with `Double_t`) in the smallest type that holds all without a loss; a note names each.
    Otherwise, and where no type holds all (`Long64_t` with `ULong64_t` or `Float_t`), such inputs are a `ValueError`.
    skip_absent: leave out branches whose baskets lie in an absent file; such a branch is a `ValueError` otherwise.
    follow_urls: read branches also where the inputs name URLs, which is a `ValueError` otherwise; your credentials go
    only to the server of the input itself.
    strict: write nothing if something of the inputs would be lost, such as objects that are not merged, or what an
    RNTuple has no place for; a `ValueError` names it. Otherwise `Summary.unmerged` does.
    all_cycles: keep older cycles; otherwise `Summary.older_cycles` lists them.
    skip_bad: leave out a damaged object or directory instead of raising; of several inputs, the whole damaged input.
    `Summary.damaged` and `Summary.skipped` list them.
    check: decompress copied baskets as well, to prove that they are readable.
    progress: True for tqdm's bar, which counts bytes; a class or a bar with tqdm's interface; or a function of `(done,
    total)`.
    """
    return _make("rewrite", inputs, output, dry_run, progress, options, Making)


@overload
def merge(
    inputs: Places,
    output: Place,
    *,
    dry_run: Literal[False] = False,
    progress: Progress = None,
    **options: Unpack[Merging],
) -> Summary: ...
@overload
def merge(
    inputs: Places, output: Place, *, dry_run: Literal[True], progress: Progress = None, **options: Unpack[Merging]
) -> Outlook: ...
@spelled(Merging, defaults=ALL_CORES)
def merge(
    inputs: Places, output: Place, *, dry_run: bool = False, progress: Progress = None, **options: Unpack[Merging]
) -> Summary | Outlook:
    """Merges files into one: trees one after the other, histograms added, directories joined.

    The trees must have the same branches, unless `common` (keep the branches that all inputs have) or `fill` (zeros and
    empty lists for missing branches) is given; a difference is a `ValueError` that names it. Small clusters are joined
    up to `pack` bytes, by default the cluster size of the first input; 0 leaves them unchanged. An index (`BuildIndex`)
    that only some inputs have is made for the others from the columns that it names, unless `drop_index` leaves it out;
    a note says which. The other options are those of `rewrite`.
    """
    return _make("merge", inputs, output, dry_run, progress, options, Merging)


@spelled(Verifying, defaults=ALL_CORES)
def verify(*inputs: Place, progress: Progress = None, **options: Unpack[Verifying]) -> Verdict:
    """Compares the content of files, whatever their layout. `Verdict.equal` is the answer; a difference is not an
    error.

    Of several inputs all but the last count as one, in their order: this proves a merge. `tree`, or a tree named
    in FILE:TREE, is compared alone. `keep`, `drop`, `first`, `last`, `entries` and `where` select on the first side
    what a rewrite with these options would keep. `common` compares only branches of both sides, `fill` accepts the
    defaults that `merge` filled in, and `widen` the wider numbers of `merge` with `widen`. `tolerance` lets floating-
    point numbers of RNTuples differ: a number, or "0.1%" of the larger one, or texts such as "Muon_*=0.1%" for some
    columns. `TreeVerdict.errors` has the largest error of each column. `follow_urls`, `threads`, `memory` and
    `progress` are those of `rewrite`.
    """
    from ..reports.making import Verdict

    paths = as_paths(inputs)
    return called(Verdict, "verify", options, Verifying, paths, progress, read=paths)


@spelled(Recovering, defaults=ALL_CORES)
def recover(file: Place, output: Place, *, progress: Progress = None, **options: Unpack[Recovering]) -> Recovery:
    """Restores the data of a file that was never closed, or was cut short, as a normal file.

    Each tree keeps the entries that all its branches have: the last saved state, and the baskets written after
    it. A tree that was never saved is restored if `like`, a file of the same job, describes its branches. `force`,
    `threads`, `memory` and `progress` are those of `rewrite`.
    """
    from ..reports.making import Recovery

    paths = [os.fspath(file)]
    return called(Recovery, "recover", options, Recovering, paths, progress, read=paths, output=output)


@spelled(Converting, defaults=ALL_CORES | {"seed": 1})
def convert(inputs: Places, output: Place, *, progress: Progress = None, **options: Unpack[Converting]) -> Converted:
    """Converts trees to a Parquet file, or Parquet files to a tree, with the same columns and entries. The type of the
    inputs decides the direction; several inputs are concatenated.

    To Parquet: `row_group` is the size of a row group, entries or uncompressed bytes ("64MB"), by default a
    cluster; undecodable branches are left out, see `Converted.left_out`. To ROOT: the output may
    be "OUT.root:TREE", or `tree` is the name; missing values are refused unless `fill_null` gives a value, and
    the options of a layout are those of `rewrite`. `compression` is "zstd:5" and so on for both; Parquet also has
    "snappy". `entries` is a random share ("1%", drawn by `seed`), a range ("100:200") or a file of entry numbers.
    `keep`, `drop`, `follow_urls` and `progress` are those of `rewrite`.
    """
    from ..reports.making import Converted

    paths = as_paths(inputs)
    return called(Converted, "convert", options, Converting, paths, progress, read=paths, output=output)


@spelled(Generating, defaults=ALL_CORES | {"size": "100MB", "seed": 1, "branches": 10, "events": 10, "outputs": 1})
def generate(kind: str, output: Place, *, progress: Progress = None, **options: Unpack[Generating]) -> Generated:
    """Writes a data set of the published benchmarks: "single", "multi", "nano", "lhcb", "aod" or "esd".

    size: bytes of payload. seed: of the random numbers. branches, events: for "multi", and events in an entry of each
    branch.
    outputs: number of files to write at once, each with all entries, as OUT, OUT-1, OUT-2 and so on.
    rate: make at most this number of bytes a second ("20MB"), like a job that computes its events.
    autoflush: end a cluster after this share of the entries, "1%". autosave: save the trees' metadata after this number
    of bytes ("300MB"), entries, or share of the entries ("10%").
    arrival: append clusters as they are finished; otherwise the bytes do not depend on the threads.
    no_write: encode and discard the data. no_fill: only generate the numbers.
    progress: that of `rewrite`; it counts entries. The other options are those of `rewrite`.
    """
    from ..reports.generating import Generated

    return called(Generated, "generate", options, Generating, [kind], progress, unit=" entries", output=output)


@spelled(Tuned, defaults=ALL_CORES | {"workload": "full", "goal": "reading", "reader": "basketry", "seed": 1})
def tune(file: Places, *, output: Place | None = None, progress: Progress = None, **options: Unpack[Tuned]) -> Tuning:
    """Finds the best layout for a workload: measures candidates on samples, chooses codec, basket and cluster sizes for
    each column under limits, and explains the choice. With an `output` the file is rewritten, measured and proven
    equal. The output exists only if `Tuning.delivered`: no larger than the limit and not slower to read than the input.

    `workload` is "full", "sparse:1%", "columns:GLOB,..." or a mix such as "full=0.3,columns:Muon_*=0.7". `goal` is
    what is minimised: "reading" (time), or "size" with the reading time of today as a limit. Limits are bytes
    (`max_size`, `max_read_memory`) or seconds (`max_read_time`, `max_write_time`), or multiples of the input's such as
    "1.05x". `Tuning.chosen` is None if they cannot be met;
    `rewrite(layout=...)` takes `Tuning.layout`, which is TOML. `recode` also tries columns of objects split and
    unsplit, which may rename their branches. `keep` and `drop` select branches. Several files of a kind get one
    layout, for `layout_out`; `output` needs a single file. `reader` is the program that will read the file:
    "basketry", "root", "uproot" or a profile (docs/readers.md). Expected times are that reader's; if it is
    installed, it makes the proof.
    `container` is "ttree", "rntuple" or "any" for the better one; `Tuning.containers` has the best of each. `seed`
    draws the samples. `force`, `threads`, `memory` and `progress` are those of `rewrite`; `progress` counts
    what is written.
    """
    from ..reports.tuning import Tuning

    paths = as_paths(file)
    return called(Tuning, "tune", options, Tuned, paths, progress, read=paths, output=output)


@spelled(Measuring, defaults={"repeat": 1, "seed": 1, "threads": 1})
def readspeed(*files: Place, progress: Progress = None, **options: Unpack[Measuring]) -> Readspeed:
    """Measures how fast files can be read into columns here, and names the bottleneck.

    `trees` is the tree in all files, or a tree for each file. `branches` are names or patterns, `branches_regex` are
    regular expressions for whole names; the default is all branches. `entries` is a random share ("1%"), ranges
    ("100:200", or ":10,-10:"), or a file of entry numbers. The median of `repeat` readings is reported; `cold` removes
    the files from the page cache before each. `throttle` limits the bytes in a second, to imitate slow storage.
    `application` is the time of your own job over the same data, in seconds. `layouts` predicts other layouts as well.
    `seed` draws the random share. `threads` (0: all cores) and `memory` (bytes, beside the arrays) are limits of the
    work. `follow_urls` is that of `rewrite`, also for friends. `progress` is that of `rewrite`; it counts bytes on
    disk, whose number is unknown before if branches or entries are selected. In the result times are seconds, sizes
    bytes, and speeds bytes a second.
    """
    from ..reports.reading import Readspeed

    paths = as_paths(files)
    selected = any(options.get(name) for name in ("branches", "branches_regex", "entries"))
    # Each repeat reads the files again.
    read = None if selected else paths * options.get("repeat", 1)
    return called(Readspeed, "readspeed", options, Measuring, paths, progress, read=read)


def _make(
    verb: str, inputs: Places, output: Place, dry_run: bool, progress: Progress, given: Mapping[str, Any], known: type
) -> Summary | Outlook:
    from ..reports.making import Outlook, Summary

    paths = as_paths(inputs)
    kind: type[Summary | Outlook] = Outlook if dry_run else Summary
    return called(kind, verb, given, known, paths, progress, read=paths, output=output, dry_run=dry_run)
