//! Entries filled into a histogram, and a buffer emptied into its cells (`TH1::Fill`, `TH1::BufferEmpty`, and those of
//! profiles). Where the axes have no limits yet, the entries of a full buffer decide them.

use super::axis::Axis;
use super::buffer::Buffer;
use super::histogram::Hist;

impl Hist {
    /// Fills the entries of the buffer, if the axes have limits.
    pub(super) fn fill_buffer(&mut self) -> Result<(), String> {
        if !self.has_limits() || self.buffer.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.buffer.waiting);
        self.buffer.changed = true;
        if self.axes.iter().all(Axis::can_extend) {
            // Extends to all entries at once. One by one, other limits could result.
            for dimension in 0..self.axes.len() {
                let (min, max) = self.range_of(&waiting, dimension);
                self.grow(dimension, min)?;
                self.grow(dimension, max)?;
            }
        }
        self.fill(&waiting)
    }

    /// The smallest and largest coordinate of entries along an axis.
    fn range_of(&self, entries: &[f64], dimension: usize) -> (f64, f64) {
        let entries = entries.chunks_exact(Buffer::stride(self.shape));
        let places = entries.filter_map(|entry| entry.get(1 + dimension)).copied().filter(|x| x.is_finite());
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), x| (min.min(x), max.max(x)))
    }

    /// Adds the entries of another buffer, if neither histogram has limits.
    pub(super) fn add_waiting(&mut self, other: &Buffer) -> Result<(), String> {
        self.buffer.changed = true;
        if self.buffer.room == 0 {
            self.buffer.room = other.room;
        }
        let stride = Buffer::stride(self.shape);
        for entry in other.waiting.chunks_exact(stride) {
            if self.buffer.room == 0 {
                self.fill(entry)?;
            } else if self.buffer.waiting.len() + stride < self.buffer.room {
                self.buffer.waiting.extend_from_slice(entry);
            } else {
                self.empty_full_buffer()?;
                self.fill(entry)?;
            }
        }
        Ok(())
    }

    /// Finds limits for the entries of a full buffer, fills them, and drops the buffer.
    fn empty_full_buffer(&mut self) -> Result<(), String> {
        if self.auto_power_of_two {
            return Err("bins to be chosen among powers of two".to_owned());
        }
        let waiting = std::mem::take(&mut self.buffer.waiting);
        self.buffer.room = 0;
        for dimension in 0..self.axes.len() {
            let (min, max) = self.range_of(&waiting, dimension);
            if let Some(axis) = self.axes.get_mut(dimension) {
                let (first, last) = (axis.first, axis.last);
                axis.find_limits(min, max);
                if self.shape.profile && self.shape.dimensions == 1 {
                    // `TProfile::SetBins` leaves a selected range of bins alone.
                    (axis.first, axis.last) = (first, last);
                }
            }
        }
        self.resize_cells()?;
        self.fill(&waiting)
    }

    /// Fills entries (`TH1::Fill`, `TProfile::Fill` and the others).
    pub(super) fn fill(&mut self, entries: &[f64]) -> Result<(), String> {
        for entry in entries.chunks_exact(Buffer::stride(self.shape)) {
            let (w, at) = (entry.first().copied().unwrap_or(0.0), entry.get(1..).unwrap_or_default());
            let value = at.get(self.shape.dimensions).copied().unwrap_or(0.0);
            if let Some([low, high]) = self.profile.as_ref().map(|profile| profile.limits)
                && low != high
                && !(low..=high).contains(&value)
            {
                continue;
            }
            let mut bins = [0; 3];
            for (dimension, (bin, x)) in bins.iter_mut().zip(at).take(self.shape.dimensions).enumerate() {
                self.grow(dimension, *x)?;
                *bin = self.axes.get(dimension).map_or(0, |axis| axis.find(*x));
            }
            self.fill_cell(bins, w, value);
            self.entries += 1.0;
            let outside = self.axes.iter().zip(bins).any(|(axis, bin)| bin == 0 || bin > axis.bins);
            if outside && !self.consider_overflows {
                continue;
            }
            let place = |i: usize| at.get(i).filter(|_| i < self.shape.dimensions).copied().unwrap_or(0.0);
            let (x, y, z) = (place(0), place(1), place(2));
            let (wx, wy, wz, wv) = (w * x, w * y, w * z, w * value);
            let terms = [w, w * w, wx, wx * x, wy, wy * y, wx * y, wz, wz * z, wx * z, wy * z];
            let own = self.sums.len() - if self.shape.profile { 2 } else { 0 };
            let terms = terms.into_iter().take(own).chain([wv, wv * value]);
            self.sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        Ok(())
    }

    fn fill_cell(&mut self, bins: [usize; 3], w: f64, value: f64) {
        let cell = self.cell_at(bins);
        let weighted = w != 1.0 && !self.never_weighted;
        if let Some(profile) = &mut self.profile {
            self.cells.add(cell, w * value);
            if let Some(sum) = self.sumw2.get_mut(cell) {
                *sum += w * value * value;
            }
            if weighted && profile.sumw2.is_empty() {
                profile.sumw2 = profile.entries.clone();
            }
            for (sums, term) in [(&mut profile.sumw2, w * w), (&mut profile.entries, w)] {
                if let Some(sum) = sums.get_mut(cell) {
                    *sum += term;
                }
            }
        } else {
            if weighted {
                self.start_weights();
            }
            self.cells.add(cell, w);
            if let Some(sum) = self.sumw2.get_mut(cell) {
                *sum += w * w;
            }
        }
    }

    /// Extends an axis until it includes a value (`TH1::ExtendAxis`), if allowed.
    fn grow(&mut self, dimension: usize, x: f64) -> Result<(), String> {
        let Some(grown) = self.axes.get(dimension).and_then(|axis| axis.grown_to(x)) else { return Ok(()) };
        let old = self.clone();
        if let Some(axis) = self.axes.get_mut(dimension) {
            *axis = grown;
        }
        self.resize_cells()?;
        for cell in 0..old.cells.len() {
            let mut bins = old.bins_of(cell);
            let (Some(before), Some(bin)) = (old.axes.get(dimension), bins.get_mut(dimension)) else { continue };
            if (1..=before.bins).contains(bin) {
                let center = before.center(*bin);
                *bin = self.axes.get(dimension).map_or(0, |axis| axis.find(center));
                let to = self.cell_at(bins);
                self.add_cell(to, &old, cell);
            }
        }
        Ok(())
    }
}
