//! Lists the contents of a file and their layout, as one [`Report`], with the faults of the layout.
//!
//! Reads the header, the directories, the tree records, and the headers of all baskets or of some; the metadata and page lists of
//! RNTuples ([`ntuple`]). Only a small sample of the data is decompressed, where another codec may be better for readers.
//! Unreadable parts are listed in the report and skipped.
//!
//! `diagnose` is a pure function of the report: `rules`, `baskets`, `codecs` and `pages` detect faults, `speeds` weighs them by their cost for a
//! reader, `remedy` writes the commands, and `messages` the sentences. Of RNTuples, `ntuple::pages` reads the page lists group by group, finds pages
//! with the same bytes, and keeps a bounded sample, evenly over the bytes.

mod decoding;
pub(crate) mod diagnose;
mod finding;
mod layout;
pub mod ntuple;
mod options;
mod probe;
pub mod report;
mod sample;
mod tree;
mod types;
pub mod values;

use std::collections::HashMap;

use dataset::glob::TreePattern;
use dataset::layout::Layout;
use dataset::ntuple::{is_ntuple, read_ntuple};
use dataset::tree::{is_tree_class, read_tree};
use rootfile::{Directory, Error, ErrorKind, Key, Result, RootFile, public_path};

pub(crate) use decoding::can_be_split;

pub use finding::{Cost, Fault, Finding, Pays, Price};
pub use options::Options;

use diagnose::{diagnose, ntuple_facts, read_time, worth_trying};
use ntuple::report::NtupleReport;
use report::{FileReport, ObjectReport, Report, SCHEMA, Sizes, Skipped, TreeReport};

/// Inspects an open file.
pub fn inspect(file: &RootFile, options: &Options) -> Result<Report> {
    let walk = file.walk();
    let skipped = walk.problems.iter().map(|e| Skipped {
        object: "(directory)".to_owned(),
        cycle: None,
        class: String::new(),
        reason: e.to_string(),
        unsupported: false,
    });
    let mut report = Report {
        schema: SCHEMA,
        file: file_report(file, walk.directories.len()),
        trees: Vec::new(),
        ntuples: Vec::new(),
        objects: Vec::new(),
        skipped: skipped.collect(),
        findings: Vec::new(),
    };
    for mismatch in file.audit(&walk).into_iter().filter(|mismatch| !mismatch.harmless) {
        let key = mismatch.key.and_then(|(d, k)| walk.directories.get(d)?.keys.get(k));
        report.skipped.push(Skipped {
            object: if mismatch.path.is_empty() { format!("({})", mismatch.object) } else { mismatch.path },
            cycle: key.map(|key| key.cycle),
            class: key.map_or_else(String::new, |key| key.class.clone()),
            reason: format!("at byte {}: {}", mismatch.offset, mismatch.contradiction),
            unsupported: false,
        });
    }
    for directory in &walk.directories {
        for key in directory.keys.iter().filter(|key| !rootfile::is_directory(&key.class)) {
            look_at(file, directory, key, options, &mut report);
        }
    }
    if let Some(pattern) = &options.tree
        && report.trees.is_empty()
        && report.ntuples.is_empty()
        && report.skipped.is_empty()
    {
        return Err(no_such_tree(file, pattern));
    }
    mark_newest(&mut report);
    report.file.trees = newest(file, &Options::default(), is_tree).len() as u64;
    report.file.ntuples = newest(file, &Options::default(), is_rntuple).len() as u64;
    report.findings = diagnose(&report);
    Ok(report)
}

/// The layout of a file's trees and RNTuples, newest cycles only, in the terms that `rewrite --layout` takes; and what could not
/// be recovered, a sentence each.
pub fn layout(file: &RootFile, options: &Options) -> Result<(Layout, Vec<String>)> {
    let mut recovered = layout::Recovered::default();
    let mut notes = Vec::new();
    let mut problem = None;
    let mut left_out = |e: Error, notes: &mut Vec<String>| {
        notes.push(format!("left out: {e}"));
        problem = Some(e);
    };
    for (path, key) in newest(file, options, is_tree) {
        match read_tree(file, &key) {
            Ok(tree) => recovered.add(&path, &tree, file.header().compress),
            Err(e) => left_out(e, &mut notes),
        }
    }
    for (path, key) in newest(file, options, is_rntuple) {
        let described = Options { list_baskets: false, ..options.clone() };
        let found =
            read_ntuple(file, &key).and_then(|ntuple| ntuple::report(file, &key, path.clone(), &ntuple, &described));
        match found {
            Ok((report, _)) => {
                notes.extend(recovered.add_ntuple(&report).into_iter().map(|unknown| format!("{path}: {unknown}")));
            }
            Err(e) => left_out(e, &mut notes),
        }
    }
    if recovered.is_empty() {
        match (problem, &options.tree) {
            (Some(problem), _) => return Err(problem),
            (None, Some(pattern)) => return Err(no_such_tree(file, pattern)),
            (None, None) => {}
        }
    }
    Ok((recovered.layout()?, notes))
}

fn is_tree(file: &RootFile, key: &Key) -> bool {
    is_tree_class(file, &key.class)
}

fn is_rntuple(_: &RootFile, key: &Key) -> bool {
    is_ntuple(&key.class)
}

/// The newest cycle of each requested object of a kind, with its path.
fn newest(file: &RootFile, options: &Options, of_kind: fn(&RootFile, &Key) -> bool) -> Vec<(String, Key)> {
    let mut found: Vec<(String, Key)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| of_kind(file, key)) {
            let path = directory.path_of(&key.name);
            if options.tree.as_ref().is_some_and(|pattern| !pattern.matches(&path)) {
                continue;
            }
            let known = places.get(&path).and_then(|place| found.get_mut(*place));
            match known {
                Some((_, known)) if known.cycle >= key.cycle => {}
                Some((_, known)) => *known = key.clone(),
                None => {
                    places.insert(path.clone(), found.len());
                    found.push((path, key.clone()));
                }
            }
        }
    }
    found
}

fn no_such_tree(file: &RootFile, pattern: &TreePattern) -> Error {
    let all = Options::default();
    let found = newest(file, &all, is_tree).into_iter().chain(newest(file, &all, is_rntuple));
    let names: Vec<String> = found.map(|(path, _)| path).collect();
    let has = if names.is_empty() { "none at all".to_owned() } else { names.join(", ") };
    Error::request(format!("no tree or RNTuple matches {:?}; the file has {has}", pattern.as_str())).file(file.name())
}

fn look_at(file: &RootFile, directory: &Directory, key: &Key, options: &Options, report: &mut Report) {
    let path = directory.path_of(&key.name);
    let wanted = options.tree.as_ref().is_none_or(|pattern| pattern.matches(&path));
    let setting = report.file.compression;
    let found = if is_tree(file, key) {
        wanted.then(|| tree(file, key, path.clone(), options, setting).map(Found::Tree))
    } else if is_rntuple(file, key) {
        wanted.then(|| ntuple(file, key, path.clone(), options).map(Found::Ntuple))
    } else {
        report.objects.push(ObjectReport {
            path,
            cycle: key.cycle,
            class: key.class.clone(),
            bytes: u64::from(key.nbytes),
            raw_bytes: u64::from(key.objlen),
        });
        return;
    };
    match found {
        None => {}
        Some(Ok(Found::Tree(tree))) => report.trees.push(tree),
        Some(Ok(Found::Ntuple(ntuple))) => report.ntuples.push(ntuple),
        Some(Err(e)) => report.skipped.push(Skipped {
            object: path,
            cycle: Some(key.cycle),
            class: key.class.clone(),
            reason: e.to_string(),
            unsupported: matches!(e.kind(), ErrorKind::Unsupported(_)),
        }),
    }
}

/// A table that was found.
enum Found {
    Tree(TreeReport),
    Ntuple(NtupleReport),
}

fn tree(file: &RootFile, key: &Key, path: String, options: &Options, setting: i32) -> Result<TreeReport> {
    let tree = read_tree(file, key)?;
    let mut found = tree::report(file, key, path, &tree, options);
    found.read_time = read_time(&found, setting);
    if worth_trying(&found, setting) {
        (found.trials, found.mixed) = sample::trials(file, &tree);
    }
    Ok(found)
}

fn ntuple(file: &RootFile, key: &Key, path: String, options: &Options) -> Result<NtupleReport> {
    let ntuple = read_ntuple(file, key)?;
    let (mut found, pages) = ntuple::report(file, key, path, &ntuple, options)?;
    let facts = ntuple_facts(&found);
    found.read_time = facts.read_time;
    // Each column has its own setting, so that of the file says nothing.
    if worth_trying(&facts, 0) {
        (found.trials, found.mixed) = ntuple::sample::trials(file, &ntuple, &found, &pages);
    }
    Ok(found)
}

fn mark_newest(report: &mut Report) {
    let mut newest: HashMap<String, i16> = HashMap::new();
    for tree in &report.trees {
        let known = newest.entry(tree.path.clone()).or_insert(tree.cycle);
        *known = (*known).max(tree.cycle);
    }
    for tree in &mut report.trees {
        tree.newest = newest.get(&tree.path) == Some(&tree.cycle);
    }
    newest.clear();
    for ntuple in &report.ntuples {
        let known = newest.entry(ntuple.path.clone()).or_insert(ntuple.cycle);
        *known = (*known).max(ntuple.cycle);
    }
    for ntuple in &mut report.ntuples {
        ntuple.newest = newest.get(&ntuple.path) == Some(&ntuple.cycle);
    }
    // An AutoSave leaves records of one tree, which share their first basket.
    let firsts: HashMap<String, Option<u64>> =
        report.newest().map(|tree| (tree.path.clone(), tree.first_basket)).collect();
    for tree in report.trees.iter_mut().filter(|tree| !tree.newest) {
        let own = tree.first_basket;
        tree.is_another = own.is_some() && firsts.get(&tree.path).is_some_and(|first| *first != own);
    }
}

fn file_report(file: &RootFile, directories: usize) -> FileReport {
    let header = file.header();
    let size = file.source().size();
    // The last segment begins behind the end of the file.
    let gaps = file.free_segments().unwrap_or_default();
    let gaps = || gaps.iter().filter(|gap| gap.last < size.min(header.end));
    FileReport {
        path: public_path(file.name()).display().to_string(),
        bytes: size,
        root_version: version_text(header.version),
        compression: header.compress,
        big: header.big,
        recovered: file.recovered(),
        directories: directories.saturating_sub(1) as u64,
        streamer_infos: file.infos().iter().count() as u64,
        free_bytes: gaps().map(|gap| gap.last - gap.first + 1).sum(),
        free_segments: gaps().count() as u64,
        trees: 0,
        ntuples: 0,
        infos: infos(file).unwrap_or_default(),
    }
}

/// The record of the streamer infos.
fn infos(file: &RootFile) -> Option<Sizes> {
    let key = file.key_at(file.header().seek_info).ok()?;
    Some(Sizes { bytes: u64::from(key.nbytes), raw_bytes: u64::from(key.objlen) })
}

/// `62804` as ROOT shows it: `6.28/04`.
fn version_text(version: i32) -> String {
    format!("{}.{:02}/{:02}", version / 10_000, version / 100 % 100, version % 100)
}
