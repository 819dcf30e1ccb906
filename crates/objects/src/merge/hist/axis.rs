//! An axis of a histogram: bins, limits and labels, and ROOT's rules to compare, join and search axes.
//!
//! The comparisons and tolerances are those of `TH1::SameLimitsAndNBins` and `TH1::RecomputeAxisLimits`.
//! The cells of the histogram are not known here.

use rootfile::object::{Graph, Object, Value};
use rootfile::streamer::StreamerInfos;

use super::label_list::{self, Labels};
use crate::merge::members::{array_of, int, number, set_array, set_int, set_number};

/// `TAxis` bit: a range of bins is selected.
const AXIS_RANGE: u32 = 1 << 11;
/// `TAxis` bit: bins begin and end at whole numbers.
const IS_INTEGER: u32 = 1 << 22;
/// `fBits2`: the axis counts labels, not numbers.
const ALPHANUMERIC: i64 = 1;
/// `fBits2`: the axis may grow.
const CAN_EXTEND: i64 = 1 << 1;
/// `fBits2`: the axis never counts labels.
const NOT_ALPHA: i64 = 1 << 2;

/// Centre of a bin of an axis with these limits, including underflow and overflow (`TAxis::GetBinCenter`). `edges` are those of
/// bins of different widths, empty for equal ones.
#[expect(clippy::cast_precision_loss, reason = "bins are counted in ints")]
pub(in crate::merge) fn center(bins: usize, [min, max]: [f64; 2], edges: &[f64], bin: usize) -> f64 {
    if bin >= 1
        && bin <= bins
        && let (Some(low), Some(up)) = (edges.get(bin - 1), edges.get(bin))
    {
        return low + 0.5 * (up - low);
    }
    let width = (max - min) / bins as f64;
    min + (bin as f64 - 1.0) * width + 0.5 * width
}

/// A `TAxis` taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub bins: usize,
    pub min: f64,
    pub max: f64,
    /// Edges of bins of different widths; empty for equal ones.
    pub edges: Vec<f64>,
    pub first: i64,
    pub last: i64,
    pub ranged: bool,
    pub integer: bool,
    bits2: i64,
    pub labels: Option<Labels>,
}

impl Axis {
    /// Reads the members of a `TAxis`.
    pub fn decode(object: &Object, graph: &Graph) -> Result<Self, String> {
        let m = object.members().ok_or("its axes cannot be read")?;
        let bins = int(m, "fNbins");
        let labels = m
            .get("fLabels")
            .and_then(Value::as_pointer)
            .and_then(|id| graph.get(id))
            .map(|list| label_list::decode(list, graph));
        let edges = array_of(m, "fXbins");
        let axis = Self {
            bins: usize::try_from(bins).map_err(|_| format!("an axis of {bins} bins"))?,
            min: number(m, "fXmin"),
            max: number(m, "fXmax"),
            first: int(m, "fFirst"),
            last: int(m, "fLast"),
            ranged: m.named().is_some_and(|n| n.object.bits & AXIS_RANGE != 0),
            integer: m.named().is_some_and(|n| n.object.bits & IS_INTEGER != 0),
            bits2: int(m, "fBits2"),
            labels: labels.transpose()?,
            edges,
        };
        if !axis.edges.is_empty() && axis.edges.len() != axis.bins.saturating_add(1) {
            return Err(format!("an axis of {} bins with {} edges", axis.bins, axis.edges.len()));
        }
        Ok(axis)
    }

    /// Writes everything back into the object that [`Axis::decode`] read.
    pub fn store(&self, object: &mut Object, graph: &mut Graph, infos: &StreamerInfos) -> Result<(), String> {
        let Some(m) = object.members_mut() else { return Ok(()) };
        set_int(m, "fNbins", i64::try_from(self.bins).unwrap_or(i64::MAX));
        set_number(m, "fXmin", self.min);
        set_number(m, "fXmax", self.max);
        set_array(m, "fXbins", &self.edges);
        set_int(m, "fFirst", self.first);
        set_int(m, "fLast", self.last);
        set_int(m, "fBits2", self.bits2);
        let bits = m.named().map(|n| n.object.bits);
        if let (Some(bits), Some(named)) = (bits, m.values.iter_mut().find_map(as_named)) {
            named.object.bits = if self.ranged { bits | AXIS_RANGE } else { bits & !AXIS_RANGE };
        }
        match &self.labels {
            Some(labels) if labels.list.len() > labels.stored => label_list::store(labels, m, graph, infos),
            _ => Ok(()),
        }
    }

    /// Whether it has limits. Without limits, entries wait in a buffer.
    pub fn has_limits(&self) -> bool {
        self.min < self.max
    }

    pub fn can_extend(&self) -> bool {
        self.bits2 & CAN_EXTEND != 0
    }

    pub fn set_can_extend(&mut self, yes: bool) {
        self.bits2 = if yes { self.bits2 | CAN_EXTEND } else { self.bits2 & !CAN_EXTEND };
    }

    fn is_alphanumeric(&self) -> bool {
        self.bits2 & ALPHANUMERIC != 0
    }

    /// Whether its bins stand for labels only, so that no number extends it.
    pub fn counts_by_label(&self) -> bool {
        self.is_alphanumeric()
    }

    /// Whether statistics along this axis have no meaning.
    pub fn counts_labels(&self) -> bool {
        self.labels.is_some() && self.can_extend()
    }

    /// Cells along this axis, underflow and overflow included.
    pub fn cells(&self) -> usize {
        self.bins.saturating_add(2)
    }

    #[expect(clippy::cast_precision_loss, reason = "bins are counted in ints")]
    fn average_width(&self) -> f64 {
        (self.max - self.min) / self.bins as f64
    }

    fn width(&self, bin: usize) -> f64 {
        if self.bins == 0 {
            return 0.0;
        }
        let bin = bin.clamp(1, self.bins);
        match (self.edges.get(bin), self.edges.get(bin - 1)) {
            (Some(up), Some(low)) => up - low,
            _ => self.average_width(),
        }
    }

    /// Centre of a bin, including underflow and overflow.
    pub fn center(&self, bin: usize) -> f64 {
        center(self.bins, [self.min, self.max], &self.edges, bin)
    }

    /// The bin of a value. The axis is not extended (`TAxis::FindFixBin`).
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value lies inside the limits, so the number lies in 0..bins"
    )]
    pub fn find(&self, x: f64) -> usize {
        if x < self.min {
            0
        } else if x >= self.max || x.is_nan() {
            self.bins.saturating_add(1)
        } else if self.edges.is_empty() {
            let below = (self.bins as f64 * (x - self.min) / (self.max - self.min)) as usize;
            // The quotient may round to the other side of an edge; the edge decides.
            let edge = |bin: usize| self.min + bin as f64 * self.average_width();
            let bin = if x >= edge(below.saturating_add(1)) {
                below.saturating_add(2)
            } else if x < edge(below) {
                below
            } else {
                below.saturating_add(1)
            };
            bin.min(self.bins.saturating_add(1))
        } else {
            self.edges.partition_point(|edge| *edge <= x)
        }
    }

    /// Whether both have the same number of bins, and limits equal within 10⁻¹⁰ of a bin.
    pub fn same(&self, other: &Self) -> bool {
        let tolerance = self.width(self.bins) * 1e-10;
        let close = |a: f64, b: f64| a == b || (a - b).abs() < tolerance;
        self.bins == other.bins && close(self.min, other.min) && close(self.max, other.max)
    }

    fn is_equidistant(&self) -> bool {
        let first = self.width(1);
        let equal = |width: f64| (first - width).abs() <= 0.5 * 1e-10 * (first.abs() + width.abs());
        self.edges.is_empty() || (1..self.bins).all(|bin| equal(self.width(bin)))
    }

    /// Widens to an axis that both fit into: bin widths in whole ratios, with a common edge.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
    pub fn join(&mut self, other: &Self) -> bool {
        if self.same(other) {
            return true;
        }
        if !self.is_equidistant() || !other.is_equidistant() {
            return false;
        }
        let (width1, width2) = (self.width(0), other.width(0));
        if width1 == 0.0 || width2 == 0.0 {
            return false;
        }
        let width = width1.max(width2);
        if !almost_whole(width / width1) || !almost_whole(width / width2) {
            return false;
        }
        let (mut min, mut max) = (self.min.min(other.min), self.max.max(other.max));
        // How far an outer limit must move so that a whole number of bins fits up to an inner one.
        let missing = |distance: f64, width: f64| {
            let bins = distance / width;
            if almost_whole(bins) { 0.0 } else { (bins.ceil() - bins) * width }
        };
        min -= missing(self.min - min, width1);
        min -= missing(other.min - min, width2);
        if !almost_whole((self.min - min) / width1) {
            return false;
        }
        max += missing(max - self.max, width1);
        max += missing(max - other.max, width2);
        if !almost_whole((max - self.max) / width1) {
            return false;
        }
        let bins = ((max - min) / width).round();
        if !(bins >= 1.0 && bins < f64::from(i32::MAX)) {
            return false;
        }
        self.bins = bins as usize;
        self.min = min;
        self.max = max;
        self.edges.clear();
        true
    }

    /// Takes the bins and limits of another axis, and drops the selected range of bins (`TAxis::SetRange(0,0)`, `Set`).
    pub fn redefine(&mut self, new: &Self) {
        self.first = 1;
        self.last = i64::try_from(self.bins).unwrap_or(i64::MAX);
        self.ranged = false;
        self.bins = new.bins;
        self.min = new.min;
        self.max = new.max;
        self.edges.clone_from(&new.edges);
    }

    /// Twice as many bins of the same width (`TH1::LabelsInflate`).
    pub fn double(&mut self) {
        let mut new = self.clone();
        new.bins = self.bins.saturating_mul(2);
        new.max = self.min + 2.0 * (self.max - self.min);
        new.edges.clear();
        self.redefine(&new);
    }

    /// The bin of a label (`TAxis::FindBin`). A new label is added if the axis may grow.
    pub fn find_label(&mut self, label: &str) -> Slot {
        let was_alphanumeric = self.is_alphanumeric();
        let allowed = self.bits2 & NOT_ALPHA == 0;
        if self.labels.is_none() && allowed {
            self.bits2 |= CAN_EXTEND | ALPHANUMERIC;
            if self.max <= self.min {
                self.min = 0.0;
                self.max = f64::from(u32::try_from(self.bins).unwrap_or(u32::MAX));
            }
        }
        let labels = self.labels.get_or_insert_default();
        if let Some(bin) = labels.bins.get(label) {
            return Slot::Bin(*bin);
        }
        if self.bits2 & ALPHANUMERIC == 0 {
            if labels.list.len() != self.bins || !allowed {
                return Slot::Refused;
            }
            self.bits2 |= CAN_EXTEND | ALPHANUMERIC;
        }
        if labels.list.len() >= self.bins {
            return Slot::Full;
        }
        let bin = labels.list.len() + 1;
        labels.push(label.to_owned(), bin);
        if was_alphanumeric { Slot::Bin(bin) } else { Slot::Changed(bin) }
    }
}

/// Where a label belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Bin(usize),
    /// As `Bin`, and the axis counts labels from now on: underflow and overflow lose their meaning.
    Changed(usize),
    /// No bin is left. Double the bins and try again.
    Full,
    /// The axis takes no new labels.
    Refused,
}

fn almost_whole(x: f64) -> bool {
    let rest = x - x.floor();
    rest.abs() < 1e-8 || (rest - 1.0).abs() < 1e-8
}

fn as_named(value: &mut Value) -> Option<&mut rootfile::object::Named> {
    match value {
        Value::Named(named) => Some(named),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(bins: usize, min: f64, max: f64) -> Axis {
        Axis {
            bins,
            min,
            max,
            edges: Vec::new(),
            first: 0,
            last: 0,
            ranged: false,
            integer: false,
            bits2: 0,
            labels: None,
        }
    }

    #[test]
    fn axes_join_where_bins_are_in_whole_ratios() {
        let mut joined = axis(10, 0.0, 10.0);
        assert!(joined.join(&axis(10, 10.0, 20.0)));
        assert_eq!((joined.bins, joined.min, joined.max), (20, 0.0, 20.0));
        assert!(joined.join(&axis(10, 0.0, 20.0)));
        assert_eq!(joined.bins, 10);
        assert!(!joined.join(&axis(11, 0.0, 20.0)));
        assert!(!axis(10, 0.0, 10.0).join(&axis(0, 0.0, 0.0)));
    }

    #[test]
    fn variable_bins_are_found_and_not_joined() {
        let mut variable = axis(3, 0.0, 10.0);
        variable.edges = vec![0.0, 1.0, 4.0, 10.0];
        let found: Vec<usize> = [-1.0, 0.0, 0.5, 1.0, 9.9, 10.0, f64::NAN].map(|x| variable.find(x)).to_vec();
        assert_eq!(found, [0, 1, 1, 2, 3, 4, 4]);
        assert!(!variable.join(&axis(5, 0.0, 10.0)));
    }

    #[test]
    fn labels_are_added_until_bins_run_out() {
        let mut axis = axis(2, 0.0, 2.0);
        assert_eq!(axis.find_label("a"), Slot::Changed(1));
        assert_eq!(axis.find_label("b"), Slot::Bin(2));
        assert_eq!(axis.find_label("a"), Slot::Bin(1));
        assert_eq!(axis.find_label("c"), Slot::Full);
        axis.double();
        assert_eq!(axis.find_label("c"), Slot::Bin(3));
        assert_eq!((axis.bins, axis.max), (4, 4.0));
    }
}
