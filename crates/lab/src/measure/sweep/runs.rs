//! All runs of a sweep, and how points compare: medians, noise, and whether a difference is beyond the noise.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::journal::{Entry, Head};
use super::metric::Metric;
use super::plan::{Kind, Plan};
use super::point::{Point, TODAY, common_run};
use super::runner::Measured;
use crate::math::statistics::{Figure, differ_by_chance, median};

/// Series differ if the probability of such a difference by chance is below this.
pub const CHANCE: f64 = 0.05;
/// Fewest runs of each point for which a test can reach this: with three and three runs, one of ten divisions of the
/// ranks is as extreme.
pub(super) const ENOUGH: usize = 4;
/// With fewer runs, a difference counts if it exceeds the noise of all points by this factor.
pub(super) const TIMES_NOISE: f64 = 3.0;
/// Fewest runs beyond the first of each point, over all points, for an estimate of the noise.
const ENOUGH_FOR_NOISE: usize = 4;

/// The test by which two series differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The two-sided rank test of Mann, Whitney and Wilcoxon.
    MannWhitneyWilcoxon,
    /// A multiple of the noise of one run over all points: no rank test reaches [`CHANCE`] with so few runs.
    Noise,
    /// None: there are too few runs even for the noise.
    #[default]
    None,
}

/// A figure, compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The one over the other.
    pub times: f64,
    /// The probability of such a difference by chance alone.
    pub chance: f64,
    /// Whether they differ beyond the noise.
    pub differs: bool,
    /// The test that was used.
    #[serde(default)]
    pub test: Test,
}

/// All runs of a sweep.
pub struct Runs<'a> {
    pub(super) head: &'a Head,
    plan: Plan,
    runs: BTreeMap<(usize, Kind), Vec<&'a Measured>>,
    /// Points at which a job failed that others did.
    failed: BTreeSet<usize>,
}

impl<'a> Runs<'a> {
    /// Of these results.
    pub fn new(head: &'a Head, entries: &'a [Entry]) -> Self {
        let plan = Plan::new(&head.points, head.settings.kinds.clone(), head.settings.seed);
        let mut sorted: Vec<&Entry> = entries.iter().collect();
        sorted.sort_by_key(|entry| entry.job);
        let mut runs: BTreeMap<(usize, Kind), Vec<&Measured>> = BTreeMap::new();
        for entry in sorted {
            runs.entry((entry.job.point, entry.job.kind)).or_default().push(&entry.measured);
        }
        Self { head, plan, runs, failed: BTreeSet::new() }
    }

    /// The same runs, beside jobs that failed. A job that failed at every point says nothing of one.
    pub fn beside_failures(mut self, failures: impl Iterator<Item = (usize, Kind)>) -> Self {
        for (point, kind) in failures {
            if self.runs.keys().any(|(other, done)| *done == kind && *other != point) {
                let of = |number: usize| if kind == Kind::Copy { number } else { self.plan.reader(number) };
                self.failed.extend((0..self.head.points.len()).filter(|number| of(*number) == point));
            }
        }
        self
    }

    /// The points to choose from: those that are run as the reference is, and did not fail.
    pub(super) fn candidates(&self, reference: usize) -> Vec<usize> {
        let mut all = candidates(&self.head.points, reference);
        all.retain(|point| !self.failed.contains(point));
        all
    }

    pub(super) fn of(&self, point: usize, kind: Kind) -> &[&'a Measured] {
        let point = if kind == Kind::Copy { point } else { self.plan.reader(point) };
        self.runs.get(&(point, kind)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The values of a figure at a point.
    pub fn values(&self, point: usize, metric: &Metric) -> Vec<f64> {
        self.of(point, metric.kind).iter().map(|run| (metric.of)(run)).filter(|value| !value.is_nan()).collect()
    }

    /// Its median and noise.
    pub fn figure(&self, point: usize, metric: &Metric) -> Option<Figure> {
        Figure::of(&self.values(point, metric))
    }

    /// The noise of a figure over all points: the root mean square of the relative noise of one run. `None` if no job
    /// was repeated often enough.
    pub fn noise(&self, metric: &Metric) -> Option<f64> {
        let all: Vec<f64> = (0..self.head.points.len())
            .filter(|&point| metric.kind == Kind::Copy || self.plan.reader(point) == point)
            .filter_map(|point| self.figure(point, metric))
            .filter(|figure| figure.runs > 1)
            .map(|figure| figure.noise.powi(2))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "points")]
        let points = all.len() as f64;
        (!all.is_empty()).then(|| (all.iter().sum::<f64>() / points).sqrt())
    }

    /// How a figure of one point compares with that of another.
    pub fn against(&self, point: usize, other: usize, metric: &Metric) -> Option<Against> {
        let (a, b) = (self.values(point, metric), self.values(other, metric));
        let times = median(&a)? / median(&b).filter(|value| *value != 0.0)?;
        let chance = differ_by_chance(&a, &b);
        let test = self.test(a.len().min(b.len()), metric);
        let differs = match test {
            Test::MannWhitneyWilcoxon => chance < CHANCE,
            Test::Noise => self.noise(metric).is_some_and(|noise| (times - 1.0).abs() > TIMES_NOISE * noise),
            Test::None => false,
        };
        Some(Against { times, chance, differs, test })
    }

    /// The test that `runs` runs of each of two points allow.
    fn test(&self, runs: usize, metric: &Metric) -> Test {
        let besides = || (0..self.head.points.len()).map(|point| self.of(point, metric.kind).len().saturating_sub(1));
        match runs {
            ENOUGH.. => Test::MannWhitneyWilcoxon,
            2.. if besides().sum::<usize>() >= ENOUGH_FOR_NOISE => Test::Noise,
            _ => Test::None,
        }
    }
}

/// The point with today's layout: the point named `today`, or one that changes nothing and is run as most are.
pub fn today(points: &[Point]) -> Option<usize> {
    let run = common_run(points)?;
    let named = points.iter().position(|point| point.name.as_deref() == Some(TODAY));
    named.or_else(|| points.iter().position(|point| point.keeps_layout() && point.run() == run))
}

/// The reference point: that with today's layout, or else the first of those that are run as most are.
pub fn reference(points: &[Point]) -> usize {
    let run = common_run(points);
    today(points).or_else(|| points.iter().position(|point| Some(point.run()) == run)).unwrap_or(0)
}

/// The points to choose from: points with the streams, threads and fraction of the reference.
pub(crate) fn candidates(points: &[Point], reference: usize) -> Vec<usize> {
    let Some(run) = points.get(reference).map(Point::run) else { return Vec::new() };
    (0..points.len()).filter(|&number| points.get(number).is_some_and(|point| point.run() == run)).collect()
}
