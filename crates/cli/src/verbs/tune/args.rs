//! Arguments of `basketry tune`.

use std::ffi::OsString;
use std::path::PathBuf;

use lab::tune::{Choose, Containers, Goal, Limit, Workload};

use crate::layout_args::NamedArgs;
use crate::options::{Matching, Resources, Verbosity};
use crate::prices::Prices;

/// Find the best layout for a workload: measure candidates on samples, choose codec, basket and cluster sizes for
/// each column within limits, and give the reasons. With an output the file is rewritten, measured and proven equal.
///
/// Reading time is the CPU time of one thread: fetching baskets (from the page cache), decompressing them, and
/// decoding the entries of the workload into columns. Within the limits the choice is the balanced one: it minimises what the
/// file costs over its life (bytes on disk for years, CPU time and network of readings, writing) by stated prices, and reads as fast as
/// today within the noise. --choose takes another of the choices that the report lists. With --goal reading the choice minimises the reading time
/// of the workload; a second of compression counts as 5 ms of reading, and one per cent of size
/// as 0.05 per cent of reading time. With --goal size it minimises the size, and reads as fast as today; one per cent of
/// reading time counts as 0.05 per cent of size.
///
/// The output is written only if it holds: its content equals the input's, its measured size is within --max-size
/// (default: today's size), and its measured reading time does not exceed --max-read-time (default: today's) by more than
/// the noise of repeated readings. Otherwise the next choice is tried, three in all. If none holds or gains more than the
/// noise, or nothing that was tried is better than today's layout, no output is written, an existing file stays as it is, and
/// the exit code is 1. Without an output the exit code is 0 and the figures are expectations that no rewrite has proven.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry tune events.root
  basketry tune events.root -o tuned.root --workload columns:Muon_*,nMuon
  basketry tune events.root --page choices.html
  basketry tune 'run*.root' --layout-out layout.toml --goal size")]
pub struct Args {
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'. Several inputs must be similar files, and
    /// get one layout: files at even distances in the list, 256 MiB together, are merged into a temporary file and measured.
    #[arg(value_name = "FILE", required_unless_present_any = ["calibrate", "again"])]
    pub(super) inputs: Vec<OsString>,
    /// Rewrite the input into this file, in the chosen layout. For several inputs use --layout-out.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Keep only branches that match a glob or /regex/, in the measured file and in the output.
    #[arg(long, value_name = "PATTERN")]
    pub(super) keep: Vec<String>,
    /// Drop branches that match a glob or /regex/.
    #[arg(long, value_name = "PATTERN")]
    pub(super) drop: Vec<String>,
    /// Replace an existing output.
    #[arg(short, long)]
    pub(super) force: bool,
    /// Write the chosen layout to this file, for `rewrite --layout`.
    #[arg(long, value_name = "FILE")]
    pub(super) layout_out: Option<PathBuf>,
    /// Also write a page with the choices, figures before and after and the reasons, in one HTML file that needs no network.
    #[arg(long, value_name = "FILE")]
    pub(super) page: Option<PathBuf>,
    /// How the file will be read: full, sparse:1%, columns:GLOB,..., cut:3%,GLOB,... (the columns of a cut, and of the others what
    /// passes), or a mix such as full=0.3,columns:Muon_*=0.7.
    #[arg(long, value_name = "WORKLOAD", default_value = "full")]
    pub(super) workload: Workload,
    /// The workload reads the entries that pass this condition: the columns of the condition, and of the columns of the workload the share
    /// that passes, which is counted in the file. Several conditions must all be true.
    #[arg(long, visible_alias = "where", value_name = "EXPR", allow_hyphen_values = true, conflicts_with_all = ["again", "calibrate"])]
    pub(super) cut: Vec<String>,
    #[command(flatten)]
    pub(super) named: NamedArgs,
    /// What to minimise: balanced (the price of the file's life; see --price), reading (the time to read the workload), or size. Where
    /// reading is not the goal, codecs that take long to write are tried, too.
    #[arg(long, value_name = "GOAL", default_value = "balanced")]
    pub(super) goal: Goal,
    /// Take this choice of the report: smallest, balanced, fastest, today, best-tree, best-rntuple, or its number. The smallest and the
    /// fastest may read slower than today if --max-read-time does not say otherwise; none is larger than --max-size. For the smallest
    /// LZMA is tried, too. Default: the best by
    /// the goal.
    #[arg(long, value_name = "NAME|N")]
    pub(super) choose: Option<Choose>,
    #[command(flatten)]
    pub(super) prices: Prices,
    /// Choose again, by other prices, limits, or a name, among the choices of a saved report (`tune --json`), without measuring. With
    /// an output the file of the report is rewritten, or the FILE that is given.
    #[arg(long, value_name = "REPORT.json", conflicts_with_all = ["workload", "reader", "calibrate", "recode", "container", "seed"])]
    pub(super) again: Option<PathBuf>,
    /// Maximum size of the file: a size, or a multiple of today's such as 1.05x. Default: 1x.
    #[arg(long, value_name = "LIMIT")]
    pub(super) max_size: Option<Limit>,
    /// Maximum memory of a reader of all columns: its largest baskets and one cluster. Default:
    /// 256MB, or 1.5x today's if that is more.
    #[arg(long, value_name = "LIMIT")]
    pub(super) max_read_memory: Option<Limit>,
    /// Maximum CPU time of compression: 90s, 5min, or a multiple of the time with today's codec, such as 2x.
    #[arg(long, value_name = "LIMIT", value_parser = Limit::time)]
    pub(super) max_write_time: Option<Limit>,
    /// Maximum time to read the workload: 90s, 5min, or a multiple of today's, such as 0.8x. Default: 1x, of the expected time
    /// and of the measured time in the proof; with --goal reading of the measured time alone; none for a choice by --choose.
    #[arg(long, value_name = "LIMIT", value_parser = Limit::time)]
    pub(super) max_read_time: Option<Limit>,
    /// Minimum number of clusters of the largest table, for threads and jobs that share it. Default: 1; of a table of more than
    /// 30 MB one for each 30 MB, up to 8; and never more than today, if it has fewer.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) min_clusters: Option<u64>,
    /// The program that will read the file: basketry, root, uproot, or a profile (FILE.toml) of another
    /// program's reading costs. Expected times are for this reader; if it is installed, it reads input and output in the proof.
    #[arg(long, value_name = "READER", default_value = "basketry")]
    pub(super) reader: String,
    /// Measure the reading costs of root or uproot on this machine, in some minutes, and keep the profile for
    /// --reader, in ~/.config/basketry/readers or in the output. Takes no FILE.
    #[arg(long, value_name = "READER", value_parser = ["root", "uproot"], conflicts_with_all = ["inputs", "reader", "layout_out"])]
    pub(super) calibrate: Option<String>,
    /// Calibrate with little data, only to check that it works.
    #[arg(long, hide = true, requires = "calibrate")]
    pub(super) quick_calibration: bool,
    /// Also try columns of objects split (level 99) and unsplit (member-wise). Without this option their branches stay as they
    /// are: programs that read members by branch names find them only where they are split.
    #[arg(long)]
    pub(super) recode: bool,
    /// Let floating-point numbers in an RNTuple have the fewest bits that keep every value, where this is better: floats whose last
    /// bits are all zero, doubles that are floats. With an output all values are looked at before they are written.
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = clap::ArgAction::Set)]
    pub(super) exact: bool,
    /// The container of the output: ttree, rntuple, or any for the better of both. Without this option it is that of the input.
    /// The report has the best tree and the best RNTuple side by side. To measure the other container, the input is converted
    /// into a temporary file (of a large file with one table about 64 MB of it).
    #[arg(long, value_name = "CONTAINER")]
    pub(super) container: Option<Containers>,
    /// Seed of the samples: the same seed samples the same baskets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) matching: Matching,
    #[command(flatten)]
    pub(super) resources: Resources,
    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}
