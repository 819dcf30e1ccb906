//! One reading, and what it cost. With cuts it has two steps, as an analysis has: the columns of the cuts and the test of the entries, then
//! the other columns for the entries that pass.

use std::collections::HashMap;
use std::time::Instant;

use flow::Choice;
use flow::read::{Dataset, ReadCost, Request, drain};
use rootfile::Result;

use super::network::Network;
use super::report::Run;
use crate::system::clock::process_seconds;

/// Reads everything once. Each cluster's array of a column is dropped when it is made. Returns the costs of the columns as well, and the
/// number of entries.
pub(super) fn read_once(
    dataset: &Dataset,
    request: &Request<'_>,
    choice: &Choice,
    cold: Option<f64>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Run, Vec<ReadCost>, u64)> {
    let before = dataset.traffic();
    let (started, cpu) = (Instant::now(), process_seconds());
    let told = |spent: &ReadCost| progress(spent.compressed);
    let (entries, spent) = match choice.cuts.is_empty() {
        true => drain(dataset, request, &told)?,
        false => {
            let chosen = choice.of(dataset, request.budget, &flow::unwatched)?;
            chosen.read.iter().for_each(|(_, spent)| told(spent));
            let is_read = |column: &usize| chosen.read.iter().any(|(read, _)| read == column);
            let rest: Vec<usize> = request.columns.iter().copied().filter(|column| !is_read(column)).collect();
            let rest = Request {
                columns: rest,
                entries: chosen.range.clone(),
                selection: chosen.selection.clone(),
                ..request.clone()
            };
            let others = if rest.columns.is_empty() { Vec::new() } else { drain(dataset, &rest, &told)?.1 };
            let spent: HashMap<usize, ReadCost> =
                rest.columns.into_iter().zip(others).chain(chosen.read.iter().copied()).collect();
            let of = |column: &usize| spent.get(column).copied().unwrap_or_default();
            (chosen.count(), request.columns.iter().map(of).collect())
        }
    };
    let mut all = ReadCost::default();
    spent.iter().for_each(|s| all += *s);
    let run = Run {
        real: started.elapsed().as_secs_f64(),
        cpu: process_seconds() - cpu,
        fetch: all.fetch.as_secs_f64(),
        decompress: all.decompress.as_secs_f64(),
        decode: all.decode.as_secs_f64(),
        cold,
        network: before.zip(dataset.traffic()).map(|(before, after)| Network::between(&before, &after)),
    };
    Ok((run, spent, entries))
}
