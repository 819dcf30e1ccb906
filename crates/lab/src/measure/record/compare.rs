//! Compares records: each figure of each phase that both sides have, with its noise. Means have their noise within a record; of
//! sums the spread of several records is the noise, so that one record of each side says nothing about them.

use super::digest::{Mean, Phase};
use super::shown::{Difference, Shown, Verdict};
use crate::math::as_f64;
use crate::math::statistics::median;

/// A figure of a phase, by name: sums have no noise of their own.
struct Figure {
    name: &'static str,
    unit: &'static str,
    of: fn(&Phase) -> Mean,
}

fn sum(n: f64) -> Mean {
    Mean { mean: n, noise: None }
}

const FIGURES: [Figure; 15] = [
    Figure { name: "wall", unit: "s", of: |p| sum(p.wall) },
    Figure { name: "CPU", unit: "s", of: |p| sum(p.user + p.system) },
    Figure { name: "busy cores", unit: "", of: |p| p.cores },
    Figure { name: "mean RSS", unit: "B", of: |p| p.rss },
    Figure { name: "peak RSS", unit: "B", of: |p| sum(as_f64(p.rss_peak)) },
    Figure { name: "mean virtual", unit: "B", of: |p| p.vsize },
    Figure { name: "peak virtual", unit: "B", of: |p| sum(as_f64(p.vsize_peak)) },
    Figure { name: "peak PSS", unit: "B", of: |p| sum(as_f64(p.pss_peak)) },
    Figure { name: "threads", unit: "", of: |p| p.threads },
    Figure { name: "read", unit: "B", of: |p| sum(as_f64(p.read)) },
    Figure { name: "read rate", unit: "B/s", of: |p| p.read_rate },
    Figure { name: "written", unit: "B", of: |p| sum(as_f64(p.written)) },
    Figure { name: "write rate", unit: "B/s", of: |p| p.write_rate },
    Figure { name: "disk written", unit: "B", of: |p| sum(as_f64(p.disk_written)) },
    Figure {
        name: "time for an event",
        unit: "s",
        of: |p| sum(if p.events > 0 { p.wall / as_f64(p.events) } else { 0.0 }),
    },
];

/// The phases of a record by name, each name with how often it was there before.
fn named(record: &Shown) -> Vec<((&str, usize), &Phase)> {
    let mut all: Vec<((&str, usize), &Phase)> = vec![(("all", 0), &record.whole)];
    for phase in &record.phases {
        let before = all.iter().filter(|((name, _), _)| *name == phase.name).count();
        all.push(((&phase.name, before), phase));
    }
    all
}

/// The differences of records `b` from records `a`, in phases that all have.
pub(super) fn compare(a: &[Shown], b: &[Shown]) -> Vec<Difference> {
    let Some(model) = a.first().filter(|_| !b.is_empty()) else { return Vec::new() };
    let mut all = Vec::new();
    for (key, _) in named(model) {
        let of = |records: &[Shown]| -> Option<Vec<Phase>> {
            let phase =
                |record: &Shown| named(record).into_iter().find(|(name, _)| *name == key).map(|(_, p)| p.clone());
            records.iter().map(phase).collect()
        };
        let Some((a, b)) = of(a).zip(of(b)) else { continue };
        let name = if key.1 == 0 { key.0.to_owned() } else { format!("{} ({})", key.0, key.1 + 1) };
        all.extend(FIGURES.iter().filter_map(|figure| difference(&name, figure, &a, &b)));
    }
    all
}

fn difference(phase: &str, figure: &Figure, a: &[Phase], b: &[Phase]) -> Option<Difference> {
    let of = |phases: &[Phase]| phases.iter().map(figure.of).collect::<Vec<Mean>>();
    let (a, b) = (of(a), of(b));
    let middle = |means: &[Mean]| median(&means.iter().map(|mean| mean.mean).collect::<Vec<_>>());
    let noise = match a.len() > 1 && b.len() > 1 {
        true => spread(&a).zip(spread(&b)),
        false => within(&a).zip(within(&b)),
    };
    let noise = noise.map(|(a, b)| a.hypot(b));
    let (a, b) = middle(&a).zip(middle(&b))?;
    if a == 0.0 && b == 0.0 {
        return None;
    }
    let verdict = match noise {
        _ if a == b => Verdict::Same,
        None => Verdict::Unknown,
        Some(noise) if (b - a).abs() <= noise => Verdict::Same,
        Some(_) if b > a => Verdict::More,
        Some(_) => Verdict::Less,
    };
    Some(Difference { phase: phase.to_owned(), figure: figure.name, unit: figure.unit, a, b, noise, verdict })
}

/// The noise of one record, of several of one side the largest.
fn within(means: &[Mean]) -> Option<f64> {
    means.iter().map(|mean| mean.noise).collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max))
}

/// Two standard errors of the mean of several records.
fn spread(means: &[Mean]) -> Option<f64> {
    let n = as_f64(means.len() as u64);
    let mean = means.iter().map(|one| one.mean).sum::<f64>() / n;
    let variance = means.iter().map(|one| (one.mean - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (n > 1.0).then(|| 2.0 * (variance / n).sqrt())
}
