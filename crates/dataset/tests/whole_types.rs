//! Every kind of member, as real ROOT wrote it (`root/decode_types.C`): the split tree and the one that is not split
//! have the same whole columns, and those of the one are projected onto the branches of the other.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field};
use rootfile::RootFile;

mod corpus;

use corpus::wholes::{arrays, trees, whole};

/// The members of an object.
fn members(field: &Field) -> Vec<&Field> {
    let DataType::Struct(fields) = field.data_type() else { panic!("{field:?}") };
    fields.iter().map(AsRef::as_ref).collect()
}

#[test]
fn split_and_unsplit_are_the_same_whole() {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    let trees = trees(&file);
    let (mut compared, mut projected) = (0, 0);
    for kind in ["", "arrays_"] {
        let find = |name: String| trees.iter().find(|(at, _)| *at == name).map(|(_, tree)| tree).unwrap();
        let (split, unsplit) = (find(format!("{kind}split;1")), find(format!("{kind}whole;1")));
        let ((one, one_plans), (other, other_plans)) = (whole(&file, split), whole(&file, unsplit));
        let ([a], [b, ..]) = (one.as_slice(), other.as_slice()) else { panic!("{} whole columns", one.len()) };
        // Arrays of any class, whose items are bytes with class tags that count from the start of the entry.
        let opaque = (!kind.is_empty()).then_some("holds objects that are only bytes");
        let ends = |why: Option<&str>| match (why, opaque) {
            (Some(why), Some(end)) => why.ends_with(end),
            (a, b) => a == b,
        };
        assert!(ends(a.opaque()) && ends(b.opaque()), "{:?} {:?}", a.opaque(), b.opaque());
        if opaque.is_some() {
            continue;
        }
        assert_eq!((a.field().name().as_str(), b.field().name().as_str()), ("e.", "e"));
        assert_eq!(a.field().metadata()["typename"], b.field().metadata()["typename"]);
        assert_eq!(members(a.field()), members(b.field()));
        let parts = arrays(&file, split, a, &one_plans, u64::MAX).unwrap().unwrap();
        let single = arrays(&file, unsplit, b, &other_plans, u64::MAX).unwrap().unwrap();
        let (assembled, value) = (a.assemble(&parts).unwrap(), b.assemble(&single).unwrap());
        let columns = assembled.as_struct().columns().iter().zip(value.as_struct().columns());
        for (field, (one, other)) in members(a.field()).iter().zip(columns) {
            // ROOT 6.40 cannot split a vector of std::array: it says so, writes no bytes, and reads zeros.
            if field.name() == "vai" {
                assert_eq!(one.as_list::<i64>().offsets(), other.as_list::<i64>().offsets());
            } else if field.name() != "mixed" {
                assert_eq!(one, other, "{}", field.name());
                compared += 1;
            }
        }
        for ((branch, part), own) in a.branches().iter().zip(&parts).zip(a.project(&value).unwrap()) {
            let name = split.branches[*branch].name();
            if !name.contains("vai._M_elems") && !name.ends_with("mixed") {
                assert_eq!(part, &own, "{name}");
                projected += 1;
            }
        }
    }
    assert_eq!((compared, projected), (85, 144));
}
