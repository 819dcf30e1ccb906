//! Each fault is found in a report that has it, and no fault in a report without any.

use super::*;
use crate::inspect::report::{
    BasketSummary, BranchReport, ClustersKnown, Decoded, EmbeddedReport, FileReport, LeafReport, Memory, Mixed, SCHEMA,
    Sizes, Skipped, Spread, TreeReport, Trial,
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
        file: FileReport {
            path: "my file.root".to_owned(),
            bytes: 10_000_000,
            trees: trees.len() as u64,
            ..FileReport::default()
        },
        trees: trees.into_iter().map(timed).collect(),
        ntuples: Vec::new(),
        objects: Vec::new(),
        skipped: Vec::new(),
        findings: Vec::new(),
    }
}

/// With what `inspect` estimates of it.
fn timed(mut tree: TreeReport) -> TreeReport {
    tree.read_time = read_time(&tree, 0);
    tree
}

/// What two codecs make of its data.
fn trials(lz4: f64, zstd: f64) -> Vec<Trial> {
    let trial = |(compression, size): (&str, f64)| Trial { compression: compression.to_owned(), size };
    [("lz4:4", lz4), ("zstd:5", zstd)].into_iter().map(trial).collect()
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
    assert_eq!(
        finding.command.as_deref(),
        Some("basketry rewrite 'my file.root' -o 'my file.baskets.root' --basket 32kB")
    );
    assert_eq!(finding.price.map(|price| price.memory), Some(31_800));
}

#[test]
fn clusters_too_small_too_large_or_not_there() {
    // Baskets of 20 kB are good, in however many clusters.
    let mut small = tree(vec![branch("a", 1000)]);
    small.clusters = (0..1000).collect();
    assert_eq!(diagnose(&report(vec![small])), []);
    let one = BranchReport { tot_bytes: 5_000_000, zip_bytes: 2_500_000, ..branch("a", 1000) };
    let mut small = tree(vec![one]);
    small.clusters = (0..1000).collect();
    let expected = Fault::SmallClusters { clusters: 1000, mean_bytes: 2_500 };
    assert_eq!(only(small.clone()).fault, expected);
    // Buffers that a writer shrank to what small clusters held would keep baskets small.
    assert!(only(small.clone()).command.is_some_and(|command| command.ends_with(" --cluster 1MB")));
    small.branches[0].basket_size = 5_000;
    assert!(only(small.clone()).command.is_some_and(|command| command.ends_with(" --cluster 1MB --basket 32kB")));
    // Of files that were put together as they are, a rewrite keeps what begins together.
    small.clusters = vec![0];
    small.clusters_known = ClustersKnown::Estimated;
    small.common_boundaries = 1000;
    assert_eq!(only(small).fault, expected);
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
    // One thread that reads all of it decompresses nothing twice.
    assert!(finding.cost.shared_seconds > 0.0 && finding.cost.read_seconds == 0.0);
}

#[test]
fn one_record_with_large_buffers() {
    let mut tree = tree(vec![branch("a", 1)]);
    tree.entries = 1;
    tree.memory = Memory { write: 64_000_000, read_baskets: 20_000, ..Memory::default() };
    let finding = only(tree);
    assert!(finding.text.starts_with("A tree of 1 entry whose writer held 64 MB"), "{}", finding.text);
    assert!(finding.command.is_some_and(|command| command.ends_with("--memory-ratio 1.1")));
    assert_eq!(finding.pays, Pays::Writer);
}

#[test]
fn findings_of_writers_come_last() {
    let mut tree = tree(vec![branch("a", 1)]);
    tree.memory = Memory { write: 4_000_000_000, ..Memory::default() };
    tree.metadata = Sizes { bytes: 30_000, raw_bytes: 30_000 };
    tree.record_compressible_to = Some(0.1);
    let mut report = report(vec![tree]);
    report.file.bytes = 50_000;
    let findings = diagnose(&report);
    assert!(
        matches!(&findings[..], [Finding { fault: Fault::UncompressedRecord { .. }, pays: Pays::Reader, .. }, last]
            if last.pays == Pays::Writer),
        "{findings:#?}"
    );
    // 90 % of 30 kB are saved.
    assert_eq!(findings[0].cost.bytes, 27_000);
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
    let mut heavy = tree(vec![slow, branch("b", 1)]);
    // Without a trial nothing is known that would be better.
    assert_eq!(diagnose(&report(vec![heavy.clone()])), []);
    heavy.trials = trials(5.2, 1.1);
    let finding = only(heavy.clone());
    assert!(matches!(finding.fault, Fault::HeavyCodec { branches: 1, .. }));
    assert!(finding.command.is_some_and(|command| command.ends_with("--compression zstd:5")));
    // 1.01 MB become a tenth more.
    assert_eq!(finding.price.map(|price| price.bytes), Some(101_000));
    // What is saved in time must be worth what it takes on storage.
    heavy.trials = trials(52.0, 15.0);
    assert_eq!(diagnose(&report(vec![heavy])), []);
    let mut plain = branch("a", 100);
    plain.compression = 0;
    plain.codecs = [("none".to_owned(), 100)].into();
    plain.zip_bytes = plain.tot_bytes;
    let mut stored = tree(vec![plain]);
    stored.trials = trials(0.5, 0.4);
    let finding = only(stored);
    assert!(matches!(finding.fault, Fault::Uncompressed { zip_bytes: 2_000_000, .. }), "{finding:?}");
    assert!(finding.cost.bytes >= 1_000_000 && finding.price.is_some_and(|price| price.read_seconds > 0.0));
}

#[test]
fn zlib_is_named_where_reading_is_mostly_decompression() {
    let mut zlib = tree(vec![branch("a", 1000)]);
    zlib.trials = trials(1.15, 1.0);
    let finding = only(zlib.clone());
    assert!(matches!(&finding.fault, Fault::HeavyCodec { codec, .. } if codec == "zlib"), "{finding:?}");
    // Of two, the one that is better for bytes and time together.
    assert!(finding.command.is_some_and(|command| command.ends_with("--compression lz4:4")));
    zlib.trials = trials(3.0, 1.0);
    let command = only(zlib.clone()).command;
    assert!(command.is_some_and(|command| command.ends_with("--compression zstd:5")));
    // Another codec that is no smaller and no faster is no better.
    zlib.branches[0].codecs = [("lz4".to_owned(), 1000)].into();
    assert_eq!(diagnose(&report(vec![zlib])), []);
}

#[test]
fn codecs_by_branch_are_what_tune_is_for() {
    let mut zlib = tree(vec![branch("a", 1000)]);
    zlib.trials = trials(3.0, 1.0);
    zlib.branches[0].codecs = [("zstd".to_owned(), 1000)].into();
    zlib.mixed = Some(Mixed { time: 0.9, size: 1.0 });
    assert_eq!(diagnose(&report(vec![zlib.clone()])), []);
    zlib.mixed = Some(Mixed { time: 0.5, size: 0.99 });
    let finding = only(zlib.clone());
    assert!(matches!(finding.fault, Fault::CodecsByBranch { .. }), "{finding:?}");
    // Without a tree's name, so that the others are kept.
    let mut two = report(vec![zlib.clone(), TreeReport { path: "other".to_owned(), ..tree(vec![branch("b", 1)]) }]);
    two.file.trees = 2;
    assert_eq!(diagnose(&two)[0].command.as_deref(), Some("basketry tune 'my file.root' -o 'my file.tuned.root'"));
    // What lies in the record needs more room elsewhere.
    zlib.branches[0].embedded = vec![EmbeddedReport { index: 1000, entries: 5, bytes: 400_000 }];
    assert!(diagnose(&report(vec![zlib])).iter().all(|f| !matches!(f.fault, Fault::CodecsByBranch { .. })));
}

#[test]
fn branches_that_deny_their_compression_are_not_uncompressed() {
    // A file as uproot writes it: the compression of the branch is 0, but its baskets are compressed to half.
    let mut denied = branch("a", 100);
    denied.compression = 0;
    denied.codecs.clear();
    let mut tree = tree(vec![denied]);
    tree.trials = trials(1.1, 1.0);
    let mut report = report(vec![tree]);
    report.file.compression = 207;
    report.trees[0].read_time = read_time(&report.trees[0], 207);
    let findings = diagnose(&report);
    assert!(
        matches!(&findings[..], [only] if matches!(only.fault, Fault::HeavyCodec { branches: 1, .. })),
        "{findings:#?}"
    );
}

#[test]
fn branches_in_a_file_that_is_not_there() {
    let mut gone = branch("friend.", 100);
    gone.id = "1".to_owned();
    gone.file_name = "gone.root".to_owned();
    gone.absent = true;
    let below = BranchReport { id: "1.0".to_owned(), name: "friend.x".to_owned(), ..gone.clone() };
    let mut tiny = branch("a", 1000);
    tiny.id = "0".to_owned();
    tiny.tot_bytes = 200_000;
    tiny.zip_bytes = 100_000;
    let findings = diagnose(&report(vec![tree(vec![tiny, gone, below])]));
    let [missing, tiny] = &findings[..] else { panic!("{findings:#?}") };
    let expected = Fault::MissingFile { branches: vec!["friend.".to_owned()], missing: "gone.root".to_owned() };
    assert_eq!((&missing.fault, &missing.command), (&expected, &None));
    assert!(tiny.command.as_ref().is_some_and(|command| command.ends_with(" --basket 32kB --drop friend.")));
    assert!(tiny.price.as_ref().is_some_and(|price| price.note.contains("lacks 1 branch")), "{tiny:?}");
}

#[test]
fn huge_baskets() {
    let mut large = branch("a", 10);
    large.entries = 10_000;
    large.tot_bytes = 80_000_000;
    large.zip_bytes = 40_000_000;
    large.basket_summary.raw = Some(Spread { min: 8_000_000, median: 8_000_000, max: 8_000_000 });
    let finding = only(tree(vec![large.clone()]));
    assert_eq!(finding.fault, Fault::HugeBaskets { branches: 1, median: 8_000_000 });
    assert!(finding.cost.entry_seconds > 5e-3 && finding.cost.read_seconds == 0.0);
    // One entry that is as large cannot be cut.
    large.entries = 10;
    assert_eq!(diagnose(&report(vec![tree(vec![large])])), []);
}

#[test]
fn objects_that_are_slow_to_decode() {
    let mut objects = branch("event", 1000);
    objects.codecs = [("none".to_owned(), 1000)].into();
    objects.decoded = Some(Decoded::Objects);
    // What has no members cannot be split.
    assert_eq!(diagnose(&report(vec![tree(vec![objects.clone()])])), []);
    objects.can_split = true;
    let numbers = BranchReport { name: "x".into(), decoded: Some(Decoded::Numbers), ..objects.clone() };
    let finding = only(tree(vec![objects.clone(), numbers.clone()]));
    assert!(matches!(finding.fault, Fault::SlowDecoding { branches: 1, tot_bytes: 20_000_000, .. }), "{finding:?}");
    assert!(finding.text.starts_with("event holds objects"), "{}", finding.text);
    assert!(finding.command.is_some_and(|command| command.ends_with("--split-level 99")));
    // Where decompression takes longer, it is no fault.
    objects.codecs = [("lzma".to_owned(), 1000)].into();
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
    let finding = only(tree(vec![inside]));
    assert!(matches!(finding.fault, Fault::EmbeddedBaskets { baskets: 1, bytes: 5_000_000 }));
    // Who reads the baskets reads them elsewhere then.
    assert!(finding.cost.open_seconds > 0.0 && finding.cost.read_seconds == 0.0);
}

#[test]
fn counters_out_of_range_go_first() {
    let mut counter = branch("n", 10);
    counter.leaves = vec![LeafReport { maximum: Some(3), counted_at_least: Some(7), ..LeafReport::default() }];
    let mut slow = branch("a", 10_000);
    slow.codecs = [("lzma".to_owned(), 10_000)].into();
    let mut slow = tree(vec![slow, counter]);
    slow.trials = trials(1.5, 1.1);
    let findings = diagnose(&report(vec![slow]));
    assert!(matches!(findings[0].fault, Fault::CounterOutOfRange { maximum: 3, at_least: 7, .. }));
    assert!(matches!(findings[1].fault, Fault::HeavyCodec { .. }));
}

#[test]
fn faults_of_the_file() {
    let mut file = report(vec![tree(vec![branch("a", 10)])]);
    file.file.recovered = true;
    file.file.free_bytes = 5_000_000;
    file.file.free_segments = 3;
    file.skipped.push(Skipped {
        object: "x".into(),
        cycle: None,
        class: "TTree".into(),
        reason: "broken".into(),
        unsupported: false,
    });
    let mut old = tree(vec![branch("a", 5)]);
    old.newest = false;
    old.metadata.bytes = 1_000_000;
    let mut other = old.clone();
    other.is_another = true;
    file.trees.push(old);
    // A cycle that is a tree of its own is nobody's leftover.
    file.trees.push(other);
    let found = diagnose(&file);
    let mut notes = found.iter().filter_map(|finding| finding.price.as_ref()).map(|price| &*price.note);
    assert!(notes.clone().count() > 0 && notes.all(|note| note.contains("lacks d/T;0, another tree")));
    let faults: Vec<Fault> = found.into_iter().map(|finding| finding.fault).collect();
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
