//! The parallel writer by its public API: outputs are compared by bytes, or read back by value.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{ArrayRef, Float64Array, LargeListArray, RecordBatch};
use dataset::tree::make::{NewColumn, NewKind, NewLeaf};
use serde::Serialize;

use flow::Budget;
use flow::inputs::Input;
use flow::read::{Dataset, read};
use flow::recover::{RecoverOptions, recover};
use flow::write::*;

use crate::support;

/// A tree of two columns: a number, and a list with a counter.
fn spec() -> TreeSpec {
    let column = |column: NewColumn| TreeColumn { name: column.name, kind: column.kind };
    let counted = NewLeaf { name: "y".to_owned(), letter: 'D', counter: Some("ny".to_owned()), ..NewLeaf::default() };
    let columns = vec![
        column(NewColumn::leaf("x", 'D')),
        column(NewColumn::leaf("ny", 'I')),
        TreeColumn { name: "y".to_owned(), kind: NewKind::Leaves(vec![counted]) },
    ];
    TreeSpec { path: "t".to_owned(), title: "a tree".to_owned(), columns, ..TreeSpec::default() }
}

/// The entries of a task: x counts, and y has x modulo 5 values.
fn batch(from: usize, entries: usize) -> RecordBatch {
    let x = from..from + entries;
    let y = x.clone().map(|i| Some((0..i % 5).map(|k| Some((i * 10 + k) as f64)).collect::<Vec<_>>()));
    let y = LargeListArray::from_iter_primitive::<Float64Type, _, _>(y);
    let x = Float64Array::from_iter_values(x.map(|i| i as f64));
    RecordBatch::try_from_iter([("x", Arc::new(x) as ArrayRef), ("y", Arc::new(y) as ArrayRef)]).unwrap()
}

struct Job {
    threads: usize,
    order: Order,
    layout: &'static str,
    memory: u64,
    portion: usize,
}

impl Default for Job {
    fn default() -> Self {
        let layout = "cluster = 1000\nbasket = \"2kB\"";
        Self { threads: 1, order: Order::Tasks, layout, memory: 64 << 20, portion: 300 }
    }
}

/// Tasks of 2500 entries each, on some threads.
const TASK: usize = 2500;
const TASKS: usize = 12;

fn write(path: &Path, job: &Job) -> (Written, Metrics) {
    let layout = job.layout.parse().unwrap();
    let options = WriteOptions { layout, order: job.order, date: Some(1_000_000_000), ..WriteOptions::default() };
    let pool = WritePool::new(Budget::new(job.memory, 1));
    let mut writer = ParallelWriter::create(path, &options, &pool).unwrap();
    let tree = writer.tree(&spec()).unwrap();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..job.threads {
            scope.spawn(|| {
                loop {
                    let task = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if task >= TASKS {
                        return;
                    }
                    let mut context = writer.fill_task(tree, task as u64).unwrap();
                    for from in (0..TASK).step_by(job.portion) {
                        let n = job.portion.min(TASK - from);
                        context.fill(&batch(task * TASK + from, n)).unwrap();
                    }
                    context.finish().unwrap();
                }
            });
        }
    });
    let metrics = writer.metrics();
    (writer.finish().unwrap(), metrics)
}

/// x and y of all entries.
fn entries(path: &Path) -> Vec<(f64, Vec<f64>)> {
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: None }]).unwrap();
    let request = support::all(&dataset, 100 << 20);
    let batch = read(&dataset, &request).unwrap().batch;
    let x = batch.column_by_name("x").unwrap().as_primitive::<Float64Type>().values().to_vec();
    let y = batch.column_by_name("y").unwrap().as_list::<i64>().clone();
    let n = batch.column_by_name("ny").unwrap().as_primitive::<Int32Type>().clone();
    (0..x.len())
        .map(|i| {
            let list = y.value(i).as_primitive::<Float64Type>().values().to_vec();
            assert_eq!(n.value(i) as usize, list.len());
            (x[i], list)
        })
        .collect()
}

fn expected() -> Vec<(f64, Vec<f64>)> {
    (0..TASK * TASKS).map(|i| (i as f64, (0..i % 5).map(|k| (i * 10 + k) as f64).collect())).collect()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    (folder, path)
}

#[test]
fn tasks_give_the_same_bytes_with_any_threads_and_portions() {
    let (_folder, path) = folder();
    let bytes = |job: &Job| {
        let written = write(&path, job).0;
        assert_eq!(written.trees[0].clusters, 3 * TASKS as u64);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        bytes
    };
    let one = bytes(&Job::default());
    for (threads, portion) in [(2, 300), (8, 300), (3, 7), (1, TASK)] {
        assert!(bytes(&Job { threads, portion, ..Job::default() }) == one, "{threads} threads, {portion} entries");
    }
    write(&path, &Job::default());
    assert_eq!(entries(&path), expected());
}

#[test]
fn a_pool_with_threads_writes_the_bytes_of_one_thread() {
    let (_folder, path) = folder();
    let given = batch(0, 100_000);
    for layout in [
        "cluster = \"300kB\"\nbasket = \"8kB\"",
        "cluster = 40000\none-basket-per-cluster = true",
        "cluster = 30000\ncompression = \"none\"",
        "cluster = \"400kB\"\nbasket-memory = \"100kB\"",
        "container = \"rntuple\"\ncluster = \"300kB\"\nbasket = \"4kB\"",
        "container = \"rntuple\"\ncluster = 30000\ncompression = \"none\"",
    ] {
        let bytes = |threads: usize, portion: usize| {
            let layout = layout.parse().unwrap();
            let options = WriteOptions { layout, date: Some(1_000_000_000), ..WriteOptions::default() };
            let pool = WritePool::with_team(Budget::new(64 << 20, threads)).unwrap();
            let mut writer = ParallelWriter::create(&path, &options, &pool).unwrap();
            let tree = writer.tree(&spec()).unwrap();
            let mut context = writer.fill_context(tree).unwrap();
            for from in (0..given.num_rows()).step_by(portion) {
                context.fill(&given.slice(from, portion.min(given.num_rows() - from))).unwrap();
            }
            assert_eq!(context.watch().metrics().entries, 100_000);
            context.finish().unwrap();
            writer.finish().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            bytes
        };
        let one = bytes(1, 100_000);
        assert!(bytes(4, 100_000) == one && bytes(3, 30_001) == one, "{layout}");
    }
}

/// Writes tasks by `fill_tasks`, and returns the bytes of the file.
fn written_by_threads(path: &Path, layout: &str, tasks: u64, threads: usize) -> Vec<u8> {
    let layout = layout.parse().unwrap();
    let options = WriteOptions { layout, order: Order::Tasks, date: Some(1_000_000_000), ..WriteOptions::default() };
    let mut writer = ParallelWriter::create(path, &options, &WritePool::new(Budget::new(32 << 20, threads))).unwrap();
    let tree = writer.tree(&spec()).unwrap();
    fill_tasks(&[(&writer, tree)], tasks, threads, |task, contexts| {
        let first = task as usize * TASK;
        (0..TASK).step_by(300).try_for_each(|at| contexts[0].fill(&batch(first + at, 300.min(TASK - at))))
    })
    .unwrap();
    writer.finish().unwrap();
    let bytes = std::fs::read(path).unwrap();
    std::fs::remove_file(path).unwrap();
    bytes
}

#[test]
fn threads_that_help_others_change_no_byte() {
    let (_folder, path) = folder();
    for layout in [
        "basket = \"8kB\"\ncompression = \"zlib:1\"",
        "cluster = 1700\nbasket = \"8kB\"\ncompression = \"zstd:5\"",
        "cluster = \"20kB\"\ncompression = \"lz4:1\"",
        "one-basket-per-cluster = true\ncompression = \"zlib:1\"",
        "compression = \"none\"",
        "container = \"rntuple\"\nbasket = \"8kB\"",
        "container = \"rntuple\"\ncluster = \"30kB\"\nbasket = \"8kB\"\ncompression = \"zlib:1\"",
    ] {
        for tasks in [1, 2, 9] {
            let one = written_by_threads(&path, layout, tasks, 1);
            for threads in [2, 8] {
                let many = written_by_threads(&path, layout, tasks, threads);
                assert!(many == one, "{layout}: {tasks} tasks on {threads} threads");
            }
        }
    }
}

#[test]
fn a_thread_without_a_task_makes_baskets_and_pages_of_others() {
    let (_folder, path) = folder();
    for container in ["ttree", "rntuple"] {
        let layout =
            format!("container = \"{container}\"\nbasket = \"8kB\"\ncompression = \"zlib:9\"").parse().unwrap();
        let options = WriteOptions { layout, ..WriteOptions::default() };
        let mut writer = ParallelWriter::create(&path, &options, &WritePool::default()).unwrap();
        let tree = writer.tree(&spec()).unwrap();
        fill_tasks(&[(&writer, tree)], 1, 2, |_, contexts| {
            let (watch, started) = (contexts[0].watch(), std::time::Instant::now());
            loop {
                contexts[0].fill(&batch(0, 2000))?;
                // What is compressed while this thread sleeps, another thread compresses.
                let before = watch.metrics().compressing_ns;
                std::thread::sleep(std::time::Duration::from_millis(5));
                if watch.metrics().compressing_ns > before {
                    return Ok(());
                }
                assert!(started.elapsed().as_secs() < 60, "{container}: the other thread does nothing");
            }
        })
        .unwrap();
        writer.finish().unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn in_order_of_arrival_each_entry_is_written_once() {
    let (_folder, path) = folder();
    write(&path, &Job { threads: 4, order: Order::Arrival, ..Job::default() });
    let mut found = entries(&path);
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(found, expected());
}

#[test]
fn a_budget_of_little_more_than_one_cluster_is_kept() {
    let (_folder, path) = folder();
    let memory = 5 << 20;
    for order in [Order::Arrival, Order::Tasks] {
        let layout = "cluster = \"30MB\"\ncompression = \"none\"";
        let (_, metrics) = write(&path, &Job { threads: 8, order, layout, memory, ..Job::default() });
        assert!(metrics.peak_held_bytes <= memory, "{} of {memory} bytes", metrics.peak_held_bytes);
        assert_eq!(entries(&path).len(), TASK * TASKS);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_batch_that_does_not_fit_is_refused_as_a_whole() {
    let (_folder, path) = folder();
    let mut writer = ParallelWriter::create(&path, &WriteOptions::default(), &WritePool::default()).unwrap();
    let tree = writer.tree(&spec()).unwrap();
    let mut context = writer.fill_context(tree).unwrap();
    context.fill(&batch(0, 10)).unwrap();
    let error = context.fill(&batch(0, 10).project(&[0]).unwrap()).unwrap_err().to_string();
    assert!(error.contains("column y") || error.contains("column ny"), "{error}");
    assert!(context.is_usable());
    context.fill(&batch(10, 10)).unwrap();
    context.finish().unwrap();
    writer.finish().unwrap();
    assert_eq!(entries(&path), expected()[..20]);
}

#[test]
fn an_error_in_a_context_gives_the_output_up() {
    let (folder, path) = folder();
    let begin = || {
        let mut writer = ParallelWriter::create(&path, &WriteOptions::default(), &WritePool::default()).unwrap();
        let tree = writer.tree(&spec()).unwrap();
        let mut contexts: Vec<FillContext> = (0..2).map(|_| writer.fill_context(tree).unwrap()).collect();
        contexts[0].fill(&batch(0, 10)).unwrap();
        (writer, contexts)
    };
    let (writer, mut contexts) = begin();
    contexts.pop().unwrap().abandon("no more");
    assert!(!contexts[0].is_usable());
    assert!(contexts[0].fill(&batch(10, 10)).is_err());
    assert!(writer.finish().unwrap_err().to_string().contains("given up"));
    drop(contexts);
    let (writer, contexts) = begin();
    drop(contexts);
    assert!(writer.finish().unwrap_err().to_string().contains("dropped"));
    let (writer, contexts) = begin();
    let panicked = std::thread::spawn(move || {
        let _contexts = contexts;
        panic!("in a user's callback");
    });
    assert!(panicked.join().is_err() && writer.finish().is_err());
    let (writer, contexts) = begin();
    assert!(writer.finish().unwrap_err().to_string().contains("2 fill contexts"));
    drop(contexts);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_panic_of_a_task_is_an_error_and_leaves_nothing() {
    for threads in [1, 3] {
        let (folder, path) = folder();
        let options = WriteOptions { order: Order::Tasks, ..WriteOptions::default() };
        let mut writer = ParallelWriter::create(&path, &options, &WritePool::default()).unwrap();
        let tree = writer.tree(&spec()).unwrap();
        let filled = fill_tasks(&[(&writer, tree)], 20, threads, |number, contexts| {
            assert_ne!(number, 5, "in a user's callback");
            contexts.iter_mut().try_for_each(|context| context.fill(&batch(number as usize, 10)))
        });
        let message = filled.unwrap_err().to_string();
        assert!(message.contains("internal error in task 5 of the filling"), "{message}");
        assert!(writer.finish().unwrap_err().to_string().contains("given up"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn rows_are_entries() {
    #[derive(Serialize)]
    struct Entry {
        x: f64,
        ny: i32,
        y: Vec<f64>,
    }
    let (_folder, path) = folder();
    let mut writer = ParallelWriter::create(&path, &WriteOptions::default(), &WritePool::default()).unwrap();
    let tree = writer.tree(&spec()).unwrap();
    let mut rows = Rows::new(writer.fill_context(tree).unwrap()).unwrap();
    for (x, y) in expected() {
        rows.fill(&Entry { x, ny: y.len() as i32, y }).unwrap();
    }
    rows.finish().unwrap();
    writer.finish().unwrap();
    assert_eq!(entries(&path), expected());
}

#[test]
fn a_tree_of_one_record_stays_small() {
    let (_folder, path) = folder();
    let columns: Vec<TreeColumn> = (0..60)
        .map(|i| NewColumn::leaf(&format!("c{i}"), 'D'))
        .map(|column| TreeColumn { name: column.name, kind: column.kind })
        .collect();
    let spec = TreeSpec { path: "runs/summary".to_owned(), columns, ..TreeSpec::default() };
    let pool = WritePool::new(Budget::new(5 << 20, 1));
    let mut writer = ParallelWriter::create(&path, &WriteOptions::default(), &pool).unwrap();
    let tree = writer.tree(&spec).unwrap();
    let mut context = writer.fill_context(tree).unwrap();
    let names: Vec<String> = (0..60).map(|i| format!("c{i}")).collect();
    let one: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    context.fill(&RecordBatch::try_from_iter(names.iter().map(|name| (name, Arc::clone(&one)))).unwrap()).unwrap();
    assert!(context.memory() < 64 << 10, "{} bytes", context.memory());
    context.finish().unwrap();
    let bytes = writer.finish().unwrap().bytes;
    assert!(bytes < 40 << 10, "{bytes} bytes");
}

#[test]
fn with_one_basket_per_cluster_nothing_is_kept_between_clusters() {
    let (_folder, path) = folder();
    let layout = "cluster = 10000\none-basket-per-cluster = true\ncompression = \"zlib:1\"".parse().unwrap();
    let options = WriteOptions { layout, ..WriteOptions::default() };
    let mut writer = ParallelWriter::create(&path, &options, &WritePool::default()).unwrap();
    let tree = writer.tree(&spec()).unwrap();
    let mut context = writer.fill_context(tree).unwrap();
    // The largest basket, of lists with two numbers on average, is copied together with its offsets. These are there twice before:
    // as numbers, and as the bytes behind the basket.
    const BASKET: u64 = 10_000 * (2 * 8 + 4 + 2 * 4) + 100;
    let mut most = Vec::new();
    for cluster in 0..3 {
        for part in 0..10 {
            context.fill(&batch(cluster * 10_000 + part * 1000, 1000)).unwrap();
            if part == 8 {
                most.push(context.memory());
            }
        }
        assert!(context.memory() <= BASKET, "{} bytes", context.memory());
    }
    // Buffers grow by doubling in the first cluster, and are as large as needed in the others.
    let raw = 10_000 * (8 + 4) + BASKET;
    assert!(most[0] > raw && most[1..].iter().all(|bytes| *bytes <= raw + raw / 8 + BASKET), "{most:?}, of {raw}");
    context.finish().unwrap();
    writer.finish().unwrap();
}

#[test]
fn auto_saved_entries_can_be_recovered_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let layout = "cluster = 500\nbasket = \"2kB\"\ncompression = \"none\"".parse().unwrap();
    let auto_save = Some(AutoSave::Entries(60_000));
    let options = WriteOptions { layout, order: Order::Tasks, auto_save, ..WriteOptions::default() };
    let pool = WritePool::new(Budget::new(64 << 20, 1));
    let mut writer = ParallelWriter::create(&folder.path().join("out.root"), &options, &pool).unwrap();
    let unfinished = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let tree = writer.tree(&spec()).unwrap();
    let (copy, back) = (folder.path().join("copy.root"), folder.path().join("back.root"));
    let (mut saved, mut found, mut before) = (0, 0, 0);
    for task in 0..60 {
        let mut context = writer.fill_task(tree, task as u64).unwrap();
        context.fill(&batch(task * TASK, TASK)).unwrap();
        context.finish().unwrap();
        std::fs::copy(&unfinished, &copy).unwrap();
        let recover = |like| {
            let options = RecoverOptions { budget: Budget::new(64 << 20, 1), overwrite: true };
            recover(&copy, like, &back, &options, &flow::unwatched)
        };
        let Ok(recovery) = recover(None) else {
            assert_eq!(saved, 0, "after an AutoSave there is something");
            continue;
        };
        let tree = &recovery.trees[0];
        assert!(tree.entries as usize >= before, "what was there once stays");
        before = tree.entries as usize;
        saved = tree.saved_entries.unwrap();
        found += tree.baskets_found;
        let there = entries(&back);
        assert_eq!(there.len(), before);
        assert!(there.iter().enumerate().all(|(i, (x, y))| *x == i as f64 && y.len() == i % 5));
    }
    assert!(saved >= 120_000, "{saved}");
    assert!(found > 0, "some baskets were written after an AutoSave");
}
