//! Lists the contents of a file and their layout, as one [`Report`], with the faults of the layout.
//!
//! Reads the header, the directories, the tree records, and the headers of all baskets or of some. Only a small sample of
//! the data is decompressed, where another codec may be better for readers. Unreadable parts are listed in the report and
//! skipped.

mod decoding;
pub(crate) mod diagnose;
mod finding;
mod layout;
mod options;
mod probe;
pub mod report;
mod sample;
mod tree;
mod types;

use std::collections::HashMap;

use dataset::glob::TreePattern;
use dataset::layout::Layout;
use dataset::ntuple::{instead_of_tree, is_ntuple};
use dataset::tree::{is_tree_class, read_tree};
use rootfile::{Directory, Error, Key, Result, RootFile};

pub(crate) use decoding::can_be_split;

pub use finding::{Cost, Fault, Finding, Pays, Price};
pub use options::Options;

use diagnose::{diagnose, read_time, worth_trying};
use report::{FileReport, ObjectReport, Report, SCHEMA, Sizes, Skipped};

/// Inspects an open file.
pub fn inspect(file: &RootFile, options: &Options) -> Result<Report> {
    let walk = file.walk();
    let skipped = walk.problems.iter().map(|e| Skipped {
        object: "(directory)".to_owned(),
        cycle: None,
        class: String::new(),
        reason: e.to_string(),
    });
    let mut report = Report {
        schema: SCHEMA,
        file: file_report(file, walk.directories.len()),
        trees: Vec::new(),
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
        });
    }
    for directory in &walk.directories {
        for key in directory.keys.iter().filter(|key| !rootfile::is_directory(&key.class)) {
            look_at(file, directory, key, options, &mut report);
        }
    }
    if let Some(pattern) = &options.tree
        && report.trees.is_empty()
        && report.skipped.is_empty()
    {
        return Err(no_such_tree(file, pattern));
    }
    mark_newest(&mut report);
    report.file.trees = newest_trees(file, &Options::default()).len() as u64;
    report.findings = diagnose(&report);
    Ok(report)
}

/// The layout of a file's trees, newest cycles only, in the terms that `rewrite --layout` takes, and why some could
/// not be read.
pub fn layout(file: &RootFile, options: &Options) -> Result<(Layout, Vec<Error>)> {
    let mut recovered = layout::Recovered::default();
    let mut problems = Vec::new();
    for (path, key) in newest_trees(file, options) {
        match read_tree(file, &key) {
            Ok(tree) => recovered.add(&path, &tree, file.header().compress),
            Err(e) => problems.push(e),
        }
    }
    if recovered.is_empty() {
        match (problems.pop(), &options.tree) {
            (Some(problem), _) => return Err(problem),
            (None, Some(pattern)) => return Err(no_such_tree(file, pattern)),
            (None, None) => instead_of_tree(file, |_| true).map_or(Ok(()), Err)?,
        }
    }
    Ok((recovered.layout()?, problems))
}

fn newest_trees(file: &RootFile, options: &Options) -> Vec<(String, Key)> {
    let mut found: Vec<(String, Key)> = Vec::new();
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(file, &key.class)) {
            let path = directory.path_of(&key.name);
            if options.tree.as_ref().is_some_and(|pattern| !pattern.matches(&path)) {
                continue;
            }
            match found.iter_mut().find(|(other, _)| *other == path) {
                Some((_, known)) if known.cycle >= key.cycle => {}
                Some((_, known)) => *known = key.clone(),
                None => found.push((path, key.clone())),
            }
        }
    }
    found
}

fn no_such_tree(file: &RootFile, pattern: &TreePattern) -> Error {
    if let Some(error) = instead_of_tree(file, |path| pattern.matches(path)) {
        return error;
    }
    let names: Vec<String> = newest_trees(file, &Options::default()).into_iter().map(|(path, _)| path).collect();
    let has = if names.is_empty() { "no trees at all".to_owned() } else { names.join(", ") };
    Error::request(format!("no tree matches {:?}; the file has {has}", pattern.as_str())).file(file.name())
}

fn look_at(file: &RootFile, directory: &Directory, key: &Key, options: &Options, report: &mut Report) {
    let path = directory.path_of(&key.name);
    let wanted = options.tree.as_ref().is_none_or(|pattern| pattern.matches(&path));
    let skip =
        |reason: String| Skipped { object: path.clone(), cycle: Some(key.cycle), class: key.class.clone(), reason };
    if !is_tree_class(file, &key.class) {
        if wanted && is_ntuple(&key.class) {
            report.skipped.push(skip("is an RNTuple; basketry reads only TTree".to_owned()));
        }
        report.objects.push(ObjectReport {
            path,
            cycle: key.cycle,
            class: key.class.clone(),
            bytes: u64::from(key.nbytes),
            raw_bytes: u64::from(key.objlen),
        });
    } else if wanted {
        match read_tree(file, key) {
            Ok(tree) => {
                let setting = report.file.compression;
                let mut found = tree::report(file, key, path, &tree, options);
                found.read_time = read_time(&found, setting);
                if worth_trying(&found, setting) {
                    (found.trials, found.mixed) = sample::trials(file, &tree);
                }
                report.trees.push(found);
            }
            Err(e) => report.skipped.push(skip(e.to_string())),
        }
    }
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
        path: file.name().display().to_string(),
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
