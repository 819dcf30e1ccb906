//! Measures how fast a file can be read on this machine, and names the bottleneck.
//!
//! [`measure`] reads columns and entries into Arrow, repeatedly, and times fetching, decompressing and decoding for each
//! column. All times are measured with basketry's reader; nothing is modelled.

mod bottleneck;
pub(crate) mod cache;
mod columns;
mod layouts;
mod network;
mod once;
mod report;
mod scaling;
pub mod self_check;
mod thread_counts;
mod throttle;

use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dataset::near::no_such_entries;
use flow::inputs::Input;
use flow::read::{Dataset, ReadCost, Request};
use flow::{Budget, Choice, Chosen, Defined};
use rootfile::{Error, Follow, Hint, Result, public_path};

pub use bottleneck::Bottleneck;
use bottleneck::{Dearest, Stages, Subject};
pub use columns::Columns;
pub use network::Network;
use once::read_once;
use report::threads;
pub use report::{ColumnCost, LayoutSpeed, Report, Run, SCHEMA, Scaled};
use scaling::Scaling;
pub use thread_counts::ThreadCounts;
pub use throttle::Throttle;

use crate::inspect::can_be_split;
use crate::math::as_f64;
use crate::math::statistics::Figure;
use crate::system::clock::process_seconds;
use layouts::{ForecastRequest, layouts};

/// Options of `readspeed`.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files, with the tree in each.
    pub inputs: Vec<Input>,
    /// Which columns.
    pub columns: Columns,
    /// Whether names and patterns of columns may mean none.
    pub allow_no_match: bool,
    /// Which entries. The columns of cuts are read in each reading, and then what passes of the others.
    pub entries: Choice,
    /// Repeats.
    pub repeat: usize,
    /// Whether files are dropped from the page cache before each reading.
    pub cold: bool,
    /// Simulated slow storage.
    pub throttle: Option<Throttle>,
    /// Seconds that the user's own job takes over the same data.
    pub application: Option<f64>,
    /// Whether to forecast other layouts.
    pub layouts: bool,
    /// How far addresses in the files are followed: those of friends and of baskets in other files.
    pub follow: Follow,
    /// Memory and threads. With several numbers of threads the report is that of the largest.
    pub budget: Budget,
    /// Numbers of threads to compare; with fewer than two nothing is compared.
    pub scaling: Vec<usize>,
}

/// Looks whether the files have what the options name. No entry is read.
///
/// # Errors
///
/// A file cannot be read or has no such table, column or entries, or a cut is no condition on them.
pub fn look(options: &Options) -> Result<()> {
    let dataset = Dataset::open_following(&options.inputs, options.follow)?;
    named(&dataset, options)?;
    options.entries.check(&dataset)?;
    Defined::bind(&dataset, dataset.path(), &options.entries.defines)?.all(dataset.path()).map(drop)
}

/// The columns to read, if the table has them and some of the entries.
fn named(dataset: &Dataset, options: &Options) -> Result<Vec<usize>> {
    let columns = options.columns.choose(dataset, options.allow_no_match)?;
    let asked = &options.entries.entries;
    match options.allow_no_match || asked.should_select(dataset.entries()) {
        true => Ok(columns),
        false => Err(no_such_entries("entries", asked, [(dataset.path(), dataset.entries())])),
    }
}

/// Measures. Calls `total` first with the bytes on disk to read, then `progress` with the bytes read.
///
/// # Errors
///
/// A file cannot be read or has no such tree or column, the budget is too small, or the callback ends the work.
pub fn measure(options: &Options, total: &dyn Fn(u64), progress: &(dyn Fn(u64) + Sync)) -> Result<Report> {
    let (started, cpu) = (Instant::now(), process_seconds());
    let mut dataset = Dataset::open_following(&options.inputs, options.follow)?;
    let setup = (started.elapsed().as_secs_f64(), process_seconds() - cpu);
    let mut columns = named(&dataset, options)?;
    let remarks = dataset.remarks(&columns);
    let Chosen { range: entries, selection, cuts, read: tested } =
        options.entries.of(&dataset, options.budget, &flow::unwatched)?;
    for (column, _) in &tested {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    // One that no cut uses is looked at as well.
    Defined::bind(&dataset, dataset.path(), &options.entries.defines)?.all(dataset.path())?;
    if let Some(rate) = options.throttle {
        let line = throttle::Line::new(rate);
        dataset.map_files(|file| line.to(file));
    }
    let scattered = selection.as_ref().map(|chosen| as_f64(chosen.len()) / as_f64(dataset.entries().max(1)));
    let processors = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
    let requested = options.budget.threads;
    let budget = Budget { threads: requested.min(processors), ..options.budget };
    let request = Request { columns: columns.clone(), entries, selection, budget, progress: &flow::unwatched };
    let repeat = options.repeat.max(1);
    let stored: u64 = columns.iter().map(|&c| dataset.stored(c, &request.entries).0).sum();
    let counts = counts(&options.scaling, budget.threads, processors);
    total(stored.saturating_mul((repeat * counts.len()) as u64));
    let mut scaling = (counts.len() > 1).then(|| Scaling::new(&counts));
    let mut runs: Vec<(Run, Vec<ReadCost>, u64)> = Vec::with_capacity(repeat);
    for _ in 0..repeat {
        for (place, &count) in counts.iter().enumerate() {
            let cold = options.cold.then(|| cache::drop_from_cache(dataset.paths())).transpose()?;
            let request = Request { budget: Budget { threads: count, ..budget }, ..request.clone() };
            let read = read_once(&dataset, &request, &options.entries, cold, progress)?;
            scaling.iter_mut().for_each(|scaling| scaling.add(place, read.0));
            if count == budget.threads {
                runs.push(read);
            }
        }
    }
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| runs[a].0.real.total_cmp(&runs[b].0.real));
    let middle = order.get(order.len() / 2).copied().unwrap_or(0);
    let (median, spent, entries) = runs.get(middle).cloned().ok_or_else(|| Error::request("nothing was read"))?;
    let baskets: u64 = match cuts.is_empty() {
        true => columns.iter().map(|&c| dataset.stored(c, &request.entries).1).sum(),
        false => spent.iter().map(|s| s.baskets).sum(),
    };
    let uncompressed = spent.iter().map(|s| s.uncompressed).sum();
    let times: Vec<f64> = runs.iter().map(|(run, ..)| run.real).collect();
    let compressed = spent.iter().map(|s| s.compressed).sum();
    let stages = Stages {
        real: median.real,
        cpu: median.cpu,
        fetch: median.fetch,
        decompress: median.decompress,
        decode: median.decode,
        threads: threads(budget.threads),
        requested: threads(requested),
        cores: threads(std::thread::available_parallelism().map_or(0, usize::from)),
        clusters: as_f64(clusters_of(&dataset, &request.entries)),
        baskets: as_f64(baskets),
        application: options.application,
        cold: median.cold,
        throttle: options.throttle,
        network: median.network,
        compressed: as_f64(compressed),
        uncompressed: as_f64(uncompressed),
    };
    let bottleneck = bottleneck::verdict(&stages);
    let mut costs: Vec<ColumnCost> =
        columns.iter().zip(&spent).filter_map(|(&column, spent)| column_cost(&dataset, column, spent)).collect();
    let time = |c: &ColumnCost| c.fetch + c.decompress + c.decode;
    costs.sort_by(|a, b| time(b).total_cmp(&time(a)));
    let dearest = costs.iter().max_by(|a, b| a.decode.total_cmp(&b.decode)).map(|c| Dearest {
        name: &c.name,
        decode: c.decode,
        can_be_split: columns
            .iter()
            .filter_map(|&i| dataset.column(i))
            .filter(|p| *p.field().name() == c.name)
            .any(|p| p.branch().is_some_and(can_be_split)),
    });
    if options.layouts && columns.iter().any(|&c| c >= dataset.columns().len()) {
        return Err(Error::request(
            "--layouts works only for branches of the tree itself: leave out branches of friends",
        )
        .hint(Hint::named("layouts")));
    }
    let some: Vec<String> = match columns != dataset.stored_columns() {
        true => columns.iter().filter_map(|&c| dataset.column(c)).map(|plan| plan.field().name().clone()).collect(),
        false => Vec::new(),
    };
    let file = dataset.paths().first().map_or_else(|| Path::new(""), PathBuf::as_path);
    let subject = Subject { file, tree: dataset.path(), columns: &some };
    let everything = 0..dataset.entries();
    let forecast_request = options.layouts.then(|| ForecastRequest {
        inputs: &options.inputs,
        tree: dataset.path(),
        stored: as_f64(columns.iter().map(|&c| dataset.stored(c, &everything).0).sum()),
        columns: costs.iter().map(|c| c.name.as_str()).collect(),
        scattered,
        memory: options.budget.memory,
        seed: options.entries.seed,
    });
    let mut notes = bottleneck::notes(&stages, bottleneck);
    let projected = dataset.default_columns().len() - dataset.stored_columns().len();
    if matches!(options.columns, Columns::All) && projected > 0 {
        let what = "projected fields are not read, since other fields have their values; --branches reads them by name";
        notes.push(format!("{projected} {what}"));
    }
    if let Some(most) = options.scaling.iter().copied().max().filter(|most| *most > processors) {
        notes.push(format!("{most} threads were asked for, and there are {processors} processors: no more were used"));
    }
    if let (Some(first), Some(last)) = (cuts.first(), cuts.last()) {
        notes.push(format!(
            "a reading is: the columns of the cuts ({}) for {} entries, the test of these, and the other columns for the {} that pass",
            tested.len(),
            first.before,
            last.after
        ));
    }
    notes.extend(remarks);
    let absent = dataset.stored_columns().into_iter().filter(|column| !columns.contains(column));
    notes.extend(absent.filter_map(|column| {
        let (why, name) = (dataset.absent(column)?, dataset.column(column)?.field().name());
        Some(format!("branch {name} is not read: {why}"))
    }));
    let layouts = forecast_request.map(|a| layouts(&a, &median, as_f64(uncompressed))).transpose()?;
    Ok(Report {
        schema: SCHEMA,
        files: dataset.paths().iter().map(|path| public_path(path).into_owned()).collect(),
        tree: dataset.path().to_owned(),
        threads: budget.threads,
        entries,
        all_entries: dataset.entries(),
        cuts,
        clusters: dataset.clusters().len().saturating_sub(1) as u64,
        throttle: options.throttle.and_then(|throttle| throttle.bytes_a_second).map(NonZeroU64::get),
        throttle_latency: options
            .throttle
            .map(|throttle| throttle.latency.as_secs_f64())
            .filter(|latency| *latency > 0.0),
        setup,
        uncompressed,
        compressed,
        runs: runs.into_iter().map(|(run, ..)| run).collect(),
        spread: Figure::of(&times).unwrap_or_default(),
        scaling: scaling.map(|scaling| scaling.end(uncompressed)),
        median,
        advice: bottleneck.advice(&stages, dearest),
        commands: bottleneck.commands(&stages, &subject, dearest),
        notes,
        columns: costs,
        bottleneck,
        layouts,
    })
}

/// The numbers of threads to read on, each once, ascending: those to compare, of which `threads` is one.
fn counts(compared: &[usize], threads: usize, processors: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = compared.iter().map(|count| (*count).clamp(1, processors.max(1))).collect();
    counts.push(threads);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The number of clusters that hold some of the entries.
fn clusters_of(dataset: &Dataset, entries: &Range<u64>) -> u64 {
    let overlap = |pair: &&[u64]| pair[0] < entries.end && pair[1] > entries.start;
    dataset.clusters().windows(2).filter(overlap).count() as u64
}

fn column_cost(dataset: &Dataset, column: usize, spent: &ReadCost) -> Option<ColumnCost> {
    let plan = dataset.column(column)?;
    Some(ColumnCost {
        name: plan.field().name().clone(),
        typename: plan.field().metadata().get("typename").cloned().unwrap_or_default(),
        compressed: spent.compressed,
        uncompressed: spent.uncompressed,
        baskets: spent.baskets,
        fetch: spent.fetch.as_secs_f64(),
        decompress: spent.decompress.as_secs_f64(),
        decode: spent.decode.as_secs_f64(),
        opaque: plan.opaque().map(str::to_owned),
    })
}
