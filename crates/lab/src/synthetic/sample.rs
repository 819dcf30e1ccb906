//! A small generated file for self-checks and tests: a tree with a counter `n`, floats `v[n]` and a double `x`, and an
//! object. Values follow from the entry number and a seed.

use std::path::Path;
use std::sync::Arc;

use dataset::tree::basket::BasketHeader;
use dataset::tree::model::{Branch, BranchKind, Leaf, Tree};
use dataset::tree::{BasketRef, write_tree};
use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::object::{Content, Members, Named, Object, Plan, Value};
use rootfile::streamer::builtin;
use rootfile::{Error, FileWriter, Result};

/// Entries of each basket.
pub const BASKET: u64 = 64;
/// Entries of each cluster.
pub const CLUSTER: i64 = 256;
/// Names of its branches.
pub const BRANCHES: [&str; 3] = ["n", "v", "x"];

fn named(name: &str, title: &str) -> Named {
    Named { name: name.to_owned(), title: title.to_owned(), ..Named::default() }
}

/// The members that `TLeafI` and its like add: minimum and maximum.
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

/// The values of an entry: `v` with `n` items, and `x`.
pub fn values(entry: u64, seed: u32) -> (Vec<f32>, f64) {
    #[expect(clippy::cast_precision_loss, reason = "entries of a small file")]
    let x = f64::from(seed) + entry as f64;
    ((0..8).zip(0..entry % 8).map(|(k, _)| f32::from_bits(seed.wrapping_add(k))).collect(), x)
}

/// The bytes of an entry of each branch.
fn bytes(entry: u64, seed: u32) -> [Vec<u8>; 3] {
    let (v, x) = values(entry, seed);
    let n = u32::try_from(v.len()).unwrap_or(0);
    [n.to_be_bytes().to_vec(), v.iter().flat_map(|v| v.to_be_bytes()).collect(), x.to_be_bytes().to_vec()]
}

/// Writes the file.
pub fn make(path: &Path, count: u64, seed: u32) -> Result<()> {
    let mut writer = FileWriter::create(path, true, 0, 0x6000_0000, "")?;
    let top = writer.top();
    let mut tree = empty_tree(count);
    for (b, branch) in tree.branches.iter_mut().enumerate() {
        let mut first = 0;
        while first < count {
            let held = BASKET.min(count - first);
            let seek = writer.position();
            let entries = (first..first + held).filter_map(|i| bytes(i, seed).into_iter().nth(b));
            let (record, raw) = basket(branch, seek, entries)?;
            let nbytes = small(record.len())?;
            writer.append(&record)?;
            branch.baskets.push(BasketRef { first_entry: first, entries: held, seek, nbytes });
            branch.tot_bytes += raw;
            branch.zip_bytes += u64::from(nbytes);
            first += held;
        }
    }
    tree.tot_bytes = tree.branches.iter().map(|branch| branch.tot_bytes).sum();
    tree.zip_bytes = tree.branches.iter().map(|branch| branch.zip_bytes).sum();
    let labels = ("TTree", "t", "a sample");
    writer.write_object(top, labels, Compression::NONE, |keylen| write_tree(&tree, keylen))?;
    let mut note = Writer::new();
    note.raw(&[0x40, 0, 0, 17, 0, 1, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0]);
    note.string("note");
    note.string("");
    writer.write_object(top, ("TNamed", "note", "kept"), Compression::NONE, |_| Ok(note.bytes))?;
    for info in builtin::infos() {
        writer.infos_mut().add(Arc::clone(info));
    }
    writer.finish()?;
    Ok(())
}

fn small(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::request("a sample of more than 4 GB"))
}

/// The record of a basket, and its bytes with the key.
fn basket(branch: &Branch, seek: u64, entries: impl Iterator<Item = Vec<u8>>) -> Result<(Vec<u8>, u64)> {
    let mut header = BasketHeader::new(branch.name(), "t", seek, 100);
    let keylen = header.keylen();
    let (mut data, mut offsets) = (Vec::new(), Vec::new());
    for entry in entries {
        offsets.push(small(keylen + data.len())?);
        data.extend(entry);
    }
    header.nev_buf = small(offsets.len())?;
    header.last = small(keylen + data.len())?;
    if branch.entry_offset_len > 0 {
        data.extend((header.nev_buf + 1).to_be_bytes());
        data.extend(offsets.iter().chain([&0]).flat_map(|o| o.to_be_bytes()));
    }
    header.key.objlen = small(data.len())?;
    header.key.nbytes = small(keylen + data.len())?;
    let mut w = Writer::new();
    header.write(&mut w);
    w.bytes.resize(keylen, 0);
    w.raw(&data);
    let raw = w.bytes.len() as u64;
    Ok((w.bytes, raw))
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
    let branch = |(id, name): (usize, &str), title: &str| Branch {
        basket_size: 32000,
        entry_offset_len: if name == "v" { 1000 } else { 0 },
        entry_number: count,
        entries: count,
        leaves: vec![id],
        ..Branch::new(id, named(name, title), BranchKind::Plain)
    };
    Tree {
        entries: count,
        auto_flush: CLUSTER,
        branches: BRANCHES
            .iter()
            .enumerate()
            .zip(["n/I", "v[n]/F", "x/D"])
            .map(|((id, name), title)| branch((id, name), title))
            .collect(),
        top: vec![0, 1, 2],
        leaves: vec![
            leaf(10, "n", "n", "TLeafI", 4),
            leaf(11, "v", "v[n]", "TLeafF", 4),
            leaf(12, "x", "x", "TLeafD", 8),
        ],
        leaf_list: vec![0, 1, 2],
        ..Tree::new(named("t", "a sample"))
    }
}
