//! Programs of classes, run over bytes made by hand.

use std::sync::Arc;

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, parse_record, write_record};

use super::class::Classes;
use crate::decode::program::learned::LearnedClasses;
use crate::decode::program::types::Shape;
use crate::decode::run::column::Column;
use crate::decode::run::interpreter::Interpreter;

fn member(class: &str, name: &str, type_name: &str, type_code: i32) -> StreamerElement {
    let kind = if class == "TStreamerBase" { ElementKind::Base { version: 1 } } else { ElementKind::Plain };
    StreamerElement { kind, ..StreamerElement::new(class, name, type_name, type_code) }
}

fn version(class: &str, version: i32, elements: Vec<StreamerElement>) -> Arc<StreamerInfo> {
    let checksum = 0xABC0_0000 + version.cast_unsigned();
    let (name, title) = (class.to_owned(), String::new());
    Arc::new(StreamerInfo { name, title, version, checksum, bits: 0, form: 9, elements })
}

/// Version 1 has an int and a float, version 2 a base, the number as a double, and a string.
fn infos() -> StreamerInfos {
    let basic = "TStreamerBasicType";
    let old = vec![member(basic, "x", "int", 3), member(basic, "gone", "float", 5)];
    let new = vec![
        member("TStreamerBase", "Base", "BASE", 0),
        member(basic, "x", "double", 8),
        member("TStreamerString", "s", "TString", 65),
    ];
    let mut infos = StreamerInfos::new();
    infos.add(version("Base", 1, vec![member(basic, "b", "short", 2)]));
    infos.add(version("A", 1, old));
    infos.add(version("A", 2, new));
    infos
}

#[test]
fn versions_are_read_into_one_record() {
    let (infos, learned) = (infos(), LearnedClasses::default());
    let mut classes = Classes::new(&infos, &learned);
    let (shape, op) = classes.object("A", Some((2, 0))).unwrap();
    let mut column = Column::new(&shape, 2);
    let old = [0x40, 0, 0, 10, 0, 1, 0, 0, 0, 7, 0x3F, 0x80, 0, 0];
    let new =
        [&[0x40, 0, 0, 20, 0, 2, 0x40, 0, 0, 4, 0, 1, 0, 9][..], &2.5f64.to_be_bytes()[..], &[1, b'!'][..]].concat();
    for bytes in [&old[..], &new[..]] {
        Interpreter::new(bytes, &classes.readers, classes.slots()).read(&op, 1, &mut column).unwrap();
    }
    let text = format!("{:?}", column.finish().unwrap()).replace([' ', '\n'], "");
    assert!(text.contains(r#""b"(Int16)PrimitiveArray<Int16>[0,9,]"#), "{text}");
    assert!(text.contains(r#""x"(Float64)PrimitiveArray<Float64>[7.0,2.5,]"#), "{text}");
    assert!(text.contains(r#""s"(LargeUtf8)LargeStringArray["","!",]"#), "{text}");
    assert!(!text.contains("gone"), "{text}");
}

#[test]
fn objects_that_do_not_end_where_they_say_are_errors() {
    let (infos, learned) = (infos(), LearnedClasses::default());
    let mut classes = Classes::new(&infos, &learned);
    let (shape, op) = classes.object("A", Some((2, 0))).unwrap();
    let short = [0x40, 0, 0, 9, 0, 1, 0, 0, 0, 7, 0x3F, 0x80, 0, 0];
    let error = Interpreter::new(&short, &classes.readers, 0).read(&op, 1, &mut Column::new(&shape, 0)).unwrap_err();
    assert!(error.to_string().contains("ends at 13"), "{error}");
    let unknown = [0x40, 0, 0, 2, 0, 9];
    let error = Interpreter::new(&unknown, &classes.readers, 0).read(&op, 1, &mut Column::new(&shape, 0)).unwrap_err();
    assert!(error.to_string().contains("version 9"), "{error}");
}

#[test]
fn member_wise_containers_of_root_4_say_no_version_of_their_class() {
    let infos = infos();
    let learned = LearnedClasses::default();
    let mut classes = Classes::new(&infos, &learned);
    let e = StreamerElement {
        kind: ElementKind::Stl { stl_type: 1, content_type: 61 },
        ..member("TStreamerSTL", "v", "vector<A>", 500)
    };
    let holder = version("Holder", 1, vec![e.clone()]);
    let (shape, op) = classes.member(&holder, &e).unwrap();
    let body = [&[0, 0, 0, 2, 0, 3, 0, 4][..], &1.5f64.to_be_bytes(), &2.5f64.to_be_bytes(), &[1, b'a', 0]].concat();
    for header in [&[0x40, 7][..], &[0x40, 9, 0, 2]] {
        let count = u32::try_from(header.len() + body.len()).unwrap() | 0x4000_0000;
        let bytes = [&count.to_be_bytes()[..], header, &body].concat();
        let mut column = Column::new(&shape, 1);
        Interpreter::new(&bytes, &classes.readers, classes.slots()).read(&op, 1, &mut column).unwrap();
        let text = format!("{:?}", column.finish().unwrap()).replace([' ', '\n'], "");
        assert!(text.contains(r#""b"(Int16)PrimitiveArray<Int16>[3,4,]"#), "{text}");
        assert!(text.contains(r#""x"(Float64)PrimitiveArray<Float64>[1.5,2.5,]"#), "{text}");
    }
}

#[test]
fn a_class_that_contains_itself_is_bytes_inside() {
    let info = version("Node", 1, vec![member("TStreamerObjectAny", "child", "Node", 62)]);
    let infos = parse_record(&write_record(&[info], 64), 64).unwrap();
    let (mut known, learned) = (StreamerInfos::new(), LearnedClasses::default());
    infos.into_iter().for_each(|info| known.add(Arc::new(info)));
    let (shape, _) = Classes::new(&known, &learned).object("Node", None).unwrap();
    assert_eq!(shape, Shape::Record(vec![("child".to_owned(), Shape::Bytes)]));
}
