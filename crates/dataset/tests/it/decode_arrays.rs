//! Arrays that say their class in their bytes, and pointers to one object, as real ROOT wrote them
//! (`root/decode_types.C`, class `Arrays`), split and not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::types::{all, scattered};

/// The columns of both trees, by member.
fn both() -> [BTreeMap<String, ArrayRef>; 2] {
    let (split, opaque) = all("arrays_split");
    assert_eq!(opaque, BTreeMap::new());
    let (whole, opaque) = all("arrays_whole");
    assert_eq!(opaque, BTreeMap::new());
    let whole = whole["e"].as_struct();
    let members = whole.fields().iter().zip(whole.columns());
    [split, members.map(|(field, column)| (field.name().clone(), column.clone())).collect()]
}

/// The member `id` or `x` of each object of an entry; none for those that are not there.
fn numbers(objects: &ArrayRef, member: &str) -> Vec<Option<i32>> {
    let values = objects.as_struct().column_by_name(member).unwrap().as_primitive::<Int32Type>().clone();
    (0..objects.len()).map(|i| objects.is_valid(i).then(|| values.value(i))).collect()
}

fn entry(column: &ArrayRef, k: i32) -> ArrayRef {
    column.as_list::<i64>().value(usize::try_from(k).unwrap())
}

#[test]
fn scattered_entries_equal_those_of_a_full_read() {
    for (name, whole, some) in ["arrays_split", "arrays_whole"].into_iter().flat_map(|tree| scattered(tree, &[0, 2, 3]))
    {
        let expected = take(&whole, &UInt64Array::from(vec![0, 2, 3]), None).unwrap();
        assert_eq!(&some, &expected, "{name}");
    }
}

#[test]
fn arrays_of_any_class_are_decoded() {
    let [split, whole] = both();
    for (name, columns) in [("split", &split), ("whole", &whole)] {
        for k in 0..12 {
            let of = |member: &str| numbers(&entry(&columns[member], k), "id");
            if name == "whole" {
                assert_eq!(of("hits"), (0..k % 3).map(|j| Some(k + j)).collect::<Vec<_>>(), "{name} {k}");
            }
            let gaps: Vec<_> =
                (0..if k % 4 > 2 { 3 } else { (k % 4).min(1) }).map(|j| (j % 2 == 0).then_some(k + j)).collect();
            assert_eq!(of("gaps"), gaps, "{name} {k}");
            let objs: Vec<_> = (0..(2 * (k % 3) - 1).max(0)).map(|j| (j % 2 == 0).then_some(k + j / 2)).collect();
            assert_eq!(of("objs"), objs, "{name} {k}");
            assert_eq!(of("list"), (0..k % 3).map(|j| Some(k - j)).collect::<Vec<_>>(), "{name} {k}");
            assert_eq!(entry(&columns["mixed"], k).len(), 2);
        }
        // Of several classes, and of none.
        let bytes = |column: &ArrayRef| column.as_list::<i64>().values().data_type().clone();
        assert_eq!((bytes(&columns["mixed"]), bytes(&columns["none"])), (DataType::LargeBinary, DataType::LargeBinary));
    }
    let hits = whole["hits"].as_list::<i64>().values().as_struct();
    let parts = ["id", "q", "name"].map(|part| hits.column_by_name(part).unwrap());
    for (part, column) in ["hits.id", "hits.q", "hits.name"].into_iter().zip(parts) {
        assert_eq!(split[part].as_list::<i64>().values(), column, "{part}");
    }
}

#[test]
fn nested_arrays_are_decoded() {
    let [split, whole] = both();
    for k in 0..12 {
        let nests = entry(&whole["nests"], k);
        assert_eq!(numbers(&nests, "id"), (0..k % 3).map(|j| Some(k + j)).collect::<Vec<_>>());
        for (j, nest) in (0..k % 3).zip(0..) {
            let inner = nests.as_struct().column_by_name("hits").unwrap().as_list::<i64>().value(nest);
            assert_eq!(numbers(&inner, "id"), (0..(k + j) % 3).map(|h| Some(k + j + h)).collect::<Vec<_>>());
            assert_eq!(&entry(&split["nests.hits"], k).as_list::<i64>().value(nest), &inner);
        }
    }
}

#[test]
fn pointers_to_one_object_give_equal_values() {
    let [split, whole] = both();
    for columns in [&split, &whole] {
        for k in 0..12 {
            let same = numbers(&entry(&columns["same"], k), "x");
            assert_eq!(same, [Some(k), Some(-k), None, Some(k)]);
        }
        let x = |member: &str| numbers(&columns[member], "x");
        assert_eq!(x("pa"), (0..12).map(Some).collect::<Vec<_>>());
        assert_eq!(x("pb"), (0..12).map(|k| Some(if k % 2 == 1 { k } else { -k })).collect::<Vec<_>>());
        let y = columns["pb"].as_struct().column_by_name("y").unwrap().as_primitive::<Float64Type>().clone();
        assert_eq!(y.values().to_vec(), (0..12).map(|k| f64::from(k * (k % 2)) / 2.0).collect::<Vec<_>>());
    }
}

#[test]
fn fixed_arrays_of_counted_arrays() {
    let [split, whole] = both();
    for columns in [&split, &whole] {
        for k in 0..12 {
            let of = |member: &str, h: usize| {
                let arrays = columns[member].as_fixed_size_list().value(usize::try_from(k).unwrap());
                numbers(&arrays.as_list::<i64>().value(h), "x")
            };
            for h in 0..2 {
                let place = usize::try_from(h).unwrap();
                assert_eq!(of("fixed", place), (0..k % 3).map(|j| Some(10 * k + h + j)).collect::<Vec<_>>());
                let pointed: Vec<_> = (0..k % 3).map(|j| Some(if j == 0 { -k } else { k })).collect();
                assert_eq!(of("fixedp", place), pointed);
            }
        }
    }
}
