//! Tune: measures candidates, decides for a workload within limits, and explains; with an output it proves the choice.
//!
//! [`tune`] is the whole process: costs from [`crate::cost`], choices from `candidates`, the decision by
//! [`crate::math::solve`] in `decide`, and the [`report`]. [`prove()`] rewrites the file and measures the result.
//!
//! # From samples to a layout
//!
//! 1. `cost::statistics` lists columns with their baskets or pages from the metadata, and the demands of the workload. A candidate for a column is a
//!    `Packing`: a codec, and for pages an encoding.
//! 2. `cost::measure` tries codecs on samples and decodes them into Arrow (`bench`), within a time that fixed `nominal` costs plan.
//!    `column_costs` fits the results. A basket alone costs less than one among hundreds, so `full_read` reads some entries as a reader would,
//!    and corrects the costs.
//! 3. `cost::model` computes the cost of a column in a layout: fetch, decompress, decode. `candidates` lists codecs, sizes of baskets and clusters
//!    with their costs, and `decide` chooses with [`crate::math::solve`]; `utility` weighs reading, writing and size. `search` tries the chosen codecs
//!    on a second sample (`cost::confirm`) and decides again.
//! 4. With `--recode` columns of objects have other forms: `cost::forms` recodes some entries into a temporary file, whose columns are measured
//!    like all others, and `forms` searches the form of each column.
//! 5. Where there is time (`cost::allowance`), `trials` writes the chosen layout into a temporary file, reads it, and replaces the expectations.
//!    Where there is less, it foresees the size (`foreseen`), and `partial` tries the choice on some of the entries.
//! 6. With an output, [`prove()`] writes the choice under a temporary name, compares the content with the input, and reads both as the workload would
//!    (`cost::replay`). `acceptance` publishes a choice that holds; otherwise it corrects the costs and tries the next one. Several inputs are
//!    merged in part into a temporary copy (`measured_file`); with `--container` the input is converted into one (`containers`).
//! 7. For another reader (`--reader`) `reader::expect` applies the costs of its `profile`, and the program itself reads in the proof (`session`, `proof`).
//!    `calibrate` measures a profile with generated files.

mod acceptance;
mod again;
mod alternatives;
mod candidates;
mod choice;
mod compare;
#[cfg(test)]
mod container_tests;
mod containers;
mod conversion;
mod copied_part;
mod decide;
mod exact;
mod explain;
mod explicit;
mod forecast;
mod foreseen;
mod forms;
mod layout;
mod limit_reports;
mod limits;
mod measured_file;
mod names;
mod offers;
mod options;
mod partial;
mod prove;
pub mod reader;
pub mod report;
mod search;
#[cfg(test)]
mod tests;
mod tradeoffs;
mod trials;
mod tried;
mod tuned;
mod within_cut;

use std::path::Path;

use dataset::layout::Container;
use rootfile::{Error, Hint, Result};

use crate::cost::statistics::FileStats;
use crate::cost::{Allowance, CodecBench, Codecs, FullRead, calibrate, nominal};
use crate::math::as_f64;
use crate::math::solve::Infeasible;
use crate::system::clock::process_seconds;
use containers::{container_of, converted, converted_share};
use conversion::Conversion;
use copied_part::CopiedPart;
use forecast::a_basket;
use offers::offer;
use search::{Search, main_packing, packings_for, packings_of};
use tuned::Decider;

pub use crate::cost::{Access, Goal, Workload};
pub use again::{Kept, check_suits};
pub use choice::{READ_NOISE, SIZE_NOISE};
pub(crate) use forecast::{LayoutForecast, forecast_layouts};
pub use limits::Limit;
pub use measured_file::MeasuredFile;
pub use names::{Choose, Name};
pub(crate) use options::READ_MEMORY;
pub use options::{Containers, Options};
pub use prove::prove;
pub use reader::Reader;
pub use tuned::Tuned;
pub use within_cut::within_cut;

/// Measures a file's columns and decides on a layout. Limits that cannot be met are an answer, not an error. Before it
/// measures, it calls `announce` with the CPU seconds that this may take.
///
/// # Errors
///
/// The file cannot be read or has no such tree, or a copy of a part of it cannot be written.
pub fn tune(input: &Path, options: &Options, announce: &dyn Fn(f64)) -> Result<Tuned> {
    let bench = &mut Codecs::default();
    let stats = options.stats(input)?;
    check_request(&stats, options).map_err(|e| e.file(input))?;
    if options.containers == Containers::Own {
        let tuned = tune_with(stats, options, None, announce, bench)?;
        return offer(vec![tuned], 0, options);
    }
    let own = container_of(&stats)?;
    if options.containers == Containers::One(own) {
        let tuned = tune_with(stats, options, None, announce, bench)?;
        return offer(vec![tuned], 0, options);
    }
    let converting = 1e-9 * nominal::rewrite(&stats) * converted_share(&stats);
    // Both are measured.
    let found = tune_with(stats, options, None, &|seconds| announce(2.0 * seconds + converting), bench)?;
    let other = containers::other(own);
    let converted = tune_converted(&found, options, other, bench);
    let (decisions, best) = containers::compared(found, (other, converted), options.containers)?;
    let mut taken = offer(decisions, best, options)?;
    taken.report.measuring.allowed += converting;
    Ok(taken)
}

/// Refuses what no layout of the file can be chosen for.
fn check_request(stats: &FileStats, options: &Options) -> Result<()> {
    if !stats.columns.is_empty() && stats.columns.iter().all(|column| column.demand.readings() <= 0.0) {
        let message = format!("workload {}: it reads none of the columns", options.workload);
        return Err(Error::request(message).hint(Hint::named("workload")));
    }
    let entries = stats.trees.iter().map(|tree| tree.entries).fold(0.0, f64::max);
    match options.min_clusters {
        Some(asked) if as_f64(asked) > entries => {
            let message = format!("{asked} clusters are asked for, and the largest table has {entries} entries");
            Err(Error::request(message).hint(Hint::named("min-clusters")))
        }
        _ => Ok(()),
    }
}

/// Decides for the input of a decision in another container.
fn tune_converted(own: &Tuned, options: &Options, container: Container, bench: &mut dyn CodecBench) -> Result<Tuned> {
    if let Some(reader) = options.reader.as_ref().filter(|_| container == Container::Rntuple) {
        reader.check_ntuples()?;
    }
    let start = process_seconds();
    let Some(decider) = &own.decider else { return Err(Error::request("nothing was measured")) };
    let stats = &decider.stats;
    let copy = converted(stats, options, container)?;
    let today = own.report.today;
    let CopiedPart { share, seconds, .. } = copy;
    let conversion = Conversion { container, share, today, read_all: own.report.read_all, seconds };
    // A cycle of the input is the newest one there.
    let inside = Options { tree: measured_file::path_alone(options.tree.as_deref()), ..options.clone() };
    let mut stats = inside.stats(&copy.path)?;
    for table in &mut stats.trees {
        table.whole = Some(table.entries / share);
    }
    stats.baseline = Some(conversion::part(today.cost, copy.share));
    let mut tuned = tune_with(stats, &inside, Some(conversion), &|_| (), bench)?;
    tuned.report.tree.clone_from(&options.tree);
    if let Some(decider) = &mut tuned.decider {
        decider.options.tree.clone_from(&options.tree);
    }
    tuned.report.measuring.cpu_seconds = process_seconds() - start;
    Ok(tuned)
}

/// Decides for one container. `conversion` says that the measured file has the content of another.
fn tune_with(
    mut stats: FileStats,
    options: &Options,
    conversion: Option<Conversion>,
    announce: &dyn Fn(f64),
    bench: &mut dyn CodecBench,
) -> Result<Tuned> {
    let start = process_seconds();
    let input = stats.file.name().to_path_buf();
    stats.within(options.memory);
    stats.goal = options.goal;
    stats.exact = !options.no_exact;
    let allowance = Allowance::for_file(start, &stats);
    announce(allowance.seconds());
    let nothing = || Error::request("none of its baskets or pages are in this file: nothing to measure").file(&input);
    let (_, basket) = a_basket(&stats).ok_or_else(nothing)?;
    // Baskets in other files cannot be read here; the columns of this file can still be decided.
    let mut full_read = FullRead::measure(&stats, options.budget()).unwrap_or_default();
    let access = calibrate(&**stats.file.source(), basket, full_read.per_column())?;
    let own = main_packing(&stats);
    if options.recode {
        stats.recast(&options.workload, options.budget(), &mut full_read)?;
    }
    let mut codecs = packings_for(&stats, own);
    if options.choose == Some(Choose::Name(Name::Smallest)) {
        let more = packings_of(&stats, &nominal::last_resorts());
        codecs.extend(more.into_iter().filter(|codec| !codecs.contains(codec)).collect::<Vec<_>>());
    }
    let mut search = Search::new(&stats, options, (access, &full_read), (&codecs, own), &allowance, bench)?;
    let mut trials = search.run_trials(&stats, options, access, &search.keeping(allowance))?;
    let is_too_large = |why: &Infeasible| why.nearest.is_empty() || why.nearest.iter().any(|(r, _)| *r == 0);
    if search.decision.as_ref().is_err_and(is_too_large) {
        let more = packings_of(&stats, &nominal::last_resorts());
        codecs.extend(more.into_iter().filter(|codec| !codecs.contains(codec)).collect::<Vec<_>>());
        search = Search::new(&stats, options, (access, &full_read), (&codecs, own), &allowance, bench)?;
        trials += search.run_trials(&stats, options, access, &search.keeping(allowance))?;
    }
    let decider = Decider { stats, search, access, options: options.clone(), conversion, by: None };
    let (mut report, layout) = decider.report(&input)?;
    report.measuring.trials = trials;
    report.measuring.cpu_seconds = allowance.used();
    report.measuring.allowed = allowance.seconds();
    Ok(Tuned { report, layout, may_be_slower: false, decider: Some(Box::new(decider)) })
}
