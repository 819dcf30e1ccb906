//! Runs a node over the values of an array: appends the elements of its columns.

use rootfile::{Error, Result};

use super::node::{Node, Part};
use super::pending::PendingColumn;
use crate::encode::view::{Ends, View, Words, shape_mismatch};
use crate::ntuple::element::Elements;

/// Appends `n` values from `at` on.
pub(super) fn append(
    node: &Node,
    view: &View<'_>,
    (at, n): (usize, usize),
    columns: &mut [PendingColumn],
) -> Result<()> {
    match (node, view) {
        (Node::Number { column }, View::Numbers(_, words)) => {
            numbers(&mut get(columns, *column)?.elements, *words, (at, n))
        }
        (Node::Text { ends }, View::Text { ends: given, bytes }) => {
            let (start, len) = push_ends(get(columns, *ends)?, *given, (at, n))?;
            let Elements::U8(characters) = &mut get(columns, ends + 1)?.elements else { return Err(shape_mismatch()) };
            characters.extend_from_slice(bytes.get(start..start + len).ok_or_else(out_of_range)?);
            Ok(())
        }
        (Node::Streamed { ends, encoder }, view) => {
            let (bytes, lengths) = encoder.encode(view, at..at + n)?;
            let column = get(columns, *ends)?;
            for length in lengths {
                push_end(column, length)?;
            }
            let Elements::U8(out) = &mut get(columns, ends + 1)?.elements else { return Err(shape_mismatch()) };
            out.extend_from_slice(&bytes);
            Ok(())
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
                        zeros.iter().try_for_each(|zero| get(columns, *zero)?.elements.append_zeros(n))?;
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
    let (Elements::U64(ends), Some(count)) = (&mut column.elements, column.counts.first_mut()) else {
        return Err(shape_mismatch());
    };
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
    let (Elements::U64(ends), Some(count)) = (&mut column.elements, column.counts.first_mut()) else {
        return Err(shape_mismatch());
    };
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

fn numbers(out: &mut Elements, words: Words<'_>, (at, n): (usize, usize)) -> Result<()> {
    let range = at..at + n;
    match (out, words) {
        (Elements::Bool(out), Words::Bool(bits)) => {
            if range.end > bits.len() {
                return Err(out_of_range());
            }
            out.append_buffer(&bits.slice(at, n));
        }
        (Elements::U8(out), Words::W1(v)) => out.extend_from_slice(v.get(range).ok_or_else(out_of_range)?),
        (Elements::I8(out), Words::W1(v)) => {
            out.extend(v.get(range).ok_or_else(out_of_range)?.iter().map(|word| word.cast_signed()));
        }
        (Elements::U16(out), Words::W2(v)) => out.extend_from_slice(v.get(range).ok_or_else(out_of_range)?),
        (Elements::I16(out), Words::W2(v)) => {
            out.extend(v.get(range).ok_or_else(out_of_range)?.iter().map(|word| word.cast_signed()));
        }
        (Elements::U32(out), Words::W4(v)) => out.extend_from_slice(v.get(range).ok_or_else(out_of_range)?),
        (Elements::I32(out), Words::W4(v)) => {
            out.extend(v.get(range).ok_or_else(out_of_range)?.iter().map(|word| word.cast_signed()));
        }
        (Elements::F32(out), Words::W4(v)) => {
            out.extend(v.get(range).ok_or_else(out_of_range)?.iter().map(|word| f32::from_bits(*word)));
        }
        (Elements::U64(out), Words::W8(v)) => out.extend_from_slice(v.get(range).ok_or_else(out_of_range)?),
        (Elements::I64(out), Words::W8(v)) => {
            out.extend(v.get(range).ok_or_else(out_of_range)?.iter().map(|word| word.cast_signed()));
        }
        (Elements::F64(out), Words::W8(v)) => {
            out.extend(v.get(range).ok_or_else(out_of_range)?.iter().map(|word| f64::from_bits(*word)));
        }
        _ => return Err(shape_mismatch()),
    }
    Ok(())
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
    let Elements::Switch(out) = &mut column.elements else { return Err(shape_mismatch()) };
    // Values of one part that follow each other are appended together.
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    for (tag, place) in tags.iter().zip(places) {
        let (tag, place) = (usize::try_from(*tag).unwrap_or(0), usize::try_from(*place).map_err(|_| out_of_range())?);
        let Some(part) = tag.checked_sub(1) else {
            out.push((0, 0));
            continue;
        };
        let count = column.counts.get_mut(part).ok_or_else(out_of_range)?;
        out.push((*count, u32::try_from(tag).map_err(|_| out_of_range())?));
        *count += 1;
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

#[cold]
fn out_of_range() -> Error {
    Error::request("an array whose offsets lie outside of its values")
}
