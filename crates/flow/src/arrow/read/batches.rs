//! Reads a request in batches, so that only the arrays of one batch are in memory at a time.

use std::sync::Arc;

use rayon::ThreadPool;

use super::dataset::Dataset;
use super::request::Request;
use super::run::{Kept, Read, read_on};
use crate::execute::fetch::tree::basket_cache::BasketCache;

/// The size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// A number of entries.
    Entries(u64),
    /// Entries with about this many bytes before compression, by the metadata of the trees, at most half of the budget.
    Bytes(u64),
    /// A cluster.
    Cluster,
}

impl BatchSize {
    /// The entries of a batch of a request for columns of a table with so many entries and bytes; none for a cluster.
    pub(super) fn entries(self, request: &Request<'_>, entries: u64, bytes: impl FnOnce() -> u64) -> Option<u64> {
        match self {
            Self::Entries(entries) => Some(entries.max(1)),
            Self::Bytes(wanted) => Some(entries_of(wanted.min(request.budget.memory / 2), bytes(), entries)),
            Self::Cluster => None,
        }
    }
}

/// An iterator over the batches of a request.
pub struct Batches<'a> {
    dataset: &'a Dataset,
    request: Request<'a>,
    step: Option<u64>,
    kept: Kept,
    at: u64,
}

/// Reads a request batch by batch.
pub fn batches<'a>(dataset: &'a Dataset, request: Request<'a>, step: BatchSize) -> Batches<'a> {
    let step = step.entries(&request, dataset.entries(), || dataset.bytes_of(&request.columns));
    let cache = BasketCache::new(request.budget.memory / 8);
    batches_with(dataset, request, step, cache)
}

/// The same for batches of so many entries, or of clusters. `cache` keeps baskets that several of them use.
pub(super) fn batches_with<'a>(
    dataset: &'a Dataset,
    request: Request<'a>,
    step: Option<u64>,
    cache: BasketCache,
) -> Batches<'a> {
    let kept = Kept::new(dataset, &request, cache);
    Batches { dataset, at: request.entries.start, request, step, kept }
}

/// The entries, at least one, that take so many of all bytes: rounded, as uproot does.
fn entries_of(bytes: u64, all: u64, entries: u64) -> u64 {
    let all = u128::from(all).max(1);
    let rounded = (u128::from(bytes) * u128::from(entries) + all / 2) / all;
    u64::try_from(rounded).unwrap_or(u64::MAX).max(1)
}

/// The end of a batch that begins with entry `at`: `step` entries further, or with its cluster.
pub(super) fn end_of_batch(step: Option<u64>, at: u64, clusters: &[u64]) -> u64 {
    match step {
        Some(entries) => at.saturating_add(entries),
        None => clusters.get(clusters.partition_point(|&start| start <= at)).copied().unwrap_or(u64::MAX),
    }
}

impl Batches<'_> {
    /// Keeps the baskets that several of the steps between these entries use. They may take `room` bytes.
    pub(crate) fn keeping(self, steps: Vec<u64>, room: u64) -> Self {
        Self { kept: self.kept.keeping(steps, room), ..self }
    }

    /// Reads with the threads of a team, which may have other work at the same time.
    pub(crate) fn with_team(self, team: Option<Arc<ThreadPool>>) -> Self {
        Self { kept: self.kept.with_team(team), ..self }
    }

    /// The next batch, up to entry `to`.
    pub(crate) fn next_until(&mut self, to: u64) -> Option<rootfile::Result<Read>> {
        let end = self.end();
        if self.at >= end {
            return None;
        }
        let entries = self.at..to.min(end);
        self.at = entries.end;
        let read = read_on(self.dataset, &Request { entries, ..self.request.clone() }, &self.kept);
        if read.is_err() {
            self.at = end;
        }
        Some(read)
    }

    fn end(&self) -> u64 {
        self.request.entries.end.min(self.dataset.entries())
    }
}

impl Iterator for Batches<'_> {
    type Item = rootfile::Result<Read>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_until(end_of_batch(self.step, self.at, self.dataset.clusters()))
    }
}

#[cfg(test)]
mod tests {
    use super::entries_of;

    #[test]
    fn entries_of_a_step_are_rounded() {
        assert_eq!(entries_of(100_000, 331_034, 2304), 696);
        assert_eq!(entries_of(1, 331_034, 2304), 1);
        assert_eq!(entries_of(u64::MAX, 1, u64::MAX), u64::MAX);
        assert_eq!(entries_of(5, 0, 0), 1);
    }
}
