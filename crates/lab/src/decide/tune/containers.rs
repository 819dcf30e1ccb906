//! Compares the containers: the best tree and the best RNTuple with the same content.
//!
//! A file in one container says little of its pages or baskets in the other. So the content is converted into a temporary file,
//! which is measured and decided like any other. Its costs stand beside those of the input.

use dataset::layout::{Container, Layout};
use rootfile::{Error, Hint, Result};

use super::choice::{READ_NOISE, SIZE_NOISE};
use super::copied_part::CopiedPart;
use super::limit_reports::meet_either;
use super::names::Name;
use super::options::{Containers, Options};
use super::report::ContainerReport;
use super::search::Search;
use super::tuned::Tuned;
use crate::cost::Goal;
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::math::as_f64;

/// Inputs of more bytes on disk are converted in part, if they have one table.
const CONVERTED: f64 = 64e6;

/// The other container.
pub(super) fn other(container: Container) -> Container {
    match container {
        Container::Ttree => Container::Rntuple,
        Container::Rntuple => Container::Ttree,
    }
}

/// The container of all tables of a file.
pub(super) fn container_of(stats: &FileStats) -> Result<Container> {
    match stats.containers() {
        [true, false] => Ok(Container::Rntuple),
        [false, _] => Ok(Container::Ttree),
        [true, true] => {
            let name = Hint::named("container");
            let message = format!("has trees and RNTuples; name one of them as FILE:NAME, or leave out {name}");
            Err(Error::request(message).hint(name).file(stats.file.name()))
        }
    }
}

/// The share of the entries of an input that is converted, about.
pub(super) fn converted_share(stats: &FileStats) -> f64 {
    let size = as_f64(stats.file.source().size());
    if stats.trees.len() == 1 { (CONVERTED / size).min(1.0) } else { 1.0 }
}

/// The input in another container, or entries from its middle. Its objects that are no tables are carried over, so that sizes can be
/// compared.
pub(super) fn converted(stats: &FileStats, options: &Options, container: Container) -> Result<CopiedPart> {
    let nothing = || Error::request("has no table").file(stats.file.name());
    let table = stats.trees.first().ok_or_else(nothing)?;
    let mut layout = Layout::default();
    layout.common.container = Some(container);
    CopiedPart::new(stats, options, layout, table, converted_share(stats))
}

/// Both decisions, with the figures of both in each report, and which is the better one. `wanted` decides if it is not any.
///
/// # Errors
///
/// The content cannot be in the container that is wanted.
pub(super) fn compared(
    mut own: Tuned,
    found: (Container, Result<Tuned>),
    wanted: Containers,
) -> Result<(Vec<Tuned>, usize)> {
    let (container, found) = found;
    let one = |container: Container, tuned: &Tuned| ContainerReport {
        container: container.to_string(),
        chosen: tuned.report.chosen,
        layout: tuned.report.layout.clone(),
        refused: None,
    };
    let mut containers = vec![one(other(container), &own)];
    match found {
        Err(why) if wanted == Containers::Any => {
            let refused = Some(why.to_string());
            let (chosen, layout) = (None, None);
            containers.push(ContainerReport { container: container.to_string(), chosen, layout, refused });
            own.report.containers = containers;
            Ok((vec![own], 0))
        }
        Err(why) => Err(why),
        Ok(mut tuned) => {
            containers.push(one(container, &tuned));
            let value = |tuned: &Tuned| {
                let decider = tuned.decider.as_ref();
                let utility = decider.map(|decider| decider.options.weights().utility(&own.report.today.cost));
                let chosen = tuned.report.chosen.zip(utility);
                chosen.map_or(f64::INFINITY, |(chosen, utility)| utility.of_cost(&chosen.cost))
            };
            // Where nothing that was tried reads as fast as it has to, the least slow was taken: no reason to change the container.
            let may = reads_in_time(&tuned) || !reads_in_time(&own);
            let values = [value(&own), value(&tuned)];
            let gains = own
                .report
                .chosen
                .is_none_or(|own| tuned.report.chosen.is_some_and(|tuned| gains_beyond_noise(&tuned.cost, &own.cost)));
            let is_better = wanted == Containers::One(container) || may && gains && values[1] < values[0];
            if wanted == Containers::Any {
                let (winner, loser) = if is_better { (&mut tuned, &own) } else { (&mut own, &tuned) };
                let [own, other] = if is_better { [values[1], values[0]] } else { values };
                let name = if is_better { self::other(container) } else { container };
                winner.report.not_tried.extend(left_out(loser, name, other / own, may || is_better));
            }
            if wanted == Containers::Any && own.report.chosen.is_none() && tuned.report.chosen.is_none() {
                meet_either(&mut own.report.limits, &tuned.report.limits);
            }
            let measured = own.report.measuring.cpu_seconds + tuned.report.measuring.cpu_seconds;
            let allowed = own.report.measuring.allowed + tuned.report.measuring.allowed;
            for report in [&mut own.report, &mut tuned.report] {
                (report.measuring.cpu_seconds, report.measuring.allowed) = (measured, allowed);
                report.containers.clone_from(&containers);
            }
            Ok((vec![own, tuned], usize::from(is_better)))
        }
    }
}

/// Whether a file is smaller or reads faster than another by more than the noise.
fn gains_beyond_noise(one: &Cost, other: &Cost) -> bool {
    one.size < (1.0 - SIZE_NOISE) * other.size || one.read < (1.0 - READ_NOISE) * other.read
}

/// Why the best choice of the other container is not written, where there is one: by the goal it is so many times what is chosen.
fn left_out(loser: &Tuned, container: Container, times: f64, in_time: bool) -> Option<String> {
    loser.report.chosen?;
    let why = match (in_time, loser.report.goal) {
        (false, _) => "expected to read slower than it may".to_owned(),
        (true, _) if times < 1.0 => "no gain beyond the noise".to_owned(),
        (true, Goal::Balanced) => format!("expected at {:.1} % of the price", 100.0 * times),
        (true, goal @ (Goal::Reading | Goal::Size)) => {
            format!("expected at {:.1} % of the {}", 100.0 * times, goal.pick("reading time", "size"))
        }
    };
    let (kind, name) = match container {
        Container::Ttree => ("tree", Name::BestTree),
        Container::Rntuple => ("RNTuple", Name::BestRntuple),
    };
    Some(format!("the best {kind} in a proof: {why} (--choose {name})"))
}

/// Whether a choice is expected to read within the limit.
fn reads_in_time(tuned: &Tuned) -> bool {
    tuned.decider.as_ref().is_some_and(|decider| {
        let Search { decision, limits, .. } = &decider.search;
        decision.as_ref().is_ok_and(|chosen| chosen.total.read <= limits.expected_read())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_in_size_or_in_reading() {
        let file = |size: f64, read: f64| Cost { size, read, ..Cost::default() };
        let today = file(100.0, 1.0);
        assert!(gains_beyond_noise(&file(60.0, 0.99), &today) && gains_beyond_noise(&file(100.0, 0.9), &today));
        assert!(!gains_beyond_noise(&file(99.9, 0.98), &today));
    }
}
