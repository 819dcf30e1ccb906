//! Tests the first entries of a column: whether they can be decoded, and how collections are streamed, by encoding the
//! entries both ways.

use std::collections::HashSet;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use dataset::decode::ColumnPlan;
use dataset::encode::EncodedEntries;
use dataset::layout::Streaming;
use dataset::tree::basket::BasketData;
use rootfile::Result;

use super::view::{Reason, View};
use crate::execute::fetch::tree::counters::CounterReader;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::table::tree::column::Column;

/// Number of entries that are tested in each file.
const TESTED_ENTRIES: u64 = 16;
/// Low byte of a collection's version, which is the version of `TStreamerInfo` in the ROOT that wrote it. It may differ.
const STREAMER_INFO: u8 = 9;
/// Largest number of files that are tested. With more files the streaming stays unknown.
const MOST_FILES: usize = 64;

/// The streaming of a column's collections in all its files, if it is known. If both give the same bytes, `preferred`.
pub(crate) fn current_streaming(view: &View<'_>, plan: &ColumnPlan, preferred: Streaming) -> Option<Streaming> {
    let column = view.plan.columns.get(plan.branch())?;
    let other = match preferred {
        Streaming::MemberWise => Streaming::ObjectWise,
        Streaming::ObjectWise => Streaming::MemberWise,
    };
    let mut files = HashSet::new();
    let mut scratch = Fetcher::new();
    let mut left = vec![preferred, other];
    for (index, piece) in column.source.pieces.iter().enumerate() {
        if piece.file().is_none_or(|file| !files.insert(file)) {
            continue;
        }
        if files.len() > MOST_FILES {
            return None;
        }
        let basket = scratch.load(&view.plan.files, column, index).ok()?;
        left.retain(|streaming| has_streaming(view, plan, (column, index), &basket, *streaming).unwrap_or(false));
    }
    left.first().copied().filter(|_| !files.is_empty())
}

impl View<'_> {
    /// Checks that a column has all entries of the tree, and that its first entries fit its plan.
    pub fn check_entries(&self, plan: &ColumnPlan) -> std::result::Result<(), Reason> {
        let column = self.plan.columns.get(plan.branch()).ok_or("no such branch")?;
        let bound = |bound: Option<&u64>| bound.copied().unwrap_or(0);
        if !column.source.covers(&(bound(self.plan.clusters.bounds.first())..bound(self.plan.clusters.bounds.last()))) {
            return Err("it has fewer entries than its tree".to_owned());
        }
        probe(self, plan).map_err(|e| e.to_string())
    }
}

/// Decodes the first entries of a column, to test its plan.
fn probe(view: &View<'_>, plan: &ColumnPlan) -> Result<()> {
    let Some(column) = view.plan.columns.get(plan.branch()) else { return Ok(()) };
    if column.source.pieces.is_empty() {
        return Ok(());
    }
    let basket = Fetcher::new().load(&view.plan.files, column, 0)?;
    first_entries(view, plan, (column, 0), &basket).map(|_| ())
}

/// The values of the first run of entries of a basket, and their indices in it.
fn first_entries(
    view: &View<'_>,
    plan: &ColumnPlan,
    (column, index): (&Column, usize),
    basket: &BasketData,
) -> Result<(ArrayRef, Range<usize>)> {
    let counters = plan.counters().iter().filter_map(|branch| {
        let plan = view.plans.iter().find(|plan| plan.branch() == *branch)?;
        Some((view.plan.columns.get(*branch)?, plan))
    });
    let entries =
        column.source.pieces.get(index).map_or(0..0, |p| p.first_entry..p.first_entry + p.entries.min(TESTED_ENTRIES));
    let places = column.source.indices(index, &entries).next().unwrap_or(0..0);
    let counters: Vec<_> = counters.collect();
    let counts = match counters.is_empty() {
        true => Vec::new(),
        false => {
            let counted = entries.start..entries.start + places.len() as u64;
            CounterReader::new(&view.plan.files, counters).values(&counted)?
        }
    };
    let mut builder = plan.start(places.len(), 0);
    builder.append(basket, places.clone(), &counts)?;
    Ok((builder.finish()?, places))
}

/// Whether the first entries of a basket have the bytes that this streaming gives.
fn has_streaming(
    view: &View<'_>,
    plan: &ColumnPlan,
    (column, index): (&Column, usize),
    basket: &BasketData,
    streaming: Streaming,
) -> Result<bool> {
    let (array, places) = first_entries(view, plan, (column, index), basket)?;
    let mut encoded = EncodedEntries::default();
    plan.encoder(streaming)?.append(&array, 0..array.len(), &mut encoded)?;
    let there = places.filter_map(|i| basket.range(i)).fold(None, |all: Option<(usize, usize)>, one| {
        Some(all.map_or((one.start, one.end), |(start, _)| (start, one.end)))
    });
    let there = there.and_then(|(start, end)| basket.data.get(start..end)).unwrap_or_default();
    let alike = |(ours, theirs): (&u8, &u8)| ours == theirs || *ours == STREAMER_INFO;
    Ok(there.len() == encoded.bytes.len() && encoded.bytes.iter().zip(there).all(alike))
}
