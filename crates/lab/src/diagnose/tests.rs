//! Each fault on a report that has it, and none on one that has not.

use super::*;
use crate::inspect::report::{
    BasketSummary, BranchReport, ClustersKnown, Decoded, EmbeddedReport, FileReport, LeafReport, Memory, SCHEMA, Sizes,
    Skipped, Spread, TreeReport,
};

/// A branch with so many baskets of 20 kB, which shrink to a half.
fn branch(name: &str, baskets: u64) -> BranchReport {
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

fn tree(branches: Vec<BranchReport>) -> TreeReport {
    let sum = |of: fn(&BranchReport) -> u64| branches.iter().map(of).sum();
    TreeReport {
        path: "d/T".to_owned(),
        newest: true,
        entries: 1000,
        clusters: vec![0, 500],
        tot_bytes: sum(|b| b.tot_bytes),
        zip_bytes: sum(|b| b.zip_bytes),
        baskets: sum(|b| b.basket_summary.count),
        branches,
        ..TreeReport::default()
    }
}

fn report(trees: Vec<TreeReport>) -> Report {
    Report {
        schema: SCHEMA,
        file: FileReport { path: "my file.root".to_owned(), bytes: 10_000_000, ..FileReport::default() },
        trees,
        objects: Vec::new(),
        skipped: Vec::new(),
        findings: Vec::new(),
    }
}

fn only(tree: TreeReport) -> Finding {
    let mut findings = diagnose(&report(vec![tree]));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

#[test]
fn a_good_tree_has_no_faults() {
    assert_eq!(diagnose(&report(vec![tree(vec![branch("a", 10), branch("b", 200)])])), []);
}

#[test]
fn tiny_baskets() {
    let mut tiny = branch("a", 1000);
    tiny.tot_bytes = 200_000;
    tiny.zip_bytes = 100_000;
    let finding = only(tree(vec![tiny, branch("b", 10)]));
    let expected = Fault::TinyBaskets { branches: 1, baskets: 1000, enough: 7, mean_bytes: 200 };
    assert_eq!(finding.fault, expected);
    assert_eq!(finding.command.as_deref(), Some("basketry rewrite 'my file.root' -o OUT.root --basket 32kB"));
}

#[test]
fn clusters_too_small_too_large_or_not_there() {
    let mut small = tree(vec![branch("a", 1000)]);
    small.clusters = (0..1000).collect();
    assert!(matches!(only(small).fault, Fault::SmallClusters { clusters: 1000, mean_bytes: 10_000 }));
    let mut huge = tree(vec![branch("a", 1000)]);
    huge.largest_cluster = 400_000_000;
    huge.memory.read = 900_000_000;
    assert!(matches!(only(huge).fault, Fault::HugeClusters { .. }));
    let mut silent = tree(vec![branch("a", 10_000)]);
    silent.clusters_known = ClustersKnown::Estimated;
    assert!(matches!(only(silent).fault, Fault::ClustersNotRecorded { .. }));
}

#[test]
fn misaligned() {
    let mut crossing = branch("a", 100);
    crossing.basket_summary.crossing = 50;
    let mut tree = tree(vec![crossing]);
    tree.crossing = 50;
    let finding = only(tree);
    assert_eq!(finding.fault, Fault::MisalignedClusters { crossing: 50, baskets: 100 });
    assert!(finding.cost.read_seconds > 0.0);
}

#[test]
fn one_record_with_large_buffers() {
    let mut tree = tree(vec![branch("a", 1)]);
    tree.entries = 1;
    tree.memory = Memory { write: 64_000_000, read_baskets: 20_000, ..Memory::default() };
    let finding = only(tree);
    assert!(finding.text.starts_with("A tree of 1 entry whose writer held 64 MB"), "{}", finding.text);
    assert!(finding.command.is_some_and(|command| command.ends_with("--memory-ratio 1.1")));
}

#[test]
fn uneven() {
    let mut uneven = branch("a", 100);
    uneven.basket_summary.raw = Some(Spread { min: 1, median: 10_000, max: 9_000_000 });
    assert!(matches!(only(tree(vec![uneven])).fault, Fault::UnevenBaskets { branches: 1, .. }));
}

#[test]
fn compression_in_vain_or_too_slow_or_missing() {
    let mut vain = branch("noise[3]", 100);
    vain.zip_bytes = vain.tot_bytes;
    let finding = only(tree(vec![vain]));
    assert!(matches!(&finding.fault, Fault::Incompressible { branches: 1, .. }));
    assert!(finding.command.is_some_and(|command| command.ends_with("--column-set 'noise[3]' compression=none")));
    let mut slow = branch("a", 100);
    slow.codecs = [("lzma".to_owned(), 100)].into();
    assert!(matches!(only(tree(vec![slow, branch("b", 1)])).fault, Fault::HeavyCodec { branches: 1, .. }));
    let mut plain = branch("a", 100);
    plain.compression = 0;
    plain.tot_bytes = plain.zip_bytes;
    let mut tree = tree(vec![plain]);
    tree.compressible_to = Some(0.4);
    assert_eq!(only(tree).fault, Fault::Uncompressed { zip_bytes: 1_000_000, compressible_to: 0.4 });
}

#[test]
fn branches_that_deny_their_compression_are_not_uncompressed() {
    // As uproot writes it: the branch says 0, its baskets are half of what they hold.
    let mut denied = branch("a", 100);
    denied.compression = 0;
    denied.codecs.clear();
    let mut tree = tree(vec![denied]);
    tree.compressible_to = Some(0.4);
    let mut report = report(vec![tree]);
    report.file.compression = 207;
    let findings = diagnose(&report);
    assert!(
        matches!(&findings[..], [only] if matches!(only.fault, Fault::HeavyCodec { branches: 1, .. })),
        "{findings:#?}"
    );
}

#[test]
fn objects_that_are_slow_to_decode() {
    let mut objects = branch("event", 1000);
    objects.codecs = [("none".to_owned(), 1000)].into();
    objects.decoded = Some(Decoded::Objects);
    let numbers = BranchReport { name: "x".into(), decoded: Some(Decoded::Numbers), ..objects.clone() };
    let finding = only(tree(vec![objects.clone(), numbers.clone()]));
    let Fault::SlowDecoding { branches: 1, tot_bytes: 20_000_000, share, .. } = finding.fault else {
        panic!("{finding:?}")
    };
    // 20 MB at 1.5 GB/s; 20 MB at 8 GB/s, and twice 20 MB to copy at 10 GB/s, are the rest.
    let objects_time = 20.0 / 1.5;
    assert!((share - objects_time / (objects_time + 6.5)).abs() < 1e-9, "{share}");
    assert!(finding.text.starts_with("event holds objects") && finding.command.is_none(), "{}", finding.text);
    // Where decompression takes longer, it is no fault.
    objects.codecs = [("zlib".to_owned(), 1000)].into();
    assert_eq!(diagnose(&report(vec![tree(vec![objects])])), []);
    assert_eq!(diagnose(&report(vec![tree(vec![numbers])])), []);
}

#[test]
fn metadata_and_embedded_baskets() {
    let mut heavy = tree(vec![branch("a", 1)]);
    heavy.metadata = Sizes { bytes: 100_000, raw_bytes: 900_000 };
    let finding = only(heavy);
    assert!(matches!(finding.fault, Fault::MetadataLargerThanData { .. }));
    assert_eq!(finding.command, None);
    let mut inside = branch("a", 10);
    inside.embedded = vec![EmbeddedReport { index: 10, entries: 5, bytes: 5_000_000 }];
    assert!(matches!(only(tree(vec![inside])).fault, Fault::EmbeddedBaskets { baskets: 1, bytes: 5_000_000 }));
}

#[test]
fn counters_out_of_range_go_first() {
    let mut counter = branch("n", 10);
    counter.leaves = vec![LeafReport { maximum: Some(3), counted_at_least: Some(7), ..LeafReport::default() }];
    let mut slow = branch("a", 10_000);
    slow.codecs = [("lzma".to_owned(), 10_000)].into();
    let findings = diagnose(&report(vec![tree(vec![slow, counter])]));
    assert!(matches!(findings[0].fault, Fault::CounterOutOfRange { maximum: 3, at_least: 7, .. }));
    assert!(matches!(findings[1].fault, Fault::HeavyCodec { .. }));
}

#[test]
fn faults_of_the_file() {
    let mut file = report(vec![tree(vec![branch("a", 10)])]);
    file.file.recovered = true;
    file.file.free_bytes = 5_000_000;
    file.file.free_segments = 3;
    file.skipped.push(Skipped { object: "x".into(), cycle: None, class: "TTree".into(), reason: "broken".into() });
    let mut old = tree(vec![branch("a", 5)]);
    old.newest = false;
    old.metadata.bytes = 1_000_000;
    file.trees.push(old);
    let faults: Vec<Fault> = diagnose(&file).into_iter().map(|finding| finding.fault).collect();
    let expected = [
        Fault::NotClosed,
        Fault::Unreadable { objects: 1 },
        Fault::FreeGaps { gaps: 3, bytes: 5_000_000 },
        Fault::OldCycles { cycles: 1, bytes: 1_000_000 },
    ];
    assert_eq!(faults, expected);
}

#[test]
fn findings_are_values_of_the_schema() {
    let mut tree = tree(vec![branch("a", 1)]);
    tree.metadata.raw_bytes = 900_000;
    let finding = only(tree);
    let json = serde_json::to_value(&finding).unwrap();
    assert_eq!(json["fault"], "metadata_larger_than_data");
    assert_eq!(json["tree"], "d/T");
    assert_eq!(serde_json::from_value::<Finding>(json).unwrap(), finding);
}
