//! The cut flow: how many entries, and which sum of weights, are left after each cut.

use serde::Serialize;

/// What the names of the histograms of a cut flow add to that of the table.
pub(crate) const CUT_FLOW: &str = "_cutflow";
pub(crate) const WEIGHTED_FLOW: &str = "_cutflow_weighted";

/// Whether an object of this class and path is a histogram of a cut flow.
pub(crate) fn is_cut_flow(class: &str, path: &str) -> bool {
    let name = path.trim_end_matches(|c: char| c.is_ascii_digit());
    class == "TH1D" && [CUT_FLOW, WEIGHTED_FLOW].iter().any(|end| name.ends_with(end))
}

/// The cuts of one table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CutFlow {
    /// The path of the table.
    pub path: String,
    /// The cuts in their order.
    pub cuts: Vec<CutStep>,
}

/// What one cut leaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CutStep {
    /// The expression.
    pub cut: String,
    /// Entries before the cut.
    pub before: u64,
    /// Entries after it.
    pub after: u64,
    /// The sum of the weights of the entries before it, if a weight is given.
    pub weight_before: Option<f64>,
    /// The sum of the weights of the entries after it.
    pub weight_after: Option<f64>,
    /// Clusters of which nothing was read, since what is known of their values decides the cut: of the one that none of their entries
    /// passes, or else of the last one.
    pub clusters_skipped: u64,
    /// The sums of the squares of the weights, before and after the cut.
    #[serde(skip)]
    pub squares: Option<[f64; 2]>,
}

impl CutFlow {
    /// Adds the entries of another part of the table, which were counted without weights.
    pub(crate) fn add(&mut self, other: &Self) {
        for (step, more) in self.cuts.iter_mut().zip(&other.cuts) {
            step.before += more.before;
            step.after += more.after;
            step.clusters_skipped += more.clusters_skipped;
        }
    }
}

impl CutStep {
    /// The sum of weights before the cut, and that of their squares.
    pub(crate) fn weights_before(&self) -> Option<(f64, f64)> {
        Some((self.weight_before?, self.squares?[0]))
    }

    /// The sum of weights after the cut, and that of their squares.
    pub(crate) fn weights_after(&self) -> Option<(f64, f64)> {
        Some((self.weight_after?, self.squares?[1]))
    }
}

/// Counts entries while they are read.
pub(super) struct Counts {
    /// What is there before all cuts, and after each.
    sums: Vec<Sums>,
    is_weighted: bool,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    entries: u64,
    /// Clusters that the cut after these decides.
    skipped: u64,
    weights: f64,
    squares: f64,
}

impl Counts {
    pub fn new(cuts: usize, is_weighted: bool) -> Self {
        Self { sums: vec![Sums::default(); cuts + 1], is_weighted }
    }

    /// Adds entries that have passed so many cuts, and their weights in the order of entries.
    pub fn add(&mut self, passed: usize, entries: usize, weights: impl Iterator<Item = f64>) {
        let Some(sums) = self.sums.get_mut(passed) else { return };
        sums.entries += entries as u64;
        for weight in weights {
            sums.weights += weight;
            sums.squares += weight * weight;
        }
    }

    /// Adds entries of a cluster that was not read: all pass the cuts before this one, and this one all or none.
    pub fn skip(&mut self, by: usize, entries: u64, passes: bool) {
        for sums in self.sums.iter_mut().take(by + 1 + usize::from(passes)) {
            sums.entries += entries;
        }
        self.sums.get_mut(by).into_iter().for_each(|sums| sums.skipped += 1);
    }

    pub fn finish(self, cuts: &[String]) -> Vec<CutStep> {
        let weight = |sums: &Sums| self.is_weighted.then_some(sums.weights);
        let pairs = self.sums.iter().zip(self.sums.iter().skip(1));
        let steps = cuts.iter().zip(pairs).map(|(cut, (before, after))| CutStep {
            cut: cut.clone(),
            before: before.entries,
            after: after.entries,
            weight_before: weight(before),
            weight_after: weight(after),
            clusters_skipped: before.skipped,
            squares: self.is_weighted.then_some([before.squares, after.squares]),
        });
        steps.collect()
    }
}
