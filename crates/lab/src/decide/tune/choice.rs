//! A choice for the whole file, and the limits that it keeps. [`super::decide`] makes choices.

use crate::cost::model::Cost;
use crate::math::solve::RESOURCES;

use super::candidates::Pick;
use super::names::Name;
use crate::cost::Utility;

/// For each column that may have several forms which one: 0 is as it is.
pub(crate) type Forms = Vec<usize>;

/// How exact measured times of reading are, as a share. The proof measures again.
pub const READ_NOISE: f64 = 0.03;
/// Sizes that differ by less than this share are called the same.
pub const SIZE_NOISE: f64 = 0.005;

/// Limits on the whole file, infinite where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub size: f64,
    pub write: f64,
    pub read_memory: f64,
    pub write_memory: f64,
    pub read: f64,
}

/// Names of the limits, in the order of the solver's resources, as options of the command.
pub(crate) const LIMIT_NAMES: [&str; RESOURCES] =
    ["--max-size", "--max-write-time", "--max-read-memory", "--memory", "--max-read-time"];

impl Limits {
    /// No limit at all.
    pub(crate) fn none() -> Self {
        let none = f64::INFINITY;
        Self { size: none, write: none, read_memory: none, write_memory: none, read: none }
    }

    pub(crate) fn array(&self) -> [f64; RESOURCES] {
        [self.size, self.write, self.read_memory, self.write_memory, self.read]
    }

    /// The most seconds that a choice may be expected to take. Codecs that decompress alike would exclude each other without the
    /// allowance for noise.
    pub(crate) fn expected_read(&self) -> f64 {
        self.read * (1.0 + READ_NOISE)
    }

    /// What an expected choice may use.
    pub(crate) fn expected(&self) -> [f64; RESOURCES] {
        Self { read: self.expected_read(), ..*self }.array()
    }

    /// Whether a choice keeps them.
    pub(crate) fn hold_for(&self, chosen: &Chosen) -> bool {
        chosen.uses().iter().zip(self.expected()).all(|(used, limit)| *used <= limit)
    }

    /// The most seconds that a tried choice takes to read: today's, if nothing else was said.
    pub(crate) fn slowest(&self, today: f64) -> f64 {
        if self.read.is_finite() { self.expected_read() } else { today }
    }
}

/// A choice for the whole file.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Which clustering, by index.
    pub option: usize,
    /// The forms of the columns that may have several.
    pub forms: Forms,
    /// By unit; `None` for units of another form.
    pub picks: Vec<Option<Pick>>,
    /// By unit.
    pub costs: Vec<Cost>,
    /// All columns together.
    pub total: Cost,
    /// Bytes on disk with the reserve.
    pub reserved: f64,
    /// The objective that the solver minimised.
    pub objective: f64,
    /// How much better another choice could be at most, by the costs that were measured.
    pub gap: f64,
}

impl Chosen {
    /// Whether another one makes the same file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.option == other.option && self.forms == other.forms && self.picks == other.picks
    }

    /// What it uses of each limit, with the reserve on sizes.
    pub fn uses(&self) -> [f64; RESOURCES] {
        let Cost { write, read_memory, write_memory, read, .. } = self.total;
        [self.reserved, write, read_memory, write_memory, read]
    }
}

/// How a choice is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    /// What it minimises.
    pub utility: Utility,
    /// Its limits.
    pub limits: Limits,
    /// Whether its reading may take longer than today's.
    pub may_be_slower: bool,
}

/// A choice with its names.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub names: Vec<Name>,
    pub chosen: Chosen,
    /// None: as the search itself decided.
    pub by: Option<By>,
    /// Whether it is what is taken if nothing else is asked for.
    pub is_decision: bool,
}
