//! The decision over the points of a sweep, by the solver and the values that [`tune`](crate::tune) has: what is read
//! is made cheap, bytes on disk and copying count as much as there, and limits are kept. [`explain`] says why.

use std::str::FromStr;

use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

use super::analyse::Runs;
use super::explain;
use super::grid::Point;
use super::journal::Head;
use super::metric::{Unit, metric_of};
use super::plan::Kind;
use crate::cost::Worth;
use crate::solve::{Choice, Problem};
use crate::tune::Limit;

/// What is to be made small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Reading, or copying where nothing is read.
    #[default]
    Auto,
    /// Reading everything.
    Full,
    /// Reading each column alone.
    Columns,
    /// Reading picked entries.
    Sparse,
    /// Reading chosen columns.
    Chosen,
    /// CPU of copying.
    Copy,
    /// Memory of copying, with the one-record tree.
    Memory,
    /// Bytes on disk.
    Size,
}

impl FromStr for Goal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "full" => Self::Full,
            "columns" => Self::Columns,
            "sparse" => Self::Sparse,
            "chosen" => Self::Chosen,
            "copy" => Self::Copy,
            "memory" => Self::Memory,
            "size" => Self::Size,
            _ => {
                let known = "full, columns, sparse, chosen, copy, memory, size";
                return Err(Error::request(format!("{text:?} is no goal; write one of: {known}")));
            }
        })
    }
}

/// What is looked for. Limits are as their options have them: a size or a time, or `1.05x` for so many times today's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is to be made small.
    pub goal: Goal,
    /// The most bytes that a file may have.
    pub max_size: Option<String>,
    /// The most seconds that a copy may take.
    pub max_write_time: Option<String>,
    /// The most memory that a reader may need.
    pub max_read_memory: Option<String>,
    /// The most memory that a copy may need.
    pub max_memory: Option<String>,
}

/// Options and figures of the limits, in the order of the solver's resources.
pub(super) const LIMITS: [(&str, &str); 4] = [
    ("--max-size", "size"),
    ("--max-write-time", "copy_wall"),
    ("--max-read-memory", "full_rss"),
    ("--max-memory", "copy_rss_record"),
];

impl Question {
    fn texts(&self) -> [Option<&str>; 4] {
        [&self.max_size, &self.max_write_time, &self.max_read_memory, &self.max_memory].map(Option::as_deref)
    }

    /// The limits, in the order of [`LIMITS`].
    fn limits(&self) -> Result<[Option<Limit>; 4]> {
        let [size, time, read, write] = self.texts();
        let size = size.map(str::parse).transpose()?;
        let time = time.map(Limit::time).transpose()?;
        Ok([size, time, read.map(str::parse).transpose()?, write.map(str::parse).transpose()?])
    }

    /// Refuses limits that cannot be read.
    pub fn check(&self) -> Result<()> {
        self.limits().map(|_| ())
    }
}

/// What is best, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The figure that was made small, beside bytes on disk and copying.
    pub goal: String,
    /// The point; none if the limits cannot be met, or nothing was measured.
    pub chosen: Option<usize>,
    /// Points within the limits that are as good within the noise.
    pub equals: Vec<usize>,
    /// Why.
    pub reasons: Vec<String>,
    /// Where limits cannot be met: which, and the nearest that could.
    pub impossible: Vec<String>,
    /// What looser limits would buy, and what tighter ones would cost.
    pub sensitivity: Vec<String>,
    /// The chosen layout as TOML.
    pub layout: Option<String>,
}

/// The points between which the choice is made: those that are run as the reference is.
pub(crate) fn candidates(points: &[Point], reference: usize) -> Vec<usize> {
    let Some(run) = points.get(reference) else { return Vec::new() };
    let alike = |p: &Point| (p.streams, p.threads, p.fraction) == (run.streams, run.threads, run.fraction);
    (0..points.len()).filter(|&number| points.get(number).is_some_and(alike)).collect()
}

/// The figure that is to be made small.
pub(super) fn goal(head: &Head) -> &'static str {
    let cold = head.settings.cold;
    let does = |kind: Kind| head.settings.kinds.contains(&kind);
    // Out of a cold cache it is the waiting that counts.
    let name = |cpu: &'static str, wall: &'static str| if cold { wall } else { cpu };
    match head.settings.question.goal {
        Goal::Auto if does(Kind::Full) => name("full_cpu", "full_wall"),
        Goal::Auto | Goal::Copy => "copy_cpu",
        Goal::Full => name("full_cpu", "full_wall"),
        Goal::Columns => name("columns_cpu", "columns_wall"),
        Goal::Sparse => name("sparse_cpu", "sparse_wall"),
        Goal::Chosen => name("chosen_cpu", "chosen_wall"),
        Goal::Memory => "copy_rss_record",
        Goal::Size => "size",
    }
}

/// What a point costs, as the solver is told; none if it was not measured.
pub(super) fn cost(runs: &Runs<'_>, head: &Head, point: usize, reference: usize) -> Option<f64> {
    let goal = goal(head);
    let figure = |point: usize, name: &str| Some(runs.figure(point, metric_of(name)?)?.median);
    let own = figure(point, goal)?;
    if matches!(head.settings.question.goal, Goal::Memory | Goal::Size) {
        return Some(own);
    }
    let copy = if goal == "copy_cpu" { 0.0 } else { figure(point, "copy_cpu").unwrap_or(0.0) };
    let worth = Worth::new(figure(reference, goal)?, figure(reference, "size").unwrap_or(0.0));
    Some(worth.of(own, copy, figure(point, "size").unwrap_or(0.0)))
}

/// Decides.
pub(super) fn decide(runs: &Runs<'_>, head: &Head, reference: usize) -> Decision {
    let mut decision = Decision { goal: goal(head).to_owned(), ..Decision::default() };
    let figure = |point: usize, name: &str| Some(runs.figure(point, metric_of(name)?)?.median);
    let measured = candidates(&head.points, reference);
    let measured: Vec<(usize, Choice)> = measured
        .into_iter()
        .filter_map(|point| {
            let uses = LIMITS.map(|(_, name)| figure(point, name).unwrap_or(0.0));
            Some((point, Choice { cost: cost(runs, head, point, reference)?, uses }))
        })
        .collect();
    if measured.is_empty() {
        return decision;
    }
    let asked = head.settings.question.limits().unwrap_or_default();
    let mut limits = [f64::INFINITY; 4];
    for ((limit, asked), (_, name)) in limits.iter_mut().zip(asked).zip(LIMITS) {
        if let Some(asked) = asked {
            *limit = asked.of(figure(reference, name).unwrap_or(f64::INFINITY));
        }
    }
    let problem = Problem { groups: vec![measured.iter().map(|(_, choice)| *choice).collect()], limits };
    let solution = match problem.solve() {
        Ok(solution) => solution,
        Err(infeasible) => {
            decision.impossible =
                infeasible.nearest.iter().filter_map(|&(r, least)| impossible(r, limits, least)).collect();
            return decision;
        }
    };
    let pick = solution.picks.first().and_then(|&pick| measured.get(pick));
    let Some(&(solved, _)) = pick else { return decision };
    let within = |choice: &Choice| choice.uses.iter().zip(&limits).all(|(uses, limit)| uses <= limit);
    let goal = metric_of(&decision.goal);
    // Today's layout stays where no other is better beyond the noise.
    let stays = |(point, choice): &&(usize, Choice)| {
        let against = goal.and_then(|goal| runs.against(solved, *point, goal));
        *point == reference && head.settings.repeat > 1 && within(choice) && against.is_some_and(|a| !a.differs)
    };
    let Some(&(chosen, best)) = measured.iter().find(stays).or(pick) else { return decision };
    decision.chosen = Some(chosen);
    decision.layout = head.points.get(chosen).and_then(|point| point.layout.to_toml().ok());
    if head.settings.repeat < 2 {
        decision.reasons = vec!["one run of each tells nothing of the noise: --repeat says what differs".to_owned()];
        return decision;
    }
    decision.equals = measured
        .iter()
        .filter(|(point, choice)| *point != chosen && within(choice))
        .filter(|(point, _)| goal.and_then(|goal| runs.against(*point, chosen, goal)).is_some_and(|a| !a.differs))
        .map(|(point, _)| *point)
        .collect();
    let explained = explain::Explained { runs, head, measured: &measured, chosen: (chosen, best), limits };
    decision.reasons = explained.reasons(reference);
    decision.sensitivity = explained.sensitivity();
    decision
}

fn impossible(resource: usize, limits: [f64; 4], least: Option<f64>) -> Option<String> {
    let (option, name) = LIMITS.get(resource)?;
    let unit = metric_of(name)?.unit;
    let limit = amount(unit, *limits.get(resource)?);
    Some(match least {
        Some(least) => format!("{option} {limit} cannot be met: {} is the least of all points", amount(unit, least)),
        None => format!("{option} {limit} cannot be met together with the others"),
    })
}

/// A figure for people.
pub fn amount(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Bytes => {
            let (factor, name) = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
                .into_iter()
                .find(|(factor, _)| value.abs() >= *factor)
                .unwrap_or((1.0, "B"));
            let value = value / factor;
            let digits = if factor == 1.0 { 0 } else { digits(value) };
            format!("{value:.digits$} {name}")
        }
        Unit::Seconds => format!("{value:.0$} s", digits(value)),
        Unit::Milliseconds => format!("{value:.0$} ms", digits(value)),
        Unit::Count => format!("{value:.0}"),
    }
}

/// Digits behind the point that make three all together.
fn digits(value: f64) -> usize {
    match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.09995 => 3,
        v if v >= 0.009_995 => 4,
        _ => 5,
    }
}
