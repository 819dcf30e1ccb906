//! Clusters that cuts need not read: what an open table remembers of its columns, and the numbers of entries, decide them. The entries
//! that pass are those of a table that remembers nothing.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{ArrayRef, Float64Array, Int32Array, LargeListArray, RecordBatch};
use dataset::Entries;
use dataset::ntuple::make::NewField;
use flow::inputs::Input;
use flow::read::Dataset;
use flow::write::{NtupleSpec, ParallelWriter, WriteOptions, WritePool};
use flow::{Budget, Choice, Chosen, CutStep, unwatched};

use crate::support;

const ENTRIES: usize = 5_000;
const CLUSTERS: u64 = 10;

/// A number that grows, with NaN here and there, one that stays, and lists that grow.
fn write(path: &Path) {
    let x = (0..ENTRIES).map(|i| if i % 97 == 5 { f64::NAN } else { i as f64 });
    let n = (0..ENTRIES).map(|i| i32::try_from(i % 7).unwrap());
    let list =
        |add: usize| move |i: usize| Some((0..i % 4).map(move |k| Some((i + k + add) as f32)).collect::<Vec<_>>());
    let lists = |add: usize| LargeListArray::from_iter_primitive::<Float32Type, _, _>((0..ENTRIES).map(list(add)));
    let columns: [(&str, &str, ArrayRef); 4] = [
        ("x", "double", Arc::new(Float64Array::from_iter_values(x))),
        ("n", "std::int32_t", Arc::new(Int32Array::from_iter_values(n))),
        ("v", "std::vector<float>", Arc::new(lists(0))),
        ("w", "std::vector<float>", Arc::new(lists(1))),
    ];
    let fields = columns.iter().map(|(name, kind, _)| NewField::typed(name, kind)).collect();
    let batch = RecordBatch::try_from_iter(columns.map(|(name, _, array)| (name, array))).unwrap();
    let pool = WritePool::new(Budget::new(256 << 20, 1));
    let layout = "cluster = 500\nbasket = \"2kB\"\ncompression = \"none\"".parse().unwrap();
    let mut writer = ParallelWriter::create(path, &WriteOptions { layout, ..WriteOptions::default() }, &pool).unwrap();
    let table = writer.ntuple(&NtupleSpec { path: "t".to_owned(), fields, ..NtupleSpec::default() }).unwrap();
    let mut context = writer.fill_context(table).unwrap();
    context.fill(&batch).unwrap();
    context.finish().unwrap();
    writer.finish().unwrap();
}

fn opened(path: &Path) -> Dataset {
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: None }]).unwrap();
    assert_eq!(dataset.clusters().len() as u64, CLUSTERS + 1);
    dataset
}

fn choice(cuts: &[&str]) -> Choice {
    Choice { cuts: cuts.iter().map(|cut| (*cut).to_owned()).collect(), remembers: true, ..Choice::default() }
}

fn chosen(dataset: &Dataset, choice: &Choice) -> Chosen {
    choice.of(dataset, Budget::new(64 << 20, 2), &unwatched).unwrap()
}

fn entries(chosen: &Chosen) -> Vec<u64> {
    match &chosen.selection {
        Some(set) => set.all_runs().flatten().filter(|entry| chosen.range.contains(entry)).collect(),
        None => chosen.range.clone().collect(),
    }
}

/// Bytes that were read for the cuts, and clusters that were not read.
fn costs(chosen: &Chosen) -> (u64, u64) {
    let bytes = chosen.read.iter().map(|(_, cost)| cost.compressed).sum();
    (bytes, chosen.cuts.iter().map(|step| step.clusters_skipped).sum())
}

/// What cuts left, without the clusters that were skipped.
fn flow(chosen: &Chosen) -> Vec<CutStep> {
    chosen.cuts.iter().map(|step| CutStep { clusters_skipped: 0, ..step.clone() }).collect()
}

#[test]
fn a_later_cut_reads_less() {
    let folder = support::Folder::new();
    let path = folder.path("t.root");
    write(&path);
    let dataset = opened(&path);
    let (all, none) = costs(&chosen(&dataset, &choice(&["x > 2700"])));
    assert!(all >= 8 * ENTRIES as u64 && none == 0, "{all} bytes, {none} clusters");

    // Of the ten clusters only the last may have one.
    let (some, skipped) = costs(&chosen(&dataset, &choice(&["x > 4700"])));
    assert_eq!((some * CLUSTERS, skipped), (all, CLUSTERS - 1));
    assert_eq!(costs(&chosen(&dataset, &choice(&["x > 1e6"]))), (0, CLUSTERS));
    // Another column is read all the same, of the clusters that are left.
    let other = chosen(&dataset, &choice(&["x > 4700", "n == 3"]));
    assert_eq!(costs(&other).1, CLUSTERS - 1);
    assert_eq!(entries(&other), entries(&chosen(&opened(&path), &choice(&["x > 4700", "n == 3"]))));
    // Who does not ask for it remembers nothing.
    let forgetful = opened(&path);
    for _ in 0..2 {
        assert_eq!(costs(&chosen(&forgetful, &Choice { remembers: false, ..choice(&["x > 4700"]) })), (all, 0));
    }
}

#[test]
fn numbers_of_entries_decide_clusters() {
    let folder = support::Folder::new();
    let path = folder.path("t.root");
    write(&path);
    let found = chosen(&opened(&path), &choice(&["entry >= 1200 && entry < 3500", "n >= 0"]));
    assert_eq!(entries(&found).len(), 2300);
    // Where all numbers pass, the second cut reads.
    assert_eq!(costs(&found).1, 5);
    let numbers = chosen(&opened(&path), &choice(&["entry < 600"]));
    assert_eq!((entries(&numbers).len(), costs(&numbers)), (600, (0, CLUSTERS - 1)));
}

#[test]
fn what_passes_does_not_depend_on_what_is_remembered() {
    let folder = support::Folder::new();
    let path = folder.path("t.root");
    write(&path);
    let dataset = opened(&path);
    let cuts: [&[&str]; 12] = [
        &["x > 1000"],
        &["not x > 1000"],
        &["x != x"],
        &["n > 6"],
        &["n >= 0", "x < 700", "n == 2"],
        &["any(v > 4990)"],
        &["any(v > 4990 && w > 0)", "entry > 100"],
        &["sum(v) < 100 && len(v) > 1"],
        &["x in [3, 4711, 12.5]"],
        &["entry % 1000 == 5 || any(w < 20)"],
        &["n * 1000000 > 5999999"],
        &["isnull(v[3]) and x >= 0"],
    ];
    for cuts in cuts {
        for most in [None, Some(0), Some(3), Some(900)] {
            for named in [Entries::All, ":777,1500:4501".parse().unwrap()] {
                let choice = Choice { most, entries: named, ..choice(cuts) };
                let expected = chosen(&opened(&path), &Choice { remembers: false, ..choice.clone() });
                for _ in 0..2 {
                    let found = chosen(&dataset, &choice);
                    assert_eq!(entries(&found), entries(&expected), "{cuts:?} {most:?}");
                    assert!(most.is_some() || flow(&found) == flow(&expected), "{:?} {:?}", found.cuts, expected.cuts);
                }
            }
        }
    }
    // An error stays one.
    for _ in 0..2 {
        let error =
            choice(&["x > 1e9 && n * 9223372036854775807 > 5"]).of(&dataset, Budget::new(64 << 20, 2), &unwatched);
        assert!(error.unwrap_err().to_string().contains("64 bits"));
    }
}

#[test]
fn a_file_that_has_changed_is_read_again() {
    let folder = support::Folder::new();
    let path = folder.path("t.root");
    write(&path);
    let dataset = opened(&path);
    let all = costs(&chosen(&dataset, &choice(&["x > 1e6"])));
    assert_eq!(costs(&chosen(&dataset, &choice(&["x > 1e6"]))), (0, CLUSTERS));

    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();

    assert_eq!(costs(&chosen(&dataset, &choice(&["x > 1e6"]))), all);
}
