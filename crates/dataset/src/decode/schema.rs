//! From a branch to the plan of its column: what its values are, how they lie in entries, and which other
//! branches count them.

use rootfile::streamer::{StreamerInfos, code};

use super::op::Op;
use super::plain;
use super::types::{Number, Shape};
use crate::tree::model::{Branch, BranchKind, Element, Tree};

/// Why a branch is not decoded.
pub(super) type Why = String;

/// How entries lie in a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each is one value of the same length.
    Fixed,
    /// Each is one value of any length.
    Each,
    /// Each is values of a list, up to its end.
    Items,
}

/// What to do with the entries of a branch.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The shape of an entry.
    pub shape: Shape,
    /// How to read an entry, or an item of it.
    pub op: Op,
    pub layout: Layout,
    /// Branches whose values count, in the order of the machine's counters.
    pub counters: Vec<usize>,
    /// Counters of the machine: those, and such as are met in the data.
    pub slots: usize,
}

impl Plan {
    /// The number of a counter that is a branch.
    pub(super) fn counter(&mut self, branch: usize) -> usize {
        self.counters.iter().position(|&known| known == branch).unwrap_or_else(|| {
            self.counters.push(branch);
            self.slots = self.slots.max(self.counters.len());
            self.counters.len() - 1
        })
    }
}

/// The plan of a branch.
pub(super) fn plan(tree: &Tree, index: usize, infos: &StreamerInfos) -> Result<Plan, Why> {
    let branch = tree.branches.get(index).ok_or("no such branch")?;
    match &branch.kind {
        BranchKind::Plain => plain::plan(tree, index, branch),
        BranchKind::Element(element) => of_element(branch, element, infos),
        BranchKind::Object { class_name } => Err(format!("an object of class {class_name} behind a pointer")),
        BranchKind::Ref { .. } => Err("a table of references".to_owned()),
        BranchKind::Clones(_) => Err("a collection of ROOT 2".to_owned()),
    }
}

fn of_element(branch: &Branch, element: &Element, _infos: &StreamerInfos) -> Result<Plan, Why> {
    let number = basic(element.streamer_type);
    match (element.element_type, number) {
        // The number of objects of a split collection.
        (3 | 4, _) => Ok(Plan {
            shape: Shape::Number(Number::I32),
            op: Op::Number(Number::I32),
            layout: Layout::Fixed,
            counters: Vec::new(),
            slots: 0,
        }),
        (0, Some(number)) => Ok(Plan {
            shape: Shape::Number(number),
            op: Op::Number(number),
            layout: Layout::Fixed,
            counters: Vec::new(),
            slots: 0,
        }),
        _ => Err(format!("{} {} of type {}", element.class_name, branch.name(), element.streamer_type)),
    }
}

/// The number that a basic type code stands for.
pub(super) fn basic(type_code: i32) -> Option<Number> {
    Some(match type_code {
        code::CHAR => Number::I8,
        code::SHORT => Number::I16,
        code::INT | code::COUNTER => Number::I32,
        code::LONG | code::LONG64 => Number::I64,
        code::FLOAT => Number::F32,
        code::DOUBLE => Number::F64,
        code::UCHAR | code::LEGACY_CHAR => Number::U8,
        code::USHORT => Number::U16,
        code::UINT | code::BITS => Number::U32,
        code::ULONG | code::ULONG64 => Number::U64,
        code::BOOL => Number::Bool,
        _ => return None,
    })
}
