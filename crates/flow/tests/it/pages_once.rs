//! Each page of an RNTuple is opened once, also where pieces and steps end within pages. The pages are counted by the page lists.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a test")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, Float64Array, LargeListArray, LargeStringArray, RecordBatch, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use arrow_select::concat::concat;
use dataset::ntuple::is_ntuple;
use dataset::ntuple::make::{NewField, fields_for};
use dataset::ntuple::table::NtupleTable;
use flow::Budget;
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Request, batches, drain, read};
use flow::write::{NtupleSpec, ParallelWriter, WriteOptions, WritePool};
use rootfile::RootFile;

use crate::support;

/// A number, a list of up to `most` numbers and a text for each entry.
fn batch(entries: usize, most: usize) -> RecordBatch {
    let x = Float64Array::from_iter_values((0..entries).map(|i| i as f64));
    let list = |i: usize| Some((0..i * 7 % (most + 1)).map(|k| Some((i * 10 + k) as f32)).collect::<Vec<_>>());
    let v = LargeListArray::from_iter_primitive::<Float32Type, _, _>((0..entries).map(list));
    let s = LargeStringArray::from_iter_values((0..entries).map(|i| "text".repeat(i % 4)));
    let columns = [("x", Arc::new(x) as ArrayRef), ("v", Arc::new(v)), ("s", Arc::new(s))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(path: &Path, layout: &str, batch: &RecordBatch) {
    let types = [("x", "double"), ("v", "std::vector<float>"), ("s", "std::string")];
    write_fields(path, layout, batch, types.iter().map(|(name, kind)| NewField::typed(name, kind)).collect());
}

fn write_fields(path: &Path, layout: &str, batch: &RecordBatch, fields: Vec<NewField>) {
    let pool = WritePool::new(Budget::new(256 << 20, 1));
    let options = WriteOptions { layout: layout.parse().unwrap(), ..WriteOptions::default() };
    let mut writer = ParallelWriter::create(path, &options, &pool).unwrap();
    let spec = NtupleSpec { path: "t".to_owned(), fields, ..NtupleSpec::default() };
    let table = writer.ntuple(&spec).unwrap();
    let mut context = writer.fill_context(table).unwrap();
    context.fill(batch).unwrap();
    context.finish().unwrap();
    writer.finish().unwrap();
}

/// Pages in the file, and their bytes before compression.
fn pages(path: &Path) -> (u64, u64) {
    let file = RootFile::open(path).unwrap();
    let walk = file.walk();
    let key = walk.directories[0].keys.iter().find(|key| is_ntuple(&key.class)).unwrap();
    let table = NtupleTable::open(&file, key).unwrap();
    let (mut count, mut bytes) = (0, 0);
    for (list, cluster) in table.clusters() {
        for column in 0..cluster.columns.len() {
            let encoding = table.schema.encoding(column).unwrap();
            for page in cluster.pages(list, column).unwrap() {
                count += 1;
                bytes += page.raw_len(&encoding).unwrap() as u64;
            }
        }
    }
    (count, bytes)
}

fn opened(path: &Path) -> Dataset {
    Dataset::open(&[Input { path: path.to_path_buf(), tree: None }]).unwrap()
}

fn request(dataset: &Dataset, threads: usize) -> Request<'static> {
    let columns = dataset.default_columns();
    Request { columns, budget: Budget::new(1 << 30, threads), ..support::all(dataset, 1 << 30) }
}

#[test]
fn in_steps_that_end_within_pages() {
    let folder = support::Folder::new();
    let batch = batch(5_000, 9);
    for codec in ["none", "zlib:1"] {
        let path = folder.path(&format!("{}.root", &codec[..4]));
        write(&path, &format!("cluster = 2000\nbasket = \"2kB\"\ncompression = \"{codec}\""), &batch);
        let (count, bytes) = pages(&path);
        assert!(count > 50);
        let dataset = opened(&path);
        for (threads, step) in [(1, 777), (1, 1), (1, 1999), (1, 5_000), (3, 777)] {
            let step = if step == 1 { BatchSize::Entries(13) } else { BatchSize::Entries(step) };
            let steps: Vec<_> = batches(&dataset, request(&dataset, threads), step).map(Result::unwrap).collect();
            for (column, expected) in batch.columns().iter().enumerate() {
                let parts: Vec<&dyn Array> = steps.iter().map(|step| step.batch.column(column).as_ref()).collect();
                let (found, name) = (concat(&parts).unwrap(), batch.schema().field(column).name().clone());
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name} on {threads} threads");
            }
            let spent = || steps.iter().flat_map(|step| &step.spent);
            let found = (spent().map(|spent| spent.baskets).sum(), spent().map(|spent| spent.uncompressed).sum());
            assert_eq!(found, (count, bytes), "{codec} in {step:?} on {threads} threads");
        }
    }
}

#[test]
fn in_pieces_that_end_within_pages() {
    let folder = support::Folder::new();
    let path = folder.path("large.root");
    // More than the 16 MiB of a piece in one cluster.
    let batch = batch(150_000, 70);
    write(&path, "cluster = 150000\nbasket = \"1MB\"\ncompression = \"none\"", &batch);
    let (count, bytes) = pages(&path);
    assert!(bytes > 20 << 20, "{bytes}");
    let dataset = opened(&path);
    let whole = read(&dataset, &request(&dataset, 1)).unwrap();
    for (found, expected) in whole.batch.columns().iter().zip(batch.columns()) {
        assert_eq!(found.len(), expected.len());
        assert!(format!("{found:?}") == format!("{expected:?}"));
    }
    let spent = |spent: &[flow::read::ReadCost]| {
        (spent.iter().map(|spent| spent.baskets).sum(), spent.iter().map(|spent| spent.uncompressed).sum())
    };
    assert_eq!(spent(&whole.spent), (count, bytes));
    let (entries, drained) = drain(&dataset, &request(&dataset, 1), &|_| ()).unwrap();
    assert_eq!((entries, spent(&drained)), (150_000, (count, bytes)));
}

/// Lists of records with members of several types, one of them a list.
fn records(entries: usize) -> RecordBatch {
    let ends = OffsetBuffer::<i64>::from_lengths((0..entries).map(|i| i * 7 % 5));
    let items = usize::try_from(ends.last().to_owned()).unwrap();
    let numbers =
        |k: usize| Arc::new(Float64Array::from_iter_values((0..items).map(|i| (i * 3 + k) as f64))) as ArrayRef;
    let list = |i: usize| Some((0..i % 3).map(|k| Some((i + k) as f32)).collect::<Vec<_>>());
    let lists = LargeListArray::from_iter_primitive::<Float32Type, _, _>((0..items).map(list));
    let members: Vec<(String, ArrayRef)> = (0..80).map(|k| (format!("m{k}"), numbers(k))).collect();
    let members = members.into_iter().chain([("hits".to_owned(), Arc::new(lists) as ArrayRef)]);
    let of = |(name, array): (String, ArrayRef)| (Arc::new(Field::new(name, array.data_type().clone(), false)), array);
    let records = StructArray::from(members.map(of).collect::<Vec<_>>());
    let item = Arc::new(Field::new("item", records.data_type().clone(), false));
    let tracks = LargeListArray::new(item, ends, Arc::new(records), None);
    let x = Float64Array::from_iter_values((0..entries).map(|i| i as f64));
    RecordBatch::try_from_iter([("tracks", Arc::new(tracks) as ArrayRef), ("x", Arc::new(x))]).unwrap()
}

#[test]
fn members_are_read_by_several_threads() {
    let folder = support::Folder::new();
    let path = folder.path("records.root");
    let batch = records(6_000);
    write_fields(
        &path,
        "cluster = 2000\nbasket = \"2kB\"\ncompression = \"zlib:1\"",
        &batch,
        fields_for(&batch.schema()).unwrap(),
    );
    let (_, bytes) = pages(&path);
    let dataset = opened(&path);
    // The ends of the lists are read with each part of the members.
    let again = 7 * 6_000 * 8;
    assert!(bytes > 16 * again, "it is not worth dividing");
    for threads in [1, 2, 5] {
        let found = read(&dataset, &request(&dataset, threads)).unwrap();
        for (found, expected) in found.batch.columns().iter().zip(batch.columns()) {
            assert!(format!("{found:?}") == format!("{expected:?}"), "{threads} threads");
            assert_eq!(found.len(), 6_000);
        }
        let told = AtomicU64::new(0);
        let progress = |entries: u64| {
            told.fetch_add(entries, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let one = Request { progress: &progress, ..request(&dataset, threads) };
        let (_, spent) = drain(&dataset, &one, &|_| ()).unwrap();
        assert_eq!(told.into_inner(), 12_000, "each entry once for both columns");
        let opened: u64 = spent.iter().map(|spent| spent.uncompressed).sum();
        let most = if threads == 1 { bytes } else { bytes + again };
        assert!((bytes..=most).contains(&opened), "{threads} threads opened {opened} of {bytes} bytes");
    }
}
