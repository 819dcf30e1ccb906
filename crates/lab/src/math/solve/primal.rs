//! From the choices that prices suggest to choices within the limits: first repaired, then improved.

use super::dual::priced;
use super::problem::{Choice, Problem, RESOURCES, Uses, over};

const PASSES: usize = 20;

/// A change of one group's choice.
struct Move {
    group: usize,
    pick: usize,
    score: f64,
}

struct State<'a> {
    problem: &'a Problem,
    picks: Vec<usize>,
    uses: Uses,
}

impl<'a> State<'a> {
    fn new(problem: &'a Problem, picks: Vec<usize>) -> Self {
        let (_, uses) = problem.evaluate(&picks);
        Self { problem, picks, uses }
    }

    fn now(&self, group: usize) -> Option<&'a Choice> {
        self.problem.groups.get(group)?.get(*self.picks.get(group)?)
    }

    /// Resources used after a move.
    fn after(&self, now: &Choice, then: &Choice) -> Uses {
        std::array::from_fn(|r| self.uses[r] - now.uses[r] + then.uses[r])
    }

    fn apply(&mut self, m: &Move, uses: Uses) {
        if let Some(pick) = self.picks.get_mut(m.group) {
            *pick = m.pick;
            self.uses = uses;
        }
    }

    /// All moves that `score` likes, the lowest score first.
    fn moves(&self, score: impl Fn(&Choice, &Choice) -> Option<f64>) -> Vec<Move> {
        let mut moves = Vec::new();
        for (group, choices) in self.problem.groups.iter().enumerate() {
            let Some(now) = self.now(group) else { continue };
            for (pick, then) in choices.iter().enumerate() {
                if let Some(score) = score(now, then) {
                    moves.push(Move { group, pick, score });
                }
            }
        }
        moves.sort_by(|a, b| a.score.total_cmp(&b.score));
        moves
    }
}

/// How far beyond the limits, as shares of them.
fn excess(uses: &Uses, limits: &Uses) -> f64 {
    let beyond = |r: usize| {
        if over(uses[r], limits[r]) { (uses[r] - limits[r]) / limits[r].abs().max(f64::MIN_POSITIVE) } else { 0.0 }
    };
    (0..RESOURCES).map(beyond).sum()
}

/// Changes choices until the limits hold, cheapest gain first.
pub(super) fn repair(problem: &Problem, prices: &Uses, picks: Vec<usize>) -> Option<Vec<usize>> {
    let limits = &problem.limits;
    let mut state = State::new(problem, picks);
    for _ in 0..PASSES {
        let before = excess(&state.uses, limits);
        if before <= 0.0 {
            return Some(state.picks);
        }
        let moves = state.moves(|now, then| {
            let gain = before - excess(&state.after(now, then), limits);
            let price = then.cost + priced(&then.uses, prices) - now.cost - priced(&now.uses, prices);
            (gain > 0.0).then_some(price / gain)
        });
        let mut touched = vec![false; problem.groups.len()];
        for m in &moves {
            let (Some(now), Some(then)) = (state.now(m.group), problem.groups.get(m.group).and_then(|g| g.get(m.pick)))
            else {
                continue;
            };
            let after = state.after(now, then);
            let is = excess(&state.uses, limits);
            if is <= 0.0 {
                break;
            }
            let Some(touched) = touched.get_mut(m.group).filter(|t| !**t) else { continue };
            if excess(&after, limits) < is {
                *touched = true;
                state.apply(m, after);
            }
        }
        if excess(&state.uses, limits) >= before {
            return None;
        }
    }
    (excess(&state.uses, limits) <= 0.0).then_some(state.picks)
}

/// Uses the remaining resources for cheaper choices, largest saving first.
pub(super) fn refine(problem: &Problem, prices: &Uses, picks: Vec<usize>) -> Vec<usize> {
    let mut state = State::new(problem, picks);
    for _ in 0..PASSES {
        let moves = state.moves(|now, then| {
            let saved = now.cost - then.cost;
            let fits = problem.fits(&state.after(now, then));
            let price = priced(&then.uses, prices) - priced(&now.uses, prices);
            (saved > 0.0 && fits).then_some(price - saved)
        });
        let mut changed = false;
        for m in &moves {
            let (Some(now), Some(then)) = (state.now(m.group), problem.groups.get(m.group).and_then(|g| g.get(m.pick)))
            else {
                continue;
            };
            let after = state.after(now, then);
            if then.cost < now.cost && problem.fits(&after) {
                state.apply(m, after);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    state.picks
}
