//! What each table would take in the other container: a trial of the conversion, on samples.

use std::path::Path;

use dataset::glob::Pattern;
use flow::ContentOptions;
use rootfile::Result;

use super::trial;
use crate::inspect::diagnose::remedy::quoted;
use crate::inspect::report::{Moved, OtherContainer, Report};

/// Seconds of one core that the samples take at most, of all tables together.
const SECONDS: f64 = 1.0;
/// Most tables that are tried, the largest first, and the least bytes on disk that are worth it.
const TABLES: usize = 4;
const LEAST: u64 = 10_000;
/// Tables with more branches or fields are not tried: the plan of their conversion alone takes more memory than trials have.
const COLUMNS: usize = 6_000;

/// What the largest tables would take.
pub(super) fn moved(path: &Path, report: &Report) -> Vec<Moved> {
    let trees =
        report.newest().filter(|tree| tree.entries > 0 && tree.held.is_none() && tree.branches.len() <= COLUMNS);
    let trees = trees.map(|tree| (&tree.path, OtherContainer::Rntuple, tree.zip_bytes + tree.metadata.bytes));
    let ntuples = report.newest_ntuples().filter(|ntuple| ntuple.entries > 0 && ntuple.fields.len() <= COLUMNS);
    // Pages have checksums besides.
    let checked = |ntuple: &crate::inspect::ntuple::report::NtupleReport| 8 * ntuple.checked_pages;
    let ntuples = ntuples.map(|ntuple| {
        (&ntuple.path, OtherContainer::Ttree, ntuple.zip_bytes + checked(ntuple) + ntuple.metadata.bytes)
    });
    let mut tables: Vec<_> = trees.chain(ntuples).filter(|(.., bytes)| *bytes >= LEAST).collect();
    tables.sort_by_key(|(.., bytes)| std::cmp::Reverse(*bytes));
    tables.truncate(TABLES);
    let seconds = SECONDS / f64::from(u32::try_from(tables.len().max(1)).unwrap_or(1));
    let moved = |(table, container, bytes_now): (&String, OtherContainer, u64)| {
        let now = Moved { path: table.clone(), container, bytes_now, ..Moved::default() };
        match forecast(path, table, container, seconds) {
            Ok((bytes, uncertainty)) => Some(Moved { bytes, uncertainty, ..now }),
            Err(e) if trial::needs_memory(&e) => None,
            Err(e) => Some(Moved { refused: e.to_string(), ..now }),
        }
    };
    tables.into_iter().filter_map(moved).collect()
}

/// The expected bytes of a table, and how sure they are.
fn forecast(path: &Path, table: &str, container: OtherContainer, seconds: f64) -> Result<(u64, u64)> {
    let container = match container {
        OtherContainer::Rntuple => "rntuple",
        OtherContainer::Ttree => "ttree",
    };
    let text = format!("[tree.{}]\ncontainer = \"{container}\"\n", quoted(Pattern::exact(table).as_str()));
    let content = ContentOptions { tree: Some(table.to_owned()), ..ContentOptions::default() };
    let options = flow::Options { layout: text.parse()?, content, ..flow::Options::default() };
    let outlook = trial::forecast(path, options, seconds)?;
    let of = |table: &flow::Forecast| (table.bytes_after + table.metadata, table.uncertainty);
    Ok(outlook.tables.iter().find(|forecast| forecast.path == table).map(of).unwrap_or_default())
}
