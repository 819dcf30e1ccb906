//! The problem and its solution: choices, groups, limits, and sums over chosen groups.

/// How many resources there are.
pub const RESOURCES: usize = 5;

/// An amount of each resource.
pub type Uses = [f64; RESOURCES];

/// One choice of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choice {
    /// Its cost, which is minimised.
    pub cost: f64,
    /// Its use of each resource.
    pub uses: Uses,
}

/// Groups with one choice to take of each, and limits on their resources together.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The choices of each group, at least one.
    pub groups: Vec<Vec<Choice>>,
    /// Limits; infinity for none.
    pub limits: Uses,
}

/// One choice for each group.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Index of the choice, by group.
    pub picks: Vec<usize>,
    /// Their cost together.
    pub cost: f64,
    /// Their resources together.
    pub uses: Uses,
    /// No choice within the limits costs less than this.
    pub bound: f64,
}

impl Solution {
    /// How much cheaper another choice could be at most, as a share of the cost.
    pub fn gap(&self) -> f64 {
        if self.cost > 0.0 { ((self.cost - self.bound) / self.cost).max(0.0) } else { 0.0 }
    }
}

/// Limits that cannot be met together, and for each the least that would do while the others stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasible {
    /// Index of the resource, and the nearest limit that can be met; none if loosening it alone does not help.
    pub nearest: Vec<(usize, Option<f64>)>,
}

impl Infeasible {
    /// Where any of several problems may be solved: for each limit the least that would do in one of them.
    pub fn of_any(all: impl IntoIterator<Item = Self>) -> Self {
        let mut nearest: [Option<Option<f64>>; RESOURCES] = [None; RESOURCES];
        for (r, value) in all.into_iter().flat_map(|one| one.nearest) {
            let Some(slot) = nearest.get_mut(r) else { continue };
            *slot = match (*slot, value) {
                (None, value) => Some(value),
                (Some(Some(a)), Some(b)) => Some(Some(a.min(b))),
                (Some(a), b) => Some(a.or(b)),
            };
        }
        Self { nearest: nearest.into_iter().enumerate().filter_map(|(r, n)| Some((r, n?))).collect() }.in_the_way()
    }

    /// Where one limit alone is in the way, the others are not.
    pub(super) fn in_the_way(mut self) -> Self {
        if self.nearest.iter().any(|(_, least)| least.is_some()) {
            self.nearest.retain(|(_, least)| least.is_some());
        }
        self
    }
}

impl Problem {
    /// Sums over chosen groups.
    pub(super) fn evaluate(&self, picks: &[usize]) -> (f64, Uses) {
        let mut cost = 0.0;
        let mut uses = [0.0; RESOURCES];
        for choice in self.groups.iter().zip(picks).filter_map(|(group, &pick)| group.get(pick)) {
            cost += choice.cost;
            add(&mut uses, &choice.uses);
        }
        (cost, uses)
    }

    pub(super) fn fits(&self, uses: &Uses) -> bool {
        uses.iter().zip(&self.limits).all(|(u, l)| !over(*u, *l))
    }

    /// The least of each resource that the groups can do with, each by itself.
    pub(super) fn least(&self) -> Uses {
        let mut least = [0.0; RESOURCES];
        for group in &self.groups {
            for (r, sum) in least.iter_mut().enumerate() {
                *sum += group.iter().map(|c| c.uses[r]).fold(f64::INFINITY, f64::min);
            }
        }
        least
    }
}

/// Whether a limit is exceeded by more than rounding.
pub(super) fn over(used: f64, limit: f64) -> bool {
    used > limit + 1e-9 * limit.abs()
}

/// Adds amounts of resources.
pub(super) fn add(sum: &mut Uses, more: &Uses) {
    for (a, b) in sum.iter_mut().zip(more) {
        *a += b;
    }
}
