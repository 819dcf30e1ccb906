//! Adds one histogram to another: selects among ROOT's ways of merging, and implements the ways by bin numbers and centres.
//!
//! The cases and their order are those of `TH1Merger::ExamineHistograms`; merging by labels is in `labels`.

use super::axis::Axis;
use super::histogram::{CELLS_ALLOWED, Hist};
use crate::merge::pair::{Addend, Context, Note, Target};

/// Adds a histogram to the first. On failure, the first is unchanged and the reason is returned.
pub(in crate::merge) fn merge(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let mut sum = Hist::decode(first, graph)?;
    let mut added = Hist::decode(other, other_graph)?;
    sum.merge(&mut added)?;
    if sum.unlabelled {
        context
            .notes
            .push(Note::Changed("bins whose label the first does not have went into its underflow".to_owned()));
    }
    sum.store(first, graph, context.infos)
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
        other.most_cells = self.most_cells;
        // Fact: ROOT tests for weights before it fills the entries of the buffer.
        let weighted = !other.sumw2.is_empty();
        self.fill_buffer()?;
        other.fill_buffer()?;
        let axes = self.common_axes(other)?;
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
            Common::NoLimits => self.add_waiting(&other.buffer),
            Common::New(_) if self.auto_power_of_two => {
                Err("bins chosen among powers of two, and not the same ones".to_owned())
            }
            Common::New(axes) => self.merge_by_centers(other, &axes),
        }
    }

    /// The axes that include both histograms.
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

    /// Adds cells by `add`, then sums and entries, which `add` must see unchanged.
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
        empty.buffer = self.buffer.without_room();
        empty.reset |= !self.is_empty();
        Ok(empty)
    }

    /// Redefines the axes and adds both histograms by the centres of their bins.
    fn merge_by_centers(&mut self, other: &Self, axes: &[Option<Axis>]) -> Result<(), String> {
        let mut sum = self.on_axes(axes)?;
        let old = &*self;
        for hist in [old, other] {
            if !hist.has_limits() {
                sum.fill(&hist.buffer.waiting)?;
            }
        }
        // Both are added before any is set: a sum of 0 would count as unknown and be computed again.
        let (mut totals, mut entries) = (sum.stats(), sum.entries);
        for hist in [old, other].into_iter().filter(|hist| hist.has_limits() && !hist.is_empty()) {
            totals.iter_mut().zip(hist.stats()).for_each(|(total, sum)| *total += sum);
            entries += hist.entries;
            sum.add_by_centers(hist)?;
        }
        sum.sums = totals;
        sum.entries = entries;
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
}

enum Common {
    Same,
    NoLimits,
    /// The axes to redefine.
    New(Vec<Option<Axis>>),
}
