//! Makes a small file with a tree: a counter `n`, floats `v[n]`, a double `x`, and an object beside it.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use dataset::tree::basket::BasketHeader;
use dataset::tree::model::{Attributes, Branch, BranchKind, Leaf, Tree};
use dataset::tree::{BasketRef, write_tree};
use rootfile::FileWriter;
use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::object::{Content, Graph, Members, Named, Object, Plan, Value};
use rootfile::streamer::builtin;

/// Entries of each basket.
const BASKET: u64 = 64;

fn named(name: &str, title: &str) -> Named {
    Named { name: name.to_owned(), title: title.to_owned(), ..Named::default() }
}

/// What `TLeafI` and its kin add: extremes.
fn extremes(class: &str) -> Option<Object> {
    let info = builtin::infos().iter().find(|info| info.name == class)?;
    let plan = Arc::new(Plan::new(info));
    let number = |n: i8| match class {
        "TLeafF" => Value::F32(n.into()),
        "TLeafD" => Value::F64(n.into()),
        _ => Value::Int(n.into()),
    };
    let values = vec![Value::Int(0), number(0), number(7)];
    Some(Object { class: class.into(), version: 1, content: Content::Members(Members { plan, values }) })
}

/// The bytes of entry `i` of each branch.
fn entries(i: u64, seed: u32) -> [Vec<u8>; 3] {
    let n = u32::try_from(i % 8).unwrap();
    let v = (0..n).flat_map(|k| (seed + k).to_be_bytes()).collect();
    [n.to_be_bytes().to_vec(), v, (f64::from(seed) + i as f64).to_be_bytes().to_vec()]
}

/// Writes the file. `seed` is in all of its values.
pub fn make(path: &Path, count: u64, seed: u32) {
    let mut writer = FileWriter::create(path, true, 0, 0x6000_0000, "").unwrap();
    let top = writer.top();
    let mut tree = empty_tree(count);
    for (b, branch) in ["n", "v", "x"].into_iter().enumerate() {
        let mut baskets = Vec::new();
        for first in (0..count).step_by(BASKET as usize) {
            let held = BASKET.min(count - first);
            let seek = writer.position();
            let record = basket(branch, b == 1, seek, (first..first + held).map(|i| entries(i, seed)[b].clone()));
            let nbytes = u32::try_from(record.len()).unwrap();
            writer.append(&record).unwrap();
            baskets.push(BasketRef { first_entry: first, entries: held, seek, nbytes });
        }
        tree.branches[b].baskets = baskets;
    }
    let labels = ("TTree", "t", "a sample");
    writer.write_object(top, labels, Compression::NONE, |keylen| write_tree(&tree, keylen)).unwrap();
    let mut note = Writer::new();
    note.raw(&[0x40, 0, 0, 17, 0, 1, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0]);
    note.string("note");
    note.string("");
    writer.write_object(top, ("TNamed", "note", "kept"), Compression::NONE, |_| Ok(note.bytes)).unwrap();
    for info in builtin::infos() {
        writer.infos_mut().add(Arc::clone(info));
    }
    writer.finish().unwrap();
}

fn basket(branch: &str, varying: bool, seek: u64, entries: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut header = BasketHeader::new(branch, "t", seek, 100);
    let keylen = header.keylen();
    let (mut data, mut offsets) = (Vec::new(), Vec::new());
    for entry in entries {
        offsets.push(u32::try_from(keylen + data.len()).unwrap());
        data.extend(entry);
    }
    header.nev_buf = u32::try_from(offsets.len()).unwrap();
    header.last = u32::try_from(keylen + data.len()).unwrap();
    if varying {
        data.extend((header.nev_buf + 1).to_be_bytes());
        data.extend(offsets.iter().chain([&0]).flat_map(|o| o.to_be_bytes()));
    }
    header.key.objlen = u32::try_from(data.len()).unwrap();
    header.key.nbytes = u32::try_from(keylen + data.len()).unwrap();
    let mut w = Writer::new();
    header.write(&mut w);
    w.bytes.resize(keylen, 0);
    w.raw(&data);
    w.bytes
}

fn empty_tree(count: u64) -> Tree {
    let leaf = |id: usize, name: &str, title: &str, class: &str, len_type: i32| Leaf {
        id,
        class: class.to_owned(),
        named: named(name, title),
        len: 1,
        len_type,
        offset: 0,
        is_range: name == "n",
        is_unsigned: false,
        leaf_count: (name == "v").then_some(10),
        extra: extremes(class),
        branch: id - 10,
    };
    let branch = |id: usize, name: &str, title: &str| Branch {
        id,
        named: named(name, title),
        fill: [0, 1001],
        compress: 0,
        basket_size: 32000,
        entry_offset_len: if name == "v" { 1000 } else { 0 },
        io_bits: 0,
        offset: 0,
        split_level: 0,
        entry_number: count,
        entries: count,
        first_entry: 0,
        tot_bytes: 0,
        zip_bytes: 0,
        file_name: String::new(),
        children: Vec::new(),
        parent: None,
        leaves: vec![id],
        baskets: Vec::new(),
        embedded: Vec::new(),
        kind: BranchKind::Plain,
    };
    Tree {
        class: "TTree".to_owned(),
        named: named("t", "a sample"),
        attributes: Attributes::default(),
        entries: count,
        tot_bytes: 0,
        zip_bytes: 0,
        saved_bytes: 0,
        flushed_bytes: 0,
        weight: 1.0,
        timer_interval: 0,
        scan_field: 25,
        update: 0,
        default_entry_offset_len: 1000,
        max_entries: 1_000_000_000_000,
        max_entry_loop: 1_000_000_000_000,
        max_virtual_size: 0,
        auto_save: -300_000_000,
        auto_flush: 256,
        estimate: 1_000_000,
        cluster_ranges: Vec::new(),
        io_bits: 0,
        branches: vec![branch(0, "n", "n/I"), branch(1, "v", "v[n]/F"), branch(2, "x", "x/D")],
        top: vec![0, 1, 2],
        leaves: vec![
            leaf(10, "n", "n", "TLeafI", 4),
            leaf(11, "v", "v[n]", "TLeafF", 4),
            leaf(12, "x", "x", "TLeafD", 8),
        ],
        leaf_list: vec![0, 1, 2],
        branch_ref: None,
        aliases: None,
        tree_index: None,
        friends: None,
        user_info: None,
        subclass: None,
        graph: Graph::default(),
    }
}
