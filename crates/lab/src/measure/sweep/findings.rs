//! What a sweep found, as plain values: `result.json`, and the JSON form of `sweep show` (`docs/sweep-schema.md`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::journal::Head;
use super::plan::{Kind, Plan};
use super::point::{Point, Setting};
use super::runs::{Against, CHANCE, ENOUGH, TIMES_NOISE, Test};
use crate::math::statistics::{Figure, Slope, differ_by_chance};

/// The findings of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The description of the sweep.
    pub head: Head,
    /// The reference point: today's layout, or else the first.
    pub reference: usize,
    /// Each point.
    pub lines: Vec<Line>,
    /// Noise of one run of each figure, as a share, over all points.
    pub noise: BTreeMap<String, f64>,
    /// The cost of one more stream.
    pub streams: Vec<StreamCost>,
    /// Points that no other beats in both of two figures.
    pub fronts: Vec<Front>,
    /// The decision, for the first goal.
    pub decision: Decision,
    /// The decisions for the further goals, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Decision>,
    /// Jobs that failed: commands of the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

/// A job that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The point.
    pub point: usize,
    /// What it was to do.
    pub kind: Kind,
    /// The reason: the exit code and the last lines of what it said.
    pub reason: String,
}

/// The figures of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The point.
    pub point: Point,
    /// Rounds after which it was dropped, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<usize>,
    /// Figures, by the names of the metrics.
    pub figures: BTreeMap<String, Figure>,
    /// The same figures, compared with the reference.
    pub against: BTreeMap<String, Against>,
    /// Milliseconds for an entry of each column that is read alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<(String, f64)>,
}

/// The cost of one more stream, at points that are otherwise the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamCost {
    /// Their common settings.
    pub settings: Vec<Setting>,
    /// The figure.
    pub metric: String,
    /// The line through all runs.
    #[serde(flatten)]
    pub slope: Slope,
}

/// Points that no other beats in both of two figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Front {
    /// The figures.
    pub metrics: [String; 2],
    /// The points, by the first figure.
    pub points: Vec<usize>,
}

impl Findings {
    /// The jobs that failed, a sentence each.
    pub fn failed(&self) -> Vec<String> {
        let name = |point: usize| self.head.points.get(point).map_or_else(String::new, ToString::to_string);
        let sentence = |failure: &Failure| {
            format!("{} of {} failed: {}", failure.kind.name(), name(failure.point), failure.reason)
        };
        self.failures.iter().map(sentence).collect()
    }

    /// All decisions: one for each goal.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        std::iter::once(&self.decision).chain(&self.further)
    }

    /// The weakest test that marks were made by, as a sentence.
    pub fn test(&self) -> String {
        let repeat = self.head.settings.repeat;
        let tests = || self.lines.iter().flat_map(|line| line.against.values()).map(|against| against.test);
        let by_rank = format!("the rank test of Mann, Whitney and Wilcoxon, two-sided, p < {CHANCE}");
        // Two of all permutations of the ranks are the most extreme.
        let least = || differ_by_chance(&vec![0.0; repeat], &vec![1.0; repeat]);
        match (tests().any(|test| test == Test::Noise), tests().any(|test| test == Test::MannWhitneyWilcoxon)) {
            (false, true) => format!("({by_rank}); without a star: not significant."),
            (true, false) => format!(
                "by more than {TIMES_NOISE} x the noise of one run over all points. No rank test was used: with {repeat} \
                 runs of each its least p is {:.2}. --repeat {ENOUGH} or more allows one.",
                least()
            ),
            (true, true) => format!(
                "({by_rank}; points with fewer than {ENOUGH} runs: by more than {TIMES_NOISE} x the noise of one run over \
                 all points); without a star: not significant."
            ),
            (false, false) => {
                format!(
                    "by more than the noise: none (n.s.), since there are too few runs for a test. --repeat {ENOUGH} or more allows one."
                )
            }
        }
    }

    /// The points that read for themselves: points that differ in streams alone share their readings.
    pub fn readers(&self) -> Vec<bool> {
        let plan = Plan::new(&self.head.points, self.head.settings.kinds.clone(), self.head.settings.seed);
        (0..self.head.points.len()).map(|point| plan.reader(point) == point).collect()
    }
}

/// The decision, with its reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The figure that was made small, beside bytes on disk and copying.
    pub goal: String,
    /// The point; none if the limits cannot be met, or nothing was measured.
    pub chosen: Option<usize>,
    /// Points within the limits that are as good within the noise.
    pub equals: Vec<usize>,
    /// The reasons.
    pub reasons: Vec<String>,
    /// Where limits cannot be met: which, and the nearest that could.
    pub impossible: Vec<String>,
    /// The gain of looser limits, and the cost of tighter ones.
    pub sensitivity: Vec<String>,
    /// The chosen layout as TOML, as `rewrite` takes it.
    pub layout: Option<String>,
}
