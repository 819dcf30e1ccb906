//! Says what a rewrite would do, without writing: its plan, and how large the output becomes, by samples.

use std::path::{Path, PathBuf};

use dataset::layout::Container;
use rootfile::{FileWriter, Result};

use super::begin::begin_output;
use super::cut_flow::write_cut_flow;
use super::ntuple::write_kept_list;
use super::options::Options;
use super::output_table::{ExpectedBaskets, TableMemory};
use super::prepare::prepare;
use super::prepared::{PlannedTable, Prepared, memory_needs};
use super::summary::Outlook;
use crate::plan::forecast::{Forecast, SAMPLE_SECONDS};
use crate::plan::tree::expected_places::ExpectedPlaces;

/// Forecasts a rewrite without writing. `sample` says whether sizes are measured on samples, which take at most about two seconds
/// ([`forecast_within`] takes another number).
///
/// # Errors
///
/// As [`rewrite`](crate::rewrite()), but for what concerns the output and its file.
pub fn forecast(inputs: &[PathBuf], output: &Path, options: &Options, sample: bool) -> Result<Outlook> {
    forecast_within(inputs, output, options, if sample { SAMPLE_SECONDS } else { 0.0 })
}

/// Forecasts a rewrite without writing, with samples that take at most about so many seconds of one core of a common machine. What is
/// tried does not depend on the machine, so that the forecast is the same everywhere. Objects that are no tables are copied into
/// nothing.
///
/// # Errors
///
/// As [`rewrite`](crate::rewrite()), but for what concerns the output and its file.
pub fn forecast_within(inputs: &[PathBuf], output: &Path, options: &Options, seconds: f64) -> Result<Outlook> {
    let prepared = prepare(inputs, output, options)?;
    let (share, bytes_read) = (prepared.share, prepared.bytes);
    let each = seconds / f64::from(u32::try_from(prepared.plans.len().max(1)).unwrap_or(u32::MAX));
    let plans = prepared.plans.iter();
    let mut tables = plans
        .map(|(place, plan)| {
            let mut forecast = plan.table.forecast(&place.path, share, each)?;
            forecast.notes = plan.notes.iter().chain(&plan.lost).cloned().chain(forecast.notes).collect();
            Ok(forecast)
        })
        .collect::<Result<Vec<_>>>()?;
    let TableMemory { metadata, scratch, .. } = memory_needs(&prepared.plans, options.check);
    let (cut_flows, duplicates) = (prepared.cut_flows.clone(), prepared.duplicates.clone());
    let bytes_written = if seconds > 0.0 { file_size(prepared, output, options, &mut tables)? } else { 0 };
    Ok(Outlook {
        bytes_before: tables.iter().map(|table| table.bytes_before).sum(),
        bytes_after: tables.iter().map(|table| table.bytes_after).sum(),
        bytes_read,
        bytes_written,
        uncertainty: root_of_squares(tables.iter().map(|table| table.uncertainty)),
        sampled: tables.iter().map(|table| table.sampled).sum(),
        least_memory: metadata + scratch,
        memory: options.budget.memory,
        threads: share.threads,
        tables,
        cut_flows,
        duplicates,
    })
}

/// The size of the whole file: everything but baskets and pages is made and discarded, as far as that is possible before. Says for each
/// tree how large its record is.
fn file_size(prepared: Prepared, output: &Path, options: &Options, tables: &mut [Forecast]) -> Result<u64> {
    let create = |setting, datime, title: &str| FileWriter::discarding(output, setting, datime, title);
    let mut begun = begin_output(&prepared, options, create)?;
    let compression = begun.compression;
    // What the baskets take is not written here.
    let mut seek = begun.writer.position();
    let mut besides = 0;
    for ((place, PlannedTable { table, kept, .. }), forecast) in prepared.plans.into_iter().zip(tables) {
        let named = |e: rootfile::Error| e.object(place.path.clone());
        let mut at = begun.at(&place);
        if forecast.container == Container::Ttree && forecast.metadata == 0 {
            let record = at.writer.position();
            let places = ExpectedPlaces::of(forecast);
            let of = |lineage: &[&str], bounds: &[u64]| places.baskets(lineage, bounds);
            let mut expected = ExpectedBaskets { of: &of, seek };
            table.write_metadata(&mut at, compression, &mut expected).map_err(named)?;
            seek = expected.seek;
            forecast.metadata = at.writer.position() - record;
        } else {
            besides += forecast.metadata;
        }
        if let Some(flow) = prepared.cut_flows.iter().find(|flow| flow.path == place.path) {
            write_cut_flow(&mut at, flow, &prepared.objects.directories, compression).map_err(named)?;
        }
        if let Some(kept) = kept {
            write_kept_list(&mut at, kept, compression).map_err(named)?;
        }
        besides += forecast.bytes_after;
    }
    Ok(begun.writer.finish()? + besides)
}

/// Errors that do not depend on each other, together.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn root_of_squares(errors: impl Iterator<Item = u64>) -> u64 {
    crate::plan::forecast::whole(errors.map(|error| (error as f64).powi(2)).sum::<f64>().sqrt())
}
