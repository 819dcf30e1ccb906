//! A histogram or profile taken apart into axes, cells and sums, and put back into its object.
//!
//! The object keeps its class version, name, title, options and attached functions. Only the members that a merge
//! changes are overwritten.

use rootfile::object::{Array, Content, Graph, Members, Object, Value};
use rootfile::streamer::StreamerInfos;

use super::axis::Axis;
use super::buffer::Buffer;
use super::cells::Cells;
use super::shape::Shape;
use crate::merge::members::{array_mut, array_of, int, number, set_array, set_int, set_number};

/// Cells that any merged histogram may have, 32 MB of doubles; more if the inputs are that large.
pub(super) const CELLS_ALLOWED: usize = 1 << 22;
/// `TH1::kIsNotW`: sums of squares are not kept, whatever the weights.
const NEVER_WEIGHTED: u32 = 1 << 19;
/// `TH1::kAutoBinPTwo`: limits and bins were chosen among powers of two.
const AUTO_POWER_OF_TWO: u32 = 1 << 20;
/// `TH1::EStatOverflows::kConsider`.
const CONSIDER_OVERFLOWS: i64 = 1;

/// A histogram taken apart.
#[derive(Clone, Debug)]
pub(super) struct Hist {
    pub shape: Shape,
    /// One for each dimension.
    pub axes: Vec<Axis>,
    pub cells: Cells,
    /// Sums of squares of weights; for profiles, of contents.
    pub sumw2: Vec<f64>,
    pub entries: f64,
    /// Global sums in the order of `TH1::GetStats`.
    pub sums: Vec<f64>,
    pub profile: Option<ProfileCells>,
    pub buffer: Buffer,
    pub auto_power_of_two: bool,
    pub consider_overflows: bool,
    pub never_weighted: bool,
    /// Limit on the number of cells: two inputs with distant axes must not take memory out of proportion.
    pub most_cells: usize,
    /// The axes were redefined, which drops attached functions and contours.
    pub reset: bool,
    /// Bins without a label, or with a label that has no bin, were added to an underflow.
    pub unlabelled: bool,
}

/// The further cell arrays of a profile.
#[derive(Clone, Debug)]
pub(super) struct ProfileCells {
    /// Values outside are not filled. Equal limits mean that all values are.
    pub limits: [f64; 2],
    pub entries: Vec<f64>,
    /// Sums of squares of weights; empty where weights are not kept.
    pub sumw2: Vec<f64>,
}

impl Hist {
    pub fn decode(object: &Object, graph: &Graph) -> Result<Self, String> {
        let shape = Shape::of(&object.class).ok_or("is no histogram")?;
        let m = object.members().ok_or("its members cannot be read")?;
        let mut axes = Vec::new();
        for name in ["fXaxis", "fYaxis", "fZaxis"].iter().take(shape.dimensions) {
            match m.get(name) {
                Some(Value::Object(axis)) => axes.push(Axis::decode(axis, graph)?),
                _ => return Err(format!("{name} cannot be read")),
            }
        }
        let cells = contents(m).map(Cells::decode).ok_or("its contents cannot be read")?;
        let bits = m.named().map_or(0, |n| n.object.bits);
        let hist = Self {
            shape,
            axes,
            cells,
            sumw2: array_of(m, "fSumw2"),
            entries: number(m, "fEntries"),
            sums: shape.sum_names().map(|name| number(m, name)).collect(),
            profile: shape.profile.then(|| ProfileCells {
                limits: VALUE_LIMITS
                    .get(shape.dimensions - 1)
                    .map_or([0.0; 2], |names| names.map(|name| number(m, name))),
                entries: array_of(m, "fBinEntries"),
                sumw2: array_of(m, "fBinSumw2"),
            }),
            buffer: Buffer::decode(&array_of(m, "fBuffer"), shape),
            auto_power_of_two: bits & AUTO_POWER_OF_TWO != 0,
            never_weighted: bits & NEVER_WEIGHTED != 0,
            consider_overflows: int(m, "fStatOverflows") == CONSIDER_OVERFLOWS,
            most_cells: 0,
            reset: false,
            unlabelled: false,
        };
        hist.check()?;
        Ok(hist)
    }

    /// Fails if an array has not one number for each cell.
    fn check(&self) -> Result<(), String> {
        let n = self.count_cells().ok_or("too many cells")?;
        let profile = self.profile.as_ref();
        if self.cells.len() != n
            || !(self.sumw2.is_empty() && !self.shape.profile || self.sumw2.len() == n)
            || profile.is_some_and(|p| p.entries.len() != n || !(p.sumw2.is_empty() || p.sumw2.len() == n))
        {
            return Err(format!("its axes have {n} cells, its contents {}", self.cells.len()));
        }
        Ok(())
    }

    fn count_cells(&self) -> Option<usize> {
        self.axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.cells()))
    }

    pub fn store(mut self, object: &mut Object, graph: &mut Graph, infos: &StreamerInfos) -> Result<(), String> {
        if self.reset {
            drop_functions(object, graph);
        }
        let m = object.members_mut().ok_or("its members cannot be read")?;
        for (axis, name) in self.axes.iter().zip(["fXaxis", "fYaxis", "fZaxis"]) {
            if let Some(Value::Object(object)) = m.get_mut(name) {
                axis.store(object, graph, infos)?;
            }
        }
        if let Some(array) = contents_mut(m) {
            array.raw = self.cells.encode();
        }
        set_array(m, "fSumw2", &self.sumw2);
        set_int(m, "fNcells", i64::try_from(self.cells.len()).unwrap_or(i64::MAX));
        set_number(m, "fEntries", self.entries);
        for (name, sum) in self.shape.sum_names().zip(&self.sums) {
            set_number(m, name, *sum);
        }
        if let Some(profile) = &self.profile {
            set_array(m, "fBinEntries", &profile.entries);
            set_array(m, "fBinSumw2", &profile.sumw2);
        }
        if self.buffer.is_to_be_stored() {
            let raw = std::mem::take(&mut self.buffer).encode(self.shape);
            set_int(m, "fBufferSize", i64::try_from(raw.len()).unwrap_or(i64::MAX));
            set_array(m, "fBuffer", &raw);
        }
        Ok(())
    }

    /// The bins of a cell along each axis. 0 beyond the histogram's dimensions.
    pub fn bins_of(&self, cell: usize) -> [usize; 3] {
        let mut rest = cell;
        let mut bins = [0; 3];
        for (bin, axis) in bins.iter_mut().zip(&self.axes) {
            *bin = rest % axis.cells();
            rest /= axis.cells();
        }
        bins
    }

    /// The cell at these bins.
    pub fn cell_at(&self, bins: [usize; 3]) -> usize {
        let pairs = self.axes.iter().zip(bins).rev();
        pairs.fold(0, |cell: usize, (axis, bin)| cell.saturating_mul(axis.cells()).saturating_add(bin))
    }

    pub fn has_limits(&self) -> bool {
        self.axes.iter().all(Axis::has_limits)
    }

    /// Whether no entry was ever filled (`TH1::IsEmpty`).
    pub fn is_empty(&self) -> bool {
        self.sums.first().is_none_or(|sumw| *sumw == 0.0)
            && self.buffer.waiting.is_empty()
            && self.entries == 0.0
            && (0..self.cells.len()).map(|cell| self.cells.get(cell)).sum::<f64>() == 0.0
    }

    /// Whether a cell has nothing to add. ROOT tests mean and error of a profile, and so loses the entries of a cell whose
    /// values are all zero. Here these entries count.
    pub fn is_cell_empty(&self, cell: usize) -> bool {
        let at = |v: &[f64]| v.get(cell).copied().unwrap_or(0.0);
        self.cells.get(cell) == 0.0
            && at(&self.sumw2) == 0.0
            && self.profile.as_ref().is_none_or(|p| at(&p.entries) == 0.0 && at(&p.sumw2) == 0.0)
    }

    /// Adds one cell of another histogram to a cell of this one (`TH1Merger::MergeBin`).
    pub fn add_cell(&mut self, cell: usize, other: &Self, from: usize) {
        let content = other.cells.get(from);
        self.cells.add(cell, content);
        if let Some(sum) = self.sumw2.get_mut(cell) {
            *sum += other.sumw2.get(from).copied().unwrap_or(content);
        }
        if let (Some(profile), Some(other)) = (&mut self.profile, &other.profile) {
            let entries = other.entries.get(from).copied().unwrap_or(0.0);
            if let Some(sum) = profile.entries.get_mut(cell) {
                *sum += entries;
            }
            if let Some(sum) = profile.sumw2.get_mut(cell) {
                *sum += other.sumw2.get(from).copied().unwrap_or(entries);
            }
        }
    }

    /// Starts to keep sums of squares of weights (`TH1::Sumw2`).
    pub fn keep_weights(&mut self) {
        if self.sumw2.is_empty() {
            self.start_weights();
        }
    }

    pub fn start_weights(&mut self) {
        if self.sumw2.is_empty() {
            let squares = (0..self.cells.len()).map(|cell| self.cells.get(cell).abs());
            self.sumw2 = if self.entries > 0.0 { squares.collect() } else { vec![0.0; self.cells.len()] };
        }
    }

    /// Empties all cells, and resizes them to the axes.
    pub fn resize_cells(&mut self) -> Result<(), String> {
        let most = self.most_cells;
        let n = self.count_cells().filter(|n| *n <= most);
        let n = n.ok_or_else(|| format!("together they would have more than {most} cells"))?;
        let empty = |v: &mut Vec<f64>| {
            if !v.is_empty() {
                *v = vec![0.0; n];
            }
        };
        self.cells = self.cells.empty(n);
        empty(&mut self.sumw2);
        if let Some(profile) = &mut self.profile {
            empty(&mut profile.entries);
            empty(&mut profile.sumw2);
        }
        Ok(())
    }
}

/// The array of cell contents: the histogram's own `TArray` base, or that of a profile's histogram.
fn contents(m: &Members) -> Option<&Array> {
    ARRAYS.iter().find_map(|name| m.get(name)).and_then(Value::as_array)
}

fn contents_mut(m: &mut Members) -> Option<&mut Array> {
    let name = ARRAYS.iter().find(|name| m.get(name).is_some())?;
    array_mut(m, name)
}

/// The members with the limits of the averaged values, for profiles of one, two and three dimensions.
const VALUE_LIMITS: [[&str; 2]; 3] = [["fYmin", "fYmax"], ["fZmin", "fZmax"], ["fTmin", "fTmax"]];
const ARRAYS: [&str; 7] = ["TArrayD", "TArrayF", "TArrayI", "TArrayS", "TArrayC", "TArrayL", "TArrayL64"];

/// Drops what `TH1::Reset` drops: attached objects except the statistics box, and contour levels. The list lies inside the
/// histogram (`//->`) or behind a pointer.
fn drop_functions(object: &mut Object, graph: &mut Graph) {
    let Some(m) = object.members_mut() else { return };
    set_array(m, "fContour", &[]);
    match m.get_mut("fFunctions") {
        Some(Value::Object(list)) => keep_box(list, graph),
        Some(Value::Pointer(Some(id))) => {
            if let Some(mut list) = graph.take(*id) {
                keep_box(&mut list, graph);
                if let Some(slot) = graph.objects.get_mut(*id) {
                    *slot = Some(list);
                }
            }
        }
        _ => {}
    }
}

fn keep_box(list: &mut Object, graph: &Graph) {
    let Content::Collection(functions) = &mut list.content else { return };
    let is_box = |id: &Option<usize>| {
        let members = id.and_then(|id| graph.get(id)).and_then(Object::members);
        members.is_some_and(|m| m.get("fName").and_then(Value::as_str) == Some("stats"))
    };
    functions.items.retain(is_box);
    functions.options.clear();
}
