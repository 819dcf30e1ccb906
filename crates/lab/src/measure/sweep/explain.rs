//! Reasons for a decision, as sentences: neighbours of the chosen point that differ in one key, the gain of the next looser
//! limit, and the cost of the next tighter one. Only differences beyond the noise are reported.

use super::journal::Head;
use super::metric::{amount, metric_of};
use super::question::LIMITS;
use super::runs::Against;
use super::weighing::Weighing;
use crate::math::solve::{Choice, Uses};

/// Points that tie with the chosen one and are told of at most.
const TIES: usize = 3;

/// A choice, with its data.
pub(super) struct Explained<'a> {
    pub weighing: &'a Weighing<'a>,
    pub head: &'a Head,
    /// The points to choose from.
    pub measured: &'a [(usize, Choice)],
    pub chosen: (usize, Choice),
    pub limits: Uses,
}

impl Explained<'_> {
    /// A sentence for each key in which the chosen point differs from the reference, if the grid has a point that differs
    /// in this key alone; a sentence for all keys together; and sentences for points that tie, and are worse by other figures.
    pub fn reasons(&self, tied: &[usize]) -> Vec<String> {
        let points = &self.head.points;
        let (chosen, reference) = (self.chosen.0, self.compared_with());
        let (Some(own), Some(other)) = (points.get(chosen), points.get(reference)) else { return Vec::new() };
        if chosen == reference {
            let mut sentences = vec![format!("no measured point is better than {own} beyond the noise")];
            sentences.extend(self.ties(tied, reference));
            return sentences;
        }
        let mut sentences = Vec::new();
        for setting in &own.settings {
            let Some(before) = other.value(&setting.key).filter(|before| *before != setting.value) else { continue };
            let neighbour = points
                .iter()
                .position(|point| point.is_like(own, &[&setting.key]) && point.value(&setting.key) == Some(before));
            if let Some(neighbour) = neighbour.filter(|neighbour| *neighbour != reference) {
                let what = format!("{}={} instead of {before}", setting.key, setting.value);
                sentences.extend(self.compared(chosen, neighbour).map(|gains| format!("{what}: {gains}")));
            }
        }
        sentences.extend(self.compared(chosen, reference).map(|gains| format!("{own} instead of {other}: {gains}")));
        sentences.extend(self.ties(tied, reference));
        sentences
    }

    /// The point that the chosen one is compared with: the reference, or the next best where the reference is none to choose.
    fn compared_with(&self) -> usize {
        let (chosen, reference) = (self.chosen.0, self.weighing.reference);
        if self.measured.iter().any(|(point, _)| *point == reference) {
            return reference;
        }
        let others = self.measured.iter().filter(|(point, _)| *point != chosen);
        others.min_by(|a, b| a.1.cost.total_cmp(&b.1.cost)).map_or(chosen, |(point, _)| *point)
    }

    /// Why it was not one of those that are as good within the noise, of which the reference is told of already.
    fn ties(&self, tied: &[usize], reference: usize) -> Vec<String> {
        let chosen = self.chosen.0;
        let Some(goal) = metric_of(self.weighing.goal) else { return Vec::new() };
        let beaten = tied.iter().filter(|&&point| ![chosen, reference].contains(&point));
        let beaten = beaten.filter(|&&point| self.weighing.gain(chosen, point) > 0.0);
        let sentence = |&point: &usize| {
            let gains = self.compared(chosen, point)?;
            let (own, other) = (self.head.points.get(chosen)?, self.head.points.get(point)?);
            Some(format!("{own} and {other} tie in {}, but: {gains}", goal.title))
        };
        beaten.filter_map(sentence).take(TIES).collect()
    }

    /// How two points compare, figure by figure, where they differ beyond the noise.
    fn compared(&self, one: usize, other: usize) -> Option<String> {
        let goal = self.weighing.goal;
        let own = match goal {
            name if name.starts_with("copy") => ("dearer to copy", "cheaper to copy"),
            _ => ("dearer to read", "cheaper to read"),
        };
        let rest = [
            ("copy_cpu", ("more copy CPU", "less copy CPU")),
            ("full_cpu", ("more read CPU", "less read CPU")),
            ("size", ("larger", "smaller")),
            ("copy_rss_record", ("more memory to copy", "less memory to copy")),
            ("full_rss", ("more memory to read", "less memory to read")),
        ];
        // Memory and size have phrases of their own, and so has the goal.
        let own = (!matches!(goal, "copy_rss_record" | "size")).then_some((goal, own));
        let rest = rest.into_iter().filter(|(name, _)| own.is_none_or(|(goal, _)| goal != *name));
        let gain = |(name, words): (&str, (&str, &str))| {
            let against = self.weighing.against(one, other, name)?;
            against.differs.then(|| gain(against, words))
        };
        let sentences: Vec<String> = own.into_iter().chain(rest).filter_map(gain).collect();
        match sentences.is_empty() {
            true => {
                self.weighing.runs.figure(one, metric_of(goal)?).map(|_| "no difference beyond the noise".to_owned())
            }
            false => Some(sentences.join(", ")),
        }
    }

    /// The gain of the next looser limit, and the cost of the next tighter one, for each limit.
    pub fn sensitivity(&self) -> Vec<String> {
        let each = 0..LIMITS.len();
        each.clone()
            .filter_map(|limit| self.looser(limit))
            .chain(each.filter_map(|limit| self.tighter(limit)))
            .collect()
    }

    /// The points within all limits but this one.
    fn within_others(&self, resource: usize) -> impl Iterator<Item = &(usize, Choice)> {
        self.measured.iter().filter(move |(point, choice)| {
            let mut within = choice.uses.iter().zip(&self.limits).enumerate();
            *point != self.chosen.0 && within.all(|(r, (uses, limit))| r == resource || uses <= limit)
        })
    }

    /// The nearest point beyond a limit that would be better.
    fn looser(&self, resource: usize) -> Option<String> {
        let (option, name) = LIMITS.get(resource)?;
        let limit = self.limits.get(resource).copied().filter(|limit| limit.is_finite())?;
        let better = self.within_others(resource).filter(|(_, choice)| choice.cost < self.chosen.1.cost);
        let beyond = better.filter_map(|(point, choice)| Some((point, choice, *choice.uses.get(resource)?)));
        let (point, choice, uses) = beyond.filter(|(_, _, uses)| *uses > limit).min_by(|a, b| a.2.total_cmp(&b.2))?;
        let point = self.head.points.get(*point)?;
        let gain = 100.0 * (1.0 - choice.cost / self.chosen.1.cost);
        let uses = amount(metric_of(name)?.unit, uses);
        Some(format!("{option} {uses} would allow {point}: {gain:.1} % better"))
    }

    /// The best point that needs less of a limited resource.
    fn tighter(&self, resource: usize) -> Option<String> {
        let (option, name) = LIMITS.get(resource)?;
        let metric = metric_of(name)?;
        let less = |(point, _): &&(usize, Choice)| {
            let against = self.weighing.against(*point, self.chosen.0, name);
            against.is_some_and(|against| against.differs && against.times < 1.0)
        };
        let within = self.within_others(resource).filter(less);
        let (point, choice) = within.min_by(|a, b| a.1.cost.total_cmp(&b.1.cost))?;
        let uses = amount(metric.unit, *choice.uses.get(resource)?);
        let gains = self.compared(*point, self.chosen.0)?;
        Some(format!("{option} {uses} would take {}: {gains}", self.head.points.get(*point)?))
    }
}

/// A ratio as a phrase, in per cent or times.
fn gain(against: Against, (more, less): (&str, &str)) -> String {
    let (times, word) = if against.times >= 1.0 { (against.times, more) } else { (1.0 / against.times, less) };
    match times {
        t if t >= 1.995 => format!("{t:.1} x {word}"),
        _ => format!("{:.1} % {word}", 100.0 * (against.times - 1.0).abs()),
    }
}
