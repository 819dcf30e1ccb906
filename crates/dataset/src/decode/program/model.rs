//! The program that decodes the entries of one branch: the shape of an entry, the operation that reads it, and the tables
//! that the operation refers to.

use super::class_reader::ClassReader;
use super::learned::MemberId;
use super::op::Op;
use super::types::Shape;

/// A value's shape, and the operation that reads it.
pub(crate) type Typed = (Shape, Op);

/// How entries are laid out in a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryLayout {
    /// Each entry is one value, and all have the same length.
    Fixed,
    /// Each entry is one value of any length.
    Each,
    /// Each entry is a list of values up to the entry's end.
    Items,
}

/// How the entries of a branch are decoded.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The shape of an entry.
    pub shape: Shape,
    /// How to read an entry, or an item of it.
    pub op: Op,
    pub layout: EntryLayout,
    /// The type in C++, as uproot spells it.
    pub typename: String,
    /// Branches whose values are counters, in the order of the interpreter's counters.
    pub counters: Vec<usize>,
    /// The number of the interpreter's counters: `counters`, and members that are counters.
    pub slots: usize,
    /// Readers of the classes that occur.
    pub readers: Vec<ClassReader>,
    /// Whether there are pointers, whose class tags count from where the entry lies.
    pub pointers: bool,
    /// Arrays whose item class only entries name.
    pub arrays: Vec<MemberId>,
}

impl Program {
    /// A program without counters and classes.
    pub(crate) fn new((shape, op): Typed, typename: String) -> Self {
        let layout = if op.fixed_size().is_some() { EntryLayout::Fixed } else { EntryLayout::Each };
        let (counters, readers, arrays) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape, op, layout, typename, counters, slots: 0, readers, pointers: false, arrays }
    }

    /// Entries as bytes.
    pub(crate) fn bytes() -> Self {
        Self::new((Shape::Bytes, Op::Opaque), "unknown".to_owned())
    }

    /// Lists of what the program reads, up to the end of each entry.
    pub(crate) fn items(mut self, flag: bool) -> Self {
        if !flag && self.op.fixed_size().is_some() {
            self.layout = EntryLayout::Items;
        } else {
            self.op = Op::ToEnd { flag, item: Box::new(self.op) };
            self.layout = EntryLayout::Each;
        }
        self.shape = self.shape.list();
        self.typename = listed(&self.typename);
        self
    }

    /// The number of the counter that a branch is.
    pub(crate) fn counter(&mut self, branch: usize) -> usize {
        self.counters.iter().position(|&known| known == branch).unwrap_or_else(|| {
            self.counters.push(branch);
            self.slots = self.slots.max(self.counters.len());
            self.counters.len() - 1
        })
    }
}

/// The name of a list of these: the dimension that varies comes before those that do not.
pub(crate) fn listed(name: &str) -> String {
    match name.split_once('[') {
        Some((name, dims)) => format!("{name}[][{dims}"),
        None => format!("{name}[]"),
    }
}
