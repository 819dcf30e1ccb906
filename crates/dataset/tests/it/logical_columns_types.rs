//! Every kind of member, as real ROOT wrote it (`root/decode_types.C`): the split and the unsplit
//! tree have the same logical columns, and columns of the one are projected onto the branches of the other.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, FieldRef};
use dataset::assemble::logical_columns;
use dataset::decode::columns;
use dataset::tree::make::{NewColumn, make_tree};
use rootfile::RootFile;

use crate::corpus::logical::{arrays, logical, trees};

/// The members of an object.
fn members(field: &Field) -> Vec<&Field> {
    let DataType::Struct(fields) = field.data_type() else { panic!("{field:?}") };
    fields.iter().map(AsRef::as_ref).collect()
}

#[test]
fn split_and_unsplit_trees_have_equal_logical_columns() {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    let trees = trees(&file);
    let (mut compared, mut projected) = (0, 0);
    for kind in ["", "arrays_"] {
        let find = |name: String| trees.iter().find(|(at, _)| *at == name).map(|(_, tree)| tree).unwrap();
        let (split, unsplit) = (find(format!("{kind}split;1")), find(format!("{kind}whole;1")));
        let ((one, one_plans), (other, other_plans)) = (logical(&file, split), logical(&file, unsplit));
        let ([a], [b, ..]) = (one.as_slice(), other.as_slice()) else { panic!("{} logical columns", one.len()) };
        // Arrays of any class, whose items are bytes with class tags that count from the start of the entry.
        let opaque = (!kind.is_empty()).then_some("holds objects that are not decoded");
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

/// Whether types are the same but for arrays of which only entries say what they hold.
fn agree(one: &DataType, other: &DataType) -> bool {
    match (one, other) {
        (DataType::LargeBinary, _) | (_, DataType::LargeBinary) => true,
        (DataType::Struct(a), DataType::Struct(b)) => {
            let same = |(a, b): (&FieldRef, &FieldRef)| a.name() == b.name() && agree(a.data_type(), b.data_type());
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (DataType::LargeList(a), DataType::LargeList(b)) => agree(a.data_type(), b.data_type()),
        (a, b) => a == b,
    }
}

#[test]
fn values_go_onto_the_branches_of_trees_that_are_made() {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    let trees = trees(&file);
    let (_, split) = trees.iter().find(|(at, _)| at == "split;1").unwrap();
    let (one, plans) = logical(&file, split);
    let value = one[0].assemble(&arrays(&file, split, &one[0], &plans, u64::MAX).unwrap().unwrap()).unwrap();
    let members = value.as_struct().fields().iter().zip(value.as_struct().columns());
    let member = |name: &str| members.clone().find(|(field, _)| field.name() == name).map(|(_, array)| array).unwrap();
    let types = [
        ("Event", &value),
        ("Inner", member("in")),
        ("Derived", member("der")),
        ("vector<Inner>", member("vin")),
        ("vector<Derived>", member("vder")),
        ("list<Inner>", member("lin")),
        ("vector<Bare*>", member("vpbare")),
        ("map<int,Bare>", member("mib")),
        ("TLorentzVector", member("p4")),
        ("vector<vector<Inner> >", member("vvin")),
    ];
    let mut split = 0;
    for (type_name, value) in types {
        for (level, name) in [(0, "x"), (1, "x"), (2, "x."), (99, "x"), (99, "x.")] {
            let column = NewColumn { split_level: level, ..NewColumn::class(name, type_name) };
            let made = make_tree("t", "", &[column], file.infos()).unwrap();
            let wholes = logical_columns(&made, file.infos(), &columns(&made, file.infos()));
            let [column] = wholes.as_slice() else { panic!("{} columns", wholes.len()) };
            let at = format!("{type_name} {level} {name}");
            assert_eq!(column.field().name().trim_end_matches('.'), "x");
            assert!(agree(column.field().data_type(), value.data_type()), "{at}: {:?}", column.field());
            if column.field().data_type() == value.data_type() {
                let parts = column.project(value).unwrap();
                assert_eq!(parts.len(), column.branches().len());
                assert_eq!(&column.assemble(&parts).unwrap(), value, "{at}");
                split += usize::from(parts.len() > 1);
            } else {
                assert!(level < 2 && type_name == "Event", "{at}: {:?}", column.field());
            }
        }
    }
    assert_eq!(split, 27);
}

#[test]
fn a_tree_that_lacks_branches_is_kept_as_it_is() {
    let file = RootFile::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root")).unwrap();
    for (dropped, why) in [
        ("e.a3[3]", "there is no branch of Event::a3"),
        ("e.hits.id", "there is no branch of Hit::id"),
        ("e.der.left", "there is no branch of Left::left"),
        ("e.vder.own", "there is no branch of Derived::own"),
        ("e.in.s", "there is no branch of Inner::s"),
    ] {
        let mut trees = trees(&file);
        let (_, tree) = trees.iter_mut().find(|(at, _)| at == "split;1").unwrap();
        let keep: Vec<bool> = tree.branches.iter().map(|branch| branch.name() != dropped).collect();
        assert!(keep.contains(&false), "{dropped}");
        tree.select(&keep);
        let (wholes, plans) = logical(&file, tree);
        let [column] = wholes.as_slice() else { panic!("{} columns", wholes.len()) };
        assert_eq!(column.opaque(), Some(why));
        let parts = arrays(&file, tree, column, &plans, 3).unwrap().unwrap();
        let together = column.assemble(&parts).unwrap();
        assert_eq!(together.as_struct().columns(), parts);
        assert_eq!(column.project(&together).unwrap(), parts);
        assert!(column.assemble(&parts[1..]).is_err());
        assert!(column.project(&parts[0]).is_err());
    }
}
