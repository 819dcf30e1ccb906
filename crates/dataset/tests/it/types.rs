//! The trees of `root/decode_types.root` as columns.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use dataset::decode::{ColumnPlan, columns};
use dataset::tree::basket::{BasketData, BasketHeader};
use dataset::tree::model::Tree;
use dataset::tree::read_tree;
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};
use rootfile::{Result, RootFile};

fn load(file: &RootFile, tree: &Tree, branch: usize) -> Vec<BasketData> {
    let of = |basket: &dataset::tree::model::BasketRef| {
        let mut record = vec![0; basket.nbytes as usize];
        file.source().read_exact_at(basket.seek, &mut record).unwrap();
        let header = BasketHeader::parse(&mut Cursor::new(&record)).unwrap();
        let raw = &record[header.keylen()..];
        let objlen = header.key.objlen as usize;
        let mut payload = raw.to_vec();
        if !is_stored(raw.len(), objlen) {
            payload.clear();
            Decompressor::new().decompress(raw, objlen, &mut payload).unwrap();
        }
        header.open(payload).unwrap()
    };
    tree.branches[branch].baskets.iter().map(of).collect()
}

fn counts(file: &RootFile, tree: &Tree, branch: usize) -> Vec<u64> {
    let plan = ColumnPlan::new(tree, branch, file.infos());
    let mut values = decode(file, tree, &plan).unwrap();
    while let Some(list) = values.as_list_opt::<i64>() {
        values = list.values().clone();
    }
    match values.as_primitive_opt::<Int32Type>() {
        Some(values) => values.values().iter().map(|n| u64::try_from(*n).unwrap()).collect(),
        None => values.as_primitive::<UInt32Type>().values().iter().map(|n| (*n).into()).collect(),
    }
}

fn decode(file: &RootFile, tree: &Tree, plan: &ColumnPlan) -> Result<ArrayRef> {
    let mut builder = plan.start(0, 0);
    let counts: Vec<Vec<u64>> = plan.counters().iter().map(|c| counts(file, tree, *c)).collect();
    for basket in load(file, tree, plan.branch()) {
        builder.append(&basket, 0..basket.count as usize, &counts)?;
    }
    builder.finish()
}

/// All columns of a tree by name; those that hold bytes only, with the reason.
pub fn all(tree: &str) -> (BTreeMap<String, ArrayRef>, BTreeMap<String, String>) {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    let key = file.top().keys.iter().find(|key| key.name == tree).unwrap();
    let tree = read_tree(&file, key).unwrap();
    let (mut arrays, mut opaque) = (BTreeMap::new(), BTreeMap::new());
    for plan in columns(&tree, file.infos()) {
        let plan = load(&file, &tree, plan.branch()).iter().fold(plan, |plan, b| plan.learn(&tree, file.infos(), b));
        let name = plan.field().name().rsplit('/').next().unwrap().trim_start_matches("e.");
        let name = name.split('[').next().unwrap().to_owned();
        match (plan.opaque(), decode(&file, &tree, &plan)) {
            (None, Ok(array)) => {
                arrays.insert(name, array);
            }
            (why, decoded) => {
                let why = why.map_or_else(|| decoded.unwrap_err().to_string(), str::to_owned);
                opaque.insert(name, why);
            }
        }
    }
    (arrays, opaque)
}

/// Every column of a tree that can be decoded: its name, all entries, and some of them decoded on their own.
pub fn scattered(tree: &str, entries: &[u64]) -> Vec<(String, ArrayRef, ArrayRef)> {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    let key = file.top().keys.iter().find(|key| key.name == tree).unwrap();
    let tree = read_tree(&file, key).unwrap();
    let both = |plan: ColumnPlan| {
        let baskets = load(&file, &tree, plan.branch());
        let plan = baskets.iter().fold(plan, |plan, b| plan.learn(&tree, file.infos(), b));
        let whole = decode(&file, &tree, &plan).ok()?;
        let counts: Vec<Vec<u64>> = plan.counters().iter().map(|c| counts(&file, &tree, *c)).collect();
        let mut builder = plan.start(0, 0);
        // Branches have one basket here.
        baskets.iter().for_each(|basket| builder.append_scattered(basket, 0, entries, &counts).unwrap());
        Some((plan.field().name().clone(), whole, builder.finish().unwrap()))
    };
    columns(&tree, file.infos()).into_iter().filter_map(both).collect()
}
