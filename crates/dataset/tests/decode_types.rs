//! Every kind of member, as real ROOT wrote it (`root/decode_types.C`): in a split tree and in one that is not
//! split, which are to give the same values.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, LargeListArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
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
    let mut builder = plan.start(0);
    let counts: Vec<Vec<u64>> = plan.counters().iter().map(|c| counts(file, tree, *c)).collect();
    for basket in load(file, tree, plan.branch()) {
        builder.append(&basket, 0..basket.count as usize, &counts)?;
    }
    builder.finish()
}

/// All columns of a tree by name; those that hold bytes only, with the reason.
fn all(tree: &str) -> (BTreeMap<String, ArrayRef>, BTreeMap<String, String>) {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    let key = file.top().keys.iter().find(|key| key.name == tree).unwrap();
    let tree = read_tree(&file, key).unwrap();
    let (mut arrays, mut opaque) = (BTreeMap::new(), BTreeMap::new());
    for plan in columns(&tree, file.infos()) {
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

/// Lists with these ends.
fn listed(offsets: &OffsetBuffer<i64>, items: &ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new("item", items.data_type().clone(), false));
    Arc::new(LargeListArray::new(field, offsets.clone(), Arc::clone(items), None))
}

/// Holds a column of the tree that is not split against that of the split one, or its parts against several of
/// them. Gives the number of columns compared.
fn compare(name: &str, whole: &ArrayRef, split: &BTreeMap<String, ArrayRef>) -> usize {
    if let Some(records) = whole.as_struct_opt().filter(|_| !split.contains_key(name)) {
        let parts = records.fields().iter().zip(records.columns());
        return parts.map(|(field, column)| compare(&format!("{name}.{}", field.name()), column, split)).sum();
    }
    let other = split.get(name).unwrap_or_else(|| panic!("{name} is not in the split tree"));
    if other == whole {
        return 1;
    }
    // A collection that is split: its own branch counts, its members have branches of their own.
    let (Some(counts), Some(lists)) = (other.as_primitive_opt::<Int32Type>(), whole.as_list_opt::<i64>()) else {
        panic!("{name}: {whole:?} and split {other:?}");
    };
    let lengths: Vec<i32> = lists.offsets().windows(2).map(|w| i32::try_from(w[1] - w[0]).unwrap()).collect();
    assert_eq!(counts.values(), &lengths[..], "{name}");
    1 + members(name, lists.offsets(), lists.values().as_struct(), split)
}

fn members(name: &str, ends: &OffsetBuffer<i64>, items: &StructArray, split: &BTreeMap<String, ArrayRef>) -> usize {
    let parts = items.fields().iter().zip(items.columns());
    parts
        .map(|(field, column)| {
            let part = match field.name().as_str() {
                "key" => "first",
                "value" => "second",
                part => part,
            };
            let name = format!("{name}.{part}");
            match split.get(&name) {
                Some(other) => {
                    assert_eq!(other, &listed(ends, column), "{name}");
                    1
                }
                None => members(&name, ends, column.as_struct(), split),
            }
        })
        .sum()
}

#[test]
fn split_and_whole_are_alike() {
    let (split, opaque) = all("split");
    assert_eq!(opaque, BTreeMap::new());
    let (whole, opaque) = all("whole");
    assert_eq!(opaque, BTreeMap::new());
    let mut compared = 0;
    for (name, column) in whole["e"].as_struct().fields().iter().zip(whole["e"].as_struct().columns()) {
        match name.name().as_str() {
            // Which class a TClonesArray has is said by its bytes alone.
            "hits" => assert_eq!(column.data_type(), &DataType::LargeBinary),
            // ROOT 6.40 cannot split a vector of std::array: it says so, and writes no bytes.
            "vai" => assert_eq!(split["vai._M_elems"].as_list::<i64>().values().len(), 0),
            base @ ("fName" | "fTitle") => compared += compare(&format!("TNamed.{base}"), column, &split),
            name => compared += compare(name, column, &split),
        }
    }
    for name in ["vin", "vbare", "mis"] {
        compared += compare(name, &whole[name], &split);
    }
    for name in ["vvf", "str", "vb", "vvin"] {
        assert_eq!(&whole[name], &split[name], "{name}");
    }
    assert_eq!(compared, 142);
}

#[test]
fn values_are_those_written() {
    let (split, _) = all("split");
    let numbers = |name: &str| split[name].as_primitive::<Float64Type>().values().to_vec();
    let strings = |name: &str| split[name].as_string::<i64>().clone();
    let entries = |f: &dyn Fn(f64) -> f64| (0..12).map(|k| f(f64::from(k))).collect::<Vec<f64>>();
    assert_eq!(numbers("d"), entries(&|k| k / 8.0));
    assert_eq!(numbers("d32"), entries(&|k| k / 2.0));
    // A step is 100 / 2^12; ROOT rounds to the nearest.
    assert_eq!(numbers("d32r"), entries(&|k| (k * 3.0 * 40.96).round() / 40.96));
    assert_eq!(numbers("d32b"), entries(&|k| k * 1.5));
    assert!(numbers("d32p").iter().zip(entries(&|k| k * 0.25)).all(|(a, b)| (a - b).abs() < 1e-4));
    assert_eq!(strings("str").value(11), "x".repeat(330), "longer than a byte can say");
    assert_eq!(strings("TNamed.fName").value(7), "event7");
    let pointers = split["pbare"].as_struct();
    assert!((0..12).all(|k| pointers.is_valid(k) == (k % 2 == 1)));
    assert_eq!(pointers.column(0).as_primitive::<Int32Type>().value(7), 7);
    let maps = split["mis.second"].as_list::<i64>().value(9);
    assert_eq!(maps.as_string::<i64>().iter().map(Option::unwrap).collect::<Vec<_>>(), ["", "m", "mm", "mmm"]);
    let bits = split["bits"].as_fixed_size_list().value(7);
    let bits = bits.as_boolean().values().iter().enumerate().map(|(i, bit)| usize::from(bit) << i).sum::<usize>();
    assert_eq!(bits, 7 * 37);
    let hits = split["hits.name"].as_list::<i64>().value(7);
    assert_eq!(hits.as_string::<i64>().iter().map(Option::unwrap).collect::<Vec<_>>(), ["hit7", "hit8"]);
}
