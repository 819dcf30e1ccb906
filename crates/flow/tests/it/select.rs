//! Rewrites of selected entries: the same values as a read of these entries, in any layout and on any number of threads. The
//! files are made here; small files of the corpus are used as well, if it exists (`BASKETRY_CORPUS`).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use flow::inputs::Input;
use flow::read::{Dataset, Request, read};
use flow::{Budget, ContentOptions, EntryFilter, Options, Summary, VerifyOptions, rewrite, unwatched, verify};
use proptest::prelude::*;

use crate::support::{self, Folder, sample};

/// Larger corpus files are left out.
const SMALL: u64 = 300_000;
/// The entries that are kept of corpus files.
const SOME: [&str; 3] = ["40%", ":2", "-3:"];

const LAYOUTS: [&str; 5] = [
    "",
    "compression = \"zstd:1\"",
    "cluster = \"70\"\nbasket = \"300B\"",
    "one-basket-per-cluster = true\ncluster = \"1kB\"",
    "basket-memory = \"2kB\"\ncompression = \"none\"",
];

fn filter(entries: &[&str], conditions: &[&str]) -> EntryFilter {
    let mut filter = EntryFilter::default();
    entries.iter().for_each(|text| filter.add(text).unwrap());
    filter.cuts = conditions.iter().map(|text| (*text).to_owned()).collect();
    filter
}

fn options(layout: &str, entries: EntryFilter) -> Options {
    Options {
        layout: Layout::from_toml(layout).unwrap(),
        content: ContentOptions { entries, ..ContentOptions::default() },
        budget: Budget::new(2_000_000_000, 1),
        overwrite: true,
        ..Options::default()
    }
}

fn open(paths: &[PathBuf], tree: Option<&str>) -> rootfile::Result<Dataset> {
    let input = |path: &PathBuf| Input { path: path.clone(), tree: tree.map(str::to_owned) };
    Dataset::open(&paths.iter().map(input).collect::<Vec<_>>())
}

fn values(dataset: &Dataset, selection: Option<EntrySet>) -> rootfile::Result<RecordBatch> {
    Ok(read(dataset, &Request { selection, ..support::all(dataset, 2_000_000_000) })?.batch)
}

impl Folder {
    /// Three files of 750 entries together, in clusters of 60.
    fn samples(&self) -> Vec<PathBuf> {
        let make = |i: u32| {
            let (whole, path) = (self.path("whole.root"), self.path(&format!("{i}.root")));
            sample::make(&whole, 100 + u64::from(i) * 150, i * 1000).unwrap();
            rewrite(
                &[whole],
                &path,
                &options("cluster = \"60\"\nbasket = \"200B\"", EntryFilter::default()),
                &unwatched,
            )
            .unwrap();
            path
        };
        (0..3).map(make).collect()
    }

    fn selected(&self, inputs: &[PathBuf], options: &Options) -> rootfile::Result<(PathBuf, Summary)> {
        let path = self.path("out.root");
        let summary = rewrite(inputs, &path, options, &unwatched)?;
        Ok((path, summary))
    }
}

fn refusal(folder: &Folder, inputs: &[PathBuf], entries: EntryFilter) -> String {
    folder.selected(inputs, &options("", entries)).unwrap_err().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_rewrite_keeps_the_entries_that_a_read_gives(
        ranges in prop::collection::vec((-800i64..800, 0i64..300), 0..5),
        scattered in prop::option::of(prop::collection::btree_set(0u64..760, 0..400)),
        flagged in any::<bool>(),
        layout in prop::sample::select(&LAYOUTS[..]),
        chop in any::<bool>(),
    ) {
        let folder = Folder::new();
        let inputs = folder.samples();
        let dataset = open(&inputs, None).unwrap();
        let mut wanted = vec![ranges.is_empty() && scattered.is_none(); 750];
        let mut texts = Vec::new();
        for (from, len) in &ranges {
            texts.push(format!("{from}:{}", from + len));
            let place = |n: i64| usize::try_from(if n < 0 { (n + 750).max(0) } else { n.min(750) }).unwrap();
            let (from, to) = (place(*from), place(from + len));
            if from < to {
                wanted[from..to].fill(true);
            }
        }
        if let Some(chosen) = &scattered {
            let list = folder.path("list.txt");
            std::fs::write(&list, chosen.iter().map(|n| format!("{n}\n")).collect::<String>()).unwrap();
            texts.push(list.to_str().unwrap().to_owned());
            chosen.iter().filter(|n| **n < 750).for_each(|n| wanted[usize::try_from(*n).unwrap()] = true);
        }
        if flagged {
            // The counter n is the entry's number in its file, modulo 8.
            let starts = [0, 100, 350];
            for (entry, wanted) in wanted.iter_mut().enumerate() {
                let start = starts.iter().rfind(|start| **start <= entry).unwrap();
                *wanted &= (entry - start) % 8 != 0;
            }
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let entries = filter(&texts, if flagged { &["n"] } else { &[] });
        let layout = if chop { format!("{layout}\nsplit-level = 99") } else { layout.to_owned() };
        let mut options = options(&layout, entries.clone());
        let (path, summary) = folder.selected(&inputs, &options).unwrap();
        let count = wanted.iter().filter(|w| **w).count() as u64;
        prop_assert_eq!((summary.tables[0].input_entries, summary.tables[0].entries), (750, count));
        let expected = values(&dataset, Some(EntrySet::mask(wanted))).unwrap();
        prop_assert_eq!(&values(&open(std::slice::from_ref(&path), None).unwrap(), None).unwrap(), &expected);
        let proof = VerifyOptions { entries, ..VerifyOptions::default() };
        let verdict = verify(&inputs, &path, &proof, &unwatched).unwrap();
        prop_assert!(verdict.equal, "{:?}", verdict.differences);
        let bytes = std::fs::read(&path).unwrap();
        options.budget = Budget::new(100_000_000, 3);
        prop_assert!(std::fs::read(folder.selected(&inputs, &options).unwrap().0).unwrap() == bytes, "threads");
    }
}

#[test]
fn whole_clusters_are_copied() {
    let folder = Folder::new();
    let input = &folder.samples()[2..];
    let depths = |entries| folder.selected(input, &options("", filter(&[entries], &[]))).unwrap().1.tables.remove(0);
    let copied = depths("0:60,120:240");
    assert_eq!((copied.clusters, copied.depths.copy, copied.depths.regroup), (3, 9, 0));
    // Small cut clusters are joined.
    let cut = depths("50:60,60:70,120:240");
    assert_eq!((cut.entries, cut.clusters, cut.depths.copy), (140, 3, 6));
}

#[test]
fn an_empty_selection_is_a_selection() {
    let folder = Folder::new();
    let inputs = folder.samples();
    for entries in ["800:", "5:5", ":-751"] {
        let (path, summary) = folder.selected(&inputs, &options("", filter(&[entries], &["n"]))).unwrap();
        assert_eq!((summary.tables[0].entries, summary.tables[0].clusters), (0, 0));
        let dataset = open(std::slice::from_ref(&path), None).unwrap();
        assert_eq!((dataset.entries(), dataset.columns().len()), (0, 3));
        // No entries of no entries.
        let (again, _) = {
            let from = folder.path("empty.root");
            std::fs::rename(path, &from).unwrap();
            folder.selected(&[from], &options("", filter(&["0:5,7:"], &["n"]))).unwrap()
        };
        assert_eq!(open(&[again], None).unwrap().entries(), 0);
    }
}

#[test]
fn impossible_selections_are_refused() {
    let folder = Folder::new();
    let inputs = folder.samples();
    let refused = |entries: &[&str], conditions: &[&str]| refusal(&folder, &inputs, filter(entries, conditions));
    assert!(refused(&[], &["v"]).contains("one truth value for each entry"), "{}", refused(&[], &["v"]));
    assert!(refused(&[], &["y"]).contains("t: --cut: no column y"), "{}", refused(&[], &["y"]));
    assert!(refused(&[], &["*"]).contains("a value is expected before *"), "{}", refused(&[], &["*"]));
    assert!(refused(&["u=1:2"], &[]).contains("--entries u=: no such tree; there are: t"));
    assert!(refused(&["no/such/list"], &[]).contains("no/such/list"));
    let little = Options { budget: Budget::new(100_000, 1), ..options("", filter(&[], &["n"])) };
    assert!(folder.selected(&inputs, &little).unwrap_err().to_string().contains("too small"));
}

#[test]
fn a_condition_column_may_be_dropped() {
    let folder = Folder::new();
    let inputs = folder.samples();
    let mut keep = options("", filter(&[], &["t/n"]));
    keep.content.filter = NameFilter::new(&["x"], &[]).unwrap();
    let (path, _) = folder.selected(&inputs, &keep).unwrap();
    let dataset = open(&[path], None).unwrap();
    assert_eq!((dataset.columns().len(), dataset.entries()), (1, 750 - 13 - 32 - 50));
}

/// Rewrites a file in a layout, all entries and some of them, and compares all trees. Returns the number of trees.
fn compare(path: &Path, folder: &Path, layout: &str) -> usize {
    let name = path.file_name().unwrap().to_string_lossy();
    let entries = filter(&SOME, &[]);
    let (whole, some) = (folder.join(format!("{name}.whole")), folder.join(format!("{name}.some")));
    let Ok(all) = rewrite(&[path.to_path_buf()], &whole, &options(layout, EntryFilter::default()), &unwatched) else {
        return 0;
    };
    let summary = rewrite(&[path.to_path_buf()], &some, &options(layout, entries.clone()), &unwatched)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut compared = 0;
    for (table, kept) in all.tables.iter().zip(&summary.tables) {
        assert_eq!(table.depths.recode > 0 && kept.entries > 0, kept.depths.recode > 0, "{name}: {}", table.path);
        let of = |path: &Path| open(&[path.to_path_buf()], Some(&table.path));
        let (Ok(before), Ok(after)) = (of(&whole), of(&some)) else { continue };
        let mut chosen = vec![false; usize::try_from(before.entries()).unwrap()];
        for text in SOME {
            let (range, scattered) = text.parse::<flow::Entries>().unwrap().choose(before.entries(), 1).unwrap();
            let entries: Vec<u64> =
                scattered.map_or_else(|| range.collect(), |scattered| scattered.all_runs().flatten().collect());
            entries.iter().for_each(|entry| chosen[usize::try_from(*entry).unwrap()] = true);
        }
        assert_eq!(kept.entries, chosen.iter().filter(|c| **c).count() as u64, "{name}");
        let expected = values(&before, Some(EntrySet::mask(chosen))).unwrap();
        let found = values(&after, None).unwrap();
        for (i, field) in expected.schema().fields().iter().enumerate() {
            // Class tags in bytes depend on their position. `verify` takes this into account.
            if *field.data_type() == DataType::LargeBinary {
                continue;
            }
            assert_eq!(found.column(i), expected.column(i), "{name}: {} {}", table.path, field.name());
            compared += 1;
        }
    }
    let proof = VerifyOptions { entries, ..VerifyOptions::default() };
    let verdict = verify(std::slice::from_ref(&whole), &some, &proof, &unwatched).unwrap();
    assert!(verdict.equal, "{name}: {:?}", verdict.differences);
    std::fs::remove_file(whole).unwrap();
    std::fs::remove_file(some).unwrap();
    compared
}

#[test]
fn entries_of_corpus_files() {
    let Some(files) = support::corpus(SMALL) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (next, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let layouts = ["", "split-level = 99\nstreaming = \"object-wise\""];
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let columns: usize = layouts.iter().map(|layout| compare(path, folder.path(), layout)).sum();
                    compared.fetch_add(columns, Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{compared:?} columns");
    assert!(compared.into_inner() > 1000);
}
