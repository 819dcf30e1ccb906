//! From runs to figures: medians and noise of each point, what differs from today's layout beyond the noise, what one
//! more stream costs, and which points no other beats.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decide::{self, Decision};
use super::grid::{AS_IS, Point, Setting};
use super::journal::{Entry, Head};
use super::metric::{METRICS, Metric};
use super::plan::{Kind, Plan};
use super::runner::Measured;
use crate::stats::{Figure, Slope, differ_by_chance, line, median};

/// Series differ if chance makes such a difference less often than this.
pub const CHANCE: f64 = 0.05;
/// Runs of each that this can be known of at all: of three and three, one of ten ways to deal them out is as extreme.
const ENOUGH: usize = 4;
/// With fewer runs, a difference counts that is so many times the noise of all points together.
const TIMES_NOISE: f64 = 3.0;
/// Runs beyond the first of each point, over all points, that the noise of all points together is known by.
const ENOUGH_FOR_NOISE: usize = 4;

/// What decides whether two series differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The two-sided rank test of Mann, Whitney and Wilcoxon.
    MannWhitneyWilcoxon,
    /// A multiple of the noise of one run over all points: no rank test reaches [`CHANCE`] with so few runs.
    Noise,
    /// Nothing: there are too few runs even for the noise.
    #[default]
    None,
}

/// What a sweep came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// What was measured, and how.
    pub head: Head,
    /// The point that others are held against: today's layout, or else the first.
    pub reference: usize,
    /// Each point.
    pub lines: Vec<Line>,
    /// Noise of one run of each figure, as a share, over all points.
    pub noise: BTreeMap<String, f64>,
    /// What one more stream costs.
    pub streams: Vec<StreamCost>,
    /// Points that no other beats in both of two figures.
    pub fronts: Vec<Front>,
    /// What is best.
    pub decision: Decision,
}

/// What is known of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The point.
    pub point: Point,
    /// Rounds after which it was dropped, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<usize>,
    /// Figures, by the names of the metrics.
    pub figures: BTreeMap<String, Figure>,
    /// The same figures held against those of the reference.
    pub against: BTreeMap<String, Against>,
    /// Milliseconds for an entry of each column that is read alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<(String, f64)>,
}

/// A figure, held against another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The one over the other.
    pub times: f64,
    /// How likely chance alone makes such a difference.
    pub chance: f64,
    /// Whether they differ beyond the noise.
    pub differs: bool,
    /// What decided that.
    #[serde(default)]
    pub test: Test,
}

/// What one more stream costs at points that are the same otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamCost {
    /// What the points have in common.
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
    /// The weakest test that marks were made by, as a sentence.
    pub fn test(&self) -> String {
        let repeat = self.head.settings.repeat;
        let tests = || self.lines.iter().flat_map(|line| line.against.values()).map(|against| against.test);
        let by_rank = format!("the rank test of Mann, Whitney and Wilcoxon, two-sided, p < {CHANCE}");
        // Of so many and so many values, two of all ways to deal out the ranks are the most extreme.
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
                    "by more than the noise: nothing (n.s.), since runs are too few for a test. --repeat {ENOUGH} or more allows one."
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

/// All runs of a sweep.
pub struct Runs<'a> {
    head: &'a Head,
    plan: Plan,
    runs: BTreeMap<(usize, Kind), Vec<&'a Measured>>,
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
        Self { head, plan, runs }
    }

    fn of(&self, point: usize, kind: Kind) -> &[&'a Measured] {
        let point = if kind == Kind::Copy { point } else { self.plan.reader(point) };
        self.runs.get(&(point, kind)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The values of a figure at a point.
    pub fn values(&self, point: usize, metric: &Metric) -> Vec<f64> {
        self.of(point, metric.kind).iter().map(|run| (metric.of)(run)).collect()
    }

    /// Its median and noise.
    pub fn figure(&self, point: usize, metric: &Metric) -> Option<Figure> {
        Figure::of(&self.values(point, metric))
    }

    /// The noise of a figure over all points: what one run is away from its median, as a share, in the mean of squares.
    /// Nothing is known of it where nothing was run twice.
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

    /// The test that so many runs of each of two points allow.
    fn test(&self, runs: usize, metric: &Metric) -> Test {
        let besides = || (0..self.head.points.len()).map(|point| self.of(point, metric.kind).len().saturating_sub(1));
        match runs {
            ENOUGH.. => Test::MannWhitneyWilcoxon,
            2.. if besides().sum::<usize>() >= ENOUGH_FOR_NOISE => Test::Noise,
            _ => Test::None,
        }
    }
}

/// The point that others are held against: the one that is called `today`, or leaves everything as it is, or the first.
pub fn reference(points: &[Point]) -> usize {
    let named = points.iter().position(|point| point.name.as_deref() == Some("today"));
    let as_is = |point: &Point| {
        let run = ["streams", "threads", "fraction"];
        point.settings.iter().all(|setting| run.contains(&setting.key.as_str()) || setting.value == AS_IS)
    };
    named.or_else(|| points.iter().position(as_is)).unwrap_or(0)
}

/// Makes figures and a decision of the runs.
pub fn analyse(head: &Head, entries: &[Entry]) -> Findings {
    let runs = Runs::new(head, entries);
    let reference = reference(&head.points);
    let lines: Vec<Line> = (0..head.points.len()).filter_map(|point| line_of(&runs, point, reference)).collect();
    let noise = METRICS.iter().filter_map(|metric| Some((metric.name.to_owned(), runs.noise(metric)?)));
    Findings {
        head: head.clone(),
        reference,
        noise: noise.collect(),
        streams: streams(&runs),
        fronts: [("copy_rss", "copy_cpu"), ("size", "full_cpu")]
            .map(|(a, b)| front(&lines, &decide::candidates(&head.points, reference), (a, b)))
            .into_iter()
            .filter(|front| !front.points.is_empty())
            .collect(),
        decision: decide::decide(&runs, head, reference),
        lines,
    }
}

fn line_of(runs: &Runs<'_>, point: usize, reference: usize) -> Option<Line> {
    let found = METRICS.iter().filter_map(|metric| Some((metric, runs.figure(point, metric)?)));
    let figures: BTreeMap<String, Figure> = found.map(|(metric, figure)| (metric.name.to_owned(), figure)).collect();
    let against = METRICS
        .iter()
        .filter(|_| point != reference)
        .filter_map(|metric| Some((metric.name.to_owned(), runs.against(point, reference, metric)?)));
    let rounds = runs.head.settings.repeat;
    let kind = if runs.head.settings.kinds.contains(&Kind::Copy) { Kind::Copy } else { Kind::Full };
    let done = runs.of(point, kind).len();
    Some(Line {
        point: runs.head.points.get(point)?.clone(),
        dropped: (runs.head.settings.drop && done < rounds).then_some(done),
        figures,
        against: against.collect(),
        columns: columns(runs.of(point, Kind::Columns)),
    })
}

/// Medians of the columns that are read alone.
fn columns(runs: &[&Measured]) -> Vec<(String, f64)> {
    let Some(first) = runs.first() else { return Vec::new() };
    let of = |(number, (name, _)): (usize, &(String, f64))| {
        #[expect(clippy::cast_precision_loss, reason = "entries")]
        let each = |run: &&Measured| Some(1e3 * run.columns.get(number)?.1 / run.entries.max(1) as f64);
        let times: Vec<f64> = runs.iter().filter_map(each).collect();
        Some((name.clone(), median(&times)?))
    };
    first.columns.iter().enumerate().filter_map(of).collect()
}

/// What one more stream costs, wherever points differ in streams alone.
fn streams(runs: &Runs<'_>) -> Vec<StreamCost> {
    let points = &runs.head.points;
    let mut found = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let alike = |other: &Point| other.is_like(point, &["streams"]) && other.threads == point.threads;
        // Each group once: by its first point.
        if points.iter().position(alike) != Some(number) {
            continue;
        }
        for metric in
            METRICS.iter().filter(|m| m.kind == Kind::Copy && !["size", "baskets", "clusters"].contains(&m.name))
        {
            let of = |(at, other): (usize, &Point)| {
                #[expect(clippy::cast_precision_loss, reason = "streams")]
                let streams = other.streams as f64;
                runs.values(at, metric).into_iter().map(move |value| (streams, value)).collect::<Vec<_>>()
            };
            let all: Vec<(f64, f64)> = points.iter().enumerate().filter(|(_, p)| alike(p)).flat_map(of).collect();
            let settings = point.settings.iter().filter(|setting| setting.key != "streams").cloned().collect();
            found.extend(line(&all).map(|slope| StreamCost { settings, metric: metric.name.to_owned(), slope }));
        }
    }
    found
}

/// The points that no other beats in both figures, among those that are run alike.
fn front(lines: &[Line], among: &[usize], (a, b): (&str, &str)) -> Front {
    let of = |line: &Line| Some((line.figures.get(a)?.median, line.figures.get(b)?.median));
    let value = |(point, line): (usize, &Line)| among.contains(&point).then(|| of(line)).flatten();
    let values: Vec<Option<(f64, f64)>> = lines.iter().enumerate().map(value).collect();
    // Of points that are alike in both, the first stands for all.
    let beaten = |point: usize, (x, y): (f64, f64)| {
        values
            .iter()
            .enumerate()
            .any(|(other, value)| value.is_some_and(|(a, b)| a <= x && b <= y && (a < x || b < y || other < point)))
    };
    let mut points: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(point, value)| value.filter(|value| !beaten(point, *value)).map(|value| (point, value.0)))
        .collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    Front { metrics: [a.to_owned(), b.to_owned()], points: points.into_iter().map(|(point, _)| point).collect() }
}
