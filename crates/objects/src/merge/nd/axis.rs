//! An axis of an n-dimensional histogram, as far as merging needs it: bins, limits and edges. Labels and ranges are not read.

use crate::merge::hist::center;

/// Bins and limits of an axis.
#[derive(Debug)]
pub(super) struct Axis {
    pub bins: usize,
    pub limits: [f64; 2],
    pub edges: Vec<f64>,
}

impl Axis {
    /// Centre of a bin, including underflow and overflow.
    pub fn center(&self, bin: usize) -> f64 {
        center(self.bins, self.limits, &self.edges, bin)
    }

    /// Whether the limits are equal within 10⁻¹⁰ of a bin.
    pub fn has_limits_of(&self, other: &Self) -> bool {
        let [low, high] = self.limits;
        let bins = f64::from(u32::try_from(self.bins).unwrap_or(u32::MAX)).max(1.0);
        let close = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= (high - low).abs() / bins * 1e-10;
        let alike = self.edges.len() == other.edges.len() || self.edges.is_empty() || other.edges.is_empty();
        alike && self.limits.iter().zip(&other.limits).chain(self.edges.iter().zip(&other.edges)).all(close)
    }
}
