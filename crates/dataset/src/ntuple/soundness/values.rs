//! The proof of a cluster: follows the ends of collections and the tags of variants down a field, page by page, and looks at the
//! elements that can be no value of it. Numbers that any bits may be are not looked at. Memory is that of one page.

use std::collections::HashMap;
use std::ops::Range;

use rootfile::{RangeBytes, Result};

use super::counts::Stored;
use crate::codecs::Codecs;
use crate::decode::program::model::Program;
use crate::decode::program::types::Number;
use crate::decode::run::column::Column;
use crate::decode::run::entries::objects;
use crate::ntuple::cluster_reader::{ClusterPages, ClusterSource};
use crate::ntuple::decode::node::{ColumnRef, FieldColumns, Node};
use crate::ntuple::decode::numbers::{convert, is_direct};
use crate::ntuple::decode::rules::{AlternativeOrder, at_most_one};
use crate::ntuple::decode::values::{kind_of, mismatch, none_of, too_many};
use crate::ntuple::decode::{ElementSource, FieldPlan};
use crate::ntuple::element::{Elements, Ends, Kind};
use crate::ntuple::model::{Cluster, PageList, Schema};

/// Bytes of streamed objects that are decoded at once, if one has not more.
const OBJECTS: u64 = 1 << 20;
/// Bytes in memory for each byte of a page whose elements are looked at.
const DECODED: u64 = 8;

/// Proves the fields of one cluster, one after the other. Fields that show others, as all members of collections of an imported tree do,
/// have their columns: what is known of these is not read again.
#[derive(Debug, Default)]
pub struct Proofs {
    /// Columns of ends that are proved, by physical ID.
    items: HashMap<usize, Items>,
}

/// How many items collections have in a cluster.
#[derive(Clone, Copy, Debug)]
struct Items {
    all: u64,
    /// Those of the collection that has most.
    most: i64,
}

impl Proofs {
    /// Proves that all entries of a field read: that ends of collections do not decrease and end with the last item, that variants
    /// have values of their alternatives, and that streamed objects and converted numbers decode. The cluster is the same in each
    /// call.
    ///
    /// # Errors
    ///
    /// What is wrong, or that a page cannot be read.
    pub fn prove(
        &mut self,
        plan: &FieldPlan,
        at: ClusterSource<'_>,
        (bytes, codecs): (&mut dyn RangeBytes, &mut Codecs),
    ) -> Result<()> {
        plan.check_schema()?;
        if at.cluster.entries == 0 {
            return Ok(());
        }
        let stored = Stored { list: at.list, cluster: at.cluster };
        let pages = at.pages(plan.field().name(), bytes, codecs);
        let proved = Proof { stored, pages, known: &mut self.items }.node(plan.node(), at.cluster.entries);
        proved.map_err(|e| e.file(bytes.name(at.file)))
    }
}

/// Most bytes of memory that [`Proofs::prove`] takes for a column of these fields in some clusters of a page list. 0 if it looks at no
/// elements.
pub fn largest_proved(plans: &[FieldPlan], schema: &Schema, (list, clusters): (&PageList, &[Cluster])) -> u64 {
    let mut largest = 0;
    let mut columns: Vec<usize> = plans.iter().flat_map(|plan| plan.looked_at(looked_at)).copied().collect();
    columns.sort_unstable();
    columns.dedup();
    for column in columns {
        let Ok(encoding) = schema.encoding(column) else { continue };
        for page in clusters.iter().flat_map(|cluster| cluster.pages(list, column).unwrap_or_default()) {
            let raw = page.raw_len(&encoding).map_or(u64::MAX, |raw| raw as u64);
            largest = largest.max(raw.saturating_mul(DECODED).saturating_add(page.stored_len().unwrap_or(0)));
        }
    }
    largest
}

/// The columns of a node and those below it whose elements are looked at.
fn looked_at(node: &Node) -> Vec<usize> {
    let columns = match node {
        Node::Streamed { .. } => 2,
        // Any bytes are text.
        _ => 1,
    };
    let is_converted = |column: &&ColumnRef| match node {
        Node::Number { number, .. } => is_converted(*number, column),
        _ => true,
    };
    let own = node.own_columns().into_iter().flat_map(|own| &own.representations);
    let own = own.flat_map(|own| own.iter().take(columns)).filter(is_converted).map(|column| column.id);
    own.chain(node.below().iter().flat_map(looked_at)).collect()
}

/// Whether the elements of a column may not fit a number. Every number of a float is a float.
fn is_converted(number: Number, column: &ColumnRef) -> bool {
    !is_direct(number, column.column_type) && !matches!(number, Number::F32 | Number::F64)
}

struct Proof<'a, 'r> {
    stored: Stored<'a>,
    pages: ClusterPages<'a, 'r>,
    /// As [`Proofs::items`].
    known: &'r mut HashMap<usize, Items>,
}

impl Proof<'_, '_> {
    /// Proves `count` values of a node: all that the cluster has.
    fn node(&mut self, node: &Node, count: u64) -> Result<()> {
        match node {
            Node::Number { columns, number } => self.numbers(columns, *number, count),
            Node::Lengths { columns, number } => {
                let column = self.stored.principal(columns)?;
                let Items { most, .. } = self.items(columns, count)?;
                if convert(column.column_type, Elements::I64(vec![most]), &mut none_of(kind_of(*number))).is_ok() {
                    return Ok(());
                }
                // Which one does not fit.
                let fits = |ends: &Ends| {
                    let lengths = Elements::I64(lengths(ends).collect());
                    convert(column.column_type, lengths, &mut none_of(kind_of(*number)))
                };
                self.ends(columns, count, fits).map(drop)
            }
            Node::Bytes { columns } => {
                let bytes = self.items(columns, count)?.all;
                self.bytes(columns, bytes).map(drop)
            }
            Node::Streamed { columns, program } => self.streamed(columns, program, count),
            Node::Fixed { size, item } => self.node(item, count.checked_mul(*size).ok_or_else(too_many)?),
            Node::List { columns, item } => {
                let items = self.items(columns, count)?.all;
                self.node(item, items)
            }
            Node::Optional { columns, item } => {
                let each = |ends: &Ends| lengths(ends).try_for_each(|values| at_most_one(values).map(drop));
                let items = self.ends(columns, count, each)?;
                self.node(item, items)
            }
            Node::Record { parts } => parts.iter().try_for_each(|part| self.node(part, count)),
            Node::Variant { columns, parts } => {
                let counts = self.switches(columns, count, parts.len())?;
                parts.iter().zip(counts).try_for_each(|(part, count)| self.node(part, count))
            }
            Node::Alternative { columns, tag, parts, item } => {
                let counts = self.switches(columns, count, *parts)?;
                let part = usize::try_from(*tag).ok().and_then(|tag| tag.checked_sub(1));
                let items = part.and_then(|part| counts.get(part)).ok_or_else(mismatch)?;
                self.node(item, *items)
            }
            Node::Nothing => Ok(()),
        }
    }

    /// The elements of the pages of a column, one page after the other.
    fn each_page(
        &mut self,
        columns: &FieldColumns,
        column: &ColumnRef,
        kind: Kind,
        mut look: impl FnMut(&mut Self, Range<u64>, Elements) -> Result<()>,
        mut start: impl FnMut(&mut Elements) -> Result<()>,
    ) -> Result<()> {
        let stored = self.stored;
        let mut first = 0u64;
        for page in stored.cluster.pages(stored.list, column.id).unwrap_or_default() {
            let range = first..first.saturating_add(page.elements.into());
            first = range.end;
            if range.is_empty() {
                continue;
            }
            let mut elements = none_of(kind);
            let found = start(&mut elements)
                .and_then(|()| self.pages.decode(column.id, range.clone(), &mut elements))
                .and_then(|()| look(self, range, elements));
            found.map_err(|e| stored.blame(e, columns, column))?;
        }
        Ok(())
    }

    /// How many items `count` collections have, of whose ends nothing else is asked.
    fn items(&mut self, columns: &FieldColumns, count: u64) -> Result<Items> {
        let column = self.stored.principal(columns)?;
        if let Some(items) = self.known.get(&column.id) {
            self.stored.lacking(columns, column, count)?;
            return Ok(*items);
        }
        let most = std::cell::Cell::new(0);
        let longest = |ends: &Ends| {
            most.set(lengths(ends).fold(most.get(), i64::max));
            Ok(())
        };
        let all = self.ends(columns, count, longest)?;
        let items = Items { all, most: most.get() };
        self.known.insert(column.id, items);
        Ok(items)
    }

    /// Follows the ends of `count` collections. Returns how many items they have.
    fn ends(&mut self, columns: &FieldColumns, count: u64, each: impl Fn(&Ends) -> Result<()>) -> Result<u64> {
        self.each_ends(columns, count, |_, ends, _| each(ends))
    }

    /// The same, with the number of items before those of a page.
    fn each_ends(
        &mut self,
        columns: &FieldColumns,
        count: u64,
        mut each: impl FnMut(&mut Self, &Ends, u64) -> Result<()>,
    ) -> Result<u64> {
        let column = self.stored.principal(columns)?;
        self.stored.lacking(columns, column, count)?;
        let last = std::cell::Cell::new(0u64);
        let look = |proof: &mut Self, _: Range<u64>, elements: Elements| {
            let Elements::Index(ends) = elements else { return Err(mismatch()) };
            each(proof, &ends, last.get())?;
            last.set(ends.last_in_cluster());
            Ok(())
        };
        self.each_page(columns, column, Kind::Index, look, |ends| ends.start_cluster(last.get()))?;
        Ok(last.get())
    }

    /// The column of bytes, which must have so many.
    fn bytes<'c>(&self, columns: &'c FieldColumns, bytes: u64) -> Result<&'c ColumnRef> {
        let column = self.stored.active(columns)?.get(1).ok_or_else(mismatch)?;
        self.stored.lacking(columns, column, bytes)?;
        Ok(column)
    }

    fn numbers(&mut self, columns: &FieldColumns, number: Number, count: u64) -> Result<()> {
        let column = self.stored.principal(columns)?;
        self.stored.lacking(columns, column, count)?;
        if !is_converted(number, column) {
            return Ok(());
        }
        let kind = column.column_type.kind().ok_or_else(mismatch)?;
        let look = |_: &mut Self, _, elements| convert(column.column_type, elements, &mut none_of(kind_of(number)));
        self.each_page(columns, column, kind, look, |_| Ok(()))
    }

    fn streamed(&mut self, columns: &FieldColumns, program: &Program, count: u64) -> Result<()> {
        // The bytes are counted before any is decoded.
        let all = self.ends(columns, count, |_| Ok(()))?;
        let column = self.bytes(columns, all)?;
        let lead = self.stored.lacking(columns, column, all)?;
        self.each_ends(columns, count, |proof, ends, before| {
            let (mut first, mut start) = (0usize, 0i64);
            let offsets = ends.offsets();
            for (at, end) in offsets.iter().enumerate().skip(1) {
                let is_last = at + 1 == offsets.len();
                if !is_last && (end - start).unsigned_abs() < OBJECTS {
                    continue;
                }
                let some = offsets.get(first..=at).unwrap_or_default().iter().map(|end| (end - start).unsigned_abs());
                let some = Ends::of(some.skip(1))?;
                let place = |offset: i64| before.saturating_add(offset.unsigned_abs()).saturating_sub(lead);
                let mut bytes = none_of(Kind::U8);
                let (from, to) = (place(start), place(*end));
                bytes.append_zeros(
                    usize::try_from((end - start).unsigned_abs() - (to - from)).map_err(|_| too_many())?,
                )?;
                if from < to {
                    proof.pages.decode(column.id, from..to, &mut bytes)?;
                }
                let Elements::U8(bytes) = bytes else { return Err(mismatch()) };
                objects(program, &mut Column::new(&program.shape, 0), some.slices(&bytes))?;
                (first, start) = (at, *end);
            }
            Ok(())
        })
        .map(drop)
    }

    /// Follows the tags of `count` variants. Returns how many values each alternative has.
    fn switches(&mut self, columns: &FieldColumns, count: u64, parts: usize) -> Result<Vec<u64>> {
        let column = self.stored.principal(columns)?;
        self.stored.lacking(columns, column, count)?;
        let mut order = AlternativeOrder::new(parts, false);
        let look = |_: &mut Self, _, elements| {
            let Elements::Switch(switches) = elements else { return Err(mismatch()) };
            switches.into_iter().try_for_each(|switch| order.follow(switch))
        };
        self.each_page(columns, column, Kind::Switch, look, |_| Ok(()))?;
        Ok(order.ends())
    }
}

fn lengths(ends: &Ends) -> impl Iterator<Item = i64> {
    let offsets = ends.offsets();
    offsets.iter().zip(offsets.get(1..).unwrap_or_default()).map(|(start, end)| end - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_between_ends() {
        let ends = Ends::of([2, 2, 5].into_iter()).unwrap();
        assert_eq!(lengths(&ends).collect::<Vec<_>>(), [2, 0, 3]);
    }
}
