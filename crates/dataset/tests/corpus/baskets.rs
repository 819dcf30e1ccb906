//! Reads baskets of the corpus' files, and decodes columns.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use dataset::decode::ColumnPlan;
use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use dataset::tree::model::Tree;
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};
use rootfile::{Error, Result, RootFile};

/// Reads one basket of a branch.
pub fn load(file: &RootFile, tree: &Tree, branch: usize, index: usize) -> Result<BasketData> {
    let b = &tree.branches[branch];
    if let Some((_, embedded)) = b.embedded.iter().find(|(at, _)| *at == index) {
        return BasketData::parse_embedded(&embedded.bytes).map(|(_, data)| data);
    }
    let basket = b.baskets[index];
    let mut record = vec![0; basket.nbytes as usize];
    file.source().read_exact_at(basket.seek, &mut record)?;
    let header = BasketHeader::parse(&mut Cursor::new(&record))?;
    let raw = record.get(header.keylen()..).unwrap_or_default();
    let objlen = header.key.objlen as usize;
    let mut payload = Vec::new();
    if is_stored(raw.len(), objlen) {
        payload.extend_from_slice(&raw[..objlen]);
    } else {
        Decompressor::new().decompress(raw, objlen, &mut payload)?;
    }
    let mut data = header.open(payload)?;
    if data.entries == Entries::Generated {
        let leaf = &tree.leaves[b.leaves[0]];
        let counter = leaf.leaf_count.and_then(|id| tree.leaves.iter().find(|l| l.id == id));
        let counter = counter.ok_or_else(|| Error::unsupported("generated offsets without a counter"))?;
        let entries = basket.first_entry..basket.first_entry + basket.entries;
        let counts = values(file, tree, counter.branch, entries)?;
        let each = u64::try_from(leaf.len * leaf.len_type).unwrap();
        let mut ends = vec![0];
        counts.iter().for_each(|n| ends.push(ends.last().unwrap() + u32::try_from(n * each).unwrap()));
        data.entries = Entries::Offsets(ends);
    }
    Ok(data)
}

/// The values of a counter, one after the other.
pub fn values(file: &RootFile, tree: &Tree, counter: usize, entries: Range<u64>) -> Result<Vec<u64>> {
    let plan = ColumnPlan::new(tree, counter, file.infos());
    let mut array = decode(file, tree, &plan, entries)?;
    while let Some(list) = array.as_list_opt::<i64>() {
        let (start, end) = (list.offsets()[0] as usize, list.offsets()[list.len()] as usize);
        array = list.values().slice(start, end - start);
    }
    let wide = |v: i64| u64::try_from(v).unwrap_or(0);
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

/// The values of a column, decoded.
pub fn decode(file: &RootFile, tree: &Tree, plan: &ColumnPlan, entries: Range<u64>) -> Result<ArrayRef> {
    let mut builder = plan.start(usize::try_from(entries.end - entries.start).unwrap(), 0);
    let baskets = &tree.branches[plan.branch()].baskets;
    for (index, basket) in baskets.iter().enumerate() {
        let first = entries.start.max(basket.first_entry);
        let last = entries.end.min(basket.first_entry + basket.entries);
        if first >= last {
            continue;
        }
        let data = load(file, tree, plan.branch(), index)?;
        let counts: Result<Vec<Vec<u64>>> =
            plan.counters().iter().map(|&counter| values(file, tree, counter, first..last)).collect();
        let within = |entry: u64| usize::try_from(entry - basket.first_entry).unwrap();
        builder.append(&data, within(first)..within(last), &counts?)?;
    }
    builder.finish()
}

/// The plan with what the first baskets say of arrays that hold any class.
pub fn learned(file: &RootFile, tree: &Tree, plan: ColumnPlan) -> ColumnPlan {
    let baskets = 0..tree.branches[plan.branch()].baskets.len().min(4);
    baskets.fold(plan, |plan, index| match load(file, tree, plan.branch(), index) {
        Ok(basket) if plan.lacks() => plan.learn(tree, file.infos(), &basket),
        _ => plan,
    })
}
