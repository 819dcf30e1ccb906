//! Columns that are added while a table is filled, by the public API of the writer: where they begin, zeroes before, and the same
//! bytes for any number of threads.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeListArray, LargeStringArray, RecordBatch};
use dataset::tree::make::{NewColumn, NewKind, NewLeaf};
use flow::Budget;
use flow::inputs::Input;
use flow::read::{Dataset, read};
use flow::recover::{RecoverOptions, recover};
use flow::write::{
    AutoSave, FillContext, Metrics, Order, ParallelWriter, TableId, TreeColumn, TreeSpec, WriteOptions, WritePool,
};
use rootfile::streamer::StreamerInfos;

use crate::support;

/// Entries of a task.
const TASK: usize = 250;
const TASKS: usize = 12;
/// Tasks from this one on have the columns of the second addition.
const SECOND: usize = 9;

fn leaf(name: &str, letter: char) -> TreeColumn {
    TreeColumn { name: name.to_owned(), kind: NewColumn::leaf(name, letter).kind }
}

/// A list of floating-point numbers with a counter.
fn list(name: &str, counter: &str) -> TreeColumn {
    let leaf = NewLeaf { name: name.to_owned(), letter: 'D', counter: Some(counter.to_owned()), ..NewLeaf::default() };
    TreeColumn { name: name.to_owned(), kind: NewKind::Leaves(vec![leaf]) }
}

fn spec() -> TreeSpec {
    let columns = vec![leaf("x", 'L'), leaf("ny", 'I'), list("y", "ny")];
    TreeSpec { path: "t".to_owned(), columns, ..TreeSpec::default() }
}

fn add(writer: &ParallelWriter, table: TableId, columns: &[TreeColumn]) -> rootfile::Result<()> {
    writer.add_columns(table, columns, &StreamerInfos::new())
}

fn numbers(entries: &[usize]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(entries.iter().map(|i| *i as i64)))
}

fn lists(entries: &[usize]) -> ArrayRef {
    let lists = entries.iter().map(|i| Some((0..i % 4).map(|k| Some((i + k) as f64)).collect::<Vec<_>>()));
    Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(lists))
}

fn texts(entries: &[usize]) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter_values(entries.iter().map(|i| "text".repeat(i % 4))))
}

/// How many additions entries have: none of some tasks, and of one task its second half.
fn additions(entry: usize) -> usize {
    match entry / TASK {
        3 if entry % TASK >= TASK / 2 => 1,
        0..=3 | 6 => 0,
        SECOND.. => 2,
        _ => 1,
    }
}

fn batch(entries: &[usize]) -> RecordBatch {
    let mut columns = vec![("x", numbers(entries)), ("y", lists(entries))];
    if additions(entries[0]) > 0 {
        columns.extend([("z", numbers(entries)), ("w", lists(entries))]);
    }
    if additions(entries[0]) > 1 {
        columns.extend([("s", texts(entries)), ("last", numbers(entries))]);
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

fn fill(mut context: FillContext, task: usize, portion: usize) {
    let entries: Vec<usize> = (task * TASK..(task + 1) * TASK).collect();
    for part in entries.chunk_by(|a, b| additions(*a) == additions(*b)).flat_map(|part| part.chunks(portion)) {
        context.fill(&batch(part)).unwrap();
    }
    context.finish().unwrap();
}

#[derive(Clone, Copy)]
struct Job<'a> {
    threads: usize,
    portion: usize,
    order: Order,
    layout: &'a str,
    memory: u64,
}

/// Some threads fill contexts of which most are begun before the columns are added.
fn write(path: &Path, job: &Job<'_>) -> Metrics {
    let layout = job.layout.parse().unwrap();
    let options = WriteOptions { layout, order: job.order, date: Some(1_000_000_000), ..WriteOptions::default() };
    let pool = WritePool::new(Budget::new(job.memory, 1));
    let mut writer = ParallelWriter::create(path, &options, &pool).unwrap();
    let table = writer.tree(&spec()).unwrap();
    let begin = |task: usize| (task, writer.fill_task(table, task as u64).unwrap());
    let contexts: Mutex<Vec<_>> = Mutex::new((0..8).map(begin).collect());
    add(&writer, table, &[leaf("z", 'L'), leaf("nw", 'I'), list("w", "nw")]).unwrap();
    contexts.lock().unwrap().push(begin(8));
    add(&writer, table, &[leaf("s", 'C'), leaf("last", 'L')]).unwrap();
    contexts.lock().unwrap().extend((SECOND..TASKS).map(begin));
    contexts.lock().unwrap().reverse();
    std::thread::scope(|scope| {
        for _ in 0..job.threads {
            scope.spawn(|| {
                loop {
                    let next = contexts.lock().unwrap().pop();
                    let Some((task, context)) = next else { return };
                    fill(context, task, job.portion);
                }
            });
        }
    });
    let metrics = writer.metrics();
    writer.finish().unwrap();
    metrics
}

fn opened(path: &Path) -> RecordBatch {
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: None }]).unwrap();
    read(&dataset, &support::all(&dataset, 100 << 20)).unwrap().batch
}

/// Checks all columns; returns the entries in the order of the file.
fn entries(batch: &RecordBatch) -> Vec<usize> {
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let x: Vec<usize> = column("x").as_primitive::<Int64Type>().values().iter().map(|x| *x as usize).collect();
    let later = |addition: usize, array: &dyn Fn(&[usize]) -> ArrayRef, zero: usize| {
        array(&x.iter().map(|&i| if additions(i) >= addition { i } else { zero }).collect::<Vec<_>>())
    };
    // The columns of no addition, and of the first and the second one.
    for (addition, all) in [(0, ["y"].as_slice()), (1, &["z", "w"]), (2, &["s", "last"])] {
        for name in all {
            let array: &dyn Fn(&[usize]) -> ArrayRef = match *name {
                "y" | "w" => &lists,
                "s" => &texts,
                _ => &numbers,
            };
            same_values(name, column(name), &later(addition, array, 0));
        }
    }
    x
}

/// Names of the items of lists may differ.
fn same_values(name: &str, found: &ArrayRef, expected: &ArrayRef) {
    assert_eq!(found.len(), expected.len(), "{name}");
    match found.as_list_opt::<i64>() {
        Some(found) => (0..found.len())
            .for_each(|i| assert_eq!(&found.value(i), &expected.as_list::<i64>().value(i), "{name}, entry {i}")),
        None => assert_eq!(found, expected, "{name}"),
    }
}

const LAYOUTS: [&str; 4] = [
    "cluster = 100\nbasket = \"500B\"",
    "cluster = 100\none-basket-per-cluster = true\ncompression = \"none\"",
    "cluster = \"2kB\"\nbasket-memory = \"20kB\"",
    "cluster = 100\nbasket = \"500B\"\ncontainer = \"rntuple\"\ncluster-group = 3\n[column.q]\nencoding = \"quantized:8:1:2\"",
];

fn folder() -> (support::Folder, PathBuf) {
    let folder = support::Folder::new();
    let path = folder.path("out.root");
    (folder, path)
}

#[test]
fn tasks_give_the_same_bytes_and_zeroes_before() {
    for layout in LAYOUTS {
        let bytes = |threads: usize, portion: usize| {
            let (_folder, path) = folder();
            write(&path, &Job { threads, portion, order: Order::Tasks, layout, memory: 64 << 20 });
            assert_eq!(entries(&opened(&path)), (0..TASK * TASKS).collect::<Vec<_>>());
            std::fs::read(path).unwrap()
        };
        let one = bytes(1, 300);
        for (threads, portion) in [(2, 300), (8, 7)] {
            assert!(bytes(threads, portion) == one, "{layout}: {threads} threads, {portion} entries");
        }
    }
}

#[test]
fn the_budget_holds() {
    let memory = 5 << 20;
    for layout in ["compression = \"none\"", "compression = \"none\"\ncontainer = \"rntuple\""] {
        let (_folder, path) = folder();
        let job = Job { threads: 4, portion: 50, order: Order::Arrival, layout, memory };
        let held = write(&path, &job).peak_held_bytes;
        assert!(held <= memory, "{held} of {memory} bytes");
        let mut found = entries(&opened(&path));
        found.sort_unstable();
        assert_eq!(found, (0..TASK * TASKS).collect::<Vec<_>>());
    }
}

#[test]
fn what_cannot_be_added_changes_nothing() {
    let (_folder, path) = folder();
    for layout in [LAYOUTS[0], LAYOUTS[3]] {
        let options = WriteOptions { layout: layout.parse().unwrap(), overwrite: true, ..WriteOptions::default() };
        let mut writer = ParallelWriter::create(&path, &options, &WritePool::default()).unwrap();
        let table = writer.tree(&spec()).unwrap();
        let mut context = writer.fill_context(table).unwrap();
        context.fill(&batch(&[1, 2])).unwrap();
        let refused = |columns: &[TreeColumn]| add(&writer, table, columns).unwrap_err().to_string();
        for (columns, why) in [
            (vec![leaf("new", 'L'), leaf("x", 'L')], "a column x already"),
            (vec![leaf("new", 'L'), leaf("new", 'D')], "a column new already"),
            (vec![list("w", "ny")], "its counter ny has entries already"),
            (vec![leaf("new", '?')], "not a type"),
        ] {
            let said = refused(&columns);
            assert!(said.contains(why) && said.contains("out.root"), "{said}");
        }
        if layout == LAYOUTS[3] {
            let said = refused(&[leaf("q", 'F')]);
            assert!(said.contains("field q, which is zero before"), "{said}");
        }
        let fields = [dataset::ntuple::make::NewField::typed("new", "float")];
        assert!(writer.add_fields(table, &fields, &StreamerInfos::new()).is_err());
        add(&writer, table, &[leaf("z", 'L'), leaf("nw", 'I'), list("w", "nw")]).unwrap();
        // One of the new columns without the other.
        let with_w = RecordBatch::try_from_iter([("x", numbers(&[3])), ("y", lists(&[3])), ("w", lists(&[3]))]);
        let said = context.fill(&with_w.unwrap()).unwrap_err().to_string();
        assert!(said.contains("column z") && context.is_usable(), "{said}");
        let late = [4 * TASK, 5 * TASK];
        context.fill(&batch(&late)).unwrap();
        assert!(context.fill(&batch(&[4])).unwrap_err().to_string().contains("missing"));
        assert!(context.is_usable());
        context.finish().unwrap();
        let mut other = writer.fill_context(table).unwrap();
        assert!(other.fill(&batch(&[4])).is_err() && other.is_usable());
        other.finish().unwrap();
        // Columns that no batch brings.
        add(&writer, table, &[leaf("s", 'C'), leaf("last", 'L')]).unwrap();
        writer.finish().unwrap();
        assert_eq!(entries(&opened(&path)), [1, 2, late[0], late[1]]);
    }
}

#[test]
fn saved_entries_can_be_recovered_at_any_time() {
    let folder = support::Folder::new();
    let [copy, back] = ["copy.root", "back.root"].map(|name| folder.path(name));
    let options = WriteOptions {
        layout: "cluster = 50\ncompression = \"none\"".parse().unwrap(),
        order: Order::Tasks,
        auto_save: Some(AutoSave::Entries(600)),
        ..WriteOptions::default()
    };
    let mut writer = ParallelWriter::create(&folder.path("out.root"), &options, &WritePool::default()).unwrap();
    let unfinished = std::fs::read_dir(copy.parent().unwrap()).unwrap().next().unwrap().unwrap().path();
    let table = writer.tree(&spec()).unwrap();
    let (mut most, mut columns) = (0, 0);
    for (done, task) in [0, 1, 2, 4, 5, 7, 9, 10].into_iter().enumerate() {
        match task {
            4 => add(&writer, table, &[leaf("z", 'L'), leaf("nw", 'I'), list("w", "nw")]).unwrap(),
            9 => add(&writer, table, &[leaf("s", 'C'), leaf("last", 'L')]).unwrap(),
            _ => {}
        }
        fill(writer.fill_context(table).unwrap(), task, 100);
        writer.sync().unwrap();
        std::fs::copy(&unfinished, &copy).unwrap();
        let options = RecoverOptions { budget: Budget::new(64 << 20, 1), overwrite: true };
        let Ok(recovery) = recover(&copy, None, &back, &options, &flow::unwatched) else {
            assert_eq!(most, 0, "after an AutoSave there is something");
            continue;
        };
        // All entries of all columns that clusters in the file have: whatever lies behind the last save is found.
        let found = opened(&back);
        assert_eq!(recovery.trees[0].entries as usize, (done + 1) * TASK);
        (most, columns) = (found.num_rows(), found.num_columns());
        let x = found.column_by_name("x").unwrap().as_primitive::<Int64Type>().values().to_vec();
        for (name, addition) in [("z", 1), ("last", 2)] {
            let expected = |x: &i64| if additions(*x as usize) >= addition { *x } else { 0 };
            match found.column_by_name(name) {
                Some(column) => {
                    let expected: Vec<i64> = x.iter().map(expected).collect();
                    assert_eq!(column.as_primitive::<Int64Type>().values().to_vec(), expected);
                }
                None => assert!(x.iter().all(|x| expected(x) == 0), "{name} is lost after task {task}"),
            }
        }
    }
    assert_eq!((most, columns), (8 * TASK, 8));
    drop(writer);
}

/// Defaults are encoded in portions, which end within baskets and within clusters.
#[test]
fn large_clusters_get_defaults_in_portions() {
    const BEFORE: usize = 50_000;
    const AFTER: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    for layout in [
        "cluster = 30_000\nbasket = \"1MB\"\ncompression = \"none\"",
        "cluster = 30_000\nbasket = \"3kB\"\ncompression = \"none\"",
        "cluster = 30_000\none-basket-per-cluster = true\ncompression = \"none\"",
        "cluster = 30_000\nbasket = \"1MB\"\ncompression = \"zstd:1\"",
    ] {
        let path = folder.path().join("out.root");
        let options = WriteOptions { layout: layout.parse().unwrap(), overwrite: true, ..WriteOptions::default() };
        let pool = WritePool::new(Budget::new(100 << 20, 1));
        let mut writer = ParallelWriter::create(&path, &options, &pool).unwrap();
        let table = writer.tree(&spec()).unwrap();
        let mut context = writer.fill_context(table).unwrap();
        let early: Vec<usize> = (0..BEFORE).collect();
        context.fill(&RecordBatch::try_from_iter([("x", numbers(&early)), ("y", lists(&early))]).unwrap()).unwrap();
        add(&writer, table, &[leaf("z", 'L'), leaf("nw", 'I'), list("w", "nw"), leaf("s", 'C')]).unwrap();
        let late: Vec<usize> = (BEFORE..BEFORE + AFTER).collect();
        let columns = [
            ("x", numbers(&late)),
            ("y", lists(&late)),
            ("z", numbers(&late)),
            ("w", lists(&late)),
            ("s", texts(&late)),
        ];
        context.fill(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        context.finish().unwrap();
        writer.finish().unwrap();

        let found = opened(&path);
        let all: Vec<usize> = (0..BEFORE + AFTER).collect();
        let late: Vec<usize> = all.iter().map(|&i| if i < BEFORE { 0 } else { i }).collect();
        let expected =
            [("x", numbers(&all)), ("y", lists(&all)), ("z", numbers(&late)), ("w", lists(&late)), ("s", texts(&late))];
        for (name, values) in &expected {
            same_values(name, found.column_by_name(name).unwrap(), values);
        }
    }
}
