//! Searches the choices that the bound does not exclude.
//!
//! A choice is excluded where its priced cost exceeds the least of its group by so much that the bound exceeds the best known
//! solution. Few choices remain; a depth-first search of limited steps goes through them. Small problems are solved exactly.

use super::dual::{Dual, priced};
use super::problem::{Problem, RESOURCES, Solution, Uses, add};

/// Steps of the search.
const STEPS: usize = 200_000;
/// Groups that are searched; the others keep their choice.
const MOST_GROUPS: usize = 48;

struct Open {
    group: usize,
    /// Choices by regret: the priced cost above that of the group's cheapest choice.
    choices: Vec<(f64, usize)>,
}

struct Search<'a> {
    problem: &'a Problem,
    open: Vec<Open>,
    /// The least resources that the groups from each position in `open` on use.
    least: Vec<Uses>,
    bound: f64,
    best: Option<(f64, Vec<usize>)>,
    steps: usize,
}

/// A better solution than `known`, if one is found, and the best bound that is proven.
pub(super) fn improve(problem: &Problem, dual: &Dual, known: Option<Solution>) -> Option<Solution> {
    let ceiling = known.as_ref().map_or(f64::INFINITY, |k| k.cost);
    let mut open = Vec::new();
    let mut fixed: Vec<usize> = Vec::with_capacity(problem.groups.len());
    for (group, choices) in problem.groups.iter().enumerate() {
        let priced_cost = |i: usize| choices.get(i).map_or(f64::INFINITY, |c| c.cost + priced(&c.uses, &dual.prices));
        let least = (0..choices.len()).map(priced_cost).fold(f64::INFINITY, f64::min);
        let mut left: Vec<(f64, usize)> = (0..choices.len())
            .map(|i| (priced_cost(i) - least, i))
            .filter(|(regret, _)| dual.bound + regret < ceiling)
            .collect();
        left.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Nothing better is left where no choice is; the known one stays.
        let pick = known.as_ref().and_then(|k| k.picks.get(group)).copied();
        fixed.push(pick.or(left.first().map(|l| l.1)).unwrap_or(0));
        if left.len() > 1 || left.first().map(|l| l.1) != pick {
            open.push(Open { group, choices: left });
        }
    }
    let all = open.len() <= MOST_GROUPS;
    // Groups where a change costs least balance the remaining resources.
    open.sort_by(|a, b| {
        let second = |o: &Open| o.choices.get(1).map_or(0.0, |c| c.0);
        second(a).total_cmp(&second(b))
    });
    open.truncate(MOST_GROUPS);
    // The most important groups are decided first.
    open.reverse();
    let mut start = [0.0; RESOURCES];
    let mut cost = 0.0;
    let searched: std::collections::HashSet<usize> = open.iter().map(|o| o.group).collect();
    for (group, pick) in fixed.iter().enumerate().filter(|(g, _)| !searched.contains(g)) {
        if let Some(choice) = problem.groups.get(group).and_then(|g| g.get(*pick)) {
            add(&mut start, &choice.uses);
            cost += choice.cost;
        }
    }
    let mut least = vec![[0.0; RESOURCES]; open.len() + 1];
    for (i, o) in open.iter().enumerate().rev() {
        let uses = o.choices.iter().filter_map(|&(_, c)| problem.groups.get(o.group)?.get(c)).map(|c| c.uses);
        let lowest = uses.fold([f64::INFINITY; RESOURCES], |a, b| std::array::from_fn(|r| a[r].min(b[r])));
        let behind = least.get(i + 1).copied().unwrap_or_default();
        if let Some(slot) = least.get_mut(i) {
            *slot = std::array::from_fn(|r| lowest[r] + behind[r]);
        }
    }
    let mut search = Search {
        problem,
        open,
        least,
        bound: dual.bound,
        best: known.as_ref().map(|k| (k.cost, k.picks.clone())),
        steps: 0,
    };
    search.descend(0, cost, start, 0.0, &mut fixed);
    let exact = all && search.steps < STEPS;
    let (_, picks) = search.best?;
    let (cost, uses) = problem.evaluate(&picks);
    let bound = if exact { cost } else { dual.bound.min(cost) };
    Some(Solution { picks, cost, uses, bound })
}

impl Search<'_> {
    fn descend(&mut self, at: usize, cost: f64, uses: Uses, regret: f64, picks: &mut Vec<usize>) {
        self.steps += 1;
        let ceiling = self.best.as_ref().map_or(f64::INFINITY, |b| b.0);
        let cannot = self.bound + regret >= ceiling || self.steps > STEPS;
        let Some(least) = self.least.get(at).filter(|_| !cannot) else { return };
        let at_least: Uses = std::array::from_fn(|r| uses[r] + least[r]);
        if !self.problem.fits(&at_least) {
            return;
        }
        let Some(open) = self.open.get(at) else {
            if cost < ceiling {
                self.best = Some((cost, picks.clone()));
            }
            return;
        };
        let (group, choices) = (open.group, open.choices.clone());
        for (more, pick) in choices {
            let Some(choice) = self.problem.groups.get(group).and_then(|g| g.get(pick)) else { continue };
            let mut then = uses;
            add(&mut then, &choice.uses);
            if let Some(slot) = picks.get_mut(group) {
                *slot = pick;
            }
            self.descend(at + 1, cost + choice.cost, then, regret + more, picks);
        }
    }
}
