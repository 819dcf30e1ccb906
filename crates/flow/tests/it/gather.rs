//! A growing merge has what a merge of the same parts has: of every small file of the corpus, taken several times, and of generated
//! trees, in any order of threads, with any budget.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset::layout::Layout;
use flow::gather::{GatherOptions, GatherPool, GrowingMerge};
use flow::write::{AutoSave, Order};
use flow::{Budget, Join, Options, PlanOptions, Summary, VerifyOptions, rewrite, unwatched, verify};

use crate::support::{self, Folder, sample};

/// Larger corpus files are left out.
const SMALL: u64 = 400_000;
const MEMORY: u64 = 2_000_000_000;

fn gather(parts: &[&[u8]], output: &Path, options: &GatherOptions, memory: u64) -> rootfile::Result<Summary> {
    let merge = GrowingMerge::begin(output, options, Arc::new(GatherPool::new(memory)))?;
    for part in parts {
        merge.add_part(0, part.to_vec())?;
    }
    let summary = merge.close()?;
    assert_eq!(merge.pool().in_use().parts, 0, "memory is not given back");
    Ok(summary)
}

fn merged(inputs: &[PathBuf], output: &Path, layout: &Layout, plan: PlanOptions) -> rootfile::Result<Summary> {
    let budget = Budget::new(MEMORY, 1);
    let options = Options { layout: layout.clone(), plan, budget, overwrite: true, ..Options::default() };
    rewrite(inputs, output, &options, &unwatched)
}

fn differences(inputs: &[PathBuf], output: &Path) -> Vec<String> {
    let options = VerifyOptions { budget: Budget::new(MEMORY, 1), ..VerifyOptions::default() };
    let verdict = verify(inputs, output, &options, &unwatched).unwrap();
    let differences = verdict.differences.iter().map(ToString::to_string);
    // Objects of which nothing is added up are kept once if they are equal; a merge keeps them as cycles.
    differences.filter(|what| !what.starts_with("note: there are")).collect()
}

fn samples(folder: &Folder, entries: &[u64]) -> (Vec<PathBuf>, Vec<Vec<u8>>) {
    let of = |(number, entries): (usize, &u64)| {
        let path = folder.path(&format!("part{number}.root"));
        sample::make(&path, *entries, u32::try_from(number).unwrap()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    };
    entries.iter().enumerate().map(of).unzip()
}

#[test]
fn every_corpus_file_is_gathered_as_it_is_merged() {
    let Some(files) = support::corpus(SMALL) else { return };
    let folder = Folder::new();
    let (mut alike, mut wrong) = (0, Vec::new());
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let (ours, theirs) = (folder.path("ours.root"), folder.path("theirs.root"));
        let expected = merged(&vec![path; 3], &theirs, &Layout::default(), PlanOptions::default());
        let options = GatherOptions { overwrite: true, ..GatherOptions::default() };
        match (gather(&[&bytes[..]; 3], &ours, &options, MEMORY), expected) {
            (Ok(_), Ok(_)) => {
                alike += 1;
                wrong.extend(differences(&[theirs], &ours).iter().take(2).map(|what| format!("{name}: {what}")));
            }
            (Err(_), Err(_)) => {}
            (Err(e), Ok(_)) => wrong.push(format!("{name}: refused: {e}")),
            (Ok(_), Err(e)) => wrong.push(format!("{name}: is gathered, though a merge says {e}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(alike > 20, "{alike} files");
}

#[test]
fn layouts_are_those_of_a_merge() {
    let folder = Folder::new();
    let (paths, parts) = samples(&folder, &[700, 0, 30, 256, 1000, 1]);
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    for text in [
        "",
        "compression = \"zstd:1\"",
        "cluster = \"70\"\nbasket = \"300B\"",
        "cluster = \"20kB\"",
        "basket-memory = \"2kB\"",
    ] {
        let layout = Layout::from_toml(text).unwrap();
        let output = folder.path("out.root");
        for memory in [1, 20_000, MEMORY] {
            let options = GatherOptions { layout: layout.clone(), overwrite: true, ..GatherOptions::default() };
            let summary = gather(&parts, &output, &options, memory).unwrap();
            assert_eq!(summary.tables[0].entries, 1987, "{text}");
            assert_eq!(differences(&paths, &output), Vec::<String>::new(), "{text}, {memory} bytes");
        }
    }
}

#[test]
fn the_order_of_tasks_gives_the_same_bytes_for_any_threads_and_memory() {
    let folder = Folder::new();
    let (paths, parts) = samples(&folder, &[300, 20, 0, 64, 500, 256, 257, 1]);
    let mut expected = None;
    for threads in [1, 2, 8] {
        for memory in [1, 30_000, MEMORY] {
            // The name of a file is in its bytes.
            let output = folder.path("out.root");
            let options = GatherOptions { order: Order::Tasks, overwrite: true, ..GatherOptions::default() };
            let merge = GrowingMerge::begin(&output, &options, Arc::new(GatherPool::new(memory))).unwrap();
            let next = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        loop {
                            let task = next.fetch_add(1, Ordering::Relaxed);
                            // Tasks may begin in another order.
                            let task = if memory == 1 { 39u64.wrapping_sub(task) } else { task };
                            let Some(part) = (task < 40).then(|| &parts[usize::try_from(task).unwrap() % 8]) else {
                                break;
                            };
                            merge.add_part(task, part.clone()).unwrap();
                            merge.end_task(task).unwrap();
                        }
                    });
                }
            });
            merge.close().unwrap();
            let inputs: Vec<PathBuf> = (0..40).map(|task| paths[task % 8].clone()).collect();
            if expected.is_none() {
                assert_eq!(differences(&inputs, &output), Vec::<String>::new());
            }
            let bytes = std::fs::read(&output).unwrap();
            assert!(*expected.get_or_insert(bytes.clone()) == bytes, "{threads} threads, {memory} bytes");
        }
    }
}

#[test]
fn parts_wait_while_there_is_no_room() {
    let folder = Folder::new();
    let (paths, parts) = samples(&folder, &[2000, 1500]);
    let largest = parts.iter().map(|part| part.len() as u64).max().unwrap();
    let pool = Arc::new(GatherPool::new(3 * largest));
    let outputs = [folder.path("a.root"), folder.path("b.root")];
    let merges =
        outputs.each_ref().map(|path| GrowingMerge::begin(path, &GatherOptions::default(), Arc::clone(&pool)).unwrap());
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (merges, parts) = (&merges, &parts);
            scope.spawn(move || {
                for k in 0..10 {
                    merges[(n + k) % 2].add_part(0, parts[n % 2].clone()).unwrap();
                }
            });
        }
    });
    for merge in &merges {
        merge.close().unwrap();
    }
    let used = pool.in_use();
    assert!(used.parts == 0 && used.peak <= 3 * largest, "{used:?}, {largest}");
    let entries = |path: &PathBuf| {
        let all = std::slice::from_ref(path);
        merged(all, &folder.path("c.root"), &Layout::default(), PlanOptions::default()).unwrap().tables[0].entries
    };
    assert_eq!(paths.len(), 2);
    assert_eq!(outputs.iter().map(entries).sum::<u64>(), 40 * (2000 + 1500));
}

#[test]
fn parts_of_other_schemas_are_joined_as_a_merge_joins_them_or_refused_at_once() {
    let folder = Folder::new();
    let (paths, parts) = samples(&folder, &[100, 200]);
    let slim = folder.path("slim.root");
    let filter = dataset::glob::NameFilter::new::<&str>(&[], &["v"]).unwrap();
    let content = flow::ContentOptions { filter, ..flow::ContentOptions::default() };
    let options = Options { content, budget: Budget::new(MEMORY, 1), ..Options::default() };
    rewrite(&paths[..1], &slim, &options, &unwatched).unwrap();
    let slim_bytes = std::fs::read(&slim).unwrap();
    let (all, given) = ([&parts[0][..], &slim_bytes, &parts[1]], [paths[0].clone(), slim, paths[1].clone()]);
    for schema in [Join::Common, Join::Fill] {
        let plan = PlanOptions { schema, ..PlanOptions::default() };
        let (ours, theirs) = (folder.path("ours.root"), folder.path("theirs.root"));
        gather(&all, &ours, &GatherOptions { plan, overwrite: true, ..GatherOptions::default() }, MEMORY).unwrap();
        merged(&given, &theirs, &Layout::default(), plan).unwrap();
        assert_eq!(differences(&[theirs], &ours), Vec::<String>::new());
    }
    let output = folder.path("none.root");
    let merge = GrowingMerge::begin(&output, &GatherOptions::default(), Arc::new(GatherPool::new(MEMORY))).unwrap();
    merge.add_part(0, parts[0].clone()).unwrap();
    let error = merge.add_part(0, slim_bytes).unwrap_err().to_string();
    assert!(error.contains("schema differs") && error.contains("part 2"), "{error}");
    assert!(merge.add_part(0, parts[1].clone()).unwrap_err().to_string().contains("given up"));
    assert!(merge.close().is_err());
    drop(merge);
    let left: Vec<_> = std::fs::read_dir(output.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("none")), "{left:?}");
}

#[test]
fn an_auto_saved_output_is_whole_before_its_end() {
    let folder = Folder::new();
    let (paths, parts) = samples(&folder, &[500, 500, 500]);
    let output = folder.path("out.root");
    let options = GatherOptions { auto_save: Some(AutoSave::Bytes(1)), ..GatherOptions::default() };
    let merge = GrowingMerge::begin(&output, &options, Arc::new(GatherPool::new(MEMORY))).unwrap();
    for (number, part) in parts.iter().enumerate() {
        merge.add_part(0, part.clone()).unwrap();
        let hidden: Vec<PathBuf> =
            std::fs::read_dir(output.parent().unwrap()).unwrap().map(|e| e.unwrap().path()).collect();
        let hidden =
            hidden.iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with(".out.root")).unwrap();
        let copy = folder.path(&format!("copy{number}.root"));
        std::fs::copy(hidden, &copy).unwrap();
        assert_eq!(differences(&paths[..=number], &copy), Vec::<String>::new());
    }
    merge.close().unwrap();
    assert_eq!(differences(&paths, &output), Vec::<String>::new());
}

#[test]
fn an_abandoned_output_leaves_nothing_and_an_empty_one_is_a_file() {
    let folder = Folder::new();
    let (_, parts) = samples(&folder, &[500]);
    let output = folder.path("out.root");
    let begin = || GrowingMerge::begin(&output, &GatherOptions::default(), Arc::new(GatherPool::new(MEMORY))).unwrap();
    let merge = begin();
    merge.add_part(0, parts[0].clone()).unwrap();
    merge.abort();
    assert!(merge.add_part(0, parts[0].clone()).is_err());
    assert_eq!(std::fs::read_dir(output.parent().unwrap()).unwrap().count(), 1);
    begin().close().unwrap();
    assert_eq!(rootfile::RootFile::open(&output).unwrap().top().keys.len(), 0);
    assert!(GrowingMerge::begin(&output, &GatherOptions::default(), Arc::new(GatherPool::new(MEMORY))).is_err());
}

#[test]
fn parts_in_the_memory_of_a_pool_are_counted_while_they_are_filled() {
    let folder = Folder::new();
    let (paths, parts) = samples(&folder, &[2000, 300]);
    let pool = Arc::new(GatherPool::new(3 << 20));
    let output = folder.path("out.root");
    let merge = GrowingMerge::begin(&output, &GatherOptions::default(), Arc::clone(&pool)).unwrap();
    let filled = |part: &[u8]| {
        let mut buffer = merge.buffer();
        for (number, piece) in part.chunks(1000).enumerate() {
            buffer.write_at(number * 1000, piece);
        }
        buffer
    };
    std::thread::scope(|scope| {
        for part in &parts {
            scope.spawn(|| (0..20).for_each(|_| merge.add(0, filled(part)).unwrap()));
        }
    });
    assert!(merge.try_add(0, filled(&parts[0])).unwrap().is_none());
    let used = pool.in_use();
    assert!((used.parts, used.outside) == (0, 0) && used.peak <= 4 << 20, "{used:?}");
    let summary = merge.close().unwrap();
    assert_eq!(summary.tables[0].entries, 20 * 2300 + 2000);
    drop(paths);
}
