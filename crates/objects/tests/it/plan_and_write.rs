//! The objects of two files in one: order, directories, cycles, and objects that are kept beside merged ones.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use objects::{Action, ObjectCompression, plan_objects, process_ids};
use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::object::{TObject, write_tnamed, write_tobject};
use rootfile::tags::{begin_frame, end_frame};
use rootfile::{FileWriter, RootFile};

/// A `TParameter<int>`: its `TObject`, name and value.
fn parameter(name: &str, value: i32) -> Vec<u8> {
    let mut w = Writer::new();
    let frame = begin_frame(&mut w, 2);
    write_tobject(&mut w, 0, 0);
    w.string(name);
    w.i32(value);
    end_frame(&mut w, frame);
    w.bytes
}

fn named(name: &str, title: &str) -> Vec<u8> {
    let mut w = Writer::new();
    write_tnamed(&mut w, &TObject::default(), name, title);
    w.bytes
}

fn make(folder: &Path, number: i32, mixed: &str) -> PathBuf {
    let path = folder.join(format!("in{number}.root"));
    let mut file = FileWriter::create(&path, false, 0, 0, "").unwrap();
    let below = file.mkdir(file.top(), "below", &format!("of file {number}")).unwrap();
    let mut put = |directory, class: &str, name: &str, payload: Vec<u8>| {
        file.write_object(directory, (class, name, ""), Compression::NONE, |_| Ok(payload)).unwrap();
    };
    put(below, "TParameter<int>", "sum", parameter("sum", number));
    put(below, "TNamed", &format!("only{number}"), named("only", ""));
    for age in ["old", "new"] {
        put(below, "TNamed", "cycles", named("cycles", &format!("{age} {number}")));
    }
    let payload = if mixed == "TNamed" { named("mixed", "") } else { parameter("mixed", 1) };
    put(below, mixed, "mixed", payload);
    file.finish().unwrap();
    path
}

/// The name and class, cycles, and last bytes of each object in `below`, as listed.
fn listed(file: &RootFile) -> Vec<(String, i16, u8)> {
    let walk = file.walk();
    let below = walk.directories.iter().find(|d| d.path == "below").unwrap();
    let last = |key| file.payload(key).unwrap().last().copied().unwrap();
    below.keys.iter().map(|key| (format!("{} {}", key.class, key.name), key.cycle, last(key))).collect()
}

#[test]
fn two_files_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [make(folder.path(), 1, "TParameter<int>"), make(folder.path(), 2, "TNamed")];
    let files: Vec<RootFile> = paths.iter().map(|p| RootFile::open(p).unwrap()).collect();
    let plan = plan_objects(&files).unwrap();
    assert_eq!(plan.directories.iter().map(|d| d.path.as_str()).collect::<Vec<_>>(), ["", "below"]);
    assert_eq!(plan.directories[1].title, "of file 1");
    let names: Vec<&str> = plan.directories[1].entries.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["sum", "only1", "cycles", "mixed", "only2", "mixed"]);
    assert!(matches!(&plan.directories[1].entries[0].action, Action::Merge(parts) if parts.len() == 2));
    assert!(matches!(&plan.directories[1].entries[2].action, Action::KeepAll(parts) if parts.len() == 4));
    assert_eq!(plan.problems.len(), 1, "{:?}", plan.problems);
    assert_eq!(plan.problems[0].path, "below/mixed");

    for pack in [ObjectCompression::Keep, ObjectCompression::As(Compression::from_root_setting(505).unwrap())] {
        let out = folder.path().join("out.root");
        let mut writer = FileWriter::create(&out, true, 0, 0, "").unwrap();
        let written = plan.write_objects(&mut writer, &files, pack, &[0, 0]).unwrap();
        writer.finish().unwrap();
        assert_eq!(written.problems, plan.problems);
        let kept = listed(&RootFile::open(&out).unwrap());
        let cycles: Vec<(i16, u8)> = kept.iter().filter(|o| o.0 == "TNamed cycles").map(|o| (o.1, o.2)).collect();
        assert_eq!(cycles, [(4, b'2'), (3, b'2'), (2, b'1'), (1, b'1')], "the newest first");
        assert!(kept.contains(&("TParameter<int> sum".to_owned(), 1, 3)));
        assert_eq!(kept.iter().filter(|o| o.0.ends_with("mixed")).count(), 2);
    }
}

#[test]
fn one_file_keeps_all_objects() {
    let folder = tempfile::tempdir().unwrap();
    let files = [RootFile::open(make(folder.path(), 1, "TNamed")).unwrap()];
    let plan = plan_objects(&files).unwrap();
    let merged = plan.directories.iter().flat_map(|d| &d.entries).filter(|e| matches!(e.action, Action::Merge(_)));
    assert_eq!(merged.count(), 0);
    let out = folder.path().join("out.root");
    let mut writer = FileWriter::create(&out, false, 0, 0, "").unwrap();
    plan.write_objects(&mut writer, &files, ObjectCompression::Keep, &[0]).unwrap();
    process_ids::write(&mut writer, &[process_ids::ProcessId { uuid: "a-uuid".to_owned() }]).unwrap();
    writer.finish().unwrap();
    let file = RootFile::open(&out).unwrap();
    assert_eq!(listed(&file), listed(&files[0]));
    assert_eq!(process_ids::read(&file)[0].uuid, "a-uuid");
}
