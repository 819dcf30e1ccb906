//! Runs a node over the values of an array: appends the elements of its columns.

use rootfile::Result;

use super::node::{Node, Part};
use super::pending::{PendingColumn, out_of_range};
use crate::encode::view::{Ends, View, shape_mismatch};

/// Appends `n` values from `at` on.
pub(super) fn append(
    node: &Node,
    view: &View<'_>,
    (at, n): (usize, usize),
    columns: &mut [PendingColumn],
) -> Result<()> {
    match (node, view) {
        (Node::Number { column }, View::Numbers(_, words)) => get(columns, *column)?.push_numbers(*words, at..at + n),
        (Node::Text { ends }, View::Text { ends: given, bytes }) => {
            let (start, len) = push_ends(get(columns, *ends)?, *given, (at, n))?;
            get(columns, ends + 1)?.push_bytes(bytes.get(start..start + len).ok_or_else(out_of_range)?)
        }
        (Node::Streamed { ends, encoder }, view) => {
            let (bytes, lengths) = encoder.encode(view, at..at + n)?;
            let column = get(columns, *ends)?;
            for length in lengths {
                push_end(column, length)?;
            }
            get(columns, ends + 1)?.push_bytes(&bytes)
        }
        (Node::Fixed { size, item }, View::Fixed { size: given, items }) if size == given => {
            append(item, items, (at * size, n * size), columns)
        }
        (Node::List { ends, item }, View::List { ends: given, items }) => {
            let range = push_ends(get(columns, *ends)?, *given, (at, n))?;
            append(item, items, range, columns)
        }
        (Node::Optional { ends, item }, View::Optional { nulls, value }) => {
            let column = get(columns, *ends)?;
            let Some(nulls) = nulls else {
                (0..n).try_for_each(|_| push_end(column, 1))?;
                return append(item, value, (at, n), columns);
            };
            let valid = nulls.slice(at, n);
            valid.iter().try_for_each(|valid| push_end(column, u64::from(valid)))?;
            valid.valid_slices().try_for_each(|(start, end)| append(item, value, (at + start, end - start), columns))
        }
        (Node::Record { parts }, View::Record(values)) => {
            let mut values = values.iter();
            for part in parts {
                match part {
                    Part::Stored(node) => append(node, values.next().ok_or_else(shape_mismatch)?, (at, n), columns)?,
                    Part::Zeros(zeros) => {
                        zeros.iter().try_for_each(|zero| get(columns, *zero)?.push_zeros(n))?;
                    }
                }
            }
            Ok(())
        }
        (Node::Variant { switch, parts }, View::Variant { tags, places, parts: values }) => {
            variants((*switch, parts), (tags, places, values), (at, n), columns)
        }
        _ => Err(shape_mismatch()),
    }
}

fn get(columns: &mut [PendingColumn], column: usize) -> Result<&mut PendingColumn> {
    columns.get_mut(column).ok_or_else(shape_mismatch)
}

/// Appends the end of a collection with so many items.
fn push_end(column: &mut PendingColumn, items: u64) -> Result<()> {
    let (ends, count) = column.ends()?;
    *count += items;
    ends.push(*count);
    Ok(())
}

/// Appends the ends of collections. Returns the first of their items, and how many there are.
pub(super) fn push_ends(
    column: &mut PendingColumn,
    given: Ends<'_>,
    (at, n): (usize, usize),
) -> Result<(usize, usize)> {
    let (ends, count) = column.ends()?;
    let (start, before) = (given.bound(at), *count);
    let items = given.bound(at + n).saturating_sub(start);
    let end = |bound: usize| before + bound.saturating_sub(start) as u64;
    match given {
        Ends::Small(bounds) => {
            let bounds = bounds.get(at + 1..at + 1 + n).ok_or_else(out_of_range)?;
            ends.extend(bounds.iter().map(|bound| end(usize::try_from(*bound).unwrap_or(0))));
        }
        Ends::Large(bounds) => {
            let bounds = bounds.get(at + 1..at + 1 + n).ok_or_else(out_of_range)?;
            ends.extend(bounds.iter().map(|bound| end(usize::try_from(*bound).unwrap_or(0))));
        }
    }
    *count += items as u64;
    Ok((start, items))
}

/// Appends variants: for each its part and the place among the values of that part in the cluster.
fn variants(
    (switch, parts): (usize, &[Node]),
    (tags, places, values): (&[i8], &[i32], &[View<'_>]),
    (at, n): (usize, usize),
    columns: &mut [PendingColumn],
) -> Result<()> {
    let (tags, places) =
        (tags.get(at..at + n).ok_or_else(out_of_range)?, places.get(at..at + n).ok_or_else(out_of_range)?);
    let column = get(columns, switch)?;
    // Values of one part that follow each other are appended together.
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    for (tag, place) in tags.iter().zip(places) {
        let (tag, place) = (usize::try_from(*tag).unwrap_or(0), usize::try_from(*place).map_err(|_| out_of_range())?);
        let part = tag.checked_sub(1);
        column.push_variant(part)?;
        let Some(part) = part else { continue };
        match runs.iter_mut().rev().find(|(known, ..)| *known == part) {
            Some((_, start, len)) if *start + *len == place => *len += 1,
            _ => runs.push((part, place, 1)),
        }
    }
    for (part, start, len) in runs {
        let (node, view) = parts.get(part).zip(values.get(part)).ok_or_else(out_of_range)?;
        append(node, view, (start, len), columns)?;
    }
    Ok(())
}
