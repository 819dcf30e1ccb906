//! What other limits would gain: the front of size against reading time, and the gain of looser limits.

use super::choice::{Chosen, Limits, READ_NOISE, SIZE_NOISE};
use super::decide::Space;
use super::report::{FrontPoint, Loosened};
use crate::cost::Goal;
use crate::math::solve::Infeasible;

/// Points of the front.
const FRONT: u32 = 10;
/// A limit that is used to less than this share is not loosened.
const SHORT: f64 = 0.9;

/// Best reading times by size, with columns in the forms that were chosen, from the smallest that can be to where more size gains nothing.
pub(super) fn front(space: &Space, chosen: &Chosen, limits: &Limits) -> Vec<FrontPoint> {
    let fastest = |size: f64| space.fastest(chosen.option, &chosen.forms, &Limits { size, ..*limits });
    let smallest = match fastest(0.0) {
        Err(Infeasible { nearest }) => nearest.into_iter().find(|(r, _)| *r == 0).and_then(|(_, v)| v),
        Ok(_) => None,
    };
    let Some((smallest, largest)) = smallest.zip(fastest(f64::INFINITY).ok().map(|c| c.total.size)) else {
        return Vec::new();
    };
    let step = |i: u32| smallest * 1.0001 + (largest - smallest).max(0.0) * f64::from(i) / f64::from(FRONT);
    let mut points: Vec<FrontPoint> = (0..=FRONT)
        .filter_map(|i| fastest(step(i)).ok())
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
    if limits.read.is_finite() {
        let read = limits.read * 1.25;
        requested.push(("--max-read-time", Limits { read, ..*limits }, Some(read)));
    }
    // More of a resource that is not used up gains nothing.
    let (limit, used) = (limits.array(), chosen.uses());
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
        // A gain within the noise is none.
        let gain = match space.weights.goal {
            Goal::Balanced => found.objective / chosen.objective,
            goal => goal.pick(found.total.read / chosen.total.read, found.total.size / chosen.total.size),
        };
        let noise = if space.weights.goal == Goal::Size { SIZE_NOISE } else { READ_NOISE };
        (found.objective < 0.995 * chosen.objective && gain < 1.0 - noise).then_some(Loosened {
            name,
            value,
            size: found.total.size,
            read: found.total.read,
        })
    };
    requested.into_iter().filter_map(loosened).collect()
}
