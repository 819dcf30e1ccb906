//! One histogram added to another: which of ROOT's ways of merging applies, and the ways that go by numbers.
//!
//! The cases and their order are those of `TH1Merger::ExamineHistograms`; merging by labels is in `labels`.

use rootfile::object::{Graph, Object};
use rootfile::streamer::StreamerInfos;

use super::{Axis, Buffer, CELLS_ALLOWED, Hist};

/// Adds a histogram to the first. On failure, the first is as it was and the reason is given.
pub(in crate::objects) fn merge(
    (first, graph): (&mut Object, &mut Graph),
    (other, other_graph): (&Object, &Graph),
    infos: &StreamerInfos,
) -> Result<(), String> {
    let mut sum = Hist::decode(first, graph)?;
    let mut added = Hist::decode(other, other_graph)?;
    sum.merge(&mut added)?;
    sum.store(first, graph, infos)
}

impl Hist {
    fn merge(&mut self, other: &mut Self) -> Result<(), String> {
        if self.shape != other.shape {
            return Err("their dimensions differ".to_owned());
        }
        if self.auto_power_of_two != other.auto_power_of_two {
            return Err("only one has bins chosen among powers of two".to_owned());
        }
        self.most_cells = CELLS_ALLOWED.max((self.cells.len() + other.cells.len()).saturating_mul(16));
        let axes = self.common_axes(other)?;
        let limits = (self.has_limits(), other.has_limits());
        // As ROOT, which looks before it fills in waiting entries, whatever weights those have.
        let weighted = !other.sumw2.is_empty();
        for (hist, limits) in [(&mut *self, limits.0), (&mut *other, limits.1)] {
            if hist.shape.profile && !hist.buffer.waiting.is_empty() {
                return Err("a profile whose entries still wait in a buffer".to_owned());
            }
            if limits {
                hist.fill_buffer();
            }
        }
        let by_labels = self.agree_on_labels(other);
        if weighted {
            self.keep_weights();
        }
        match axes {
            Common::New(axes) if by_labels && axes.iter().any(Option::is_some) => {
                let mut sum = self.on_axes(&axes)?;
                sum.merge_labels(self)?;
                sum.merge_labels(other)?;
                *self = sum;
                Ok(())
            }
            _ if by_labels => self.merge_labels(other),
            Common::Same => self.merge_same_axes(other),
            Common::NoLimits => {
                self.buffer.waiting.append(&mut other.buffer.waiting);
                self.buffer.changed = true;
                self.buffer.present = true;
                Ok(())
            }
            Common::New(_) if self.auto_power_of_two => {
                Err("bins chosen among powers of two, and not the same ones".to_owned())
            }
            Common::New(axes) => self.merge_by_centers(other, &axes),
        }
    }

    /// The axes that both fit into.
    fn common_axes(&self, other: &Self) -> Result<Common, String> {
        let mut axes = match (self.has_limits(), other.has_limits()) {
            (false, false) => return Ok(Common::NoLimits),
            (false, true) => return Ok(Common::New(other.axes.iter().cloned().map(Some).collect())),
            (true, false) => return Ok(Common::New(vec![None; self.axes.len()])),
            (true, true) => self.axes.clone(),
        };
        let mut new = vec![None; axes.len()];
        for ((mine, theirs), new) in axes.iter_mut().zip(&other.axes).zip(&mut new) {
            if !mine.same(theirs) {
                if !mine.join(theirs) {
                    let say = |axis: &Axis| format!("{} bins from {} to {}", axis.bins, axis.min, axis.max);
                    return Err(format!("their limits do not fit together: {}, and {}", say(mine), say(theirs)));
                }
                *new = Some(mine.clone());
            }
        }
        Ok(if new.iter().all(Option::is_none) { Common::Same } else { Common::New(new) })
    }

    fn merge_same_axes(&mut self, other: &Self) -> Result<(), String> {
        self.add_totals(other, |sum| {
            for cell in 0..other.cells.len() {
                sum.add_cell(cell, other, cell);
            }
            Ok(())
        })
    }

    /// Adds cells in one way or another, and the sums and entries that `add` must not see change.
    pub(super) fn add_totals(
        &mut self,
        other: &Self,
        add: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut totals = self.stats();
        let mut entries = self.entries;
        if !other.is_empty() {
            for (total, sum) in totals.iter_mut().zip(other.stats()) {
                *total += sum;
            }
            entries += other.entries;
            add(self)?;
        }
        self.sums = totals;
        self.entries = entries;
        Ok(())
    }

    /// This histogram without contents, and with these axes (`TH1Merger::DefineNewAxes`).
    fn on_axes(&self, axes: &[Option<Axis>]) -> Result<Self, String> {
        let mut empty = self.clone();
        for (axis, new) in empty.axes.iter_mut().zip(axes) {
            if let Some(new) = new {
                axis.redefine(new);
            }
        }
        empty.resize_cells()?;
        empty.sums.fill(0.0);
        empty.entries = 0.0;
        empty.buffer = Buffer { present: self.buffer.present, ..Buffer::default() };
        empty.reset |= !self.is_empty();
        Ok(empty)
    }

    /// Defines the axes anew and brings both histograms in by the centres of their bins.
    fn merge_by_centers(&mut self, other: &Self, axes: &[Option<Axis>]) -> Result<(), String> {
        let mut sum = self.on_axes(axes)?;
        let old = &*self;
        for hist in [old, other] {
            if !hist.has_limits() {
                if !hist.buffer.waiting.is_empty() && sum.axes.iter().any(Axis::can_extend) {
                    return Err("one has no limits yet, and the other's axis can grow".to_owned());
                }
                sum.fill(&hist.buffer.waiting);
            }
        }
        for hist in [old, other].into_iter().filter(|hist| hist.has_limits()) {
            sum.add_totals(hist, |sum| sum.add_by_centers(hist))?;
        }
        *self = sum;
        Ok(())
    }

    fn add_by_centers(&mut self, other: &Self) -> Result<(), String> {
        for cell in 0..other.cells.len() {
            if other.is_cell_empty(cell) {
                continue;
            }
            let bins = other.bins_of(cell);
            let mut to = [0; 3];
            for ((to, bin), (mine, theirs)) in to.iter_mut().zip(bins).zip(self.axes.iter().zip(&other.axes)) {
                let center = theirs.center(bin);
                let outside = bin == 0 || bin > theirs.bins;
                if outside && (mine.can_extend() || center > mine.min && center < mine.max) {
                    return Err("their limits differ and one has underflows or overflows".to_owned());
                }
                *to = mine.find(center);
            }
            let to = self.cell_at(to);
            self.add_cell(to, other, cell);
        }
        Ok(())
    }

    /// Fills in the entries that wait in the buffer, if there are limits to fill them into.
    pub(super) fn fill_buffer(&mut self) {
        if self.has_limits() && !self.shape.profile {
            let waiting = std::mem::take(&mut self.buffer.waiting);
            self.fill(&waiting);
        }
    }

    /// Fills entries (`TH1::Fill`, without growing axes).
    fn fill(&mut self, entries: &[f64]) {
        for entry in entries.chunks_exact(Buffer::stride(self.shape)) {
            let (w, at) = (entry.first().copied().unwrap_or(0.0), entry.get(1..).unwrap_or_default());
            if w != 1.0 && !self.never_weighted {
                self.start_weights();
            }
            let mut bins = [0; 3];
            for ((bin, axis), x) in bins.iter_mut().zip(&self.axes).zip(at) {
                *bin = axis.find(*x);
            }
            let cell = self.cell_at(bins);
            self.cells.add(cell, w);
            if let Some(sum) = self.sumw2.get_mut(cell) {
                *sum += w * w;
            }
            self.entries += 1.0;
            let outside = self.axes.iter().zip(bins).any(|(axis, bin)| bin == 0 || bin > axis.bins);
            if outside && !self.consider_overflows {
                continue;
            }
            let place = |i: usize| at.get(i).copied().unwrap_or(0.0);
            let (x, y, z) = (place(0), place(1), place(2));
            let terms = [1.0, w, x, x * x, y, y * y, x * y, z, z * z, x * z, y * z];
            for (sum, term) in self.sums.iter_mut().zip(terms) {
                *sum += w * term;
            }
        }
    }
}

enum Common {
    Same,
    NoLimits,
    /// Those that are to be defined anew.
    New(Vec<Option<Axis>>),
}
