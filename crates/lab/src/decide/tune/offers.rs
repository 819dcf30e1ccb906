//! The choices that a report offers, of one container or of both: in a row by size, with their names; and the one that is taken.

use rootfile::Result;

use super::choice::Alternative;
use super::names::Name;
use super::options::{Containers, Options};
use super::report::{Choice, number, number_of};
use super::tuned::Tuned;

/// A choice without a name is left out where another is as good in size and in reading but for these shares.
const ALIKE: (f64, f64) = (0.005, 0.01);

/// A choice of one of the decisions.
struct Offer {
    /// Which decision.
    of: usize,
    alternative: Alternative,
    row: Choice,
}

impl Offer {
    fn has(&self, name: Name) -> bool {
        self.row.names.contains(&name)
    }

    /// Whether it makes another one needless.
    fn replaces(&self, other: &Self) -> bool {
        let (a, b) = (&self.row.figures.cost, &other.row.figures.cost);
        let is_as_good = a.size <= b.size * (1.0 + ALIKE.0) && a.read <= b.read * (1.0 + ALIKE.1);
        // Of two without a name that are alike, the smaller one stays.
        is_as_good && (!self.row.names.is_empty() || (a.size, a.read) < (b.size, b.read))
    }
}

/// The decision at `best`, or the one whose choice is asked for. Its report offers the choices of all.
///
/// # Errors
///
/// There is no such choice.
pub(super) fn offer(mut decisions: Vec<Tuned>, best: usize, options: &Options) -> Result<Tuned> {
    let mut offers = Vec::new();
    for (of, tuned) in decisions.iter_mut().enumerate() {
        let Some(decider) = &mut tuned.decider else { continue };
        // Of a container that the output must not have only today's layout is shown.
        let is_possible = options.containers == Containers::Any || of == best;
        for mut alternative in decider.alternatives() {
            if !is_possible {
                alternative.names.retain(|name| *name == Name::Today);
                if alternative.names.is_empty() {
                    continue;
                }
            }
            let row = decider.row(&alternative)?;
            offers.push(Offer { of, alternative, row });
        }
    }
    share_names(&mut offers, best);
    let needless = |offers: &[Offer]| {
        offers.iter().position(|offer| offer.row.names.is_empty() && offers.iter().any(|other| other.replaces(offer)))
    };
    while let Some(at) = needless(&offers) {
        offers.remove(at);
    }
    offers.sort_by(|a, b| a.row.figures.cost.size.total_cmp(&b.row.figures.cost.size));
    let mut choices: Vec<Choice> = offers.iter().map(|offer| offer.row.clone()).collect();
    number(&mut choices);
    let own = |offer: &Offer| offer.of == best && offer.alternative.is_decision;
    let at = match options.choose {
        Some(asked) => Some(number_of(&choices, asked)?),
        None => offers.iter().position(own),
    };
    if let Some(choice) = at.and_then(|at| choices.get_mut(at)) {
        choice.chosen = true;
    }
    let taken = at.filter(|at| *at < offers.len()).map(|at| offers.swap_remove(at));
    let of = taken.as_ref().map_or(best, |offer| offer.of);
    let mut tuned = decisions.swap_remove(of.min(decisions.len().saturating_sub(1)));
    if let Some(offer) = taken.filter(|offer| !own(offer) || offer.alternative.by.is_some()) {
        tuned.take(offer.alternative)?;
    }
    tuned.report.choices = choices;
    Ok(tuned)
}

/// Leaves each name to one offer, where both containers have one: to the best by it, or to that of the better decision.
fn share_names(offers: &mut [Offer], best: usize) {
    let value = |offer: &Offer, name: Name| match name {
        Name::Smallest => offer.row.figures.cost.size,
        Name::Fastest => offer.row.figures.cost.read,
        // A decision by another goal than the price has the choice by price beside it.
        Name::Balanced if !offer.alternative.is_decision => offer.row.bill.total,
        _ if offer.of == best => 0.0,
        _ => 1.0,
    };
    for name in [Name::Smallest, Name::Fastest, Name::Balanced, Name::Goal] {
        let having = offers.iter().enumerate().filter(|(_, offer)| offer.has(name));
        let first = having.min_by(|(_, a), (_, b)| value(a, name).total_cmp(&value(b, name))).map(|(at, _)| at);
        for (at, offer) in offers.iter_mut().enumerate() {
            offer.row.names.retain(|other| *other != name || Some(at) == first);
        }
    }
    for offer in offers {
        offer.row.names.sort();
        offer.row.names.dedup();
    }
}
