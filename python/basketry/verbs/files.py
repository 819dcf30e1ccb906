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
from .calling import as_paths, called
from .options import (
    DEFAULTS,
    Converting,
    Generating,
    Making,
    Measuring,
    Merging,
    Recovering,
    Reducing,
    Tuned,
    Verifying,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports import (
        Converted,
        Generated,
        Inspection,
        Outlook,
        Precision,
        Readspeed,
        Recovery,
        Summary,
        Tuning,
        Verdict,
    )
    from .options import Place, Places


def inspect(
    file: Place,
    *,
    baskets: bool = False,
    no_trials: bool = False,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Inspection:
    """Content, layout and faults of a file, worst fault first.

    `file` is FILE, or FILE:TREE for one of its trees (or a pattern such as "f.root:dir/*"); `baskets` lists
    every basket. Commands of findings, and the other container (`Inspection.moved`), are tried on samples, which takes
    a few seconds at most; with `no_trials` they are not. Of a Parquet file, `Inspection.parquet` has the metadata: row
    groups, and columns with their types, codecs and sizes; no faults are looked for. `output` also writes a page, an
    HTML file that needs no network; `force` replaces one.
    """
    from ..reports.inspecting import Inspection
    from ..reports.parse import parse

    page = None if output is None else os.fspath(output)
    options = {"json": True, "baskets": baskets, "no_trials": no_trials, "output": page, "force": force}
    return parse(Inspection, report("inspect", options, [os.fspath(file)]))


def layout(file: Place) -> dict[str, Any]:
    """The layout of a file as a value that `rewrite` and `merge` take: keys for all trees, and rules by pattern in
    "tree" and "column"."""
    import tomllib

    return tomllib.loads(json.loads(report("inspect", {"layout": True}, [os.fspath(file)])))


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
@spelled(Making, defaults=DEFAULTS["rewrite"])
def rewrite(
    inputs: Places, output: Place, *, dry_run: bool = False, progress: Progress = None, **options: Unpack[Making]
) -> Summary | Outlook:
    """Rewrites trees in another layout: the same entries, other clusters, baskets and compression.

    `inputs` is FILE, FILE:TREE or @list.txt, or several of these, concatenated. `output` gets its name only when it is
    complete. With `dry_run` nothing is written, and the expected result comes back as an `Outlook`: its `bytes_written`
    and `uncertainty` come from samples, which take at most about two seconds of one core. Without an option
    that property stays as it is. An existing output is a `FileExistsError` without `force`, inputs that differ are a
    `ValueError` that says how. What is left out or lost is listed in `Summary.skipped`, `damaged`, `older_cycles` and
    `unmerged`.

    `progress` is True for tqdm's bar, which counts bytes; a class or a bar with tqdm's interface; or a function of
    `(done, total)`.

    Options:

    - `skip_bad`: Leave out damaged or unreadable inputs; of a single input, leave out damaged objects and directories.
      All are listed.
    - `force`: Replace an existing output.
    - `widen`: Join leaves of trees whose numbers have other types in some inputs (Int_t with Short_t, Long64_t with
      Long_t, Float_t with Double_t) in the smallest type that holds all of them without a loss; notes name them.
      Without this option, and where no type holds all (Long64_t with ULong64_t or Float_t), such inputs are refused.
      Not for RNTuples and classes.
    - `skip_absent`: Leave out branches whose baskets are in a missing file, with a note, instead of stopping.
    - `build_index`: Give trees that have these columns an index (TTreeIndex) of one or two expressions, as BuildIndex
      makes it, in place of their own: ROOT then finds entries by their values, and friends by them. Columns, or sums
      and products of columns.
    - `follow_urls`: Also read branches and friends from other machines where the inputs name URLs. Your credentials go
      only to the server of the input itself. Default: files name only files that are at hand.
    - `all_cycles`: Keep older cycles too (`t;1` beside `t;2`). Cycles of several inputs are merged newest with newest,
      second newest with second newest; `first`, `last`, `entries` and `cut` select entries of the newest only. An
      earlier save of a tree then takes space of its own. Default: only the newest cycle of each tree and merged object
      is kept, and notes name the older cycles.
    - `check`: Decompress copied baskets and pages as well, to check that they can be read. Without this option only the
      header of a copied basket is checked against the tree. Of an RNTuple the ends of collections and the tags of
      variants are followed in any case, and checksums of pages are compared; other pages that are copied are not
      decompressed.
    - `strict`: Write nothing if something of the inputs would be lost, and say what: objects that are not merged, and
      what the output has no place for when a tree becomes an RNTuple or an RNTuple a tree. Without this option notes
      name each loss.
    - `threads`: Threads to use; 0 means all cores. Default: 0.
    - `memory`: Maximum memory of the work, such as 512MB. Default: "1GiB".
    - `layout`: A TOML file, its text, or a value of `layout()`. Other options override it.
    - `container`: Write tables as ttree or rntuple, whatever they are in the input.
    - `cluster`: Size of a cluster: compressed bytes (30MB) or entries (1000).
    - `unzipped_cluster`: Most bytes of a cluster of an RNTuple before compression.
    - `basket`: Buffer size at which a basket is closed, as in ROOT; in an RNTuple the largest size of a page.
    - `basket_memory`: Memory that the baskets of all branches share (ROOT's OptimizeBaskets).
    - `one_basket_per_cluster`: Write one basket for each branch in each cluster, of any size.
    - `memory_ratio`: Record buffer sizes as this multiple of the largest basket, such as 1.1.
    - `split_level`: Split objects into branches: 0 not at all, 1 into their members, 99 as deeply as ROOT does.
    - `streaming`: Streaming of unsplit collections: member-wise or object-wise.
    - `compression`: Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505).
    - `encoding`: Encoding of the columns of RNTuples: plain, split, and for floats half (16 bits), single (32), double
      (64, where the field is one), mantissa:BITS (rounded where they are), truncated:BITS or quantized:BITS:LEAST:MOST.
      In trees mantissa and truncated round numbers where they are; half, single and quantized make Float16_t and
      Double32_t of branches of one leaf. `tolerance` of `verify` proves the error. With exact a rewrite of an RNTuple
      takes the fewest bits that keep every value, at least BITS with exact:BITS.
    - `page_checksums`: Write a checksum behind each page of an RNTuple.
    - `share_pages`: Store pages of a cluster of an RNTuple that have the same bytes once.
    - `cluster_group`: Clusters of an RNTuple in a cluster group, which has one page list. Default: as many as a list of
      8 MiB describes.
    - `tree_set`: Settings for matching trees, such as `{"Meta*": {"basket": "1kB"}}`.
    - `column_set`: Settings for matching branches, such as `{"Mu*": {"compression": "lz4:4"}}`. The last match wins.
    - `keep`: Keep only branches that match a glob or /regex/, with the branches below them and their counters.
    - `drop`: Drop branches that match a glob or /regex/.
    - `first`: First entry to keep, of all trees.
    - `last`: Last entry to keep, of all trees.
    - `entries`: Keep only these entries: ranges as in Python (100:200, or :10,-10:), a random share (1%), or entries
      listed in a file. They apply to all trees, or to trees that match a pattern (Events=100:200). Several inputs count
      as one.
    - `cut`: Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'. Several cuts
      are applied one after the other, and the cut flow tells what each leaves. Of several trees those without the
      columns of a cut are taken whole.
    - `weight`: Sum this expression, such as the column genWeight, over the entries before and after each cut.
    - `define`: Add a column with the values of an expression, such as ht='sum(Jet_pt)'. Later ones and cuts may name
      it.
    - `allow_no_match`: Go on where a name, a pattern or a range of entries matches nothing in any input. Without this
      option that is an error, with the names that are most like it.
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
@spelled(Merging, defaults=DEFAULTS["merge"])
def merge(
    inputs: Places, output: Place, *, dry_run: bool = False, progress: Progress = None, **options: Unpack[Merging]
) -> Summary | Outlook:
    """Merges files into one: trees one after the other, histograms added, directories joined.

    The trees must have the same branches, unless `common`, `fill` or `widen` is given; a difference is a `ValueError`
    that names it. `dry_run` and `progress` are those of `rewrite`.

    Options:

    - `common`: Keep only branches that all inputs have.
    - `fill`: Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input
      lacks.
    - `drop_index`: Leave out the index (BuildIndex) of a tree where not all inputs have one. Without this option it is
      made for the others, from the columns that it names; where that cannot be done it is left out, with a note.
    - `unique`: Keep each key once: columns, or expressions, with commas between them. Of entries with the same key the
      first is kept, in the order of the inputs; the others are reported. Trees without these columns are taken whole.
    - `on_duplicate`: What becomes of entries with the key of an earlier one: they are left out (drop), or nothing is
      written (refuse). Default: "drop".
    - `by`: Merge inputs whose entries are sorted by this key into one that is, in one pass: columns, or expressions,
      with commas between them, and a minus before one that descends. Of equal keys the entries of the first input come
      first. If an input is not sorted, a note says where, and entries wait in a temporary file, as in `sort`. Trees
      without these columns are joined one after the other.
    - `pack`: Combine neighbouring clusters up to this size; 0B keeps all clusters. Default: the target size of the
      first input (its AutoFlush), usually 30MB.
    - `append`: Add the inputs to the output, which may be there already and is updated in place: its baskets and pages
      stay where they are, and new ones follow. It is the old file or the new one at any moment, and keeps its layout.
      An output that is not there is made.
    - `replace`: Remove this object or directory of the output before the inputs are added: what they have of that name
      takes its place.
    - The others: those of `rewrite`.
    """
    return _make("merge", inputs, output, dry_run, progress, options, Merging)


@spelled(Verifying, defaults=DEFAULTS["verify"])
def verify(*inputs: Place, progress: Progress = None, **options: Unpack[Verifying]) -> Verdict:
    """Compares the content of files, whatever their layout. `Verdict.equal` is the answer; a difference is not an
    error.

    Of several inputs all but the last count as one, in their order: this proves a merge. A tree named in FILE:TREE is
    compared alone. What is selected is selected on the first side, as a rewrite with these options would keep it.
    `TreeVerdict.errors` has the largest error of each column. `progress` is that of `rewrite`.

    Options:

    - `tree`: Compare only this tree, by its path.
    - `by`: Compare each entry with that of the same key, whatever their order: columns, or expressions, with commas
      between them. Of entries with equal keys the first is compared with the first, the second with the second. Keys
      that one side lacks are differences.
    - `common`: Compare only trees, branches and objects that both sides have.
    - `fill`: Expect defaults for branches that an input lacks (`fill` of `merge`).
    - `widen`: Expect numbers of other types in the smallest type that holds all (`widen` of `merge`).
    - `tolerance`: Let floating-point numbers differ by at most this: a number, or a share of the larger one such as
      0.1%. With COLUMN= it is for columns that match; the last one that matches counts. Proves rounded, truncated,
      quantized and narrowed columns; the largest error of each column is reported.
    - `keep`, `drop`, `first`, `last`, `entries`, `cut`, `weight`, `define`, `allow_no_match`, `follow_urls`, `threads`,
      `memory`: those of `rewrite`.
    """
    from ..reports.proving import Verdict

    paths = as_paths(inputs)
    return called(Verdict, "verify", options, Verifying, paths, progress, read=paths)


@spelled(Recovering, defaults=DEFAULTS["recover"])
def recover(file: Place, output: Place, *, progress: Progress = None, **options: Unpack[Recovering]) -> Recovery:
    """Restores the data of a file that was never closed, or was cut short, as a normal file.

    Each tree keeps the entries that all its branches have: the last saved state, and the baskets written after it.
    `progress` is that of `rewrite`.

    Options:

    - `like`: A file of the same job: trees without a saved record take their branches from it.
    - `force`, `threads`, `memory`: those of `rewrite`.
    """
    from ..reports.proving import Recovery

    paths = [os.fspath(file)]
    return called(Recovery, "recover", options, Recovering, paths, progress, read=paths, output=output)


@spelled(Converting, defaults=DEFAULTS["convert"])
def convert(inputs: Places, output: Place, *, progress: Progress = None, **options: Unpack[Converting]) -> Converted:
    """Converts trees to a Parquet file, or Parquet files to a tree, with the same columns and entries. The type of the
    inputs decides the direction; several inputs are concatenated.

    To Parquet: undecodable branches are left out, see `Converted.left_out`. To ROOT: the output may be "OUT.root:TREE",
    and missing values are refused unless `fill_null` gives a value. `progress` is that of `rewrite`.

    Options:

    - `tree`: Name of the tree to write. Default: the tree that the Parquet file was made from, or Events.
    - `fill_null`: Value for missing numbers; missing texts and lists become empty.
    - `build_index`: Give the tree an index (TTreeIndex) of one or two columns, or sums and products of columns, as
      BuildIndex makes it: ROOT then finds entries by their values, and friends by them.
    - `row_group`: Size of a row group: entries (100000) or bytes before compression (64MB). Default: one cluster.
    - `compression`: Codec and level. Trees: as for rewrite. Parquet: none, snappy, lz4, zlib:6, zstd:3, with the levels
      of the codec.
    - `keep`: Convert only columns that match a glob or /regex/. A branch includes the branches below it.
    - `drop`: Leave out columns that match a glob or /regex/.
    - `entries`: Convert only these entries: a random share (1%), a range (100:200), or entries listed in a file.
    - `seed`: Seed of a random share. Default: 1.
    - `force`, `cut`, `weight`, `define`, `follow_urls`, `threads`, `memory`, `layout`, `allow_no_match`, the keys of a
      layout: those of `rewrite`.
    """
    from ..reports.making import Converted

    paths = as_paths(inputs)
    return called(Converted, "convert", options, Converting, paths, progress, read=paths, output=output)


@spelled(Generating, defaults=DEFAULTS["generate"])
def generate(kind: str, output: Place, *, progress: Progress = None, **options: Unpack[Generating]) -> Generated:
    """Writes a data set of the published benchmarks: "single", "multi", "nano", "lhcb", "aod" or "esd".

    `progress` is that of `rewrite`; it counts entries.

    Options:

    - `size`: Bytes of payload. Default: "100MB".
    - `seed`: Seed of the numbers. Default: 1.
    - `branches`: Branches of `multi`. Default: 10.
    - `events`: Events in an entry of each branch of `multi`. Default: 10.
    - `outputs`: Number of files to write at once, each with the whole data set: OUT, OUT-1, OUT-2 and so on. They share
      memory and threads. Default: 1.
    - `rate`: Make at most SIZE of payload a second, like a job that computes its events: for files to watch and to read
      while they grow.
    - `autoflush`: End a cluster after this share of the entries (1%). For sizes and numbers of entries see `cluster`.
    - `autosave`: Save the metadata of the trees after each SIZE: bytes (300MB), entries (1000) or a share of the
      entries (10%).
    - `arrival`: Write clusters in the order in which they are finished. The order of entries then depends on timing.
    - `no_write`: Make the output, but do not write it.
    - `no_fill`: Make the numbers, but do not fill them.
    - `force`, `threads`, `memory`, `layout`, `compression`, `allow_no_match`, the keys of a layout: those of `rewrite`.
    """
    from ..reports.generating import Generated

    return called(Generated, "generate", options, Generating, [kind], progress, unit=" entries", output=output)


@spelled(Tuned, defaults=DEFAULTS["tune"])
def tune(file: Places, *, output: Place | None = None, progress: Progress = None, **options: Unpack[Tuned]) -> Tuning:
    """Finds the best layout for a workload: measures candidates on samples, chooses codec, basket and cluster sizes for
    each column under limits, and explains the choice. With an `output` the file is rewritten, measured and proven
    equal. The output exists only if `Tuning.delivered`: no larger than the limit and not slower to read than the input.

    `Tuning.choices` are the choices that were found, each with its `bill` over the file's life; `choose` takes one of
    them. `price` may be True, a TOML file, or a mapping such as `{"life": {"readings": 100}}`. `again` takes a report
    (a `Tuning` or the file of one): it chooses anew with other prices, limits or names, without measuring.

    `Tuning.chosen` is None if the limits cannot be met; `rewrite(layout=...)` takes `Tuning.layout`, which is TOML.
    Several files of a kind get one layout, for `layout_out`; `output` needs a single file. `progress` is that of
    `rewrite`; it counts what is written.

    Options:

    - `keep`: Keep only branches that match a glob or /regex/, in the measured file and in the output.
    - `layout_out`: Write the chosen layout to this file, for `layout` of `rewrite`.
    - `page`: Also write a page with the choices, figures before and after and the reasons, in one HTML file that needs
      no network.
    - `workload`: How the file will be read: full, sparse:1%, columns:GLOB,..., cut:3%,GLOB,... (the columns of a cut,
      and of the others what passes), or a mix such as full=0.3,columns:Muon_*=0.7. Default: "full".
    - `cut`: The workload reads the entries that pass this condition: the columns of the condition, and of the columns
      of the workload the share that passes, which is counted in the file. Several conditions must all be true.
    - `define`: Give the values of an expression a name, such as ht='sum(Jet_pt)', which later ones, cuts and other
      expressions may use.
    - `goal`: What to minimise: balanced (the price of the file's life; see `price`), reading (the time to read the
      workload), or size. Where reading is not the goal, codecs that take long to write are tried, too. Default:
      "balanced".
    - `choose`: Take this choice of the report: smallest, balanced, fastest, today, best-tree, best-rntuple, or its
      number. The smallest and the fastest may read slower than today if `max_read_time` does not say otherwise; none is
      larger than `max_size`. For the smallest LZMA is tried, too. Default: the best by the goal.
    - `price`: Count money: what a file costs over its life on disk, on tape, over the network, and in CPU time, by the
      default prices or by those of a TOML file with what differs from them (docs/howto/cost.md). Give it behind the
      inputs.
    - `again`: Choose again, by other prices, limits, or a name, among the choices of a saved report (`json` of `tune`),
      without measuring. With an output the file of the report is rewritten, or the FILE that is given.
    - `max_size`: Maximum size of the file: a size, or a multiple of today's such as 1.05x. Default: 1x.
    - `max_read_memory`: Maximum memory of a reader of all columns: its largest baskets and one cluster. Default: 256MB,
      or 1.5x today's if that is more.
    - `max_write_time`: Maximum CPU time of compression: 90s, 5min, or a multiple of the time with today's codec, such
      as 2x.
    - `max_read_time`: Maximum time to read the workload: 90s, 5min, or a multiple of today's, such as 0.8x. Default:
      1x, of the expected time and of the measured time in the proof; with `goal` reading of the measured time alone;
      none for a choice by `choose`.
    - `min_clusters`: Minimum number of clusters of the largest table, for threads and jobs that share it. Default: 1;
      of a table of more than 30 MB one for each 30 MB, up to 8; and never more than today, if it has fewer.
    - `reader`: The program that will read the file: basketry, root, uproot, or a profile (FILE.toml) of another
      program's reading costs. Expected times are for this reader; if it is installed, it reads input and output in the
      proof. Default: "basketry".
    - `recode`: Also try columns of objects split (level 99) and unsplit (member-wise). Without this option their
      branches stay as they are: programs that read members by branch names find them only where they are split.
    - `exact`: Let floating-point numbers in an RNTuple have the fewest bits that keep every value, where this is
      better: floats whose last bits are all zero, doubles that are floats. With an output all values are looked at
      before they are written. Default: True.
    - `container`: The container of the output: ttree, rntuple, or any for the better of both. Without this option it is
      that of the input. The report has the best tree and the best RNTuple side by side. To measure the other container,
      the input is converted into a temporary file (of a large file with one table about 64 MB of it).
    - `seed`: Seed of the samples: the same seed samples the same baskets. Default: 1.
    - `drop`, `force`, `allow_no_match`, `threads`, `memory`: those of `rewrite`.
    """
    from ..reports.tuning import Tuning

    paths = as_paths(file)
    return called(Tuning, "tune", options, Tuned, paths, progress, read=paths, output=output)


@spelled(Reducing, defaults=DEFAULTS["precision"])
def precision(*files: Place, progress: Progress = None, **options: Unpack[Reducing]) -> Precision:
    """Says for each column of floating-point numbers what fewer bits would save, and what they would change.

    A file is FILE or FILE:TABLE; without a table all tables of the file are looked at. The largest errors, and the
    change of mean and width, are those of all values, which are read twice; bytes are expected from samples with the
    file's codec. The proposed `layout` of the report, a TOML text, is for `rewrite(layout=...)`;
    `verify(tolerance=...)` proves its errors. `progress` is that of `rewrite`.

    Options:

    - `max_error`: The largest relative error: a share of each number, such as 1e-3 or 0.1%. With COLUMN= it is for
      columns that match; the last one that matches counts. Limits for columns by name replace those for all, of
      `max_abs` as well. Default: 0.1%, if there is no other limit.
    - `max_abs`: The largest absolute error, such as 0.001; with COLUMN= as in `max_error`. Where both are given, both
      must be kept.
    - `columns`: Look only at these columns: names, globs or /regex/.
    - `layout_out`: Write the layout with the proposed encodings to this file, for `layout` of `rewrite`.
    - `report`: Also write a page with charts and tables, in one HTML file that needs no network.
    - `force`: Replace existing files.
    - `allow_no_match`, `follow_urls`, `threads`, `memory`: those of `rewrite`.
    """
    from ..reports.reducing import Precision

    paths = as_paths(files)
    return called(Precision, "precision", options, Reducing, paths, progress, read=paths)


@spelled(Measuring, defaults=DEFAULTS["readspeed"])
def readspeed(*files: Place, progress: Progress = None, **options: Unpack[Measuring]) -> Readspeed:
    """Measures how fast files can be read into columns here, and names the bottleneck.

    The median of the readings is reported: times in seconds, sizes in bytes, and speeds in bytes a second. `progress`
    is that of `rewrite`; it counts bytes on disk, whose number is unknown before if branches or entries are selected.

    Options:

    - `trees`: The tree in all files, or the tree in each.
    - `branches`: Read these branches, with the branches below them: names, globs or /regex/. Branches of a friend are
      friend.branch.
    - `branches_regex`: Read branches whose whole name matches a regular expression.
    - `entries`: Read only these entries: a random share (1%), ranges as in Python (100:200, or :10,-10:), or entries
      listed in a file.
    - `define`: Give the values of an expression a name, such as ht='sum(Jet_pt)', which later ones, cuts and other
      expressions may use.
    - `repeat`: Number of readings; the report shows the median. Default: 1.
    - `cold`: Drop the files from the page cache before each reading, and report the share that was really dropped.
    - `throttle`: Simulate slow storage: at most this many bytes a second, over all files, and a wait for the first byte
      of each request.
    - `application`: Seconds that your own job takes for the same data.
    - `layouts`: Forecast other layouts, from samples of at most five files: each codec, and the choice of tune.
    - `seed`: Seed of a random share. Default: 1.
    - `threads`: Threads to use, at most the number of processors; 0 means all. Default: 1, as in rootreadspeed. Several
      numbers (1,2,4 or 1..8) are compared: the speed-up of reading beside that of a loop that only computes, which
      shows how many cores the threads really have. All other figures are those of the largest number.
    - `page`: With several numbers of threads: also write a page with their curves, in one HTML file that needs no
      network.
    - `force`: Replace an existing page.
    - `cut`, `weight`, `allow_no_match`, `follow_urls`, `memory`: those of `rewrite`.
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
