//! Merging by labels: bins with equal labels are added, and new labels extend the axis
//! (`TH1Merger::LabelMerge`, `TAxis::FindBin`, `TH1::LabelsInflate`).

use super::axis::{Axis, Slot};
use super::histogram::Hist;

impl Hist {
    /// The axes with labels, as bits.
    fn labelled(&self) -> u8 {
        self.bits(|axis| axis.labels.is_some())
    }

    fn bits(&self, is: impl Fn(&Axis) -> bool) -> u8 {
        self.axes.iter().rev().fold(0, |bits, axis| bits << 1 | u8::from(is(axis)))
    }

    /// Whether the two are merged by labels: all that are not empty have labels on an axis that the first can extend. An
    /// empty first histogram becomes extendable.
    pub(super) fn agree_on_labels(&mut self, other: &Self) -> bool {
        let mut common = 0;
        for (is_empty, labelled) in [(self.is_empty(), self.labelled()), (other.is_empty(), other.labelled())] {
            if is_empty {
                continue;
            }
            if common == 0 {
                common = labelled;
            }
            if labelled & common == 0 {
                return false;
            }
            if self.bits(Axis::can_extend) & common == 0 {
                if !self.is_empty() {
                    return false;
                }
                for (i, axis) in self.axes.iter_mut().enumerate() {
                    axis.set_can_extend(common >> i & 1 != 0);
                }
            }
        }
        true
    }

    pub(super) fn merge_labels(&mut self, other: &Self) -> Result<(), String> {
        let mut sum = self.clone();
        sum.add_totals(other, |sum| {
            let by_label: Vec<bool> = (sum.axes.iter().zip(&other.axes))
                .map(|(mine, theirs)| theirs.labels.is_some() && mine.can_extend() && theirs.can_extend())
                .collect();
            (0..other.cells.len()).filter(|cell| !other.is_cell_empty(*cell)).try_for_each(|cell| {
                let mut to = other.bins_of(cell);
                for (dimension, by_label) in by_label.iter().enumerate() {
                    if let Some(bin) = to.get_mut(dimension) {
                        *bin = sum.bin_for(dimension, *bin, other, *by_label)?;
                    }
                }
                let to = sum.cell_at(to);
                sum.add_cell(to, other, cell);
                Ok(())
            })
        })?;
        *self = sum;
        Ok(())
    }

    /// The bin for a bin of another histogram.
    fn bin_for(&mut self, dimension: usize, bin: usize, other: &Self, by_label: bool) -> Result<usize, String> {
        let Some(theirs) = other.axes.get(dimension) else { return Ok(bin) };
        loop {
            let Some(mine) = self.axes.get_mut(dimension) else { return Ok(bin) };
            if bin == 0 {
                return Ok(0);
            }
            if bin > theirs.bins {
                return Ok(mine.bins.saturating_add(1));
            }
            if !by_label {
                return Ok(mine.find(theirs.center(bin)));
            }
            let label = theirs.labels.as_ref().map_or("", |labels| labels.of_bin(bin));
            match mine.find_label(label) {
                Slot::Bin(bin) if bin > mine.bins => return Err(format!("the label {label:?} is for a bin {bin}")),
                Slot::Bin(bin) => return Ok(bin),
                Slot::Changed(bin) => {
                    self.keep_inner_cells(dimension, |_| Ok(()))?;
                    return Ok(bin);
                }
                Slot::Full => self.keep_inner_cells(dimension, |axis| {
                    axis.double();
                    if axis.bins == 0 { Err("an axis without bins".to_owned()) } else { Ok(()) }
                })?,
                // Fact: ROOT then uses bin -1, which is the underflow.
                Slot::Refused => {
                    self.unlabelled = true;
                    return Ok(0);
                }
            }
        }
    }

    /// Changes an axis and moves the cells, without the underflow and overflow of this axis.
    fn keep_inner_cells(
        &mut self,
        dimension: usize,
        change: impl FnOnce(&mut Axis) -> Result<(), String>,
    ) -> Result<(), String> {
        let old = self.clone();
        if let Some(axis) = self.axes.get_mut(dimension) {
            change(axis)?;
        }
        self.resize_cells()?;
        for cell in 0..old.cells.len() {
            let bins = old.bins_of(cell);
            let inner = |bin: &usize| old.axes.get(dimension).is_some_and(|axis| (1..=axis.bins).contains(bin));
            if bins.get(dimension).is_some_and(inner) {
                let to = self.cell_at(bins);
                self.add_cell(to, &old, cell);
            }
        }
        Ok(())
    }
}
