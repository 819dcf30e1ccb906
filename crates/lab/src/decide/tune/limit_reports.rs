//! The limits in a report: which were asked for, which determine the choice, and what could be met where none is within them.

use super::choice::{LIMIT_NAMES, Limits};
use super::options::Options;
use super::report::{LimitReport, Nearest};
use crate::math::solve::{Infeasible, RESOURCES};

/// A limit is binding if the choice comes so near to it.
const NEAR: f64 = 0.985;

/// The limits of a choice that uses this much of each, or of none. `spare` is added to the nearest size that could be met.
pub(super) fn limit_reports(
    options: &Options,
    limits: &Limits,
    outcome: Result<[f64; RESOURCES], &Infeasible>,
    spare: f64,
) -> Vec<LimitReport> {
    let Options { max_size, max_write_time, max_read_memory, max_read_time, .. } = options;
    let [size, write, memory, read] = [max_size, max_write_time, max_read_memory, max_read_time].map(Option::is_none);
    let defaults = [size, write, memory, false, read];
    let all = LIMIT_NAMES.into_iter().zip(limits.array()).zip(defaults).enumerate();
    let finite = all.filter(|(_, ((_, value), _))| value.is_finite());
    finite
        .map(|(r, ((name, value), is_default))| {
            let nearest = outcome.err().and_then(|i| i.nearest.iter().find(|(n, _)| *n == r));
            let spare = if r == 0 { 1.0 + spare } else { 1.0 };
            LimitReport {
                name,
                value,
                is_default,
                binding: outcome.is_ok_and(|uses| uses.get(r).is_some_and(|used| *used > NEAR * value)),
                nearest: nearest.map(|(_, value)| Nearest { value: value.map(|value| value * spare) }),
            }
        })
        .collect()
}

/// What could be met in either of two containers, where no choice in any is within the limits.
pub(super) fn meet_either(own: &mut [LimitReport], other: &[LimitReport]) {
    // A report leaves out what has no limit.
    let resource = |limit: &LimitReport| LIMIT_NAMES.iter().position(|name| *name == limit.name);
    let as_infeasible = |reports: &[LimitReport]| Infeasible {
        nearest: reports.iter().filter_map(|limit| Some((resource(limit)?, limit.nearest?.value))).collect(),
    };
    let both = Infeasible::of_any([as_infeasible(own), as_infeasible(other)]);
    for limit in own {
        let nearest = both.nearest.iter().find(|(n, _)| Some(*n) == resource(limit));
        limit.nearest = nearest.map(|(_, value)| Nearest { value: *value });
    }
}
