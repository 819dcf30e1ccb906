//! What other limits would gain: the front of size against reading time, and the gain of looser limits.

use super::choice::{Chosen, Limits};
use super::decide::Space;
use super::report::{FrontPoint, Loosened};
use crate::math::solve::Infeasible;

/// Points of the front.
const FRONT: u32 = 10;
/// A limit that is used to less than this share is not loosened.
const SHORT: f64 = 0.9;

/// Best reading times by size, with columns in the forms that were chosen, from the smallest that can be to where more size gains nothing.
pub(super) fn front(space: &Space, chosen: &Chosen, limits: &Limits) -> Vec<FrontPoint> {
    let among = || std::iter::once(chosen.option);
    let free = Limits { size: f64::INFINITY, ..*limits };
    let smallest = match space.decide_among(among(), &chosen.forms, &Limits { size: 0.0, ..*limits }) {
        Err(Infeasible { nearest }) => nearest.into_iter().find(|(r, _)| *r == 0).and_then(|(_, v)| v),
        Ok(_) => None,
    };
    let Some((smallest, largest)) =
        smallest.zip(space.decide_among(among(), &chosen.forms, &free).ok().map(|c| c.total.size))
    else {
        return Vec::new();
    };
    let step = |i: u32| smallest * 1.0001 + (largest - smallest).max(0.0) * f64::from(i) / f64::from(FRONT);
    let mut points: Vec<FrontPoint> = (0..=FRONT)
        .filter_map(|i| space.decide_among(among(), &chosen.forms, &Limits { size: step(i), ..*limits }).ok())
        .chain([chosen.clone()])
        .map(|c| FrontPoint { size: c.total.size, read: c.total.read, write: c.total.write })
        .collect();
    points.sort_by(|a, b| a.size.total_cmp(&b.size).then(a.read.total_cmp(&b.read)));
    let mut best = f64::INFINITY;
    points.retain(|p| {
        let better = p.read < best;
        best = best.min(p.read);
        better
    });
    points
}

/// The gain of a looser limit, or of none, with columns in the chosen forms.
pub(super) fn sensitivity(space: &Space, chosen: &Chosen, limits: &Limits) -> Vec<Loosened> {
    let size =
        |factor: f64| ("--max-size", Limits { size: limits.size * factor, ..*limits }, Some(limits.size * factor));
    let mut requested = vec![size(1.05), size(1.25)];
    requested.push(("--max-size", Limits { size: f64::INFINITY, ..*limits }, None));
    let memory = limits.read_memory * 2.0;
    requested.push(("--max-read-memory", Limits { read_memory: memory, ..*limits }, Some(memory)));
    let memory = limits.write_memory * 2.0;
    requested.push(("--memory", Limits { write_memory: memory, ..*limits }, Some(memory)));
    if limits.write.is_finite() {
        requested.push(("--max-write-time", Limits { write: limits.write * 2.0, ..*limits }, Some(limits.write * 2.0)));
    }
    // More of a resource that is not used up gains nothing.
    let (limit, used) =
        (limits.array(), [chosen.reserved, chosen.total.write, chosen.total.read_memory, chosen.total.write_memory]);
    let is_short = |limits: &Limits| {
        limits
            .array()
            .iter()
            .zip(limit.iter().zip(used))
            .any(|(more, (limit, used))| more > limit && used > SHORT * limit)
    };
    requested.retain(|(_, limits, _)| is_short(limits));
    let loosened = |(name, limits, value): (&'static str, Limits, Option<f64>)| {
        let found = space.decide_among(0..space.options.len(), &chosen.forms, &limits).ok()?;
        // A gain below one per cent is not reported.
        (found.objective < 0.995 * chosen.objective && found.total.read < 0.99 * chosen.total.read)
            .then_some(Loosened { name, value, size: found.total.size, read: found.total.read })
    };
    requested.into_iter().filter_map(loosened).collect()
}
