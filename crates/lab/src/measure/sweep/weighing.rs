//! How the points of a sweep are weighed for a goal: the cost of each, which are as good within the noise, and which of those is
//! better by the other figures. Nothing here depends on the order of the points.

use super::metric::metric_of;
use super::point::Point;
use super::question::Goal;
use super::runs::{Against, Runs, TIMES_NOISE, Test, reference, today};
use crate::cost::Utility;

/// Figures other than the goal decide nothing if they differ by less than this share.
const MATTERS: f64 = 0.01;

/// The points, weighed for a goal.
pub(super) struct Weighing<'a> {
    pub runs: &'a Runs<'a>,
    /// The figure that is to be small.
    pub goal: &'static str,
    /// The reference point.
    pub reference: usize,
    /// The points to choose from.
    pub candidates: Vec<usize>,
    utility: Utility,
    /// Whether the goal is the only thing that counts, unless it ties.
    alone: bool,
}

impl<'a> Weighing<'a> {
    pub fn new(runs: &'a Runs<'a>, goal: Goal) -> Self {
        let points = &runs.head.points;
        let (reference, name) = (reference(points), runs.head.settings.goal_metric(goal));
        // Fact: a copy of today's layout moves its records as they are, which says nothing of writing it.
        let writes = name.starts_with("copy_");
        let may_win = |point: &usize| !(writes && points.get(*point).is_some_and(|point| point.baseline));
        let candidates: Vec<usize> = runs.candidates(reference).into_iter().filter(may_win).collect();
        // What one per cent of each figure is worth is told by today's, or by the least of all points.
        let base = |name: &str| {
            let own = today(points).and_then(|today| figure(runs, today, name));
            own.or_else(|| candidates.iter().filter_map(|&point| figure(runs, point, name)).min_by(f64::total_cmp))
        };
        let read = base(name).unwrap_or_default();
        let utility = Utility::new(crate::cost::Goal::Reading, read, base("size").unwrap_or_default());
        let alone = matches!(goal, Goal::Memory | Goal::Size);
        Self { runs, goal: name, reference, candidates, utility, alone }
    }

    /// The median of a figure of a point.
    pub fn figure(&self, point: usize, name: &str) -> Option<f64> {
        figure(self.runs, point, name)
    }

    /// The cost of a point; `None` if it was not measured.
    pub fn cost(&self, point: usize) -> Option<f64> {
        let own = self.figure(point, self.goal)?;
        if self.alone {
            return Some(own);
        }
        let copy = if self.goal == "copy_cpu" { 0.0 } else { self.figure(point, "copy_cpu").unwrap_or(0.0) };
        Some(self.utility.of(own, copy, self.figure(point, "size").unwrap_or(0.0)))
    }

    /// The place of a point in an order that does not depend on that of the grid: today's layout first.
    pub fn order(&self, point: usize) -> impl Ord + use<'_> {
        let of = self.runs.head.points.get(point);
        (today(&self.runs.head.points) != Some(point), of.map(Point::order))
    }

    /// Whether the goal's figure of two points is the same within the noise.
    pub fn ties(&self, point: usize, other: usize) -> bool {
        self.against(point, other, self.goal).is_some_and(|against| !against.differs)
    }

    /// How a figure of one point compares with that of another. Where there are too few runs for a test, they differ if all
    /// runs of both are apart by several times their spread.
    pub fn against(&self, point: usize, other: usize, name: &str) -> Option<Against> {
        let metric = metric_of(name)?;
        let against = self.runs.against(point, other, metric)?;
        if against.test != Test::None {
            return Some(against);
        }
        let (a, b) = (self.runs.figure(point, metric)?, self.runs.figure(other, metric)?);
        let gap = a.least.max(b.least) - a.most.min(b.most);
        let spread = (a.most - a.least).max(b.most - b.least);
        let differs = a.runs.min(b.runs) > 1 && gap > 0.0 && gap > TIMES_NOISE * spread;
        Some(Against { differs, ..against })
    }

    /// By how much one point is better than another that ties with it, by those of the other figures that differ.
    pub fn gain(&self, point: usize, other: usize) -> f64 {
        // Both values of a figure that differs; nothing of one that does not.
        let both = |name: &str| {
            let against = self.against(point, other, name).filter(|_| name != self.goal)?;
            let differs = against.differs && (against.times - 1.0).abs() >= MATTERS;
            differs.then_some((self.figure(point, name)?, self.figure(other, name)?))
        };
        let (own, others): (Vec<f64>, Vec<f64>) = [self.runs.head.settings.reading(), "copy_cpu", "size"]
            .map(|name| both(name).unwrap_or_default())
            .into_iter()
            .unzip();
        let worth = |of: &[f64]| match of {
            [read, copy, size] => self.utility.of(*read, *copy, *size),
            _ => 0.0,
        };
        let gain = worth(&others) - worth(&own);
        if gain != 0.0 {
            return gain;
        }
        // Memory decides where nothing else does.
        let memory = ["copy_rss_record", "full_rss"].into_iter().filter_map(both);
        memory.map(|(own, other)| if other > 0.0 { 1.0 - own / other } else { 0.0 }).sum()
    }

    /// Of points that tie, those that no other is better than.
    pub fn unbeaten(&self, tied: &[usize]) -> Vec<usize> {
        let beaten = |point: usize| tied.iter().any(|&other| self.gain(other, point) > 0.0);
        let left: Vec<usize> = tied.iter().copied().filter(|&point| !beaten(point)).collect();
        // Each may be beaten by the next, in a circle.
        if left.is_empty() { tied.to_vec() } else { left }
    }
}

fn figure(runs: &Runs<'_>, point: usize, name: &str) -> Option<f64> {
    Some(runs.figure(point, metric_of(name)?)?.median)
}
