//! Each fault of an RNTuple is found in a report that has it, and no fault in a report without any.

use super::*;
use crate::inspect::ntuple::report::{Checksums, ColumnReport, FieldReport, NtupleReport};
use crate::inspect::report::{FileReport, SCHEMA, Skipped, TreeReport, Trial};
use crate::inspect::values::Sizes;

/// A field with so many pages of 20 kB, which shrink to a half.
fn field(path: &str, pages: u64) -> FieldReport {
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

fn ntuple(fields: Vec<FieldReport>) -> NtupleReport {
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

fn report(mut ntuples: Vec<NtupleReport>) -> Report {
    for ntuple in &mut ntuples {
        ntuple.read_time = ntuple_facts(ntuple).read_time;
    }
    let file = FileReport {
        path: "my file.root".to_owned(),
        bytes: 10_000_000,
        ntuples: ntuples.len() as u64,
        ..FileReport::default()
    };
    Report {
        schema: SCHEMA,
        file,
        trees: Vec::new(),
        ntuples,
        objects: Vec::new(),
        skipped: Vec::new(),
        findings: Vec::new(),
    }
}

fn only(ntuple: NtupleReport) -> Finding {
    let mut findings = diagnose(&report(vec![ntuple]));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

/// A field in a codec that is slow to read, where another one is better.
fn slow() -> NtupleReport {
    let mut heavy = field("x", 100);
    heavy.columns[0].compression = [(207, 100)].into();
    heavy.columns[0].codecs = [("lzma".to_owned(), 100)].into();
    let trial = |compression: &str, size| Trial { compression: compression.to_owned(), size };
    NtupleReport { trials: vec![trial("lz4:4", 5.2), trial("zstd:5", 1.1)], ..ntuple(vec![heavy]) }
}

#[test]
fn a_good_rntuple_has_no_faults() {
    assert_eq!(diagnose(&report(vec![ntuple(vec![field("a", 10), field("b", 200)])])), []);
}

#[test]
fn tiny_pages() {
    let mut tiny = field("a", 1000);
    (tiny.columns[0].tot_bytes, tiny.columns[0].zip_bytes) = (200_000, 100_000);
    let finding = only(ntuple(vec![tiny, field("b", 10)]));
    let expected = Fault::TinyPages { columns: 1, pages: 1000, enough: 7, mean_bytes: 200 };
    assert_eq!((&finding.fault, &finding.command, &finding.price), (&expected, &None, &None));
    // A page has 8 bytes in the lists, and a checksum.
    assert_eq!(finding.cost.bytes, 993 * 16);
}

#[test]
fn tiny_clusters_and_groups() {
    let mut small = field("a", 1000);
    (small.columns[0].tot_bytes, small.columns[0].zip_bytes) = (5_000_000, 2_500_000);
    let mut small = ntuple(vec![small]);
    (small.clusters, small.cluster_count) = ((0..1000).collect(), 1000);
    let finding = only(small.clone());
    assert_eq!(finding.fault, Fault::SmallClusters { clusters: 1000, mean_bytes: 2_500 });
    assert!(finding.text.contains("every column has a page in each cluster, so pages are small"), "{}", finding.text);
    assert_eq!(finding.command, None);
    small.cluster_groups = 1000;
    let faults: Vec<Fault> = diagnose(&report(vec![small])).into_iter().map(|finding| finding.fault).collect();
    assert!(
        faults.contains(&Fault::TinyClusterGroups { groups: 1000, clusters: 1000, mean_bytes: 2_500 }),
        "{faults:?}"
    );
}

#[test]
fn large_metadata() {
    let mut lists = ntuple(vec![field("a", 100)]);
    lists.page_lists = Sizes { bytes: 200_000, raw_bytes: 2_000_000 };
    assert!(matches!(only(lists).fault, Fault::LargePageLists { raw_bytes: 2_000_000, pages: 100, .. }));
    let mut wide = ntuple(vec![field("a", 1)]);
    wide.metadata = Sizes { bytes: 50_000, raw_bytes: 400_000 };
    let finding = only(wide);
    assert!(matches!(finding.fault, Fault::MetadataLargerThanData { metadata: 400_000, branches: 1, .. }));
    assert!(finding.text.contains("for 1 column,"), "{}", finding.text);
}

#[test]
fn pages_without_checksums_come_last() {
    let mut slow = slow();
    (slow.checksums, slow.checked_pages) = (Checksums::None, 0);
    let findings = diagnose(&report(vec![slow]));
    let [Finding { fault: Fault::HeavyCodec { .. }, .. }, last] = &findings[..] else { panic!("{findings:#?}") };
    assert_eq!(last.fault, Fault::NoChecksums { pages: 100, without: 100 });
}

#[test]
fn codecs_have_commands() {
    let finding = only(slow());
    assert!(finding.text.contains("1 column with 2.0 MB"), "{}", finding.text);
    assert_eq!(
        finding.command.as_deref(),
        Some("basketry rewrite 'my file.root' -o 'my file.compressed.root' --compression zstd:5")
    );
    // Beside others it is named.
    let mut two = report(vec![slow()]);
    two.file.trees = 1;
    two.trees.push(TreeReport { path: "T".to_owned(), newest: true, ..TreeReport::default() });
    let command = diagnose(&two).remove(0).command;
    assert!(command.is_some_and(|command| command.ends_with(" --tree-set d/N compression=zstd:5")));
    let mut stored = field("x", 100);
    stored.columns[0].compression = [(0, 100)].into();
    stored.columns[0].codecs = [("none".to_owned(), 100)].into();
    stored.columns[0].zip_bytes = stored.columns[0].tot_bytes;
    let trials = vec![Trial { compression: "zstd:5".to_owned(), size: 0.4 }];
    let finding = only(NtupleReport { trials, ..ntuple(vec![stored]) });
    assert!(matches!(finding.fault, Fault::Uncompressed { zip_bytes: 2_000_000, .. }), "{finding:?}");
    assert!(finding.command.is_some_and(|command| command.ends_with("--compression zstd:5")));
}

#[test]
fn an_rntuple_that_is_not_supported_is_no_danger_and_stops_commands() {
    let mut file = report(vec![slow()]);
    let skipped = |unsupported| Skipped {
        object: "x".into(),
        cycle: None,
        class: "ROOT::Experimental::RNTuple".into(),
        reason: "pre-release".into(),
        unsupported,
    };
    file.skipped.push(skipped(true));
    let findings = diagnose(&file);
    assert!(matches!(&findings[..], [Finding { fault: Fault::HeavyCodec { .. }, command: None, .. }]), "{findings:#?}");
    file.skipped.push(skipped(false));
    assert!(matches!(diagnose(&file)[0].fault, Fault::Unreadable { objects: 1 }));
}
