//! Reads files as a workload would, into Arrow, and takes the time: the proof of what was predicted.
//!
//! What is read is read by [`flow::read`], with the columns and the entries that the workload asks for. Several files are
//! read in turns, some entries of each at a time, so that whatever else the machine does meets all of them alike.

use std::path::Path;

use flow::Budget;
use flow::inputs::Input;
use flow::read::{Dataset, Request, Selection, Step, batches};
use rootfile::Result;

use super::clock::thread_seconds;
use super::facts::{Facts, as_f64};
use super::sample::spread;
use super::workload::{Term, Workload};

/// Bytes before compression that are read in a turn, by the first file's count.
const TURN: u64 = 16 << 20;

/// What reading a file for a workload took.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Reading {
    /// CPU seconds, weighted as the workload says.
    pub seconds: f64,
    /// Baskets that were read.
    pub baskets: u64,
    /// Their bytes on disk.
    pub bytes: u64,
}

/// Reads each file for the workload, in turns and on one thread. The files have the same trees.
pub fn replay(
    files: &[&Path],
    tree: Option<&str>,
    workload: &Workload,
    (budget, seed): (Budget, u64),
) -> Result<Vec<Reading>> {
    let Some(first) = files.first() else { return Ok(Vec::new()) };
    let mut readings = vec![Reading::default(); files.len()];
    for tree in Facts::read(first, tree, workload)?.trees.into_iter().filter(|tree| tree.entries > 0.0) {
        let open = |path: &&Path| Dataset::open(&[Input { path: path.to_path_buf(), tree: Some(tree.path.clone()) }]);
        let datasets = files.iter().map(open).collect::<Result<Vec<_>>>()?;
        for (weight, term) in &workload.terms {
            read(&datasets, term, (Budget { threads: 1, ..budget }, seed), *weight, &mut readings)?;
        }
    }
    Ok(readings)
}

/// Reads data sets of as many entries for one part of a workload.
fn read(
    datasets: &[Dataset],
    term: &Term,
    (budget, seed): (Budget, u64),
    weight: f64,
    readings: &mut [Reading],
) -> Result<()> {
    let Some(first) = datasets.first() else { return Ok(()) };
    let all: u64 = columns(first, term).iter().map(|&column| first.bytes(column)).sum();
    if all == 0 {
        return Ok(());
    }
    // In turns of this many entries, of which the first is read twice: memory that is new to the process costs more.
    let turn = TURN.min(budget.memory / 2).saturating_mul(first.entries()) / all;
    let mut parts = Vec::with_capacity(datasets.len());
    for dataset in datasets {
        let selection = match term {
            Term::Sparse(share) => Some(Selection::sorted(picks(dataset.entries(), *share, seed))?),
            Term::Full | Term::Columns(_) => None,
        };
        let (columns, entries) = (columns(dataset, term), 0..dataset.entries());
        let request = Request { columns, entries, selection, budget, cancelled: None };
        batches(dataset, request.clone(), Step::Entries(turn)).next().transpose()?;
        parts.push(batches(dataset, request, Step::Entries(turn)));
    }
    loop {
        let mut done = true;
        for (part, reading) in parts.iter_mut().zip(readings.iter_mut()) {
            let start = thread_seconds();
            let Some(read) = part.next().transpose()? else { continue };
            done = false;
            let spent = read.spent;
            drop(read.batch);
            reading.seconds += weight * (thread_seconds() - start);
            reading.baskets += spent.iter().map(|s| s.baskets).sum::<u64>();
            reading.bytes += spent.iter().map(|s| s.compressed).sum::<u64>();
        }
        if done {
            return Ok(());
        }
    }
}

/// The columns that a part of a workload reads.
fn columns(dataset: &Dataset, term: &Term) -> Vec<usize> {
    let asked = |branch: usize| {
        let lineage: Vec<String> = dataset.tree().lineage(branch).into_iter().rev().map(str::to_owned).collect();
        term.asks_for(dataset.path(), &lineage)
    };
    (0..dataset.columns().len())
        .filter(|&c| dataset.columns().get(c).is_some_and(|plan| asked(plan.branch())))
        .collect()
}

/// Entries scattered over a tree: one from each stretch of `1 / share`. The same for all files of as many entries.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "entries of a tree")]
fn picks(entries: u64, share: f64, seed: u64) -> Vec<u64> {
    let count = (as_f64(entries) * share).ceil() as u64;
    let mut picks: Vec<u64> = (0..count).map(|i| ((as_f64(i) + spread(seed, i)) / share) as u64).collect();
    picks.retain(|&entry| entry < entries);
    picks.dedup();
    picks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_entries_are_spread_and_inside() {
        let picks = picks(10_000, 0.01, 3);
        assert_eq!(picks.len(), 100);
        assert!(picks.is_sorted() && picks.iter().all(|&e| e < 10_000));
    }
}
