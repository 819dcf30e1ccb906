//! Properties of the engine, against what the standard library gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::{Float64Type, Int16Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, UInt32Array};
use arrow_schema::DataType;
use proptest::prelude::*;
use rootfile::Result;

use super::duplicates::DuplicateFinder;
use super::key_type::{KeyPart, KeyType, Span};
use super::merged::Merged;
use super::row::{ROW, Row, first_place};
use super::{EntryOfKey, SortKey, Sorter};
use crate::execute::budget::Budget;

fn array<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(values))
}

fn parts(types: &[DataType]) -> Vec<KeyPart> {
    types.iter().enumerate().map(|(place, of)| KeyPart::new(&format!("c{place}"), of).unwrap()).collect()
}

/// The keys of all rows, which come in blocks.
fn all(mut merged: Merged) -> Vec<Row> {
    let mut found = Vec::new();
    merged
        .each_block(|rows| {
            found.extend_from_slice(rows);
            Ok(())
        })
        .unwrap();
    found
}

#[test]
fn one_file_beside_another_has_places_of_its_own() {
    let row = Row::new(u128::MAX - 1, first_place(3) + 7);
    assert_eq!((row.key(), row.file(), row.entry()), (u128::MAX - 1, 3, 7));
    assert_eq!(Row::of_bytes(&row.to_bytes()), row);
    assert_eq!((size_of::<Row>(), row.to_bytes().len()), (ROW, ROW));
}

#[test]
fn types_that_are_too_wide_fit_by_their_values() {
    let wide = parts(&[DataType::Int64, DataType::Int64, DataType::UInt64]);
    assert!(KeyType::of_types(&wide).is_none());
    let values = [vec![-5, 100], vec![1_000_000, -1_000_000]];
    let arrays = [
        array::<Int64Type>(values[0].clone()),
        array::<Int64Type>(values[1].clone()),
        array::<UInt64Type>(vec![0, u64::MAX]),
    ];
    let spans = KeyType::spans(&wide, &arrays).unwrap();
    let of = KeyType::of_values(&wide, &spans).unwrap();
    let keys = of.pack(&arrays, 2).unwrap();
    assert!(keys[0] < keys[1]);
    assert_eq!(of.unpack(keys.iter().copied()), arrays);
    assert_eq!(of.texts(keys[1]), ["100", "-1000000", u64::MAX.to_string().as_str()]);
    assert!(of.pack(&[array::<Int64Type>(vec![200]), arrays[1].slice(0, 1), arrays[2].slice(0, 1)], 1).is_err());
    assert_eq!(of.range_of(&["200", "0", "0"], &["200", "0", "0"]).unwrap(), None);
    let full = [Span { least: 0, most: u64::MAX }; 3];
    assert!(KeyType::of_values(&wide, &full).unwrap_err().to_string().contains("at most 128 bits"));
}

#[test]
fn what_is_missing_or_of_another_type_is_told() {
    let of = KeyType::of_types(&parts(&[DataType::UInt32])).unwrap();
    let missing: ArrayRef = Arc::new(UInt32Array::from(vec![Some(1), None]));
    assert!(of.pack(&[missing], 2).unwrap_err().to_string().contains("has no value"));
    assert_eq!(of.pack(&[array::<Int64Type>(vec![7])], 1).unwrap(), [7]);
    let negative = of.pack(&[array::<Int64Type>(vec![-7])], 1).unwrap_err().to_string();
    assert!(negative.contains("Int64 here and UInt32 in the key of all files"), "{negative}");
    assert!(KeyPart::new("name", &DataType::Utf8).is_none());
}

#[test]
fn parts_of_other_types_become_one_of_no_order() {
    use DataType::{Boolean, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let all = [Boolean, UInt8, UInt16, UInt32, UInt64, Int8, Int16, Int32, Int64, Float32, Float64];
    let of = |data_type: &DataType| KeyPart::new("x", data_type).unwrap();
    for (one, other, both) in [
        (&Boolean, &Int32, &Int32),
        (&UInt8, &Int8, &Int16),
        (&UInt32, &Int32, &Int64),
        (&UInt64, &Int8, &Int64),
        (&Float32, &Boolean, &Float32),
        (&Float32, &Int8, &Float64),
    ] {
        assert_eq!(of(one).joined(&of(other)), of(both), "{one} {other}");
    }
    for one in &all {
        for other in &all {
            let both = of(one).joined(&of(other));
            assert_eq!(both, of(other).joined(&of(one)));
            for third in &all {
                assert_eq!(both.joined(&of(third)), of(one).joined(&of(other).joined(&of(third))));
            }
        }
    }
}

#[test]
fn a_value_that_the_type_of_all_files_lacks_is_refused() {
    let float = KeyType::of_types(&parts(&[DataType::Float64])).unwrap();
    assert!(float.pack(&[array::<Int64Type>(vec![1 << 53])], 1).is_ok());
    let (most, odd) = (array::<UInt64Type>(vec![u64::MAX]), array::<Int64Type>(vec![(1 << 53) + 1]));
    for lost in [odd, most, array::<Int64Type>(vec![i64::MAX])] {
        let why = float.pack(&[lost], 1).unwrap_err().to_string();
        assert!(why.contains("c0 is") && why.contains("Float64"), "{why}");
    }
    let whole = KeyType::of_types(&parts(&[DataType::Int32])).unwrap();
    let two = whole.pack(&[array::<Int64Type>(vec![2])], 1).unwrap();
    assert_eq!(whole.pack(&[array::<Float64Type>(vec![2.0])], 1).unwrap(), two);
    assert!(whole.pack(&[array::<Float64Type>(vec![2.5])], 1).is_err());
}

#[test]
fn ranges_are_those_of_the_first_columns() {
    let of = KeyType::of_types(&parts(&[DataType::UInt32, DataType::UInt32, DataType::UInt64])).unwrap();
    let at = |run: u128, lumi: u128, event: u128| run << 96 | lumi << 64 | event;
    let found = of.range_of(&["1", "10"], &["1", "20"]).unwrap();
    assert_eq!(found, Some((at(1, 10, 0), at(1, 20, u128::from(u64::MAX)))));
    assert_eq!(of.range_of(&["1", "2", "3"], &["1", "2", "3"]).unwrap(), Some((at(1, 2, 3), at(1, 2, 3))));
    assert_eq!(of.range_of(&["1", "9"], &["1", "2"]).unwrap(), None);
    assert!(of.range_of(&["x"], &["x"]).unwrap_err().to_string().contains("no value of c0"));
    assert!(of.range_of(&["-1"], &["-1"]).is_err());
}

#[test]
fn a_key_descends_behind_a_minus() {
    let key: SortKey = "-run, event,- max(a, b)".parse().unwrap();
    assert_eq!(key.names().texts(), ["run", "event", "max(a, b)"]);
    assert_eq!(
        (key.to_string(), key.clone().reversed().to_string()),
        ("-run,event,-max(a, b)".into(), "run,-event,max(a, b)".into())
    );
    for wrong in ["-", "run,-run", "", "-,run"] {
        assert!(wrong.parse::<SortKey>().is_err(), "{wrong}");
    }
}

/// Both zeros are one value of a key, and so is all that is no number.
fn one_value(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

proptest! {
    #[test]
    fn sorted_keys_are_in_the_order_of_values(
        rows in prop::collection::vec((any::<bool>(), any::<i16>(), any::<f64>(), any::<u32>()), 1..40),
        descends in any::<[bool; 4]>()
    ) {
        let signs = descends.map(|descends| if descends { "-" } else { "" });
        let key: SortKey = format!("{}a,{}b,{}c,{}d", signs[0], signs[1], signs[2], signs[3]).parse().unwrap();
        let arrays = [
            Arc::new(rows.iter().map(|row| Some(row.0)).collect::<BooleanArray>()) as ArrayRef,
            array::<Int16Type>(rows.iter().map(|row| row.1).collect()),
            array::<Float64Type>(rows.iter().map(|row| row.2).collect()),
            array::<UInt32Type>(rows.iter().map(|row| row.3).collect()),
        ];
        let of = KeyType::of_types(&parts(&[DataType::Boolean, DataType::Int16, DataType::Float64, DataType::UInt32])).unwrap();

        let keys = of.pack(&key.ordered(&arrays), rows.len()).unwrap();

        let turned = |order: std::cmp::Ordering, place: usize| if descends[place] { order.reverse() } else { order };
        for (one, a) in rows.iter().zip(&keys) {
            for (other, b) in rows.iter().zip(&keys) {
                // What is no number is last in either direction.
                let floats = match (one.2.is_nan(), other.2.is_nan()) {
                    (false, false) => turned(one.2.partial_cmp(&other.2).unwrap(), 2),
                    (a, b) => a.cmp(&b),
                };
                let expected = turned(one.0.cmp(&other.0), 0)
                    .then(turned(one.1.cmp(&other.1), 1))
                    .then(floats)
                    .then(turned(one.3.cmp(&other.3), 3));
                prop_assert_eq!(a.cmp(b), expected);
            }
        }
        let texts = key.texts(&of, keys[0]);
        prop_assert_eq!(&texts[0], &rows[0].0.to_string());
        prop_assert_eq!(&texts[1], &rows[0].1.to_string());
        prop_assert_eq!(&texts[3], &rows[0].3.to_string());
    }

    #[test]
    fn keys_compare_as_values_and_come_back(
        rows in prop::collection::vec((any::<bool>(), any::<i16>(), any::<u32>(), any::<f64>()), 1..50)
    ) {
        let of = KeyType::of_types(&parts(&[DataType::Boolean, DataType::Int16, DataType::UInt32, DataType::Float64])).unwrap();
        let arrays = [
            Arc::new(rows.iter().map(|row| Some(row.0)).collect::<BooleanArray>()) as ArrayRef,
            array::<Int16Type>(rows.iter().map(|row| row.1).collect()),
            array::<UInt32Type>(rows.iter().map(|row| row.2).collect()),
            array::<Float64Type>(rows.iter().map(|row| row.3).collect()),
        ];

        let keys = of.pack(&arrays, rows.len()).unwrap();

        for (one, key) in rows.iter().zip(&keys) {
            for (other, than) in rows.iter().zip(&keys) {
                let values = (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2));
                prop_assert_eq!(key.cmp(than), values.then(one_value(one.3).total_cmp(&one_value(other.3))));
            }
        }
        let given = [
            arrays[0].clone(),
            arrays[1].clone(),
            arrays[2].clone(),
            array::<Float64Type>(rows.iter().map(|row| one_value(row.3)).collect()),
        ];
        let bits = |array: &ArrayRef| array.to_data().buffers().iter().map(|bytes| bytes.to_vec()).collect::<Vec<_>>();
        for (back, given) in of.unpack(keys.iter().copied()).iter().zip(&given) {
            prop_assert_eq!(bits(back), bits(given));
        }
        let texts = of.texts(keys[0]);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if !rows[0].3.is_nan() {
            prop_assert_eq!(of.range_of(&texts, &texts).unwrap(), Some((keys[0], keys[0])));
        }
    }

    #[test]
    fn rows_are_sorted_whatever_the_memory_and_the_threads(
        keys in prop::collection::vec(0u128..300, 0..20_000), memory in 1u64..800_000, threads in 1usize..4
    ) {
        let rows: Vec<Row> = keys.iter().enumerate().map(|(place, key)| Row::new(key << 60, place as u64)).collect();
        let sorter = Sorter::new(Budget::new(memory, threads), threads, None).unwrap();
        let share = rows.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            for rows in rows.chunks(share) {
                let sorter = &sorter;
                scope.spawn(move || -> Result<()> { sorter.filling().add(rows.iter().copied()) });
            }
        });

        let found = all(sorter.finish().unwrap());

        let mut expected = rows;
        expected.sort();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn duplicates_are_all_but_the_first(keys in prop::collection::vec(0u32..40, 0..200)) {
        let of = KeyType::of_types(&parts(&[DataType::UInt32])).unwrap();
        let mut rows: Vec<Row> =
            keys.iter().enumerate().map(|(place, key)| Row::new(u128::from(*key), place as u64)).collect();
        rows.sort();
        let place = |row: Row| EntryOfKey { entry: row.place(), ..EntryOfKey::default() };
        let mut finder = DuplicateFinder::new("t", &of, &place);

        let repeated: Vec<u64> = rows.iter().filter(|row| finder.take(**row)).map(|row| row.place()).collect();

        let mut places: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        keys.iter().enumerate().for_each(|(place, key)| places.entry(*key).or_default().push(place as u64));
        let expected: Vec<u64> = places.values().flat_map(|places| &places[1..]).copied().collect();
        let found = finder.finish();
        prop_assert_eq!(&repeated, &expected);
        prop_assert_eq!(found.duplicates, expected.len() as u64);
        prop_assert_eq!(found.repeated, places.values().filter(|places| places.len() > 1).count() as u64);
        for one in &found.listed {
            let key: u32 = one.key[0].parse().unwrap();
            prop_assert_eq!(one.first.entry, places[&key][0]);
        }
    }
}
