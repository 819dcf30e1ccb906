//! Tune: measures candidates, decides for a workload within limits, and explains; with an output it proves the choice.
//!
//! [`tune`] is the whole process: costs from [`crate::cost`], choices from `candidates`, the decision by
//! [`crate::math::solve`] in `decide`, and the [`report`]. [`prove()`] rewrites the file and measures the result.

mod acceptance;
mod candidates;
mod choice;
mod compare;
mod decide;
mod explain;
mod forecast;
mod forms;
mod layout;
mod limits;
mod measured_file;
mod options;
mod prove;
pub mod reader;
pub mod report;
mod search;
#[cfg(test)]
mod tests;
mod tradeoffs;
mod trials;
mod tuned;

use std::path::Path;

use rootfile::{Error, Result};

use crate::cost::{Allowance, CodecBench, Codecs, FullRead, calibrate, nominal};
use crate::system::clock::process_seconds;
use search::{Search, codecs_for, main_codec};
use tuned::Decider;

pub use crate::cost::{Access, Workload};
pub(crate) use forecast::{LayoutForecast, forecast_layouts};
pub use limits::Limit;
pub use measured_file::MeasuredFile;
pub use options::Options;
pub(crate) use options::READ_MEMORY;
pub use prove::prove;
pub use reader::Reader;
pub use tuned::Tuned;

/// Measures a file's columns and decides on a layout. Limits that cannot be met are an answer, not an error. Before it
/// measures, it calls `announce` with the CPU seconds that this may take.
pub fn tune(input: &Path, options: &Options, announce: &dyn Fn(f64)) -> Result<Tuned> {
    tune_with(input, options, announce, &mut Codecs::default())
}

fn tune_with(input: &Path, options: &Options, announce: &dyn Fn(f64), bench: &mut dyn CodecBench) -> Result<Tuned> {
    let start = process_seconds();
    let mut stats = options.stats(input)?;
    stats.within(options.memory);
    let allowance = Allowance::new(start, 1e-9 * nominal::rewrite(&stats.columns));
    announce(allowance.seconds());
    let basket = stats.columns.iter().filter(|c| c.can_sample).find_map(|c| c.written().next());
    let basket =
        basket.ok_or_else(|| Error::request("none of its baskets are in this file: nothing to measure").file(input))?;
    // Baskets in other files cannot be read here; the columns of this file can still be decided.
    let mut full_read = FullRead::measure(&stats, options.budget()).unwrap_or_default();
    let access = calibrate(&**stats.file.source(), (basket.seek, basket.nbytes as usize), full_read.per_column())?;
    let own = main_codec(&stats);
    if options.recode {
        stats.recast(&options.workload, options.budget(), &mut full_read)?;
    }
    let mut codecs = codecs_for(own);
    let mut search = Search::new(&stats, options, (access, &full_read), (&codecs, own), &allowance, bench)?;
    let mut trials = search.run_trials(&stats, options, access, &search.keeping(allowance))?;
    if search.decision.as_ref().is_err_and(|i| i.nearest.is_empty() || i.nearest.iter().any(|(r, _)| *r == 0)) {
        codecs.extend(nominal::last_resorts().into_iter().filter(|c| *c != own));
        search = Search::new(&stats, options, (access, &full_read), (&codecs, own), &allowance, bench)?;
        trials += search.run_trials(&stats, options, access, &search.keeping(allowance))?;
    }
    let decider = Decider { stats, search, access, options: options.clone() };
    let (mut report, layout) = decider.report(input)?;
    report.measuring.trials = trials;
    report.measuring.cpu_seconds = allowance.used();
    report.measuring.allowed = allowance.seconds();
    Ok(Tuned { report, layout, decider })
}
