//! Every tree of the corpus in other split levels and streamings, and back: columns that can be recoded have the same values,
//! and others keep their layout with a reason. Prints the number of columns of both kinds.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); prints a note and passes without it. Takes small files
//! only, unless `BASKETRY_FULL` is set.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::ArrayRef;
use dataset::assemble::logical_columns;
use dataset::layout::Layout;
use flow::inputs::Input;
use flow::read::{Dataset, read};
use flow::{Budget, Options, Summary, rewrite, unwatched};
use rootfile::RootFile;

use crate::support;

/// Larger files are left out.
const SMALL: u64 = 1_000_000;
/// For each step the number of compared top-level columns, and of recoded clusters of branches.
const COUNTS: [(usize, u64); 5] = [(206, 3821), (1002, 582), (929, 3314), (200, 227), (236, 269)];

/// Each step starts from the output of the step with the given number, or from the file itself.
const STEPS: [(&str, Option<usize>); 5] = [
    ("split-level = 99", None),
    ("split-level = 0", Some(0)),
    ("split-level = 1", None),
    ("streaming = \"member-wise\"", None),
    ("streaming = \"object-wise\"", Some(3)),
];

/// The values of a tree's logical columns by name, or the reason why they cannot be read.
fn values(path: &Path, tree: &str) -> rootfile::Result<BTreeMap<String, Result<ArrayRef, String>>> {
    let file = RootFile::open(path)?;
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: Some(tree.to_owned()) }])?;
    let request = support::all(&dataset, 2_000_000_000);
    let batch = read(&dataset, &request)?.batch;
    let mut found = BTreeMap::new();
    let plans: Vec<_> = dataset.columns().iter().filter_map(|column| column.branch().cloned()).collect();
    for whole in logical_columns(dataset.tree().unwrap(), file.infos(), &plans) {
        let place = |branch: &usize| plans.iter().position(|plan| plan.branch() == *branch);
        let arrays: Vec<ArrayRef> =
            whole.branches().iter().filter_map(place).map(|column| batch.column(column).clone()).collect();
        let array = match whole.opaque() {
            Some(why) => Err(why.to_owned()),
            None => whole.assemble(&arrays).map_err(|e| {
                format!(
                    "{e}: {:?}",
                    batch
                        .schema()
                        .fields()
                        .iter()
                        .filter_map(|f| f.metadata().get("opaque").cloned())
                        .take(2)
                        .collect::<Vec<_>>()
                )
            }),
        };
        found.insert(whole.field().name().trim_end_matches('.').to_owned(), array);
    }
    Ok(found)
}

#[derive(Default)]
struct Tally {
    counts: [(usize, u64); STEPS.len()],
    kept: BTreeMap<String, usize>,
    refused: Vec<String>,
    wrong: Vec<String>,
}

fn recoded(summary: &Summary) -> u64 {
    summary.tables.iter().map(|table| table.depths.recode).sum()
}

fn try_file(path: &Path, folder: &Path, tally: &Mutex<Tally>) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let note = |add: &mut dyn FnMut(&mut Tally)| add(&mut tally.lock().unwrap_or_else(PoisonError::into_inner));
    let budget = Budget::new(2_000_000_000, 1);
    let mut made: Vec<Option<PathBuf>> = Vec::new();
    for (i, (layout, from)) in STEPS.iter().enumerate() {
        let input = match from {
            Some(step) => made[*step].clone(),
            None => Some(path.to_path_buf()),
        };
        let output = folder.join(format!("{i}.{name}"));
        let options = Options { layout: Layout::from_toml(layout).unwrap(), budget, ..Options::default() };
        let Some(input) = input else {
            made.push(None);
            continue;
        };
        match rewrite(&[input], &output, &options, &unwatched) {
            Ok(summary) => {
                note(&mut |tally| {
                    tally.counts[i].1 += recoded(&summary);
                    let reasons = summary.notes.iter().filter_map(|n| n.split_once(" layout: "));
                    reasons.for_each(|(_, why)| *tally.kept.entry(why.to_owned()).or_default() += 1);
                });
                for table in summary.tables.iter().filter(|table| table.depths.recode > 0) {
                    match (values(path, &table.path), values(&output, &table.path)) {
                        (Ok(before), Ok(after)) => {
                            for (column, array) in
                                before.iter().filter_map(|(name, array)| Some((name, array.as_ref().ok()?)))
                            {
                                let now = after.get(column);
                                let same = now.is_some_and(|now| now.as_ref() == Ok(array));
                                note(&mut |tally| {
                                    tally.counts[i].0 += 1;
                                    if !same {
                                        let what = match now {
                                            Some(Ok(now)) if now.data_type() != array.data_type() => "another type",
                                            Some(Ok(_)) => "other values",
                                            Some(Err(why)) => why,
                                            None => "missing",
                                        };
                                        tally.wrong.push(format!("{name}, {layout}: {}/{column}: {what}", table.path));
                                    }
                                });
                            }
                        }
                        (Ok(_), Err(e)) => note(&mut |tally| tally.wrong.push(format!("{name}, {layout}: {e}"))),
                        (Err(_), _) => {}
                    }
                }
                made.push(Some(output));
            }
            Err(e) => {
                note(&mut |tally| tally.refused.push(format!("{name}, {layout}: {e}")));
                made.push(None);
            }
        }
    }
    made.into_iter().flatten().for_each(|path| std::fs::remove_file(path).unwrap());
}

#[test]
fn recoded_trees_have_the_same_values() {
    let Some(files) = support::corpus(SMALL) else { return };
    let folder = tempfile::tempdir().unwrap();
    let tally = Mutex::new(Tally::default());
    for path in &files {
        try_file(path, folder.path(), &tally);
    }
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((layout, _), (columns, clusters)) in STEPS.iter().zip(tally.counts) {
        println!("{layout}: {columns} columns compared, {clusters} clusters of branches recoded");
    }
    tally.kept.iter().for_each(|(why, n)| println!("kept {n}: {why}"));
    let refused: Vec<&String> = tally.refused.iter().filter(|why| why.contains("split level or streaming")).collect();
    println!("{} steps of {} files refused", tally.refused.len(), files.len());
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    if std::env::var_os("BASKETRY_FULL").is_none() {
        assert_eq!(tally.counts, COUNTS);
    }
}
