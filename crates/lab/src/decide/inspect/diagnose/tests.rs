//! What findings have in common: their order, and their form. Each fault has tests in its file.

use super::faults::{FreeGaps, NotClosed, OldCycles, UncompressedRecord, Unreadable};
use super::fixtures::{branch, faults, field, ntuple, only, report, skipped, tree, with_ntuples};
use super::*;
use crate::inspect::fault_cost::Pays;
use crate::inspect::values::{Memory, Sizes};

#[test]
fn a_good_table_has_no_faults() {
    assert_eq!(diagnose(&report(vec![tree(vec![branch("a", 10), branch("b", 200)])])), []);
    assert_eq!(diagnose(&with_ntuples(vec![ntuple(vec![field("a", 10), field("b", 200)])])), []);
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
    let [first, last] = &findings[..] else { panic!("{findings:#?}") };
    assert_eq!(first.fault, UncompressedRecord { bytes: 30_000, compressible_to: 0.1 }.into());
    assert_eq!((first.pays, last.pays), (Pays::Reader, Pays::Writer));
}

#[test]
fn dangers_of_a_file_come_first() {
    let mut file = report(vec![tree(vec![branch("a", 10)])]);
    file.file.recovered = true;
    file.file.free_bytes = 5_000_000;
    file.file.free_segments = 3;
    file.skipped.push(skipped("TTree", false));
    let mut old = tree(vec![branch("a", 5)]);
    old.newest = false;
    old.metadata.bytes = 1_000_000;
    file.trees.push(old);
    let expected = [
        NotClosed {}.into(),
        Unreadable { objects: 1 }.into(),
        FreeGaps { gaps: 3, bytes: 5_000_000 }.into(),
        OldCycles { cycles: 1, bytes: 1_000_000 }.into(),
    ];
    assert_eq!(faults(&file), expected);
}

#[test]
fn findings_are_values_of_the_schema() {
    let mut tree = tree(vec![branch("a", 1)]);
    tree.metadata.raw_bytes = 900_000;
    let finding = only(tree);
    let json = serde_json::to_value(&finding).unwrap();
    assert_eq!(json["fault"], "metadata_larger_than_data");
    assert_eq!(json["metadata"], 900_000);
    assert_eq!(json["tree"], "d/T");
    assert_eq!(serde_json::from_value::<Finding>(json).unwrap(), finding);
    // A fault without numbers is a name.
    let text = serde_json::to_string(&Fault::from(NotClosed {})).unwrap();
    assert_eq!(text, r#"{"fault":"not_closed"}"#);
    assert_eq!(serde_json::from_str::<Fault>(&text).unwrap(), NotClosed {}.into());
}
