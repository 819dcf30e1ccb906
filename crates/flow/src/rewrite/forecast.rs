//! Says what a rewrite would do, without writing.

use std::path::{Path, PathBuf};

use rootfile::Result;

use super::options::Options;
use super::output_table::TableMemory;
use super::prepare::prepare;
use super::prepared::memory_needs;
use super::summary::Outlook;

/// Forecasts a rewrite without writing. `sample` measures the requested codecs on some baskets.
///
/// # Errors
///
/// As [`rewrite`](crate::rewrite()), but for what concerns the output and its file.
pub fn forecast(inputs: &[PathBuf], output: &Path, options: &Options, sample: bool) -> Result<Outlook> {
    let prepared = prepare(inputs, output, options)?;
    let plans = prepared.plans.iter();
    let tables = plans
        .map(|(place, plan)| {
            let mut forecast = plan.table.forecast(&place.path, sample)?;
            forecast.notes = plan.notes.iter().chain(&plan.lost).cloned().chain(forecast.notes).collect();
            Ok(forecast)
        })
        .collect::<Result<Vec<_>>>()?;
    let TableMemory { metadata, scratch, .. } = memory_needs(&prepared.plans, options.check);
    let columns = || tables.iter().flat_map(|t| &t.columns);
    let recodes = || tables.iter().flat_map(|t| &t.recodes);
    Ok(Outlook {
        bytes_before: columns().map(|c| c.bytes_before).chain(recodes().map(|r| r.bytes_before)).sum(),
        bytes_after: columns().map(|c| c.bytes_after).chain(recodes().map(|r| r.bytes_after)).sum(),
        least_memory: metadata + scratch,
        memory: options.budget.memory,
        threads: prepared.share.threads,
        tables,
    })
}
