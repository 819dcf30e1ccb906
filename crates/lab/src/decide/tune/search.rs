//! The search for a choice: samples, a first choice, a second look at the chosen codecs, and the choice again.

use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::candidates::{ClusterOption, cluster_options};
use super::choice::{Chosen, Limits};
use super::decide::{self, Space};
use super::options::Options;
use super::reader::expect;
use crate::cost::column::Column;
use crate::cost::confirm::{Confirmed, Finalist};
use crate::cost::measured::Measured;
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::cost::{Access, Allowance, CodecBench, FullRead, Packing, measure, nominal};
use crate::math::solve::Infeasible;
use crate::system::clock::process_seconds;

/// Reserve on size limits, because samples are not exact: one and a half times the
/// error of the second look, between these shares.
pub(super) const SIZE_MARGIN: (f64, f64) = (0.005, 0.03);
/// The reserve before the second look.
const FIRST_MARGIN: f64 = 0.01;
/// Most rounds of second samples, and the share of new bytes in a round that makes another worthwhile.
const ROUNDS: u64 = 3;
const WORTH_A_ROUND: f64 = 0.05;
/// The report takes about this many times the CPU time of one decision.
const REPORT: f64 = 4.0;
/// Trials correct the expected time of other rewrites by factors within these bounds.
const TAUGHT: (f64, f64) = (0.25, 4.0);
/// Expected cost of a trial, in rewrites and in readings.
const TRIAL: f64 = 1.5;
const READINGS: f64 = 4.0;
/// A trial may take this share of what is allowed; samples leave as much. Where it takes longer, they leave some for trials of a part.
const TRIAL_SHARE: f64 = 0.5;
const PARTS_SHARE: f64 = 0.3;

/// The state of the search: measured costs, the space of choices, and the decision.
pub(super) struct Search {
    pub(super) measured: Measured,
    /// The costs of reading by another program, if one will read the file.
    pub(super) theirs: Option<(Measured, Access)>,
    pub(super) confirmed: Confirmed,
    pub(super) space: Space,
    pub(super) now: (Vec<Cost>, Cost),
    pub(super) limits: Limits,
    pub(super) decision: std::result::Result<Chosen, Infeasible>,
    /// CPU seconds that deciding took.
    pub(super) deciding: f64,
    /// What trials said of rewriting.
    pub(super) rewritten: Vec<Rewritten>,
    /// The share of the entries of the last trial, if the choice was tried on a part of them.
    pub(super) part: Option<f64>,
}

/// A rewrite that was tried.
pub(super) struct Rewritten {
    pub(super) chosen: Chosen,
    /// CPU seconds that it was expected to take, and took.
    pub(super) expected: f64,
    pub(super) took: f64,
}

impl Search {
    pub(super) fn new(
        stats: &FileStats,
        options: &Options,
        (access, full_read): (Access, &FullRead),
        (codecs, own): (&[Packing], Packing),
        allowance: &Allowance,
        bench: &mut dyn CodecBench,
    ) -> Result<Self> {
        let sampling = allowance.keeping(time_for_a_trial(stats, allowance));
        let mut measured = measure::measure(stats, codecs, own, options.seed, &sampling, bench)?;
        full_read.correct(stats, &access, &mut measured.columns);
        let mut search = Self::decide(stats, options, access, measured, FIRST_MARGIN)?;
        let mut last = 0.0;
        for round in 1..=ROUNDS {
            let Ok(chosen) = &search.decision else { break };
            // A trial says more than second samples.
            let keeping = search.keeping(*allowance);
            if keeping.allows(search.trial_seconds(stats, access, chosen)) || !search.keeping(sampling).allows(last) {
                break;
            }
            let started = process_seconds();
            let finalists = finalists(stats, chosen);
            let Self { mut measured, mut confirmed, .. } = search;
            let seed = options.seed.wrapping_add(round);
            let new = confirmed.round(stats, &mut measured, &finalists, seed, &sampling, bench)?;
            let margin = (1.5 * confirmed.error()).clamp(SIZE_MARGIN.0, SIZE_MARGIN.1);
            search = Self { confirmed, ..Self::decide(stats, options, access, measured, margin)? };
            if new < WORTH_A_ROUND {
                break;
            }
            last = process_seconds() - started;
        }
        Ok(search)
    }

    fn decide(stats: &FileStats, options: &Options, access: Access, measured: Measured, margin: f64) -> Result<Self> {
        let started = process_seconds();
        let clusterings = cluster_options(stats, options.min_clusters);
        let theirs = options.reader.as_ref();
        let theirs = theirs.map(|reader| expect::expected(reader.profile(), stats, &measured, &access));
        let (seen, reading) = theirs.as_ref().map_or((&measured, access), |(seen, reading)| (seen, *reading));
        let now = today(stats, seen, &reading, &clusterings)?;
        let limits = options.limits(&stats.compared(&now.1));
        let space =
            Space::new(stats, seen, &reading, clusterings, (options.weights(), &stats.compared(&now.1)), margin);
        let decision = space.decide(&limits);
        let deciding = process_seconds() - started;
        let (confirmed, rewritten, part) = (Confirmed::default(), Vec::new(), None);
        Ok(Self { theirs, measured, confirmed, space, now, limits, decision, deciding, rewritten, part })
    }

    /// The allowance before the report, which decides again for each point of the front and each looser limit.
    pub(super) fn keeping(&self, allowance: Allowance) -> Allowance {
        allowance.keeping(REPORT * self.deciding)
    }

    /// The costs for the program that will read the file; `access` holds basketry's.
    pub(super) fn reading(&self, access: Access) -> (&Measured, Access) {
        self.theirs.as_ref().map_or((&self.measured, access), |(seen, reading)| (seen, *reading))
    }

    /// CPU seconds of a rewrite into a choice: those that its trial took, or expected ones with what trials of others taught.
    pub(super) fn rewriting(&self, stats: &FileStats, access: Access, chosen: &Chosen) -> f64 {
        if let Some(tried) = self.rewritten.iter().rev().find(|tried| tried.chosen.is_same(chosen)) {
            return tried.took;
        }
        let sums = self.rewritten.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.expected, sum.1 + one.took));
        let taught = if sums.0 > 0.0 { (sums.1 / sums.0).clamp(TAUGHT.0, TAUGHT.1) } else { 1.0 };
        taught * self.expected_rewriting(stats, access, chosen)
    }

    /// The same by the costs that were measured.
    pub(super) fn expected_rewriting(&self, stats: &FileStats, access: Access, chosen: &Chosen) -> f64 {
        decide::rewriting(stats, &self.measured, &access, self.space.options.get(chosen.option), chosen)
    }

    /// CPU seconds that a trial is expected to take.
    pub(super) fn trial_seconds(&self, stats: &FileStats, access: Access, chosen: &Chosen) -> f64 {
        let rewrite = self.rewriting(stats, access, chosen);
        TRIAL * rewrite + READINGS * (self.now.1.read + chosen.total.read)
    }
}

/// Seconds that samples leave for trials.
fn time_for_a_trial(stats: &FileStats, allowance: &Allowance) -> f64 {
    let seconds = 1e-9 * (TRIAL * nominal::rewrite(stats) + 2.0 * READINGS * nominal::reading(stats));
    let most = TRIAL_SHARE * allowance.seconds();
    if seconds <= most { most } else { PARTS_SHARE * allowance.seconds() }
}

/// The choices of changed columns.
fn finalists(stats: &FileStats, chosen: &Chosen) -> Vec<Finalist> {
    let finalist = |(i, column): (usize, &Column)| {
        let codec = chosen.picks.get(column.unit).copied().flatten()?.codec?;
        // The baskets of a unit are divided among its columns by entries; most units have one column.
        let baskets = chosen.costs.get(column.unit)?.baskets.max(1.0);
        Some(Finalist { column: i, codec, basket: column.raw / baskets })
    };
    stats.columns.iter().enumerate().filter_map(finalist).collect()
}

fn today(
    stats: &FileStats,
    measured: &Measured,
    access: &Access,
    options: &[ClusterOption],
) -> Result<(Vec<Cost>, Cost)> {
    let keep = options.first().ok_or_else(|| Error::request("a file without clusters"))?;
    Ok(decide::today(stats, measured, access, keep))
}

/// Packings that are tried for a file whose bytes mostly have `own`: codecs, and encodings for pages.
pub(super) fn packings_for(stats: &FileStats, own: Packing) -> Vec<Packing> {
    let mut packings = packings_of(stats, &nominal::candidates(stats.goal));
    if !packings.contains(&own) {
        packings.push(own);
    }
    packings
}

/// The packings of these codecs for the baskets and pages of a file.
pub(super) fn packings_of(stats: &FileStats, codecs: &[Compression]) -> Vec<Packing> {
    let [has_pages, has_baskets] = stats.containers();
    let mut packings = Vec::new();
    if has_baskets {
        packings.extend(codecs.iter().copied().map(Packing::of_baskets));
    }
    if has_pages {
        packings.extend(Packing::of_pages(codecs, stats.exact));
    }
    packings
}

/// The packing of most bytes.
pub(super) fn main_packing(stats: &FileStats) -> Packing {
    let mut bytes: Vec<(Packing, f64)> = Vec::new();
    for column in stats.now() {
        let packing = column.packing();
        match bytes.iter_mut().find(|(known, _)| *known == packing) {
            Some((_, sum)) => *sum += column.raw,
            None => bytes.push((packing, column.raw)),
        }
    }
    let most = bytes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.map_or(Packing::of_baskets(Compression::NONE), |(packing, _)| packing)
}
