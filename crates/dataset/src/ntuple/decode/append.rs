//! Appends the values of a range of entries of one cluster. The number of elements that each column must have follows from
//! the top: from the entries, the sizes of arrays, the ends of collections and the tags of variants.

use std::collections::HashMap;
use std::ops::Range;

use rootfile::{Error, Result};

use super::node::{ColumnRef, FieldColumns, Node, Span};
use super::numbers::{convert, is_direct};
use super::rules::{AlternativeOrder, at_most_one, lacking};
use super::values::{
    MOST_SYNTHETIC, Values, add_len, check_nothing, kind_of, mismatch, none_of, too_many, variant_offset,
};
use crate::decode::program::types::Number;
use crate::decode::run::entries::objects;
use crate::ntuple::element::{Elements, Kind};
use crate::ntuple::model::{Cluster, PageList};

/// Has the elements of one cluster's columns.
pub trait ElementSource {
    /// Appends elements of a column to `out`: the elements `range`, counted from the first one that the cluster stores.
    /// `column` is a physical ID, and the pages have the range.
    ///
    /// # Errors
    ///
    /// If pages cannot be read or decoded.
    fn decode(&mut self, column: usize, range: Range<u64>, out: &mut Elements) -> Result<()>;

    /// The same for who keeps no elements: `out` is emptied when it has some, which may be after each page. Returns their number.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    fn pass(&mut self, column: usize, range: Range<u64>, out: &mut Elements) -> Result<u64> {
        self.decode(column, range, out)?;
        Ok(empty(out))
    }
}

/// Removes all elements, which are no ends, and returns their number.
pub(in crate::ntuple) fn empty(elements: &mut Elements) -> u64 {
    let count = elements.len();
    elements.forget(count);
    count as u64
}

/// A cluster and who has its elements.
pub(super) struct ClusterElements<'a> {
    pub list: &'a PageList,
    pub cluster: &'a Cluster,
    pub source: &'a mut dyn ElementSource,
    /// Numbers are decoded here and not kept, if it is given.
    pub passed: Option<&'a mut Passed>,
}

/// Where numbers are decoded that nobody keeps: one buffer for each kind, so that they stay in a core's cache.
#[derive(Debug, Default)]
pub(super) struct Passed(HashMap<Kind, Elements>);

/// Where the elements of some values are.
struct Located {
    /// How many of them come before the first stored one: they are zero.
    zeros: u64,
    /// The others, counted from the first one that the cluster stores.
    stored: Range<u64>,
    /// All elements that the cluster stores.
    available: u64,
    /// All values of the cluster.
    count: u64,
}

impl ClusterElements<'_> {
    fn blame(&self, error: Error, columns: &FieldColumns, column: &ColumnRef) -> Error {
        let (field, id, entry) = (&columns.field, column.id, self.cluster.first_entry);
        error.object(format!("field {field}, column {id}, cluster at entry {entry}"))
    }

    /// Where the elements of a span are. If a deferred column stores fewer than there are values, the first ones are zero.
    fn locate(&self, columns: &FieldColumns, column: &ColumnRef, span: &Span) -> Result<Located> {
        let available = self.cluster.elements(self.list, column.id);
        let count = span.count.unwrap_or(available);
        let lacking = lacking(column, self.cluster, available, count).map_err(|e| self.blame(e, columns, column))?;
        if span.range.end > count || span.range.start > span.range.end {
            let message = format!("values up to {} are wanted, and there are {count}", span.range.end);
            return Err(self.blame(Error::corrupt(message), columns, column));
        }
        let stored = span.range.start.saturating_sub(lacking)..span.range.end.saturating_sub(lacking);
        let zeros = (span.range.end - span.range.start) - (stored.end - stored.start);
        if zeros > MOST_SYNTHETIC {
            let message = format!("a cluster with {zeros} values that are not stored");
            return Err(self.blame(Error::unsupported(message), columns, column));
        }
        Ok(Located { zeros, stored, available, count })
    }

    /// Appends the elements of a span, zeros first.
    fn elements(
        &mut self,
        columns: &FieldColumns,
        column: &ColumnRef,
        located: &Located,
        out: &mut Elements,
    ) -> Result<()> {
        let wanted = located.stored.end - located.stored.start;
        let before = out.len();
        let decoded = usize::try_from(located.zeros).map_err(|_| too_many()).and_then(|zeros| {
            out.append_zeros(zeros)?;
            if wanted == 0 { Ok(()) } else { self.source.decode(column.id, located.stored.clone(), out) }
        });
        let expected = u64::try_from(before).ok().and_then(|n| n.checked_add(located.zeros)?.checked_add(wanted));
        let checked = decoded.and_then(|()| {
            let found = u64::try_from(out.len()).ok();
            if found == expected { Ok(()) } else { Err(others(wanted)) }
        });
        checked.map_err(|e| self.blame(e, columns, column))
    }

    /// Decodes the stored elements of a span, and keeps none.
    fn pass(&mut self, columns: &FieldColumns, column: &ColumnRef, located: &Located, kind: Kind) -> Result<()> {
        let wanted = located.stored.end - located.stored.start;
        let Some(passed) = self.passed.as_mut().filter(|_| wanted > 0) else { return Ok(()) };
        let found =
            self.source.pass(column.id, located.stored.clone(), passed.0.entry(kind).or_insert_with(|| none_of(kind)));
        let checked = found.and_then(|found| if found == wanted { Ok(()) } else { Err(others(wanted)) });
        checked.map_err(|e| self.blame(e, columns, column))
    }

    /// One end of an index column.
    fn end_of(&mut self, columns: &FieldColumns, column: &ColumnRef, index: u64) -> Result<u64> {
        let mut ends = none_of(Kind::Index);
        let only = Located { zeros: 0, stored: index..index.saturating_add(1), available: 0, count: 0 };
        self.elements(columns, column, &only, &mut ends)?;
        let Elements::Index(ends) = ends else { return Err(mismatch()) };
        Ok(ends.last_in_cluster())
    }

    /// Appends the ends of collections. Returns where their items are; with `exact`, always with the number of all items of
    /// the cluster.
    fn ends(&mut self, columns: &FieldColumns, span: &Span, exact: bool, out: &mut Elements) -> Result<Span> {
        let column = principal(columns, self.cluster)?;
        let located = self.locate(columns, column, span)?;
        let skipped = match located.stored.start.checked_sub(1) {
            Some(previous) if !span.range.is_empty() => self.end_of(columns, column, previous)?,
            _ => 0,
        };
        out.start_cluster(skipped).map_err(|e| self.blame(e, columns, column))?;
        self.elements(columns, column, &located, out)?;
        let Elements::Index(ends) = &*out else { return Err(mismatch()) };
        let range = if span.range.is_empty() { 0..0 } else { skipped..ends.last_in_cluster() };
        let count = if located.count == 0 {
            Some(0)
        } else if span.range.end == located.count && !span.range.is_empty() {
            Some(range.end)
        } else if exact {
            match located.available.checked_sub(1) {
                Some(last) => Some(self.end_of(columns, column, last)?),
                None => Some(0),
            }
        } else {
            None
        };
        Ok(Span { range, count })
    }

    /// Appends the values of a span.
    pub(super) fn append(&mut self, node: &Node, span: &Span, out: &mut Values) -> Result<()> {
        match (node, out) {
            (Node::Number { columns, number }, Values::Numbers(out)) => self.numbers(columns, *number, span, out),
            (Node::Lengths { columns, number }, Values::Numbers(out)) => self.lengths(columns, *number, span, out),
            (Node::Bytes { columns }, Values::Bytes { ends, bytes }) => self.bytes(columns, span, ends, bytes),
            (Node::Streamed { columns, program }, Values::Streamed(out)) => {
                let (mut ends, mut bytes) = (none_of(Kind::Index), none_of(Kind::U8));
                self.bytes(columns, span, &mut ends, &mut bytes)?;
                let (Elements::Index(ends), Elements::U8(bytes)) = (ends, bytes) else { return Err(mismatch()) };
                let decoded = objects(program, out, ends.slices(&bytes));
                let column = principal(columns, self.cluster)?;
                decoded.map_err(|e| self.blame(e, columns, column))
            }
            (Node::Fixed { size, item }, Values::Fixed { len, items }) => {
                let times = |n: u64| n.checked_mul(*size).ok_or_else(too_many);
                let range = times(span.range.start)?..times(span.range.end)?;
                let count = span.count.map(times).transpose()?;
                self.append(item, &Span { range, count }, items)?;
                extend(len, span)
            }
            (Node::List { columns, item }, Values::List { ends, items }) => {
                let inner = self.ends(columns, span, item.may_lack(), ends)?;
                self.append(item, &inner, items)
            }
            (Node::Optional { columns, item }, Values::Optional { valid, value }) => {
                let mut ends = none_of(Kind::Index);
                let inner = self.ends(columns, span, item.may_lack(), &mut ends)?;
                let Elements::Index(ends) = ends else { return Err(mismatch()) };
                for (start, end) in ends.offsets().iter().zip(ends.offsets().get(1..).unwrap_or_default()) {
                    let is_there = at_most_one(end - start);
                    let blame = |e| Ok::<_, Error>(self.blame(e, columns, principal(columns, self.cluster)?));
                    valid.push(is_there.or_else(|e| Err(blame(e)?))?);
                }
                self.append(item, &inner, value)
            }
            (Node::Record { parts }, Values::Record { len, parts: out }) => {
                for (part, out) in parts.iter().zip(out) {
                    self.append(part, span, out)?;
                }
                extend(len, span)
            }
            (Node::Variant { columns, parts }, Values::Variant { tags, offsets, parts: out }) => {
                let exact = parts.iter().any(Node::may_lack);
                let switches = self.switches(columns, span, parts.len(), exact)?;
                for (switch, &tag) in switches.indices.iter().zip(&switches.tags) {
                    let span = usize::from(tag).checked_sub(1).and_then(|part| switches.spans.get(part));
                    let first = span.map_or(0, |span| span.range.start);
                    offsets.push(variant_offset(out, usize::from(tag), switch - first)?);
                    tags.push(i8::try_from(tag).map_err(|_| mismatch())?);
                }
                for ((part, inner), out) in parts.iter().zip(&switches.spans).zip(out) {
                    self.append(part, inner, out)?;
                }
                Ok(())
            }
            (Node::Alternative { columns, tag, parts, item }, Values::Optional { valid, value }) => {
                let switches = self.switches(columns, span, *parts, item.may_lack())?;
                valid.extend(switches.tags.iter().map(|found| u32::from(*found) == *tag));
                let part = tag.checked_sub(1).and_then(|part| usize::try_from(part).ok());
                let inner = part.and_then(|part| switches.spans.get(part)).ok_or_else(mismatch)?;
                let found = valid.iter().rev().take(switches.tags.len()).filter(|valid| **valid).count() as u64;
                if inner.range.end - inner.range.start != found {
                    let error = Error::corrupt(format!("alternative {tag} has values that belong to no variant"));
                    return Err(self.blame(error, columns, principal(columns, self.cluster)?));
                }
                self.append(item, inner, value)
            }
            (Node::Nothing, Values::Nothing { len }) => {
                extend(len, span)?;
                check_nothing(*len)
            }
            _ => Err(mismatch()),
        }
    }

    /// Appends text or the bytes of objects.
    fn bytes(&mut self, columns: &FieldColumns, span: &Span, ends: &mut Elements, bytes: &mut Elements) -> Result<()> {
        let column = columns.active(self.cluster)?.get(1).ok_or_else(mismatch)?;
        let items = self.ends(columns, span, column.may_lack(self.cluster), ends)?;
        let located = self.locate(columns, column, &items)?;
        self.elements(columns, column, &located, bytes)
    }

    fn numbers(&mut self, columns: &FieldColumns, number: Number, span: &Span, out: &mut Elements) -> Result<()> {
        let column = principal(columns, self.cluster)?;
        let located = self.locate(columns, column, span)?;
        if is_direct(number, column.column_type) {
            return match self.passed {
                Some(_) => self.pass(columns, column, &located, out.kind()),
                None => self.elements(columns, column, &located, out),
            };
        }
        let kind = column.column_type.kind().ok_or_else(mismatch)?;
        let mut elements = none_of(kind);
        self.elements(columns, column, &located, &mut elements)?;
        convert(column.column_type, elements, out).map_err(|e| self.blame(e, columns, column))
    }

    fn lengths(&mut self, columns: &FieldColumns, number: Number, span: &Span, out: &mut Elements) -> Result<()> {
        let mut ends = none_of(Kind::Index);
        self.ends(columns, span, false, &mut ends)?;
        let Elements::Index(ends) = ends else { return Err(mismatch()) };
        let offsets = ends.offsets().iter().zip(ends.offsets().get(1..).unwrap_or_default());
        let lengths = Elements::I64(offsets.map(|(start, end)| end - start).collect());
        let column = principal(columns, self.cluster)?;
        debug_assert_eq!(out.kind(), kind_of(number));
        convert(column.column_type, lengths, out).map_err(|e| self.blame(e, columns, column))
    }

    /// The tags of the variants of a span, and for each part where its values are. With `exact`, the spans always have the
    /// number of all values of the cluster.
    fn switches(&mut self, columns: &FieldColumns, span: &Span, parts: usize, exact: bool) -> Result<Switches> {
        let column = principal(columns, self.cluster)?;
        let mut located = self.locate(columns, column, span)?;
        let whole = exact || (span.range.start == 0 && span.range.end == located.count);
        if whole {
            located = self.locate(columns, column, &Span { range: 0..located.count, count: span.count })?;
        }
        let mut elements = none_of(Kind::Switch);
        self.elements(columns, column, &located, &mut elements)?;
        let Elements::Switch(mut all) = elements else { return Err(mismatch()) };
        // Within a part of a cluster it is not known where the values of an alternative begin.
        let mut order = AlternativeOrder::new(parts, !whole);
        let follow = |order: &mut AlternativeOrder, values: &[(u64, u32)]| {
            let followed = values.iter().try_for_each(|&switch| order.follow(switch));
            followed.map_err(|e| self.blame(e, columns, column))
        };
        let mut counts = vec![0; parts];
        if whole {
            follow(&mut order, &all)?;
            counts = order.ends();
            let range = usize::try_from(span.range.start).ok().zip(usize::try_from(span.range.end).ok());
            let (start, end) = range.ok_or_else(too_many)?;
            all = all.get(start..end).map(<[_]>::to_vec).ok_or_else(too_many)?;
            order = AlternativeOrder::new(parts, true);
        }
        follow(&mut order, &all)?;
        let spans =
            order.spans().into_iter().zip(counts).map(|(range, count)| Span { range, count: whole.then_some(count) });
        let spans = spans.collect();
        let indices = all.iter().map(|(index, tag)| if *tag == 0 { 0 } else { *index }).collect();
        let tags: Result<Vec<u8>> = all.iter().map(|(_, tag)| u8::try_from(*tag).map_err(|_| too_many())).collect();
        Ok(Switches { indices, tags: tags?, spans })
    }
}

/// The values of variants: index and part of each, and where the values of each part are.
struct Switches {
    indices: Vec<u64>,
    /// Counted from 1; 0 for no value.
    tags: Vec<u8>,
    spans: Vec<Span>,
}

#[cold]
fn others(wanted: u64) -> Error {
    Error::corrupt(format!("{wanted} elements are wanted, and the pages have others"))
}

/// The first column of a field in a cluster.
fn principal<'a>(columns: &'a FieldColumns, cluster: &Cluster) -> Result<&'a ColumnRef> {
    columns.active(cluster)?.first().ok_or_else(mismatch)
}

/// Counts the values of a span.
fn extend(len: &mut usize, span: &Span) -> Result<()> {
    add_len(len, usize::try_from(span.range.end - span.range.start).map_err(|_| too_many())?)
}
