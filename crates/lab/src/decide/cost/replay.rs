//! Reads files into Arrow as a workload would, and measures the time: the proof of a prediction.
//!
//! [`flow::read`] reads the columns and entries of the workload. Several files are read in turns, some entries of each at a
//! time, so that other work on the machine affects all of them alike.

use std::collections::HashSet;
use std::path::Path;

use dataset::EntrySet;
use dataset::table::TableColumn;
use dataset::table::catalog::split_cycle;
use dataset::tree::Tree;
use flow::inputs::Input;
use flow::read::{Dataset, Request, drain};
use flow::{Budget, uniform};
use rootfile::Result;

use super::statistics::FileStats;
use super::workload::{Term, Workload};
use crate::math::as_f64;
use crate::system::clock::thread_seconds;

/// Bytes before compression that are read in a turn, by the first file's count.
const TURN: u64 = 16 << 20;
/// Picks are repeated up to this many entries, and at most this often: few picks hit baskets by chance.
const PICKS: u64 = 100;
const DRAWS: u64 = 24;

/// Times of reading a file for a workload.
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
///
/// # Errors
///
/// A file cannot be read, has no such tree or column, or the budget is too small.
pub fn replay(
    files: &[&Path],
    tree: Option<&str>,
    workload: &Workload,
    budget: Budget,
    seed: u64,
) -> Result<Vec<Reading>> {
    let Some(first) = files.first() else { return Ok(Vec::new()) };
    let mut readings = vec![Reading::default(); files.len()];
    // What was written of a cycle is the newest one of its file.
    let cycle = tree.filter(|tree| split_cycle(tree).is_some());
    // What is known of the columns goes before the files are read: of ten thousand it takes as much memory as a file's metadata.
    let trees = FileStats::read_written(first, tree, workload)?.trees;
    for tree in trees.into_iter().filter(|tree| tree.entries > 0.0) {
        let input = |path: &Path, tree: &str| Input { path: path.to_path_buf(), tree: Some(tree.to_owned()) };
        let open = |path: &&Path| {
            let named = cycle.and_then(|cycle| Dataset::open(&[input(path, cycle)]).ok());
            named.map_or_else(|| Dataset::open(&[input(path, &tree.path)]), Ok)
        };
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
    let entries = datasets.first().map_or(0, Dataset::entries);
    let Some(share) = term.share() else {
        return read_once(datasets, term, None, budget, weight, readings);
    };
    let (mut draws, mut picked) = (Vec::new(), 0);
    while picked < PICKS && (draws.len() as u64) < DRAWS {
        let picks = picks(entries, share, seed.wrapping_add(draws.len() as u64));
        picked += picks.len() as u64;
        draws.push(EntrySet::sorted(picks)?);
    }
    // A few random picks are more or fewer than the share; times are scaled to the right number.
    let luck = as_f64(entries) * share * as_f64(draws.len() as u64) / as_f64(picked.max(1));
    let weight = weight * luck / as_f64(draws.len() as u64);
    draws.iter().try_for_each(|draw| read_once(datasets, term, Some((draw, share)), budget, weight, readings))
}

/// Reads them in turns, all entries or the picked ones.
fn read_once(
    datasets: &[Dataset],
    term: &Term,
    picked: Option<(&EntrySet, f64)>,
    budget: Budget,
    weight: f64,
    readings: &mut [Reading],
) -> Result<()> {
    let Some(first) = datasets.first() else { return Ok(()) };
    let all: u64 = columns(first, datasets, term).iter().map(|&column| first.bytes(column)).sum();
    if all == 0 {
        return Ok(());
    }
    // In turns of about this many entries, of which the first is read twice: memory that is new to the process costs
    // more. Where few are read of many the turns are longer: a reader does not come back for each of them.
    let bytes = as_f64(TURN.min(budget.memory / 2)) / picked.map_or(1.0, |(_, share)| share);
    let turn = whole(bytes * as_f64(first.entries()) / as_f64(all)).max(1);
    let request = |dataset, entries| Request {
        columns: columns(dataset, datasets, term),
        entries,
        selection: picked.map(|(picks, _)| picks.clone()),
        budget,
        progress: &flow::unwatched,
    };
    for dataset in datasets {
        drain(dataset, &request(dataset, 0..end_of_turn(dataset, turn)), &|_| ())?;
    }
    // How far each of them was read.
    let mut read = vec![0; datasets.len()];
    while read.iter().zip(datasets).any(|(at, dataset)| *at < dataset.entries()) {
        for ((dataset, at), reading) in datasets.iter().zip(&mut read).zip(readings.iter_mut()) {
            if *at >= dataset.entries() {
                continue;
            }
            let end = end_of_turn(dataset, at.saturating_add(turn));
            let request = request(dataset, *at..end);
            let start = thread_seconds();
            let (_, spent) = drain(dataset, &request, &|_| ())?;
            reading.seconds += weight * (thread_seconds() - start);
            reading.baskets += spent.iter().map(|s| s.baskets).sum::<u64>();
            reading.bytes += spent.iter().map(|s| s.compressed).sum::<u64>();
            *at = end;
        }
    }
    Ok(())
}

/// The end of the cluster that reaches so far: baskets end there, and a turn that ended elsewhere would read some of
/// them again.
fn end_of_turn(dataset: &Dataset, entry: u64) -> u64 {
    let clusters = dataset.clusters();
    clusters.get(clusters.partition_point(|&bound| bound < entry)).copied().unwrap_or(dataset.entries())
}

/// The columns that a part of a workload reads of one of several data sets with the same trees. Where a member is selected
/// that one data set has as a branch, the unsplit column is read in the others.
fn columns(dataset: &Dataset, all: &[Dataset], term: &Term) -> Vec<usize> {
    let lineage = |dataset: &Dataset, node: usize| -> Vec<String> {
        dataset.schema().lineage(node).into_iter().rev().map(str::to_owned).collect()
    };
    let requested = |dataset: &Dataset, lineage: &[String]| term.asks_for(dataset.path(), lineage);
    if dataset.tree().is_none() {
        return fields(dataset, &|lineage| requested(dataset, lineage));
    }
    let mut tops: HashSet<String> = HashSet::new();
    for dataset in all {
        let lineages = dataset.columns().iter().map(|plan| lineage(dataset, plan.node()));
        tops.extend(lineages.filter(|one| requested(dataset, one)).filter_map(|one| one.into_iter().next()));
    }
    let is_whole = |node: usize| {
        let tree = dataset.tree();
        let childless = |tree: &Tree| tree.branches.get(node).is_some_and(|b| b.children.is_empty());
        tree.is_some_and(|tree| tree.top.contains(&node) && childless(tree))
    };
    let wanted = |plan: &TableColumn| {
        let own = lineage(dataset, plan.node());
        requested(dataset, &own) || is_whole(plan.node()) && own.first().is_some_and(|top| tops.contains(top))
    };
    (0..dataset.columns().len()).filter(|&c| dataset.columns().get(c).is_some_and(wanted)).collect()
}

/// The fields that are read for names: each value once. A projected field stands for the fields that have its values.
fn fields(dataset: &Dataset, requested: &dyn Fn(&[String]) -> bool) -> Vec<usize> {
    let stored = dataset.stored_columns();
    let names = |column: usize| -> Vec<String> {
        let node = dataset.columns().get(column).map_or(usize::MAX, TableColumn::node);
        dataset.schema().lineage(node).into_iter().rev().map(str::to_owned).collect()
    };
    if stored.iter().all(|&column| requested(&names(column))) {
        return stored;
    }
    let mut chosen = Vec::new();
    let mut taken: HashSet<Vec<String>> = HashSet::new();
    let top = dataset.default_columns();
    let below = (0..dataset.columns().len()).filter(|column| !top.contains(column));
    for column in top.iter().copied().chain(below) {
        let own = names(column);
        let part = |from: usize, to: usize| taken.contains(own.get(from..to).unwrap_or_default());
        let is_part = (0..own.len()).any(|from| (from..=own.len()).any(|to| part(from, to)));
        if requested(&own) && !is_part {
            taken.insert(own);
            chosen.push(column);
        }
    }
    chosen
}

/// A number of entries.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "entries of a tree")]
fn whole(entries: f64) -> u64 {
    entries as u64
}

/// Picked entries of a tree as a reading in draws has them; each draw stands for the share by itself.
pub(crate) fn draws(entries: f64, share: f64, seed: u64) -> Vec<Option<Vec<u64>>> {
    let (mut draws, mut picked) = (Vec::new(), 0);
    while picked < PICKS && (draws.len() as u64) < DRAWS {
        let picks = picks(whole(entries), share, seed.wrapping_add(draws.len() as u64));
        picked += picks.len() as u64;
        draws.push(Some(picks));
    }
    draws
}

/// Entries of a tree, each by its own throw of the dice, as events are picked. The same for all files of as many entries.
fn picks(entries: u64, share: f64, seed: u64) -> Vec<u64> {
    (0..entries).filter(|&entry| uniform(seed, entry) < share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_entries_are_spread_and_inside() {
        let picks = picks(10_000, 0.01, 3);
        assert!((80..=120).contains(&picks.len()), "{}", picks.len());
        assert!(picks.is_sorted() && picks.iter().all(|&e| e < 10_000));
    }
}
