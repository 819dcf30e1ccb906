//! What the first entries of a column say: whether they can be decoded, and how its collections are streamed now, by
//! encoding them both ways.

use std::collections::HashSet;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use dataset::decode::ColumnPlan;
use dataset::encode::EncodedEntries;
use dataset::layout::Streaming;
use dataset::tree::basket::BasketData;
use rootfile::Result;

use super::recode::View;
use crate::column::{Column, FILL};
use crate::engine::Scratch;
use crate::read::counts::Counters;

/// Entries that are looked at in each file.
const LOOKED_AT: u64 = 16;
/// Low byte of a collection's version, which is that of `TStreamerInfo` in the ROOT that wrote it: other ROOTs have others.
const STREAMER_INFO: u8 = 9;
/// Files that are looked at; of more nothing is said.
const MOST_FILES: usize = 64;

/// The streaming of a column's collections in all its files, if it can be told. Where both are the same, `preferred`.
pub(crate) fn found(view: &View<'_>, plan: &ColumnPlan, preferred: Streaming) -> Option<Streaming> {
    let column = view.plan.columns.get(plan.branch())?;
    let other = match preferred {
        Streaming::MemberWise => Streaming::ObjectWise,
        Streaming::ObjectWise => Streaming::MemberWise,
    };
    let mut files = HashSet::new();
    let mut scratch = Scratch::new();
    let mut left = vec![preferred, other];
    for (index, piece) in column.pieces.iter().enumerate() {
        if piece.file == FILL || !files.insert(piece.file) {
            continue;
        }
        if files.len() > MOST_FILES {
            return None;
        }
        let basket = scratch.load(&view.plan.files, column, index).ok()?;
        left.retain(|streaming| is_so(view, plan, (column, index), &basket, *streaming).unwrap_or(false));
    }
    left.first().copied().filter(|_| !files.is_empty())
}

/// Decodes the first entries of a column, to see whether they are what its plan says.
pub(super) fn probe(view: &View<'_>, plan: &ColumnPlan) -> Result<()> {
    let Some(column) = view.plan.columns.get(plan.branch()) else { return Ok(()) };
    if column.pieces.is_empty() {
        return Ok(());
    }
    let basket = Scratch::new().load(&view.plan.files, column, 0)?;
    first_entries(view, plan, (column, 0), &basket).map(|_| ())
}

/// The first neighbours among the entries of a basket, and where they are in it.
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
    let entries = column.pieces.get(index).map_or(0..0, |p| p.first_entry..p.first_entry + p.entries.min(LOOKED_AT));
    let places = column.places(index, &entries).next().unwrap_or(0..0);
    let counters: Vec<_> = counters.collect();
    let counts = match counters.is_empty() {
        true => Vec::new(),
        false => {
            let counted = entries.start..entries.start + places.len() as u64;
            Counters::new(&view.plan.files, counters).values(&counted)?
        }
    };
    let mut builder = plan.start(places.len(), 0);
    builder.append(basket, places.clone(), &counts)?;
    Ok((builder.finish()?, places))
}

/// Whether the first entries of a basket are as this streaming would have them.
fn is_so(
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
