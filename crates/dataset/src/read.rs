//! Reads columns of a tree from its file, basket by basket, on the calling thread. For programs that need no more than
//! that; `basketry-flow` reads many columns on many threads within a memory budget.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};
use rootfile::{Error, Result, RootFile};

use crate::decode::ColumnPlan;
use crate::tree::Tree;
use crate::tree::basket::{BasketData, BasketHeader, Entries};

/// Reads and decompresses one basket. `branch` is an index among the tree's branches, `basket` one among the branch's
/// baskets.
///
/// # Errors
///
/// If there is no such basket, or its record cannot be read or decompressed.
pub fn read_basket(file: &RootFile, tree: &Tree, branch: usize, basket: usize) -> Result<BasketData> {
    let b = tree.branches.get(branch).ok_or_else(|| Error::request(format!("the tree has no branch {branch}")))?;
    let at = |e: Error| e.object(format!("basket {basket} of branch {}", b.name()));
    if let Some((_, embedded)) = b.embedded.iter().find(|(index, _)| *index == basket) {
        return BasketData::parse_embedded(&embedded.bytes).map(|(_, data)| data).map_err(at);
    }
    let place = b.baskets.get(basket).ok_or_else(|| at(Error::request("the branch does not have so many baskets")))?;
    let record = file.source().read(place.seek, place.nbytes as usize).map_err(at)?;
    let header = BasketHeader::parse(&mut Cursor::new(&record)).map_err(at)?;
    let raw = record.get(header.keylen()..).unwrap_or_default();
    let objlen = header.key.objlen as usize;
    let mut payload = Vec::new();
    match raw.get(..objlen) {
        Some(stored) if is_stored(raw.len(), objlen) => payload.extend_from_slice(stored),
        _ => Decompressor::new().decompress(raw, objlen, &mut payload).map_err(at)?,
    }
    let mut data = header.open(payload).map_err(at)?;
    if data.entries == Entries::Generated {
        let entries = place.first_entry..place.first_entry.saturating_add(place.entries);
        data.entries = Entries::Offsets(generated_offsets(file, tree, branch, entries).map_err(at)?);
    }
    Ok(data)
}

/// Offsets that the basket leaves out, from the values of the counter.
fn generated_offsets(file: &RootFile, tree: &Tree, branch: usize, entries: Range<u64>) -> Result<Vec<u32>> {
    let leaf = tree.branches.get(branch).and_then(|branch| tree.leaves.get(*branch.leaves.first()?));
    let counter = leaf.and_then(|leaf| tree.leaves.iter().find(|other| Some(other.id) == leaf.leaf_count));
    let (leaf, counter) = leaf.zip(counter).ok_or_else(|| Error::unsupported("generated offsets without a counter"))?;
    let each = u64::try_from(i64::from(leaf.len) * i64::from(leaf.len_type)).unwrap_or(0);
    let mut ends = vec![0];
    let mut end = 0u32;
    for n in read_counter(file, tree, counter.branch, entries)? {
        let bytes = n.checked_mul(each).and_then(|bytes| u32::try_from(bytes).ok());
        end = bytes.and_then(|bytes| end.checked_add(bytes)).ok_or_else(|| Error::corrupt("a counter too large"))?;
        ends.push(end);
    }
    Ok(ends)
}

/// Reads the values of a counter, as [`ColumnBuilder::append`](crate::decode::ColumnBuilder::append) takes them: those of
/// the entries `entries` of the branch `branch`, one after the other. Negative values become 0.
///
/// # Errors
///
/// If the baskets cannot be read, or if the values are not integers of up to 32 bits.
pub fn read_counter(file: &RootFile, tree: &Tree, branch: usize, entries: Range<u64>) -> Result<Vec<u64>> {
    let mut array = read_column(file, tree, &ColumnPlan::new(tree, branch, file.infos()), entries)?;
    while let Some(list) = array.as_list_opt::<i64>() {
        let bound = |i: usize| list.offsets().get(i).and_then(|&n| usize::try_from(n).ok()).unwrap_or(0);
        let (start, end) = (bound(0), bound(list.len()));
        array = list.values().slice(start, end.saturating_sub(start));
    }
    let wide = |value: i64| u64::try_from(value).unwrap_or(0);
    Ok(match array.data_type() {
        DataType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|v| wide((*v).into())).collect(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().values().iter().map(|v| (*v).into()).collect(),
        DataType::Int8 => array.as_primitive::<Int8Type>().values().iter().map(|v| wide((*v).into())).collect(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().values().iter().map(|v| (*v).into()).collect(),
        DataType::Int16 => array.as_primitive::<Int16Type>().values().iter().map(|v| wide((*v).into())).collect(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().values().iter().map(|v| (*v).into()).collect(),
        other => return Err(Error::unsupported(format!("a counter of type {other}"))),
    })
}

/// Reads the entries `entries` of a column into an Arrow array of the type of the plan's
/// [field](ColumnPlan::field).
///
/// # Errors
///
/// If a basket cannot be read, or if its entries do not fit the plan.
pub fn read_column(file: &RootFile, tree: &Tree, plan: &ColumnPlan, entries: Range<u64>) -> Result<ArrayRef> {
    let no_branch = || Error::request(format!("the tree has no branch {}", plan.branch()));
    let branch = tree.branches.get(plan.branch()).ok_or_else(no_branch)?;
    let count = usize::try_from(entries.end.min(branch.entries).saturating_sub(entries.start)).unwrap_or(0);
    let mut builder = plan.start(count, 0);
    for (index, basket) in branch.baskets.iter().enumerate() {
        let first = entries.start.max(basket.first_entry);
        let last = entries.end.min(basket.first_entry.saturating_add(basket.entries));
        if first >= last {
            continue;
        }
        let data = read_basket(file, tree, plan.branch(), index)?;
        let counts = plan.counters().iter().map(|&counter| read_counter(file, tree, counter, first..last));
        let counts = counts.collect::<Result<Vec<_>>>()?;
        let within = |entry: u64| usize::try_from(entry - basket.first_entry).unwrap_or(usize::MAX);
        builder.append(&data, within(first)..within(last), &counts)?;
    }
    builder.finish()
}
