//! The decision over the points of a sweep, with the solver and the utility of [`tune`](crate::tune). `weighing` compares points,
//! `explain` gives the reasons.
//!
//! The best point is that with the least cost within the limits. Points whose goal is as good within the noise tie with it, and the
//! other figures that differ decide between them. Where none does, today's layout stays.

use super::explain;
use super::findings::Decision;
use super::journal::Head;
use super::metric::{amount, metric_of};
use super::plan::Kind;
use super::question::{Goal, LIMITS};
use super::runs::{Runs, today};
use super::weighing::Weighing;
use crate::math::solve::{Choice, Problem, RESOURCES, Uses};

/// Decides for one goal.
pub(super) fn decide(runs: &Runs<'_>, head: &Head, goal: Goal) -> Decision {
    let weighing = Weighing::new(runs, goal);
    let mut decision = Decision { goal: weighing.goal.to_owned(), ..Decision::default() };
    let mut measured: Vec<(usize, Choice)> = weighing
        .candidates
        .iter()
        .filter_map(|&point| {
            let used = |r: usize| LIMITS.get(r).and_then(|(_, name)| weighing.figure(point, name)).unwrap_or(0.0);
            let uses = std::array::from_fn(used);
            Some((point, Choice { cost: weighing.cost(point)?, uses }))
        })
        .collect();
    // Of equal points the solver takes the first.
    measured.sort_by(|a, b| weighing.order(a.0).cmp(&weighing.order(b.0)));
    if measured.is_empty() {
        return decision;
    }
    let requested = head.settings.question.limits().unwrap_or_default();
    let mut limits = [f64::INFINITY; RESOURCES];
    for ((limit, requested), (_, name)) in limits.iter_mut().zip(requested).zip(LIMITS) {
        if let Some(requested) = requested {
            *limit = requested.of(weighing.figure(weighing.reference, name).unwrap_or(f64::INFINITY));
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
    let Some(&(solved, _)) = solution.picks.first().and_then(|&pick| measured.get(pick)) else { return decision };
    let within = |choice: &Choice| choice.uses.iter().zip(&limits).all(|(uses, limit)| uses <= limit);
    let repeated = head.settings.repeat > 1;
    let tie = |&&(point, choice): &&(usize, Choice)| {
        point == solved || (repeated && within(&choice) && weighing.ties(point, solved))
    };
    let tied: Vec<(usize, Choice)> = measured.iter().filter(tie).copied().collect();
    let points: Vec<usize> = tied.iter().map(|(point, _)| *point).collect();
    let unbeaten = weighing.unbeaten(&points);
    // The least cost of those that nothing beats, unless today's layout is one of them.
    let today = today(&head.points);
    let left = tied.iter().filter(|(point, _)| unbeaten.contains(point));
    let Some(&(chosen, best)) =
        left.min_by(|a, b| (Some(a.0) != today).cmp(&(Some(b.0) != today)).then(a.1.cost.total_cmp(&b.1.cost)))
    else {
        return decision;
    };
    decision.chosen = Some(chosen);
    // What a command of the user makes of its values is seen in its output.
    let layout = match &head.settings.command {
        Some(_) => runs.of(chosen, Kind::Copy).first().and_then(|run| run.layout.as_ref()),
        None => head.points.get(chosen).map(|point| &point.layout),
    };
    decision.layout = layout.and_then(|layout| layout.to_toml().ok());
    if !repeated {
        decision.reasons =
            vec!["one run of each point does not show the noise: use --repeat to find differences".to_owned()];
        return decision;
    }
    let equals = measured.iter().filter(|(point, choice)| *point != chosen && within(choice));
    decision.equals = equals.filter(|(point, _)| weighing.ties(*point, chosen)).map(|(point, _)| *point).collect();
    decision.equals.sort_unstable();
    let explained =
        explain::Explained { weighing: &weighing, head, measured: &measured, chosen: (chosen, best), limits };
    decision.reasons = explained.reasons(&points);
    decision.sensitivity = explained.sensitivity();
    decision
}

fn impossible(resource: usize, limits: Uses, least: Option<f64>) -> Option<String> {
    let (option, name) = LIMITS.get(resource)?;
    let unit = metric_of(name)?.unit;
    let limit = amount(unit, *limits.get(resource)?);
    Some(match least {
        Some(least) => format!("{option} {limit} cannot be met: {} is the least of all points", amount(unit, least)),
        None => format!("{option} {limit} cannot be met together with the others"),
    })
}
