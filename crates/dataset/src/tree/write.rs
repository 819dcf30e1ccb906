//! Writes a tree's record as ROOT 6 does: `TTree` version 20 with its parts, whatever version the tree was read from.
//! Member order and versions: `docs/format/ttree-history.md`, section 6.

use std::collections::{HashMap, HashSet};

use rootfile::object::{Named, ObjectWriter, TObject, write_tobject};
use rootfile::streamer::builtin;
use rootfile::tags::{begin_frame, end_frame};
use rootfile::{Error, Result};

use super::model::{Branch, BranchKind, Leaf, Tree};

/// Checksum of `ROOT::TIOFeatures`, which is written without a version.
const IO_FEATURES_CHECKSUM: u32 = 0x1AA1_2F10;
/// `TObject` bit of a collection that owns its objects.
const OWNER: u32 = 1 << 14;
/// Bytes in a record for each basket: a null pointer, fBasketBytes, fBasketEntry, fBasketSeek.
const BASKET_BYTES: usize = 4 + 4 + 8 + 8;
/// Bytes in a record for each branch besides, its leaf included (an estimate).
const BRANCH_BYTES: usize = 500;
/// ROOT gives the arrays of a branch at least this many slots.
const MIN_BASKETS: usize = 10;

/// The payload of the tree's record, for a key of `keylen` bytes.
///
/// # Errors
///
/// If the record would exceed what ROOT can read.
pub fn write_tree(tree: &Tree, keylen: usize) -> Result<Vec<u8>> {
    let mut w = ObjectWriter::new(keylen, &tree.graph);
    content(tree, &mut w)?;
    Ok(w.out.bytes)
}

/// The payload of a `TList` with a tree and, behind it, a `TNamed` for each text: its name and title.
///
/// # Errors
///
/// If the record would exceed what ROOT can read.
pub(super) fn write_listed_tree(tree: &Tree, texts: &[(String, String)], keylen: usize) -> Result<Vec<u8>> {
    let mut w = ObjectWriter::new(keylen, &tree.graph);
    let list = begin_frame(&mut w.out, 5);
    write_tobject(&mut w.out, 0, 0);
    w.out.string("");
    w.out.i32(len32(1 + texts.len())?);
    // Identities that no object of the tree has.
    let mut ids = tree.graph.objects.len()..;
    let mut id = || ids.next().unwrap_or(usize::MAX);
    let at = w.tags.begin_shared(&mut w.out, &tree.class, id());
    content(tree, &mut w)?;
    end_frame(&mut w.out, at);
    // The option of an item.
    w.out.string("");
    for (name, title) in texts {
        let at = w.tags.begin_shared(&mut w.out, "TNamed", id());
        w.named(&Named { name: name.clone(), title: title.clone(), ..Named::default() });
        end_frame(&mut w.out, at);
        w.out.string("");
    }
    end_frame(&mut w.out, list);
    Ok(w.out.bytes)
}

/// Writes the tree as an object.
fn content(tree: &Tree, w: Out) -> Result<()> {
    let leaf_by_id = tree.leaves.iter().enumerate().map(|(i, leaf)| (leaf.id, i)).collect();
    let mut writer = TreeWriter { tree, leaf_by_id };
    // Arrays are most of a large record; the rest is estimated.
    let baskets: usize = tree.branches.iter().map(|b| b.baskets.len().max(MIN_BASKETS)).sum();
    w.out.bytes.reserve(baskets * BASKET_BYTES + tree.branches.len() * BRANCH_BYTES);
    match &tree.subclass {
        Some(subclass) => w.object_around(subclass, &mut |w| writer.tree(w)),
        None => writer.tree(w),
    }
}

/// ROOT's own classes in a tree's record. A file with a tree must have their streamer infos.
pub fn classes(tree: &Tree) -> Vec<&'static str> {
    let mut classes = vec![
        "TTree",
        "TNamed",
        "TObject",
        "TAttLine",
        "TAttFill",
        "TAttMarker",
        "ROOT::TIOFeatures",
        "TBranch",
        "TLeaf",
        "TList",
        "TCollection",
        "TSeqCollection",
        "TString",
        "TBranchRef",
        "TRefTable",
        "TObjArray",
    ];
    let used: HashSet<&str> = (tree.leaves.iter().map(|leaf| leaf.class.as_str()))
        .chain(tree.branches.iter().map(|branch| -> &str { branch.class() }))
        .chain([tree.class.as_str()])
        .collect();
    for info in builtin::infos() {
        let name = info.name.as_str();
        if used.contains(name) && !classes.contains(&name) {
            classes.push(name);
        }
    }
    classes
}

struct TreeWriter<'a> {
    tree: &'a Tree,
    leaf_by_id: HashMap<usize, usize>,
}

type Out<'a, 'b> = &'a mut ObjectWriter<'b>;

fn len32(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| Error::request("more items than a ROOT array can count"))
}

/// Counts, which ROOT writes as `Long64_t`.
fn long(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn named(w: Out, named: &Named) {
    // Bits about the object in memory (on heap, not deleted) do not belong in a file.
    let object = TObject { bits: named.object.bits & !TObject::MEMORY_BITS, ..named.object };
    w.named(&Named { object, name: named.name.clone(), title: named.title.clone() });
}

fn att_fill(w: Out, fill: [i16; 2]) {
    let frame = begin_frame(&mut w.out, 2);
    w.out.i16(fill[0]);
    w.out.i16(fill[1]);
    end_frame(&mut w.out, frame);
}

fn io_features(w: Out, bits: u8) {
    let frame = begin_frame(&mut w.out, 0);
    w.out.u32(IO_FEATURES_CHECKSUM);
    w.out.u8(bits);
    end_frame(&mut w.out, frame);
}

/// Starts a `TObjArray` of `n` items; close it with [`end_frame`].
fn begin_array(w: Out, n: usize, bits: u32) -> Result<usize> {
    let frame = begin_frame(&mut w.out, 3);
    write_tobject(&mut w.out, 0, bits);
    w.out.string("");
    w.out.i32(len32(n)?);
    w.out.i32(0);
    Ok(frame)
}

impl TreeWriter<'_> {
    fn tree(&mut self, w: Out) -> Result<()> {
        let t = self.tree;
        let frame = begin_frame(&mut w.out, 20);
        named(w, &t.named);
        let line = begin_frame(&mut w.out, 2);
        t.attributes.line.iter().for_each(|v| w.out.i16(*v));
        end_frame(&mut w.out, line);
        att_fill(w, t.attributes.fill);
        let marker = begin_frame(&mut w.out, 3);
        t.attributes.marker.iter().for_each(|v| w.out.i16(*v));
        w.out.f32(t.attributes.marker_size);
        end_frame(&mut w.out, marker);
        for count in [t.entries, t.tot_bytes, t.zip_bytes, t.saved_bytes, t.flushed_bytes] {
            w.out.i64(long(count));
        }
        w.out.f64(t.weight);
        for value in [t.timer_interval, t.scan_field, t.update, t.default_entry_offset_len] {
            w.out.i32(value);
        }
        w.out.i32(len32(t.cluster_ranges.len())?);
        for value in [t.max_entries, t.max_entry_loop, t.max_virtual_size, t.auto_save, t.auto_flush, t.estimate] {
            w.out.i64(value);
        }
        w.out.u8(u8::from(!t.cluster_ranges.is_empty()));
        t.cluster_ranges.iter().for_each(|(end, _)| w.out.i64(*end));
        w.out.u8(u8::from(!t.cluster_ranges.is_empty()));
        t.cluster_ranges.iter().for_each(|(_, size)| w.out.i64(*size));
        io_features(w, t.io_bits);
        self.branches(w, &t.top)?;
        let leaves = begin_array(w, t.leaf_list.len(), 0)?;
        for &leaf in &t.leaf_list {
            self.leaf_pointer(w, leaf)?;
        }
        end_frame(&mut w.out, leaves);
        w.pointer(t.aliases)?;
        // fIndexValues and fIndex: arrays of the index before it became an object of its own.
        w.out.i32(0);
        w.out.i32(0);
        w.pointer(t.tree_index)?;
        w.pointer(t.friends)?;
        w.pointer(t.user_info)?;
        match t.branch_ref.and_then(|i| t.branches.get(i)) {
            Some(branch) => self.branch(w, branch)?,
            None => w.out.u32(0),
        }
        end_frame(&mut w.out, frame);
        Ok(())
    }

    fn branches(&mut self, w: Out, list: &[usize]) -> Result<()> {
        let array = begin_array(w, list.len(), OWNER)?;
        for branch in list.iter().filter_map(|&i| self.tree.branches.get(i)) {
            self.branch(w, branch).map_err(|e| e.object(format!("branch {}", branch.name())))?;
        }
        end_frame(&mut w.out, array);
        Ok(())
    }

    fn branch(&mut self, w: Out, branch: &Branch) -> Result<()> {
        let at = w.tags.begin_shared(&mut w.out, branch.class(), branch.id);
        match &branch.kind {
            BranchKind::Plain => self.plain(w, branch)?,
            BranchKind::Element(element) => {
                let frame = begin_frame(&mut w.out, 10);
                self.plain(w, branch)?;
                w.out.string(&element.class_name);
                w.out.string(&element.parent_name);
                w.out.string(&element.clones_name);
                w.out.u32(element.checksum);
                w.out.i16(element.class_version);
                for value in [element.element_id, element.element_type, element.streamer_type, element.maximum] {
                    w.out.i32(value);
                }
                for count in [element.branch_count, element.branch_count2] {
                    // A counter comes before what it counts; one that was dropped is null.
                    if !count.is_some_and(|id| w.tags.reference(&mut w.out, id)) {
                        w.out.u32(0);
                    }
                }
                end_frame(&mut w.out, frame);
            }
            BranchKind::Object { class_name } => {
                let frame = begin_frame(&mut w.out, 1);
                self.plain(w, branch)?;
                w.out.string(class_name);
                end_frame(&mut w.out, frame);
            }
            BranchKind::Ref { ref_table } => {
                let frame = begin_frame(&mut w.out, 1);
                self.plain(w, branch)?;
                w.pointer(*ref_table)?;
                end_frame(&mut w.out, frame);
            }
            BranchKind::Clones(_) => return Err(Error::unsupported("a TBranchClones cannot be written")),
        }
        end_frame(&mut w.out, at);
        Ok(())
    }

    fn plain(&mut self, w: Out, branch: &Branch) -> Result<()> {
        let frame = begin_frame(&mut w.out, 13);
        named(w, &branch.named);
        att_fill(w, branch.fill);
        w.out.i32(branch.compress);
        w.out.u32(branch.basket_size);
        w.out.i32(branch.entry_offset_len);
        let written = branch.baskets.len();
        w.out.i32(len32(written)?);
        w.out.i64(long(branch.entry_number));
        io_features(w, branch.io_bits);
        let slots = MIN_BASKETS.max(written + 1);
        w.out.i32(branch.offset);
        w.out.i32(len32(slots)?);
        w.out.i32(branch.split_level);
        for count in [branch.entries, branch.first_entry, branch.tot_bytes, branch.zip_bytes] {
            w.out.i64(long(count));
        }
        self.branches(w, &branch.children)?;
        let leaves = begin_array(w, branch.leaves.len(), OWNER)?;
        for &leaf in &branch.leaves {
            self.leaf_pointer(w, leaf)?;
        }
        end_frame(&mut w.out, leaves);
        // One null for each basket on file: readers put the baskets they load there.
        let baskets = begin_array(w, written, 0)?;
        w.out.bytes.resize(w.out.pos() + 4 * written, 0);
        end_frame(&mut w.out, baskets);
        let rest = slots - written;
        w.out.u8(1);
        branch.baskets.iter().for_each(|b| w.out.u32(b.nbytes));
        w.out.bytes.resize(w.out.pos() + 4 * rest, 0);
        w.out.u8(1);
        branch.baskets.iter().for_each(|b| w.out.i64(long(b.first_entry)));
        w.out.i64(long(branch.entry_number));
        w.out.bytes.resize(w.out.pos() + 8 * (rest - 1), 0);
        w.out.u8(1);
        branch.baskets.iter().for_each(|b| w.out.i64(long(b.seek)));
        w.out.bytes.resize(w.out.pos() + 8 * rest, 0);
        w.out.string(&branch.file_name);
        end_frame(&mut w.out, frame);
        Ok(())
    }

    fn leaf_pointer(&mut self, w: Out, leaf: usize) -> Result<()> {
        let Some(leaf) = self.tree.leaves.get(leaf) else {
            w.out.u32(0);
            return Ok(());
        };
        if w.tags.reference(&mut w.out, leaf.id) {
            return Ok(());
        }
        let at = w.tags.begin_shared(&mut w.out, &leaf.class, leaf.id);
        match &leaf.extra {
            Some(extra) => w.object_around(extra, &mut |w| self.leaf(w, leaf))?,
            None => self.leaf(w, leaf)?,
        }
        end_frame(&mut w.out, at);
        Ok(())
    }

    fn leaf(&mut self, w: Out, leaf: &Leaf) -> Result<()> {
        let frame = begin_frame(&mut w.out, 2);
        named(w, &leaf.named);
        for value in [leaf.len, leaf.len_type, leaf.offset] {
            w.out.i32(value);
        }
        w.out.u8(u8::from(leaf.is_range));
        w.out.u8(u8::from(leaf.is_unsigned));
        match leaf.leaf_count.and_then(|id| self.leaf_by_id.get(&id).copied()) {
            Some(counter) => self.leaf_pointer(w, counter)?,
            None => w.out.u32(0),
        }
        end_frame(&mut w.out, frame);
        Ok(())
    }
}
