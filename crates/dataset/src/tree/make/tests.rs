//! Trees made of classes that are described here.

use std::sync::Arc;

use rootfile::Result;
use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, code};

use super::{NewColumn, NewKind, classes_of, make_tree};
use crate::tree::model::Tree;

fn member(class: &str, name: &str, type_name: &str, type_code: i32) -> StreamerElement {
    let kind = match class {
        "TStreamerBase" => ElementKind::Base { version: 1 },
        "TStreamerSTL" => ElementKind::Stl { stl_type: 1, content_type: 0 },
        _ => ElementKind::Plain,
    };
    StreamerElement { kind, ..StreamerElement::new(class, name, type_name, type_code) }
}

fn int(name: &str) -> StreamerElement {
    member("TStreamerBasicType", name, "int", code::INT)
}

fn infos(classes: &[(&str, &[StreamerElement])]) -> StreamerInfos {
    let mut infos = StreamerInfos::new();
    for (name, elements) in classes {
        infos.add(Arc::new(StreamerInfo {
            name: (*name).to_owned(),
            title: String::new(),
            version: 1,
            checksum: 7,
            bits: 0,
            form: 9,
            elements: elements.to_vec(),
        }));
    }
    infos
}

fn tree(column: NewColumn, infos: &StreamerInfos) -> Result<Tree> {
    make_tree("t", "", &[column], infos)
}

fn names(tree: &Tree) -> Vec<&str> {
    tree.branches.iter().map(|branch| branch.name()).collect()
}

#[test]
fn members_get_branches_as_deep_as_the_split_level() {
    let inner = member("TStreamerObjectAny", "in", "Inner", code::ANY);
    let of_inner = member("TStreamerSTL", "list", "vector<Inner>", code::STREAMER);
    let infos = infos(&[("Inner", &[int("a"), int("b")]), ("Outer", &[int("n"), inner, of_inner])]);
    let made =
        |name: &str, split_level| tree(NewColumn { split_level, ..NewColumn::class(name, "Outer") }, &infos).unwrap();
    assert_eq!(names(&made("x", 0)), ["x"]);
    assert_eq!(names(&made("x", 1)), ["x", "n", "in", "list"]);
    assert_eq!(names(&made("x.", 99)), ["x.", "x.n", "x.in", "x.in.a", "x.in.b", "x.list", "x.list.a", "x.list.b"]);
    let split = made("x", 99);
    let last = split.branches.last().unwrap();
    assert_eq!((last.named.title.as_str(), last.element().unwrap().element_type), ("b[list_]", 41));
    assert_eq!(last.element().unwrap().branch_count, Some(split.branches[5].id));
    let mut ids: Vec<_> = split.branches.iter().map(|b| b.id).chain(split.leaves.iter().map(|leaf| leaf.id)).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), split.branches.len() + split.leaves.len());
    assert_eq!(ids.len(), split.graph.objects.len());
    crate::tree::write_tree(&split, 60).unwrap();
    let column = NewColumn::class("x", "Outer");
    let classes: Vec<String> = classes_of(&[column], &infos).unwrap().iter().map(|i| i.name.clone()).collect();
    assert_eq!(classes, ["Inner", "Outer"]);
}

#[test]
fn classes_that_hold_or_derive_from_themselves_end() {
    let twice = |name: &str| member("TStreamerObjectAny", name, "Self", code::ANY);
    let holds = infos(&[("Self", &[twice("a"), twice("b")])]);
    assert!(tree(NewColumn::class("x", "Self"), &holds).unwrap_err().to_string().contains("branches"));
    let base = |name: &str| member("TStreamerBase", name, "BASE", code::BASE);
    let derives = infos(&[("A", &[base("B"), base("B"), int("i")]), ("B", &[base("A"), base("A"), int("j")])]);
    assert!(tree(NewColumn::class("x", "A"), &derives).is_ok());
    assert!(tree(NewColumn::class("x", "vector<A>"), &derives).is_ok());
}

#[test]
fn undescribed_and_impossible_columns_are_errors() {
    let none = StreamerInfos::new();
    assert!(tree(NewColumn::class("x", "Unknown"), &none).is_err());
    let clones = NewKind::Class { type_name: "TClonesArray".to_owned(), clones: None };
    assert!(tree(NewColumn::new("x", clones), &none).is_err());
    assert!(tree(NewColumn { split_level: 100, ..NewColumn::class("x", "vector<int>") }, &none).is_err());
    assert!(tree(NewColumn::leaf("x", 'X'), &none).is_err());
    assert!(tree(NewColumn::new("x", NewKind::Leaves(Vec::new())), &none).is_err());
    assert!(tree(NewColumn::class("x", "map<string,vector<int> >"), &none).is_ok());
}
