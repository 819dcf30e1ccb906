//! RNTuples through [`Dataset`]: whole, in steps, and selected entries give the values that reading field by field gives,
//! which `dataset`'s own tests compare with ROOT's and uproot's.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); passes with a message without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use arrow_array::{Array, ArrayRef, UInt64Array, new_empty_array};
use arrow_select::concat::concat;
use dataset::EntrySet;
use dataset::ntuple::decode::{FieldPlan, MOST_PARTS, fields};
use dataset::ntuple::model::Ntuple;
use dataset::ntuple::read::read_field;
use dataset::ntuple::{is_ntuple, read_ntuple};
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Request, batches, drain, read};
use rootfile::RootFile;

use crate::support;

/// The RNTuples of the corpus and of ROOT's validation suite that can be opened, with their paths in the files.
fn ntuples() -> Vec<(PathBuf, String)> {
    let corpus = support::corpus_folder();
    if !corpus.join("files").is_dir() {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
    }
    let folders = ["files", "rntuple-validation"].map(|folder| corpus.join(folder));
    let paths = folders.iter().filter(|folder| folder.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = paths.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "root"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let Ok(file) = RootFile::open(&path) else { continue };
        for directory in &file.walk().directories {
            let keys = directory.keys.iter().filter(|key| is_ntuple(&key.class) && read_ntuple(&file, key).is_ok());
            found.extend(keys.map(|key| (path.clone(), directory.path_of(&key.name))));
        }
    }
    found
}

fn opened(path: &Path, name: &str) -> Dataset {
    Dataset::open(&[Input { path: path.to_path_buf(), tree: Some(name.to_owned()) }]).unwrap()
}

fn opened_ntuple(file: &RootFile, name: &str) -> Ntuple {
    let walk = file.walk();
    let key = walk.directories.iter().find_map(|directory| {
        directory.keys.iter().find(|key| is_ntuple(&key.class) && directory.path_of(&key.name) == name)
    });
    read_ntuple(file, key.unwrap()).unwrap()
}

/// Each field at the top, read by itself.
fn expected(path: &Path, name: &str) -> Vec<ArrayRef> {
    let file = RootFile::open(path).unwrap();
    let ntuple = opened_ntuple(&file, name);
    let all = 0..ntuple.entries();
    let read = |plan| read_field(&**file.source(), &ntuple, plan, all.clone()).unwrap();
    fields(&ntuple.schema).iter().map(read).collect()
}

fn request(dataset: &Dataset, threads: usize) -> Request<'static> {
    let columns = dataset.default_columns();
    Request { columns, budget: flow::Budget::new(1 << 30, threads), ..support::all(dataset, 1 << 30) }
}

#[test]
fn only_fields_that_are_asked_for_are_planned() {
    for (path, name) in ntuples().into_iter().take(8) {
        let dataset = opened(&path, &name);
        let Some(&column) = dataset.default_columns().last() else { continue };
        assert_eq!(dataset.number_planned(), 0);
        read(&dataset, &Request { columns: vec![column], ..request(&dataset, 1) }).unwrap();
        assert_eq!(dataset.number_planned(), 1, "{}: {name}", path.display());
    }
}

#[test]
fn parts_of_fields_join_to_their_values() {
    for (path, name) in ntuples() {
        let file = RootFile::open(&path).unwrap();
        let ntuple = opened_ntuple(&file, &name);
        let read = |plan: &FieldPlan| read_field(&**file.source(), &ntuple, plan, 0..ntuple.entries()).unwrap();
        for plan in fields(&ntuple.schema) {
            let parts = plan.parts();
            assert!(parts.is_empty() || (2..=MOST_PARTS).contains(&parts.len()));
            if !parts.is_empty() {
                let parts: Vec<ArrayRef> = parts.iter().map(read).collect();
                assert_eq!(&plan.joined(&parts).unwrap(), &read(&plan), "{}: {}", path.display(), plan.field().name());
                assert!(plan.joined(&parts[1..]).is_err());
            }
        }
    }
}

#[test]
fn all_entries_are_those_of_each_field_by_itself() {
    for (path, name) in ntuples() {
        let dataset = opened(&path, &name);
        let fields = expected(&path, &name);
        for threads in [1, 3] {
            let batch = read(&dataset, &request(&dataset, threads)).unwrap().batch;
            assert_eq!(batch.num_columns(), fields.len(), "{}", path.display());
            for (column, field) in batch.columns().iter().zip(&fields) {
                assert_eq!(column, field, "{}", path.display());
            }
        }
        let (entries, _) = drain(&dataset, &request(&dataset, 2), &|_| ()).unwrap();
        assert_eq!(entries, dataset.entries());
    }
}

#[test]
fn steps_join_to_all_entries() {
    for (path, name) in ntuples() {
        let dataset = opened(&path, &name);
        let fields = expected(&path, &name);
        let step = (dataset.entries() / 7).max(1);
        let steps = batches(&dataset, request(&dataset, 2), BatchSize::Entries(step));
        let steps: Vec<_> = steps.map(|step| step.unwrap().batch).collect();
        for (column, field) in fields.iter().enumerate() {
            let parts: Vec<&dyn Array> = steps.iter().map(|step| step.column(column).as_ref()).collect();
            let whole = if parts.is_empty() { new_empty_array(field.data_type()) } else { concat(&parts).unwrap() };
            assert_eq!(&whole.to_data(), &field.to_data(), "{}", path.display());
        }
    }
}

#[test]
fn selected_entries_are_taken_from_all() {
    for (path, name) in ntuples() {
        let dataset = opened(&path, &name);
        let fields = expected(&path, &name);
        let picked: Vec<u64> = (0..dataset.entries()).filter(|entry| entry % 5 == 2 || entry % 11 < 2).collect();
        let selection = Some(EntrySet::sorted(picked.clone()).unwrap());
        let some = Request { selection, ..request(&dataset, 2) };
        let batch = read(&dataset, &some).unwrap().batch;
        let picked = UInt64Array::from(picked);
        for (column, field) in batch.columns().iter().zip(&fields) {
            let taken = arrow_select::take::take(field, &picked, None).unwrap();
            assert_eq!(column.len(), taken.len());
            assert_eq!(column.to_data(), taken.to_data(), "{}", path.display());
        }
    }
}

#[test]
fn files_with_the_same_fields_are_one_table() {
    for (path, name) in ntuples().into_iter().take(20) {
        let input = Input { path: path.clone(), tree: Some(name.clone()) };
        let dataset = Dataset::open(&[input.clone(), input]).unwrap();
        let fields = expected(&path, &name);
        let batch = read(&dataset, &request(&dataset, 2)).unwrap().batch;
        for (column, field) in batch.columns().iter().zip(&fields) {
            assert_eq!(column.to_data(), concat(&[field, field]).unwrap().to_data(), "{}", path.display());
        }
    }
}
