//! The global sums of a histogram (weights, and their first and second moments), read or computed anew from the
//! cells where ROOT computes them anew (`GetStats` of `TH1`, `TH2`, `TH3` and the profiles).

use super::histogram::Hist;
use super::shape::Shape;

impl Hist {
    /// The sums. They are computed anew where contents were set by hand and where a range of bins is selected.
    pub(super) fn stats(&self) -> Vec<f64> {
        let own = Shape { profile: false, ..self.shape }.sum_names().count();
        let unknown = self.sums.first().is_none_or(|sumw| *sumw == 0.0) && self.entries > 0.0;
        if unknown || self.axes.iter().any(|axis| axis.ranged) {
            return self.computed(own);
        }
        let mut sums = self.sums.clone();
        // Profiles of versions up to 3 did not keep the sums of what they average.
        if let (1, Some([sumwy, sumwy2])) = (self.shape.dimensions, sums.get_mut(own..))
            && *sumwy == 0.0
            && *sumwy2 == 0.0
        {
            let inner = 1..self.cells.len().saturating_sub(1);
            *sumwy = inner.clone().map(|cell| self.cells.get(cell)).sum();
            *sumwy2 = inner.filter_map(|cell| self.sumw2.get(cell)).sum();
        }
        sums
    }

    fn computed(&self, own: usize) -> Vec<f64> {
        let mut sums = vec![0.0; own];
        let mut profile = [0.0; 2];
        let range = |dimension: usize| match self.axes.get(dimension) {
            None => 0..=0,
            Some(axis) if axis.ranged => {
                let bin = |bin: i64| usize::try_from(bin).unwrap_or(0).min(axis.bins.saturating_add(1));
                bin(axis.first)..=bin(axis.last)
            }
            Some(axis) if self.consider_overflows => 0..=axis.bins.saturating_add(1),
            Some(axis) => 1..=axis.bins,
        };
        let center = |dimension: usize, bin: usize| match self.axes.get(dimension) {
            Some(axis) if !axis.counts_labels() => axis.center(bin),
            _ => 0.0,
        };
        for z_bin in range(2) {
            let z = center(2, z_bin);
            for y_bin in range(1) {
                let y = center(1, y_bin);
                for x_bin in range(0) {
                    let x = center(0, x_bin);
                    let cell = self.cell_at([x_bin, y_bin, z_bin]);
                    let (w, w2) = self.weights(cell);
                    let (wx, wy, wz) = (w * x, w * y, w * z);
                    let terms = [w, w2, wx, wx * x, wy, wy * y, wx * y, wz, wz * z, wx * z, wy * z];
                    for (sum, term) in sums.iter_mut().zip(terms) {
                        *sum += term;
                    }
                    profile[0] += self.cells.get(cell);
                    profile[1] += self.sumw2.get(cell).copied().unwrap_or(0.0);
                }
            }
        }
        if self.shape.profile {
            sums.extend(profile);
        }
        sums
    }

    /// A cell's sum of weights and of their squares. A root is taken and squared, as ROOT does, for the same
    /// last bit.
    fn weights(&self, cell: usize) -> (f64, f64) {
        let at = |v: &[f64]| v.get(cell).copied();
        match &self.profile {
            Some(profile) => {
                let w = at(&profile.entries).unwrap_or(0.0);
                (w, at(&profile.sumw2).unwrap_or(w))
            }
            None => {
                let w = self.cells.get(cell);
                let error = at(&self.sumw2).unwrap_or(w.abs()).sqrt();
                (w, error * error)
            }
        }
    }
}
