//! Reports that tests of faults begin with: trees and RNTuples without any fault.

use super::codecs::read_time;
use super::faults::Fault;
use super::{diagnose, ntuple_facts};
use crate::inspect::contents::{BasketSummary, BranchReport, FileReport, Skipped, TreeReport};
use crate::inspect::ntuple::report::{ColumnReport, FieldReport, NtupleReport};
use crate::inspect::report::{Finding, Report, SCHEMA};
use crate::inspect::values::{Sizes, Trial};

/// A branch with so many baskets of 20 kB, which shrink to a half.
pub fn branch(name: &str, baskets: u64) -> BranchReport {
    BranchReport {
        name: name.to_owned(),
        compression: 101,
        basket_size: 32_000,
        entries: 1000,
        tot_bytes: baskets * 20_000,
        zip_bytes: baskets * 10_000,
        codecs: [("zlib".to_owned(), baskets)].into(),
        basket_summary: BasketSummary { count: baskets, ..BasketSummary::default() },
        ..BranchReport::default()
    }
}

pub fn tree(branches: Vec<BranchReport>) -> TreeReport {
    let sum = |of: fn(&BranchReport) -> u64| branches.iter().map(of).sum();
    TreeReport {
        path: "d/T".to_owned(),
        newest: true,
        entries: 1000,
        cluster_count: 2,
        clusters: vec![0, 500],
        tot_bytes: sum(|b| b.tot_bytes),
        zip_bytes: sum(|b| b.zip_bytes),
        baskets: sum(|b| b.basket_summary.count),
        branches,
        ..TreeReport::default()
    }
}

/// A field with so many pages of 20 kB, which shrink to a half.
pub fn field(path: &str, pages: u64) -> FieldReport {
    let column = ColumnReport {
        column_type: "SplitReal32".to_owned(),
        compression: [(505, pages)].into(),
        elements: 1000,
        pages,
        checked_pages: pages,
        tot_bytes: pages * 20_000,
        zip_bytes: pages * 10_000,
        codecs: [("zstd".to_owned(), pages)].into(),
        ..ColumnReport::default()
    };
    FieldReport { path: path.to_owned(), columns: vec![column], ..FieldReport::default() }
}

pub fn ntuple(fields: Vec<FieldReport>) -> NtupleReport {
    let columns = || fields.iter().flat_map(|field| &field.columns);
    let pages = columns().map(|column| column.pages).sum();
    NtupleReport {
        path: "d/N".to_owned(),
        newest: true,
        entries: 1000,
        clusters: vec![0, 500],
        cluster_count: 2,
        cluster_groups: 1,
        columns: columns().count() as u64,
        tot_bytes: columns().map(|column| column.tot_bytes).sum(),
        zip_bytes: columns().map(|column| column.zip_bytes).sum(),
        pages,
        checked_pages: pages,
        page_lists: Sizes { bytes: 8 * pages, raw_bytes: 16 * pages },
        fields,
        ..NtupleReport::default()
    }
}

/// An RNTuple in a codec that is slow to read, where another one is better.
pub fn slow_ntuple() -> NtupleReport {
    let mut heavy = field("x", 100);
    heavy.columns[0].compression = [(207, 100)].into();
    heavy.columns[0].codecs = [("lzma".to_owned(), 100)].into();
    NtupleReport { trials: trials(5.2, 1.1), ..ntuple(vec![heavy]) }
}

/// What two codecs make of the data.
pub fn trials(lz4: f64, zstd: f64) -> Vec<Trial> {
    let trial = |(compression, size): (&str, f64)| Trial { compression: compression.to_owned(), size };
    [("lz4:4", lz4), ("zstd:5", zstd)].into_iter().map(trial).collect()
}

/// Something that could not be read.
pub fn skipped(class: &str, unsupported: bool) -> Skipped {
    Skipped { object: "x".into(), cycle: None, class: class.to_owned(), reason: "broken".into(), unsupported }
}

/// The report of a file with these trees.
pub fn report(trees: Vec<TreeReport>) -> Report {
    of_file(trees, Vec::new())
}

/// The report of a file with these RNTuples.
pub fn with_ntuples(ntuples: Vec<NtupleReport>) -> Report {
    of_file(Vec::new(), ntuples)
}

fn of_file(trees: Vec<TreeReport>, ntuples: Vec<NtupleReport>) -> Report {
    let mut report = Report {
        schema: SCHEMA,
        file: FileReport {
            path: "my file.root".to_owned(),
            bytes: 10_000_000,
            trees: trees.len() as u64,
            ntuples: ntuples.len() as u64,
            ..FileReport::default()
        },
        trees,
        ntuples,
        parquet: None,
        objects: Vec::new(),
        skipped: Vec::new(),
        findings: Vec::new(),
        moved: Vec::new(),
    };
    read_again(&mut report);
    report
}

/// Estimates again how long reading takes.
pub fn read_again(report: &mut Report) {
    for tree in &mut report.trees {
        tree.read_time = read_time(tree, report.file.compression);
    }
    for ntuple in &mut report.ntuples {
        ntuple.read_time = ntuple_facts(ntuple).read_time;
    }
}

/// The faults of a file, worst first.
pub fn faults(report: &Report) -> Vec<Fault> {
    diagnose(report).into_iter().map(|finding| finding.fault).collect()
}

/// The one finding of a tree.
pub fn only(tree: TreeReport) -> Finding {
    the_only(diagnose(&report(vec![tree])))
}

/// The one finding of an RNTuple.
pub fn only_ntuple(ntuple: NtupleReport) -> Finding {
    the_only(diagnose(&with_ntuples(vec![ntuple])))
}

fn the_only(mut findings: Vec<Finding>) -> Finding {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}
