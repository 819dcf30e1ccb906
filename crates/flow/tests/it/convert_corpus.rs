//! Every tree of the corpus to Parquet and back: the converted columns have the same values. Prints the number of columns.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); passes with a message without it. Takes small
//! files only, unless `BASKETRY_FULL` is set.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::ArrayRef;
use arrow_cast::cast;
use arrow_schema::DataType;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use flow::convert::*;
use flow::inputs::Input;
use flow::read::{Dataset, read};
use flow::{Budget, Choice, unwatched};
use rootfile::{Result, RootFile};

use crate::support;

/// Larger files are left out.
const SMALL: u64 = 300_000;
/// Numbers of converted and compared columns, and of columns left out.
const COUNTS: (usize, usize) = (13559, 222);

/// The columns of a tree, by their path and, if it is unique, by the last name in the path.
fn values(input: &Input) -> Result<BTreeMap<String, ArrayRef>> {
    let dataset = Dataset::open(std::slice::from_ref(input))?;
    let request = support::all(&dataset, 2_000_000_000);
    let batch = read(&dataset, &request)?.batch;
    let mut found = BTreeMap::new();
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()).rev() {
        let path = field.name().as_str();
        let name = path.rsplit('/').next().unwrap_or(path);
        found.insert(name.split('[').next().unwrap_or(name).to_owned(), array.clone());
        found.insert(path.to_owned(), array.clone());
    }
    Ok(found)
}

/// Whether two arrays have the same values. A counter may change its integer type.
fn equal(before: &ArrayRef, after: &ArrayRef) -> bool {
    before == after || cast(after, before.data_type()).is_ok_and(|after| *before == after)
}

/// Whether a type has records, which become columns of their own.
fn has_records(of: &DataType) -> bool {
    match of {
        DataType::Struct(_) => true,
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => has_records(item.data_type()),
        _ => false,
    }
}

#[derive(Default)]
struct Tally {
    equal: usize,
    left_out: usize,
    wrong: Vec<String>,
}

fn convert(input: &Input, folder: &Path, tally: &mut Tally) -> Result<()> {
    let (parquet, root) = (folder.join("a.parquet"), folder.join("a.root"));
    let how = Conversion {
        filter: NameFilter::default(),
        entries: Choice { seed: 1, ..Choice::default() },
        follow: rootfile::Follow::Paths,
        budget: Budget::new(2_000_000_000, 2),
        overwrite: true,
        progress: &unwatched,
    };
    let inputs = std::slice::from_ref(input);
    let codec = "lz4".parse()?;
    let there = to_parquet(&ToParquet { inputs, output: &parquet, codec, row_group: None }, &how)?;
    tally.left_out += there.left_out.len();
    let what = |name: &str| format!("{}:{} {name}", input.path.display(), there.tree);
    let layout = &Layout::default();
    let job = FromParquet {
        inputs: &[Input { path: parquet, tree: None }],
        output: &root,
        tree: Some("t"),
        layout,
        fill_null: Some(-1.0),
        build_index: None,
    };
    if let Err(error) = from_parquet(&job, &how) {
        tally.wrong.push(what(&format!("does not come back: {error}")));
        return Ok(());
    }
    let before = values(input)?;
    let after = values(&Input { path: root, tree: None })?;
    for column in &there.columns {
        match (before.get(&column.name), after.get(&column.name.replace('/', ".").replace('[', "_").replace(']', ""))) {
            (Some(before), _) if before.data_type().is_nested() && has_records(before.data_type()) => (),
            (Some(before), Some(after)) if equal(before, after) => tally.equal += 1,
            (Some(before), Some(after)) => {
                tally.wrong.push(what(&format!("{}: {before:?} is {after:?}", column.name)));
            }
            _ => tally.wrong.push(what(&format!("{}: is lost", column.name))),
        }
    }
    Ok(())
}

#[test]
fn corpus_trees_come_back_with_the_same_values() {
    let Some(files) = support::corpus(SMALL) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::default();
    for path in files {
        let Ok(file) = RootFile::open(&path) else { continue };
        let walk = file.walk();
        for directory in &walk.directories {
            let trees =
                directory.keys.iter().filter(|key| matches!(key.class.as_str(), "TTree" | "TNtuple" | "TNtupleD"));
            for key in trees {
                let input = Input { path: path.clone(), tree: Some(directory.path_of(&key.name)) };
                // Other tests cover unreadable files.
                let _ = convert(&input, folder.path(), &mut tally);
            }
        }
    }
    println!("{} columns came back, {} were left out", tally.equal, tally.left_out);
    assert!(
        tally.wrong.is_empty(),
        "{} wrong:\n{}",
        tally.wrong.len(),
        tally.wrong[..tally.wrong.len().min(20)].join("\n")
    );
    if std::env::var_os("BASKETRY_FULL").is_none() {
        assert_eq!((tally.equal, tally.left_out), COUNTS);
    }
}
