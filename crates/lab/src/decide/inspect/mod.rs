//! Lists the contents of a file and their layout, as one [`Report`], with the faults of the layout.
//!
//! Reads the header, the directories, the tree records, and the headers of all baskets or of some; the metadata and page lists of
//! RNTuples ([`ntuple`]). Only a small sample of the data is decompressed, where another codec may be better for readers.
//! Unreadable parts are listed in the report and skipped.
//!
//! `diagnose` is a pure function of the report; each fault is a file of `diagnose/faults`. Of RNTuples, `ntuple::pages` reads the page lists group by group, finds pages
//! with the same bytes, and keeps a bounded sample, evenly over the bytes.

mod contents;
mod decoding;
pub(crate) mod diagnose;
mod fault_cost;
mod layout;
pub mod ntuple;
mod options;
mod probe;
mod remedies;
pub mod report;
mod sample;
mod tree;
mod types;
pub mod values;

use std::collections::HashMap;
use std::path::Path;

use dataset::glob::TreePattern;
use dataset::layout::{Container, Layout};
use dataset::near::{no_such_parquet_table, no_such_table};
use dataset::ntuple::read_ntuple;
use dataset::parquet::ParquetFacts;
use dataset::table::catalog::{TableEntry, is_object, tables, tables_in};
use dataset::tree::read_tree;
use flow::convert::Format;
use rootfile::{Error, ErrorKind, Hint, Result, RootFile, open_source, public_path};

pub(crate) use decoding::can_be_split;

pub use diagnose::faults::Fault;
pub use fault_cost::{Cost, Pays, Price};
pub use options::Options;
pub use report::Finding;

use diagnose::{diagnose, ntuple_facts, read_time, worth_trying};
use ntuple::report::NtupleReport;
use report::{FileReport, ObjectReport, Report, SCHEMA, Sizes, Skipped, TreeReport};

/// Inspects a file: a ROOT file, or a Parquet file, of which no more is read than the metadata.
///
/// # Errors
///
/// The file cannot be opened, no table has the name that was asked for, or trees or baskets of a Parquet file were. What else cannot be read
/// of a ROOT file is listed in the report.
pub fn inspect_path(path: &Path, options: &Options) -> Result<Report> {
    let is_parquet = match Format::named(&public_path(path)) {
        Some(Format::Parquet) => Format::of(path)? == Format::Parquet,
        _ => Format::is_parquet(path),
    };
    if !is_parquet {
        return inspect(&RootFile::open(path)?, options);
    }
    let refused = |what: &str| Error::request(format!("is a Parquet file, which has no {what}")).file(path);
    if options.list_baskets {
        return Err(refused("baskets").hint(Hint::named("baskets")));
    }
    let source = open_source(path)?;
    let parquet = ParquetFacts::of(&source)?;
    if let Some(tree) = options.tree.as_ref().filter(|tree| !tree.matches(&parquet.path)) {
        return Err(no_such_parquet_table(tree.as_str(), &parquet.path).file(path));
    }
    let file =
        FileReport { path: public_path(path).display().to_string(), bytes: source.size(), ..FileReport::default() };
    Ok(Report {
        schema: SCHEMA,
        file,
        trees: Vec::new(),
        ntuples: Vec::new(),
        parquet: Some(parquet),
        objects: Vec::new(),
        skipped: Vec::new(),
        findings: Vec::new(),
        moved: Vec::new(),
    })
}

/// Inspects an open file.
///
/// # Errors
///
/// Only that no table has the name that was asked for: what cannot be read is listed in the report.
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
        parquet: None,
        objects: Vec::new(),
        skipped: skipped.collect(),
        findings: Vec::new(),
        moved: Vec::new(),
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
    let tables = tables_in(file, &walk.directories);
    let count = |container| newest(&tables, container).count() as u64;
    (report.file.trees, report.file.ntuples) = (count(Container::Ttree), count(Container::Rntuple));
    for table in tables.iter().filter(|table| is_wanted(table, options)) {
        look_at(file, table, options, &mut report);
    }
    for directory in &walk.directories {
        for key in directory.keys.iter().filter(|key| is_object(file, key)) {
            report.objects.push(ObjectReport {
                path: directory.path_of(&key.name),
                cycle: key.cycle,
                class: key.class.clone(),
                bytes: u64::from(key.nbytes),
                raw_bytes: u64::from(key.objlen),
            });
        }
    }
    if let Some(pattern) = &options.tree
        && report.trees.is_empty()
        && report.ntuples.is_empty()
        && report.skipped.is_empty()
    {
        return Err(no_such_tree(file, &tables, pattern));
    }
    mark_others(&mut report);
    match options.trials && !file.source().is_remote() {
        true => remedies::try_all(file, &mut report),
        false => report.findings = diagnose(&report),
    }
    Ok(report)
}

/// The layout of a file's trees and RNTuples, newest cycles only, in the terms that `rewrite --layout` takes; and what could not
/// be recovered, a sentence each.
///
/// # Errors
///
/// No table that was asked for is there or can be read, or its layout cannot be told in these terms.
pub fn layout(file: &RootFile, options: &Options) -> Result<(Layout, Vec<String>)> {
    let mut recovered = layout::Recovered::default();
    let mut notes = Vec::new();
    let mut problem = None;
    let mut left_out = |e: Error, notes: &mut Vec<String>| {
        notes.push(format!("left out: {e}"));
        problem = Some(e);
    };
    let tables = tables(file);
    let wanted = |container| newest(&tables, container).filter(|table| is_wanted(table, options));
    for TableEntry { path, key, .. } in wanted(Container::Ttree) {
        match read_tree(file, key) {
            Ok(tree) => recovered.add(path, &tree, file.header().compress),
            Err(e) => left_out(e, &mut notes),
        }
    }
    let described = Options { list_baskets: false, ..options.clone() };
    for table in wanted(Container::Rntuple) {
        match read_ntuple(file, &table.key).and_then(|ntuple| ntuple::report(file, table, &ntuple, &described)) {
            Ok((report, _)) => {
                let unknown = recovered.add_ntuple(&report).into_iter();
                notes.extend(unknown.map(|unknown| format!("{}: {unknown}", table.path)));
            }
            Err(e) => left_out(e, &mut notes),
        }
    }
    if recovered.is_empty() {
        match (problem, &options.tree) {
            (Some(problem), _) => return Err(problem),
            (None, Some(pattern)) => return Err(no_such_tree(file, &tables, pattern)),
            (None, None) => {}
        }
    }
    Ok((recovered.layout()?, notes))
}

/// The newest cycle of each table of a container.
fn newest(tables: &[TableEntry], container: Container) -> impl Iterator<Item = &TableEntry> {
    tables.iter().filter(move |table| table.newest && table.container == container)
}

fn is_wanted(table: &TableEntry, options: &Options) -> bool {
    let with_cycle = || format!("{};{}", table.path, table.key.cycle);
    options.tree.as_ref().is_none_or(|pattern| pattern.matches(&table.path) || pattern.matches(&with_cycle()))
}

fn no_such_tree(file: &RootFile, tables: &[TableEntry], pattern: &TreePattern) -> Error {
    let found = newest(tables, Container::Ttree).chain(newest(tables, Container::Rntuple));
    let names: Vec<&str> = found.map(|table| table.path.as_str()).collect();
    no_such_table(Some(pattern.as_str()), &names).file(file.name())
}

fn look_at(file: &RootFile, table: &TableEntry, options: &Options, report: &mut Report) {
    let problem = match table.container {
        Container::Ttree => {
            let found = tree(file, table, options, report.file.compression);
            found.map(|tree| report.trees.push(tree)).err()
        }
        Container::Rntuple => ntuple(file, table, options).map(|ntuple| report.ntuples.push(ntuple)).err(),
    };
    report.skipped.extend(problem.map(|e| Skipped {
        object: table.path.clone(),
        cycle: Some(table.key.cycle),
        class: table.key.class.clone(),
        reason: e.to_string(),
        unsupported: matches!(e.kind(), ErrorKind::Unsupported(_)),
    }));
}

fn tree(file: &RootFile, table: &TableEntry, options: &Options, setting: i32) -> Result<TreeReport> {
    let tree = read_tree(file, &table.key)?;
    let mut found = tree::report(file, table, &tree, options);
    found.read_time = read_time(&found, setting);
    if worth_trying(&found, setting) {
        (found.trials, found.mixed) = sample::trials(file, &tree);
    }
    Ok(found)
}

fn ntuple(file: &RootFile, table: &TableEntry, options: &Options) -> Result<NtupleReport> {
    let ntuple = read_ntuple(file, &table.key)?;
    let (mut found, pages) = ntuple::report(file, table, &ntuple, options)?;
    let facts = ntuple_facts(&found);
    found.read_time = facts.read_time;
    // Each column has its own setting, so that of the file says nothing.
    if worth_trying(&facts, 0) {
        (found.trials, found.mixed) = ntuple::sample::trials(file, &ntuple, &found, &pages);
    }
    Ok(found)
}

/// Marks older cycles that are trees of their own.
fn mark_others(report: &mut Report) {
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
