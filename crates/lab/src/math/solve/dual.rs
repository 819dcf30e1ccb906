//! The Lagrangian dual: prices of the resources at which the cheapest priced choices cost most.
//!
//! At any prices, the sum over groups of the cheapest priced choice, less the price of the limits, is a lower bound. The best
//! prices are found with cutting planes (Kelley's method): each set of choices gives a line above the bound, and a small
//! linear programme finds the highest point below all lines.

use microlp::{ComparisonOp, OptimizationDirection, Problem as Programme};

use super::problem::{Problem, RESOURCES, Uses, add};

/// Sets of choices that are looked at.
const MOST_CUTS: usize = 150;
/// Prices are looked for up to this, in units of the total cost for all of a limit.
const HIGHEST_PRICE: f64 = 1e5;
/// How close to the best bound is close enough, as a share of it.
const CLOSE: f64 = 1e-7;

/// The result of the dual.
pub(super) struct Dual {
    /// Price of one unit of each resource.
    pub prices: Uses,
    /// The bound at these prices.
    pub bound: f64,
    /// Sets of choices that are worth starting from.
    pub starts: Vec<Vec<usize>>,
}

struct Cut {
    cost: f64,
    /// Use beyond the limits, as a share of them.
    excess: Uses,
    picks: Vec<usize>,
}

pub(super) fn maximise(problem: &Problem) -> Dual {
    let limited: Vec<usize> = (0..RESOURCES).filter(|&r| problem.limits[r].is_finite()).collect();
    let scale: Uses = std::array::from_fn(|r| problem.limits[r].abs().max(f64::MIN_POSITIVE));
    let first = cheapest(problem, &[0.0; RESOURCES]);
    let unit = first.cost.abs().max(f64::MIN_POSITIVE);
    let mut best = Dual { prices: [0.0; RESOURCES], bound: first.cost, starts: vec![first.picks.clone()] };
    let mut cuts = vec![first];
    while !limited.is_empty() && cuts.len() < MOST_CUTS {
        let Some((ceiling, shares)) = most_room(&cuts, &limited, unit) else { break };
        if ceiling * unit - best.bound <= CLOSE * best.bound.abs() {
            break;
        }
        let prices: Uses = std::array::from_fn(|r| shares[r] * unit / scale[r]);
        let cut = cheapest(problem, &prices);
        let bound = cut.cost + (0..RESOURCES).map(|r| shares[r] * unit * cut.excess[r]).sum::<f64>();
        if bound > best.bound {
            best.bound = bound;
            best.prices = prices;
        }
        cuts.push(cut);
    }
    // The choices at the best prices, and the last ones on the way.
    best.starts.push(cheapest(problem, &best.prices).picks);
    best.starts.extend(cuts.into_iter().rev().take(6).map(|cut| cut.picks));
    best.starts.dedup();
    best
}

/// The choices that cost least when resources have prices.
fn cheapest(problem: &Problem, prices: &Uses) -> Cut {
    let mut cut = Cut { cost: 0.0, excess: [0.0; RESOURCES], picks: Vec::with_capacity(problem.groups.len()) };
    for group in &problem.groups {
        let mut least = (f64::INFINITY, 0);
        for (i, choice) in group.iter().enumerate() {
            let priced = choice.cost + priced(&choice.uses, prices);
            if priced < least.0 {
                least = (priced, i);
            }
        }
        cut.picks.push(least.1);
        if let Some(choice) = group.get(least.1) {
            cut.cost += choice.cost;
            add(&mut cut.excess, &choice.uses);
        }
    }
    for (used, limit) in cut.excess.iter_mut().zip(&problem.limits) {
        *used = if limit.is_finite() { (*used - limit) / limit.abs().max(f64::MIN_POSITIVE) } else { 0.0 };
    }
    cut
}

/// The price of an amount of resources.
pub(super) fn priced(uses: &Uses, prices: &Uses) -> f64 {
    uses.iter().zip(prices).map(|(u, p)| u * p).sum()
}

/// The highest point below all cuts: its height and its prices, in units of `unit` for all of a limit.
fn most_room(cuts: &[Cut], limited: &[usize], unit: f64) -> Option<(f64, Uses)> {
    let mut programme = Programme::new(OptimizationDirection::Maximize);
    let height = programme.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let prices: Vec<_> = limited.iter().map(|_| programme.add_var(0.0, (0.0, HIGHEST_PRICE))).collect();
    for cut in cuts {
        let mut terms = vec![(height, 1.0)];
        terms.extend(limited.iter().zip(&prices).map(|(&r, &price)| (price, -cut.excess[r])));
        programme.add_constraint(terms.as_slice(), ComparisonOp::Le, cut.cost / unit);
    }
    let solution = programme.solve().ok()?.into_solution().ok()?;
    let mut shares = [0.0; RESOURCES];
    for (&r, &price) in limited.iter().zip(&prices) {
        shares[r] = solution.var_value(price).clamp(0.0, HIGHEST_PRICE);
    }
    Some((solution.objective(), shares))
}
