//! The decision over the points of a sweep, with the solver and the utility of [`tune`](crate::tune). `explain` gives the
//! reasons.

use super::explain;
use super::findings::Decision;
use super::journal::Head;
use super::metric::{amount, metric_of};
use super::question::{Goal, LIMITS};
use super::runs::{Runs, candidates};
use crate::cost::Utility;
use crate::math::solve::{Choice, Problem, RESOURCES, Uses};

/// The cost of a point for the solver; `None` if it was not measured.
pub(super) fn cost(runs: &Runs<'_>, head: &Head, point: usize, reference: usize) -> Option<f64> {
    let goal = head.settings.goal_metric();
    let figure = |point: usize, name: &str| Some(runs.figure(point, metric_of(name)?)?.median);
    let own = figure(point, goal)?;
    if matches!(head.settings.question.goal, Goal::Memory | Goal::Size) {
        return Some(own);
    }
    let copy = if goal == "copy_cpu" { 0.0 } else { figure(point, "copy_cpu").unwrap_or(0.0) };
    let utility =
        Utility::new(crate::cost::Goal::Reading, figure(reference, goal)?, figure(reference, "size").unwrap_or(0.0));
    Some(utility.of(own, copy, figure(point, "size").unwrap_or(0.0)))
}

/// Decides.
pub(super) fn decide(runs: &Runs<'_>, head: &Head, reference: usize) -> Decision {
    let mut decision = Decision { goal: head.settings.goal_metric().to_owned(), ..Decision::default() };
    let figure = |point: usize, name: &str| Some(runs.figure(point, metric_of(name)?)?.median);
    let measured = candidates(&head.points, reference);
    let measured: Vec<(usize, Choice)> = measured
        .into_iter()
        .filter_map(|point| {
            let used = |r: usize| LIMITS.get(r).and_then(|(_, name)| figure(point, name)).unwrap_or(0.0);
            let uses = std::array::from_fn(used);
            Some((point, Choice { cost: cost(runs, head, point, reference)?, uses }))
        })
        .collect();
    if measured.is_empty() {
        return decision;
    }
    let requested = head.settings.question.limits().unwrap_or_default();
    let mut limits = [f64::INFINITY; RESOURCES];
    for ((limit, requested), (_, name)) in limits.iter_mut().zip(requested).zip(LIMITS) {
        if let Some(requested) = requested {
            *limit = requested.of(figure(reference, name).unwrap_or(f64::INFINITY));
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
        decision.reasons =
            vec!["one run of each point does not show the noise: use --repeat to find differences".to_owned()];
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

fn impossible(resource: usize, limits: Uses, least: Option<f64>) -> Option<String> {
    let (option, name) = LIMITS.get(resource)?;
    let unit = metric_of(name)?.unit;
    let limit = amount(unit, *limits.get(resource)?);
    Some(match least {
        Some(least) => format!("{option} {limit} cannot be met: {} is the least of all points", amount(unit, least)),
        None => format!("{option} {limit} cannot be met together with the others"),
    })
}
