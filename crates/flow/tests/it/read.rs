//! Reading: any request in any batches on any number of threads gives the values of a full read.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::support::sample;
use arrow_array::types::{Float32Type, Float64Type, Int32Type};
use arrow_array::{RecordBatch, UInt64Array, cast::AsArray};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use dataset::EntrySet;
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, ReadCost, Request, batches, drain, read};
use flow::{Budget, unwatched};
use proptest::prelude::*;
use rootfile::ErrorKind;

use crate::support;

fn inputs(paths: &[PathBuf]) -> Vec<Input> {
    paths.iter().map(|path| Input { path: path.clone(), tree: None }).collect()
}

fn all(dataset: &Dataset) -> Request<'static> {
    support::all(dataset, 100 << 20)
}

fn samples(folder: &Path) -> Dataset {
    let paths: Vec<PathBuf> = (0..3).map(|i| folder.join(format!("{i}.root"))).collect();
    for (i, path) in (0u32..).zip(&paths) {
        sample::make(path, 100 + u64::from(i) * 150, i * 1000).unwrap();
    }
    Dataset::open(&inputs(&paths)).unwrap()
}

#[test]
fn values_are_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = samples(folder.path());
    assert_eq!(dataset.entries(), 100 + 250 + 400);
    let names: Vec<&str> = dataset.columns().iter().map(|c| c.field().name().as_str()).collect();
    assert_eq!(names, ["n", "v", "x"]);
    let batch = read(&dataset, &all(&dataset)).unwrap().batch;
    let n = batch.column(0).as_primitive::<Int32Type>();
    let v = batch.column(1).as_list::<i64>();
    let x = batch.column(2).as_primitive::<Float64Type>();
    for (row, (i, seed)) in [(100u32, 0u32), (250, 1000), (400, 2000)]
        .into_iter()
        .flat_map(|(count, seed)| (0..count).map(move |i| (i, seed)))
        .enumerate()
    {
        assert_eq!(n.value(row), i32::try_from(i % 8).unwrap());
        let items = v.value(row);
        let items = items.as_primitive::<Float32Type>();
        let written: Vec<f32> = (0..i % 8).map(|k| f32::from_bits(seed + k)).collect();
        assert_eq!(items.values().as_ref(), written);
        assert!((x.value(row) - f64::from(seed) - f64::from(i)).abs() < 1e-9);
    }
}

#[test]
fn only_columns_that_are_asked_for_are_planned() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = samples(folder.path());
    assert_eq!(dataset.column_of_each_node().into_iter().flatten().collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((dataset.number_of_columns(), dataset.number_planned()), (3, 0));
    for (column, planned) in [(2, 1), (2, 1), (1, 2)] {
        read(&dataset, &Request { columns: vec![column], ..all(&dataset) }).unwrap();
        assert_eq!(dataset.number_planned(), planned, "{column}");
    }
}

#[test]
fn costs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = samples(folder.path());
    let done = read(&dataset, &all(&dataset)).unwrap();
    for (i, spent) in done.spent.iter().enumerate() {
        let (stored, baskets) = dataset.stored(i, &(0..dataset.entries()));
        assert_eq!((spent.compressed, spent.baskets), (stored, baskets));
        assert!(spent.uncompressed > 0);
    }
}

#[test]
fn only_baskets_that_hold_wanted_entries_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = samples(folder.path());
    let selection = Some(EntrySet::sorted([3, 5, 349, 351]).unwrap());
    let done = read(&dataset, &Request { selection, ..all(&dataset) }).unwrap();
    assert_eq!(done.batch.num_rows(), 4);
    assert!(done.spent.iter().all(|spent| spent.baskets == 3), "{:?}", done.spent);
}

#[test]
fn bad_requests_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.root");
    sample::make(&path, 10, 0).unwrap();
    let open = |tree: &str| Dataset::open(&[Input { path: path.clone(), tree: Some(tree.to_owned()) }]);
    assert!(open("t").is_ok() && open("t;1").is_ok());
    let message = open("u").err().unwrap().to_string();
    assert!(message.contains("has no tree or RNTuple u; there are: t"), "{message}");
    let dataset = open("t").unwrap();
    let little = Request { budget: Budget::new(1000, 1), ..all(&dataset) };
    assert!(read(&dataset, &little).unwrap_err().to_string().contains("too small"));
    let ended = Request { progress: &|_| ControlFlow::Break(()), ..all(&dataset) };
    assert!(matches!(read(&dataset, &ended).unwrap_err().kind(), ErrorKind::Interrupted));
}

/// Entries of a full read.
fn expected(whole: &RecordBatch, entries: &[u64]) -> RecordBatch {
    take_record_batch(whole, &UInt64Array::from(entries.to_vec())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn no_choice_changes_a_value(
        from in 0u64..800,
        len in 0u64..800,
        chosen in proptest::option::of(prop_oneof![
            proptest::collection::btree_set(0u64..760, 0..60),
            proptest::collection::btree_set(0u64..760, 300..700),
        ]),
        threads in 1usize..4,
        step in 1u64..300,
        columns in proptest::sample::subsequence(vec![0usize, 1, 2], 1..=3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let dataset = samples(folder.path());
        let whole = read(&dataset, &all(&dataset)).unwrap().batch.project(&columns).unwrap();
        let end = (from + len).min(dataset.entries());
        let entries: Vec<u64> = match &chosen {
            Some(chosen) => chosen.iter().copied().filter(|e| (from..end).contains(e)).collect(),
            None => (from..end).collect(),
        };
        let selection = chosen.map(|c| EntrySet::sorted(c.into_iter().collect::<Vec<_>>()).unwrap());
        let budget = Budget::new(100 << 20, threads);
        let request = Request { columns, entries: from..from + len, selection, budget, progress: &unwatched };
        let expected = expected(&whole, &entries);
        let kept = read(&dataset, &request).unwrap();
        prop_assert_eq!(&kept.batch, &expected);
        let told = Mutex::new(ReadCost::default());
        let (count, dropped) = drain(&dataset, &request, &|spent| *told.lock().unwrap() += *spent).unwrap();
        prop_assert_eq!(count, entries.len() as u64);
        let work = |s: &ReadCost| (s.baskets, s.compressed, s.uncompressed);
        prop_assert_eq!(dropped.iter().map(work).collect::<Vec<_>>(), kept.spent.iter().map(work).collect::<Vec<_>>());
        let sum = dropped.iter().fold(ReadCost::default(), |mut sum, s| { sum += *s; sum });
        prop_assert_eq!(work(&told.into_inner().unwrap()), work(&sum));
        for step in [BatchSize::Entries(step), BatchSize::Bytes(step * 30), BatchSize::Cluster] {
            let parts: Vec<RecordBatch> =
                batches(&dataset, request.clone(), step).map(|part| part.unwrap().batch).collect();
            let joined = concat_batches(&Arc::clone(expected.schema_ref()), &parts).unwrap();
            prop_assert_eq!(&joined, &expected);
        }
    }
}
