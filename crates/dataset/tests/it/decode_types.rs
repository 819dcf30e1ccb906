//! Every kind of member, as real ROOT wrote it (`root/decode_types.C`): in a split tree and in one that is not
//! split, which are to give the same values.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, LargeListArray, StructArray, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use arrow_select::take::take;

use crate::types::{all, scattered};

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
fn scattered_entries_equal_those_of_a_full_read() {
    let mut compared = 0;
    for tree in ["split", "whole"] {
        for entries in [&[0, 2, 3, 5][..], &[0, 4]] {
            for (name, whole, some) in scattered(tree, entries) {
                let expected = take(&whole, &UInt64Array::from(entries.to_vec()), None).unwrap();
                assert_eq!(&some, &expected, "{tree} {name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn split_and_unsplit_trees_give_equal_values() {
    let (split, opaque) = all("split");
    assert_eq!(opaque, BTreeMap::new());
    let (whole, opaque) = all("whole");
    assert_eq!(opaque, BTreeMap::new());
    let mut compared = 0;
    for (name, column) in whole["e"].as_struct().fields().iter().zip(whole["e"].as_struct().columns()) {
        match name.name().as_str() {
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
    assert_eq!(compared, 146);
}

#[test]
fn values_equal_those_that_root_wrote() {
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
