//! Columns: a tree's branches as Arrow arrays.
//!
//! A [`ColumnPlan`] is made once for a branch, from the tree's metadata and the streamer infos; a
//! [`ColumnBuilder`] runs it over baskets, straight into the final buffers. What cannot be decoded is a column of
//! bytes that says why. Fetching and decompressing baskets is the caller's.

mod class;
mod column;
mod element;
mod machine;
mod name;
mod objects;
mod op;
mod packed;
mod plain;
mod schema;
mod types;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use rootfile::bytes::Cursor;
use rootfile::object::tags::ReadTags;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use self::column::Column;
use self::machine::Machine;
use self::op::Op;
use self::schema::{Layout, Plan};
use crate::tree::basket::{BasketData, Entries};
use crate::tree::model::{Branch, BranchKind, Tree};

/// How a branch becomes a column. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ColumnPlan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    field: FieldRef,
    branch: usize,
    opaque: Option<String>,
    plan: Plan,
}

/// A column that is being filled with entries.
#[derive(Debug)]
pub struct ColumnBuilder {
    plan: ColumnPlan,
    column: Column,
}

impl ColumnPlan {
    /// The plan for a branch. It always succeeds: what cannot be decoded becomes `LargeBinary`, the bytes of each
    /// entry, and says why.
    pub fn new(tree: &Tree, branch: usize, infos: &StreamerInfos) -> Self {
        let (plan, opaque) = match schema::plan(tree, branch, infos) {
            Ok(plan) => (plan, None),
            Err(why) => (Plan::bytes(), Some(why)),
        };
        let mut names = tree.lineage(branch);
        names.reverse();
        let typename = plan.typename.clone();
        Self::made(&names.join("/"), &typename, branch, plan, opaque)
    }

    fn made(name: &str, typename: &str, branch: usize, plan: Plan, opaque: Option<String>) -> Self {
        let mut metadata = HashMap::from([("typename".to_owned(), typename.to_owned())]);
        if let Some(why) = &opaque {
            metadata.insert("opaque".to_owned(), why.clone());
        }
        let field = Arc::new(plan.shape.field(name).as_ref().clone().with_metadata(metadata));
        Self(Arc::new(Inner { field, branch, opaque, plan }))
    }

    /// The column's field. Its name is the path of the branch (`Event/fTracks/fTracks.fX`), its metadata have the
    /// C++ type (`typename`), and for an opaque column the reason (`opaque`).
    pub fn field(&self) -> &FieldRef {
        &self.0.field
    }

    /// The index of the branch among the tree's.
    pub fn branch(&self) -> usize {
        self.0.branch
    }

    /// Why the column holds bytes only, if so.
    pub fn opaque(&self) -> Option<&str> {
        self.0.opaque.as_deref()
    }

    /// The same column as bytes, for data that turned out not to fit the plan.
    #[must_use]
    pub fn opaque_because(&self, reason: &str) -> Self {
        let typename = self.0.field.metadata().get("typename").map_or("unknown", String::as_str);
        Self::made(self.0.field.name(), typename, self.0.branch, Plan::bytes(), Some(reason.to_owned()))
    }

    /// Branches whose values [`ColumnBuilder::append`] needs beside the entries; usually none.
    pub fn counters(&self) -> &[usize] {
        &self.0.plan.counters
    }

    /// An empty column with room for so many entries.
    pub fn start(&self, entries: usize) -> ColumnBuilder {
        ColumnBuilder { column: Column::new(&self.0.plan.shape, entries), plan: self.clone() }
    }
}

impl ColumnBuilder {
    /// Decodes entries, given by their numbers within the basket. `counts` has for each of the plan's
    /// [`counters`](ColumnPlan::counters) its values of that range of entries, one after the other: one for each
    /// entry, or where the counter's own column is a list, its items. After an error the column is of no use.
    pub fn append(&mut self, basket: &BasketData, entries: Range<usize>, counts: &[Vec<u64>]) -> Result<()> {
        if entries.end > basket.count as usize || entries.start > entries.end {
            return Err(Error::request("entries that the basket does not have"));
        }
        if entries.is_empty() {
            return Ok(());
        }
        let name = self.plan.0.field.name();
        let appended = match (&mut self.column, self.plan.0.plan.layout) {
            (Column::Bytes { offsets, bytes }, _) => entries.clone().try_for_each(|i| {
                let entry = slice(basket, i..i + 1)?;
                bytes.extend_from_slice(entry);
                offsets.push(entry.len());
                Ok(())
            }),
            (column, Layout::Fixed) => fixed(&self.plan.0.plan.op, column, basket, entries.clone()),
            (column, Layout::Each) => each(&self.plan.0.plan, column, basket, entries.clone(), counts),
            (Column::List { offsets, items, .. }, Layout::Items) => {
                let op = &self.plan.0.plan.op;
                match op.fixed_size().filter(|size| *size > 0) {
                    Some(size) => {
                        let bytes = slice(basket, entries.clone())?;
                        let ends = ends(basket, entries.clone(), size)?;
                        let n = bytes.len() / size;
                        Machine::new(bytes, &[], 0).read(op, n, items)?;
                        offsets.extend_ends(ends.into_iter());
                        Ok(())
                    }
                    None => Err(Error::unsupported("items of varying length")),
                }
            }
            _ => Err(Error::unsupported("a plan that does not fit its column")),
        };
        appended.map_err(|e| e.object(format!("branch {name}")))
    }

    /// Adds entries that are in no basket: zeros, empty lists, empty texts.
    pub fn append_missing(&mut self, entries: usize) -> Result<()> {
        self.column.push_default(entries);
        Ok(())
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Arrow array.
    pub fn finish(self) -> Result<ArrayRef> {
        let name = self.plan.0.field.name().clone();
        self.column.finish().map_err(|e| e.object(format!("branch {name}")))
    }
}

/// The bytes of some entries.
fn slice(basket: &BasketData, entries: Range<usize>) -> Result<&[u8]> {
    let first = basket.range(entries.start).map(|r| r.start);
    let last = basket.range(entries.end.saturating_sub(1)).map(|r| r.end);
    let range = first.zip(last).map(|(start, end)| start..end);
    range.and_then(|r| basket.data.get(r)).ok_or_else(|| match basket.entries {
        Entries::Generated => Error::unsupported("entries without boundaries"),
        _ => Error::corrupt("entries beyond their basket"),
    })
}

fn fixed(op: &Op, column: &mut Column, basket: &BasketData, entries: Range<usize>) -> Result<()> {
    let size = op.fixed_size().unwrap_or(0);
    let bytes = slice(basket, entries.clone())?;
    if Some(bytes.len()) != size.checked_mul(entries.len()) {
        let n = entries.len();
        return Err(Error::corrupt(format!("{n} entries in {} bytes, where each takes {size}", bytes.len())));
    }
    Machine::new(bytes, &[], 0).read(op, entries.len(), column)
}

fn each(
    plan: &Plan,
    column: &mut Column,
    basket: &BasketData,
    entries: Range<usize>,
    counts: &[Vec<u64>],
) -> Result<()> {
    let mut machine = Machine::new(&[], &plan.readers, plan.slots);
    let mut counts = Counts::new(&plan.op, counts);
    for entry in entries {
        counts.next(&mut machine.counters)?;
        let bytes = slice(basket, entry..entry + 1)?;
        if bytes.is_empty() {
            // Nothing was written where there was nothing in memory.
            column.push_default(1);
            continue;
        }
        machine.cursor = Cursor::new(bytes);
        machine.tags = ReadTags::new(basket.origin(entry) as usize);
        machine.read(&plan.op, 1, column).map_err(|e| e.object(format!("entry {entry} of a basket")))?;
        if machine.cursor.remaining() > 0 {
            return Err(Error::corrupt(format!(
                "entry {entry} of a basket has {} bytes, of which {} were read",
                bytes.len(),
                machine.cursor.pos()
            )));
        }
    }
    Ok(())
}

/// Hands the values of counters out, entry by entry.
struct Counts<'a> {
    values: Vec<std::slice::Iter<'a, u64>>,
    /// The counter of objects, and that which has a value for each object.
    objects: Option<(usize, usize)>,
}

impl<'a> Counts<'a> {
    fn new(op: &Op, counts: &'a [Vec<u64>]) -> Self {
        let objects = match op {
            Op::Objects { objects, counter, .. } => Some((*objects, *counter)),
            _ => None,
        };
        Self { values: counts.iter().map(|values| values.iter()).collect(), objects }
    }

    /// Sets the counters for the next entry.
    fn next(&mut self, counters: &mut [Vec<u64>]) -> Result<()> {
        let missing = || Error::corrupt("fewer counts than entries");
        let mut of_objects = 0;
        for (i, (values, counter)) in self.values.iter_mut().zip(counters.iter_mut()).enumerate() {
            counter.clear();
            match self.objects {
                Some((_, each)) if each == i => {
                    let n = usize::try_from(of_objects).unwrap_or(usize::MAX);
                    if values.len() < n {
                        return Err(missing());
                    }
                    counter.extend(values.by_ref().take(n));
                }
                _ => {
                    of_objects = *values.next().ok_or_else(missing)?;
                    counter.push(of_objects);
                }
            }
        }
        Ok(())
    }
}

/// Where the items of each entry end, counted in items from the first entry on.
fn ends(basket: &BasketData, entries: Range<usize>, size: usize) -> Result<Vec<i64>> {
    let start = basket.range(entries.start).map_or(0, |r| r.start);
    let ragged = |len: usize| Error::corrupt(format!("an entry of {len} bytes, where items take {size}"));
    entries
        .map(|i| {
            let range = basket.range(i).unwrap_or(start..start);
            let len = range.end - start;
            if !len.is_multiple_of(size) {
                return Err(ragged(range.len()));
            }
            i64::try_from(len / size).map_err(|_| ragged(len))
        })
        .collect()
}

/// Columns of a tree: branches that hold entries of their own, in ROOT's order. Branches that only group others
/// are no columns.
pub fn columns(tree: &Tree, infos: &StreamerInfos) -> Vec<ColumnPlan> {
    let holds = |branch: &Branch| match &branch.kind {
        // A split collection's own branch has the number of its objects.
        // A class or base without members has nothing.
        BranchKind::Element(element) => match element.element_type {
            3 | 4 => true,
            1 | 2 => false,
            _ => branch.children.is_empty(),
        },
        BranchKind::Clones(_) | BranchKind::Ref { .. } => false,
        _ => !branch.leaves.is_empty() || !branch.baskets.is_empty(),
    };
    let branches = tree.branches.iter().enumerate().filter(|(_, branch)| holds(branch));
    branches.map(|(index, _)| ColumnPlan::new(tree, index, infos)).collect()
}
