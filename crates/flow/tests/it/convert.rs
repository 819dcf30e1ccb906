//! Trees to Parquet and back: the same values on any number of threads; Parquet files of other writers; and broken files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::sample;
use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type, Int64Type, UInt8Type};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use dataset::glob::NameFilter;
use dataset::layout::{ClusterSize, Layout};
use flow::convert::*;
use flow::inputs::Input;
use flow::read::{Dataset, Request, read};
use flow::{Budget, Choice, Entries, unwatched};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rootfile::Result;

fn conversion(threads: usize) -> Conversion<'static> {
    Conversion {
        filter: NameFilter::default(),
        entries: Choice { seed: 1, ..Choice::default() },
        follow: rootfile::Follow::Paths,
        budget: Budget::new(256 << 20, threads),
        overwrite: true,
        progress: &unwatched,
    }
}

fn input(path: &Path) -> Input {
    Input { path: path.to_path_buf(), tree: None }
}

fn convert_to_parquet(inputs: &[Input], output: &Path, conversion: &Conversion<'_>) -> Result<Converted> {
    to_parquet(&ToParquet { inputs, output, codec: ParquetCodec::default(), row_group: None }, conversion)
}

fn convert_to_root(inputs: &[PathBuf], output: &Path, layout: &str, conversion: &Conversion<'_>) -> Result<Converted> {
    let layout = &Layout::from_toml(layout).unwrap();
    let inputs = &inputs.iter().map(|path| input(path)).collect::<Vec<_>>();
    from_parquet(&FromParquet { inputs, output, tree: None, layout, fill_null: None, build_index: None }, conversion)
}

fn values(input: &Input) -> RecordBatch {
    let dataset = Dataset::open(std::slice::from_ref(input)).unwrap();
    let request = Request {
        columns: (0..dataset.columns().len()).collect(),
        entries: 0..dataset.entries(),
        selection: None,
        budget: Budget::new(1 << 30, 1),
        progress: &unwatched,
    };
    read(&dataset, &request).unwrap().batch
}

/// Three files of 250, 300 and 350 entries.
fn samples(folder: &Path) -> Vec<Input> {
    let make = |i: u32| {
        let path = folder.join(format!("{i}.root"));
        sample::make(&path, 250 + 50 * u64::from(i), i * 1000).unwrap();
        input(&path)
    };
    (0..3).map(make).collect()
}

#[test]
fn a_round_trip_keeps_all_values() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = samples(folder.path());
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    let done = convert_to_parquet(&inputs, &parquet, &conversion(2)).unwrap();
    assert_eq!((done.entries, done.columns.len(), done.left_out.len()), (900, 3, 0));
    let before = Dataset::open(&inputs).unwrap();
    let clusters = before.clusters().to_vec();
    assert_eq!(done.row_groups, clusters.len() as u64 - 1);
    let done = convert_to_root(&[parquet], &root, "", &conversion(2)).unwrap();
    assert_eq!((done.entries, done.tree.as_str()), (900, before.path()));
    let after = Dataset::open(&[input(&root)]).unwrap();
    assert_eq!(after.clusters(), clusters);
    // The counter is a counter again.
    let leaf = after.tree().unwrap().leaves.iter().find(|leaf| leaf.named.name == "v").unwrap();
    assert!(leaf.leaf_count.is_some() && after.tree().unwrap().branches.len() == 3);
    let first = values(&inputs[0]);
    let all = values(&input(&root)).slice(0, first.num_rows());
    assert_eq!(first.columns(), all.columns());
}

#[test]
fn threads_do_not_change_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = samples(folder.path());
    let mut seen: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for threads in [1, 2, 8] {
        let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
        convert_to_parquet(&inputs, &parquet, &conversion(threads)).unwrap();
        // The content does not depend on the time, but dates do.
        File::options().append(true).open(&parquet).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        convert_to_root(std::slice::from_ref(&parquet), &root, "cluster = 100\nbasket = \"1kB\"", &conversion(threads))
            .unwrap();
        seen.push((std::fs::read(&parquet).unwrap(), std::fs::read(&root).unwrap()));
    }
    assert!(seen.iter().all(|files| *files == seen[0]));
}

#[test]
fn threads_do_not_change_the_bytes_where_memory_ends_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    let column: ArrayRef = Arc::new(Float64Array::from_iter_values((0..5_000_000).map(f64::from)));
    let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&parquet).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    File::options().append(true).open(&parquet).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let mut seen = Vec::new();
    for threads in [1, 2, 8] {
        let conversion = Conversion { budget: Budget::new(100 << 20, threads), ..conversion(threads) };
        convert_to_root(
            std::slice::from_ref(&parquet),
            &root,
            "cluster = 5000000\ncompression = \"none\"",
            &conversion,
        )
        .unwrap();
        assert!(
            Dataset::open(&[input(&root)]).unwrap().clusters().len() > 2,
            "one cluster is too large for the memory"
        );
        seen.push(std::fs::read(&root).unwrap());
    }
    assert!(seen.iter().all(|file| *file == seen[0]));
}

#[test]
fn entries_and_columns_are_selected() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = samples(folder.path());
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    let list = folder.path().join("picked.txt");
    std::fs::write(&list, "3\n4\n255\n256\n600\n899\n").unwrap();
    let filter = NameFilter::new(&["x"], &[]).unwrap();
    let some = Conversion {
        filter: filter.clone(),
        entries: Choice { entries: Entries::Listed(list), ..Choice::default() },
        ..conversion(2)
    };
    convert_to_parquet(&inputs, &folder.path().join("picked.parquet"), &some).unwrap();
    convert_to_parquet(&inputs, &parquet, &conversion(1)).unwrap();
    convert_to_root(&[parquet], &root, "", &some).unwrap();
    let batch = values(&input(&root));
    assert_eq!((batch.num_columns(), batch.num_rows()), (1, 6));
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(folder.path().join("picked.parquet")).unwrap());
    let read: Vec<RecordBatch> = reader.unwrap().build().unwrap().map(|batch| batch.unwrap()).collect();
    assert_eq!(read[0].columns(), batch.columns());
    let typo = Conversion { filter: NameFilter::new(&["xx"], &[]).unwrap(), ..conversion(1) };
    let error = convert_to_parquet(&inputs, &root, &typo).unwrap_err().to_string();
    assert!(error.contains("no column to convert"), "{error}");
}

#[test]
fn row_groups_have_the_requested_size() {
    let folder = tempfile::tempdir().unwrap();
    let (inputs, output) = (samples(folder.path()), folder.path().join("a.parquet"));
    for (row_group, expected) in [(ClusterSize::Entries(400), 3), (ClusterSize::Bytes(1 << 30), 1)] {
        let codec = "snappy".parse().unwrap();
        let job = ToParquet { inputs: &inputs, output: &output, codec, row_group: Some(row_group) };
        assert_eq!(to_parquet(&job, &conversion(1)).unwrap().row_groups, expected);
    }
}

fn field(name: &str, of: &DataType) -> Field {
    Field::new(name, of.clone(), true)
}

/// A table with the types of other writers.
fn foreign() -> RecordBatch {
    let list = |values: [&[i32]; 3]| {
        ListArray::from_iter_primitive::<Int32Type, _, _>(values.map(|v| Some(v.iter().map(|i| Some(*i)))))
    };
    let words: DictionaryArray<Int32Type> = ["b", "a", "b"].into_iter().collect();
    let record = |n: i32| {
        let part = |name: &str, array: ArrayRef| (Arc::new(field(name, array.data_type())), array);
        let inner = StructArray::from(vec![part("deep", Arc::new(Int32Array::from_iter_values(0..n)) as ArrayRef)]);
        let text = StringArray::from_iter_values((0..n).map(|i| format!("s{i}")));
        let pt = Float32Array::from_iter_values((0..n).map(|i| i as f32));
        StructArray::from(vec![part("pt", Arc::new(pt)), part("text", Arc::new(text)), part("in", Arc::new(inner))])
    };
    let of = |records: &StructArray| Arc::new(field("item", records.data_type()));
    let four = record(4);
    let ends = arrow_buffer::OffsetBuffer::from_lengths([1, 0, 3]);
    let records = ListArray::new(of(&four), ends, Arc::new(four), None);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for n in 0..3 {
        (0..n).for_each(|i| {
            map.keys().append_value(format!("k{i}"));
            map.values().append_value(i);
        });
        map.append(true).unwrap();
    }
    let cube =
        FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>((0..3).map(|i| Some([Some(i), Some(i + 1)])), 2);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("word", Arc::new(words)),
        ("half", Arc::new(Float16Array::from_iter_values([0.5, 1.5, 2.5].map(half)))),
        ("time", Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3]).with_timezone("UTC"))),
        ("day", Arc::new(Date32Array::from(vec![1, 2, 3]))),
        ("jets", Arc::new(list([&[1, 2], &[], &[3]]))),
        ("raw", Arc::new(BinaryArray::from(vec![b"ab".as_slice(), b"", b"c"]))),
        ("id", Arc::new(FixedSizeBinaryArray::try_from_iter([[1u8, 2], [3, 4], [5, 6]].into_iter()).unwrap())),
        ("cube", Arc::new(cube)),
        ("one", Arc::new(record(3))),
        ("all", Arc::new(records)),
        ("map", Arc::new(map.finish())),
        ("ok", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("a/b", Arc::new(Int64Array::from(vec![7, 8, 9]))),
    ];
    let fields: Vec<Field> = columns.iter().map(|(name, array)| field(name, array.data_type())).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn half(x: f32) -> <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native {
    <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native::from_f32(x)
}

fn write_parquet(batch: &RecordBatch, path: &Path) {
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn other_types_become_types_of_trees() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    write_parquet(&foreign(), &parquet);
    let done = convert_to_root(&[parquet.clone(), parquet], &root, "", &conversion(2)).unwrap();
    assert_eq!((done.entries, done.tree.as_str(), done.notes.len()), (6, "Events", 3));
    let batch = values(&input(&root));
    let batch = batch.slice(3, 3);
    let column = |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("{name} in {:?}", batch.schema()));
    let i32s = |name: &str| column(name).as_primitive::<Int32Type>().values().to_vec();
    let lists =
        |name: &str| -> Vec<ArrayRef> { column(name).as_list::<i64>().iter().map(|list| list.unwrap()).collect() };
    assert_eq!(column("word").as_string::<i64>().iter().flatten().collect::<Vec<_>>(), ["b", "a", "b"]);
    assert_eq!(column("half").as_primitive::<Float32Type>().values().as_ref(), [0.5, 1.5, 2.5]);
    assert_eq!(column("time").as_primitive::<Int64Type>().values().as_ref(), [1, 2, 3]);
    assert_eq!((i32s("day"), i32s("njets")), (vec![1, 2, 3], vec![2, 0, 1]));
    assert_eq!(lists("raw")[0].as_primitive::<UInt8Type>().values().as_ref(), b"ab");
    assert_eq!(column("id").as_fixed_size_list().value(1).as_primitive::<UInt8Type>().values().as_ref(), [3, 4]);
    assert_eq!(column("cube").as_fixed_size_list().value(2).as_primitive::<Int32Type>().values().as_ref(), [2, 3]);
    assert_eq!(i32s("one_in_deep"), [0, 1, 2]);
    assert_eq!((i32s("nall"), batch.column_by_name("nall_pt").is_none()), (vec![1, 0, 3], true));
    assert_eq!(lists("all_in_deep")[2].as_primitive::<Int32Type>().values().as_ref(), [1, 2, 3]);
    assert_eq!(lists("all_text")[2].as_string::<i64>().value(0), "s1");
    assert_eq!(lists("map_key")[2].as_string::<i64>().value(1), "k1");
    assert_eq!(lists("map_value")[2].as_primitive::<Int32Type>().values().as_ref(), [0, 1]);
    assert_eq!(column("ok").as_boolean().true_count(), 2);
    assert_eq!(column("a.b").as_primitive::<Int64Type>().value(2), 9);
}

#[test]
fn missing_values_are_refused_or_filled() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    let n = Int32Array::from(vec![Some(1), None]);
    let text = StringArray::from(vec![None, Some("x")]);
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([None, Some(vec![Some(4), None])]);
    let columns: [(&str, ArrayRef); 3] = [("n", Arc::new(n)), ("text", Arc::new(text)), ("list", Arc::new(list))];
    write_parquet(&RecordBatch::try_from_iter(columns).unwrap(), &parquet);
    let inputs = [parquet.clone()];
    let error = convert_to_root(&inputs, &root, "", &conversion(1)).unwrap_err().to_string();
    assert!(error.contains("column n") && error.contains("--fill-null") && error.contains("a.parquet"), "{error}");
    assert!(!root.exists());
    let fill = |number: f64| {
        let layout = &Layout::default();
        let job = FromParquet {
            inputs: &[input(&parquet)],
            output: &root,
            tree: Some("t"),
            layout,
            fill_null: Some(number),
            build_index: None,
        };
        from_parquet(&job, &conversion(1))
    };
    let error = fill(1e12).unwrap_err().to_string();
    assert!(error.contains("--fill-null 1000000000000 is no Int32"), "{error}");
    fill(-1.0).unwrap();
    let batch = values(&input(&root));
    assert_eq!(batch.column_by_name("n").unwrap().as_primitive::<Int32Type>().values().as_ref(), [1, -1]);
    assert_eq!(batch.column_by_name("text").unwrap().as_string::<i64>().value(0), "");
    let list = batch.column_by_name("list").unwrap().as_list::<i64>();
    assert_eq!(list.value_offsets(), [0, 0, 2]);
    assert_eq!(list.values().as_primitive::<Int32Type>().values().as_ref(), [4, -1]);
}

#[test]
fn types_that_trees_cannot_hold_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    let money = Decimal128Array::from(vec![1, 2]).with_precision_and_scale(10, 2).unwrap();
    let columns: [(&str, ArrayRef); 2] = [("money", Arc::new(money)), ("n", Arc::new(Int8Array::from(vec![1, 2])))];
    write_parquet(&RecordBatch::try_from_iter(columns).unwrap(), &parquet);
    let error = convert_to_root(std::slice::from_ref(&parquet), &root, "", &conversion(1)).unwrap_err().to_string();
    assert!(error.contains("column money") && error.contains("--drop"), "{error}");
    let without = Conversion { filter: NameFilter::new(&[], &["money"]).unwrap(), ..conversion(1) };
    assert_eq!(convert_to_root(std::slice::from_ref(&parquet), &root, "", &without).unwrap().columns.len(), 1);
    let other = folder.path().join("b.parquet");
    write_parquet(
        &RecordBatch::try_from_iter([("n", Arc::new(Int16Array::from(vec![1])) as ArrayRef)]).unwrap(),
        &other,
    );
    let error = convert_to_root(&[parquet, other], &root, "", &without).unwrap_err().to_string();
    assert!(error.contains("Int16") && error.contains("b.parquet"), "{error}");
}

#[test]
fn too_little_memory_is_refused_with_the_least_sufficient() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    write_parquet(&foreign(), &parquet);
    let with = |megabytes: u64| {
        let small = Conversion { budget: Budget::new(megabytes * 1_000_000, 2), ..conversion(1) };
        convert_to_root(std::slice::from_ref(&parquet), &root, "", &small)
    };
    let error = with(1).unwrap_err().to_string();
    let least = error.split("--memory ").nth(1).and_then(|rest| rest.split("MB").next()).unwrap().parse().unwrap();
    assert!(least < 100, "{error}");
    with(least).unwrap();
}

#[test]
fn broken_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, root) = (folder.path().join("a.parquet"), folder.path().join("a.root"));
    write_parquet(&foreign(), &parquet);
    let whole = std::fs::read(&parquet).unwrap();
    let broken = folder.path().join("broken.parquet");
    let attempt = |bytes: &[u8]| {
        std::fs::write(&broken, bytes).unwrap();
        let done = convert_to_root(std::slice::from_ref(&broken), &root, "", &conversion(1));
        let left = std::fs::read_dir(&folder).unwrap().filter_map(|file| file.ok()).map(|file| file.file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with('.')));
        done
    };
    for length in [0, 3, 11, whole.len() / 2, whole.len() - 1] {
        let error = attempt(&whole[..length]).unwrap_err().to_string();
        assert!(error.contains("broken.parquet"), "{error}");
    }
    let mut refused = 0;
    for at in (4..whole.len()).step_by(29) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        match attempt(&bytes) {
            Ok(_) => (),
            Err(error) => {
                refused += 1;
                assert!(error.path().is_some() || error.to_string().contains("column"), "{error}");
            }
        }
    }
    assert!(refused > 50, "{refused}");
}
