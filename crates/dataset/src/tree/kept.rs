//! A tree without its entries, in a list beside the RNTuple that has them: the form in which a file keeps what a tree has and
//! an RNTuple has no place for. This module knows names and bytes of the list (docs/format/kept-trees.md), not what is worth
//! keeping.

use rootfile::object::{Content, ObjectId, ObjectWriter, Value};
use rootfile::{Key, Result, RootFile};

use super::model::{Branch, BranchKind, Leaf, Tree};
use super::{read, write};
use crate::layout::defaults;

/// The class of the list.
pub const KEPT_CLASS: &str = "TList";
/// The title of its key, by which it is recognised.
pub const KEPT_TITLE: &str = "basketry: the tree that an RNTuple was made from, without entries";
/// What the name of an RNTuple is followed by in the name of its list.
const SUFFIX: &str = ".tree";
/// The texts in the list: this and the name of a field, with the name of its branch; the name of the tree's key.
const FIELD: &str = "field:";
const KEY: &str = "key";

/// A tree without its entries.
#[derive(Debug)]
pub struct KeptTree {
    /// The tree.
    pub tree: Tree,
    /// Fields and their branches of the first level, where their names differ.
    pub fields: Vec<(String, String)>,
    /// The name of the tree's key, if it is not that of the RNTuple.
    pub key_name: Option<String>,
    /// How many further trees are in the list: another program has joined lists.
    pub further: usize,
}

/// The name of the list beside an RNTuple.
pub fn kept_name(ntuple: &str) -> String {
    format!("{ntuple}{SUFFIX}")
}

/// Whether a key is that of a list beside an RNTuple.
pub fn is_kept(key: &Key) -> bool {
    key.class == KEPT_CLASS && key.title == KEPT_TITLE && key.name.ends_with(SUFFIX)
}

/// Reads the tree in a list.
///
/// # Errors
///
/// If the list cannot be read, or if no tree is in it.
pub fn read_kept(file: &RootFile, key: &Key) -> Result<KeptTree> {
    let (tree, texts, further) = read::read_listed_tree(file, key)?;
    let named = |(name, title): &(String, String)| Some((name.strip_prefix(FIELD)?.to_owned(), title.clone()));
    let key_name = texts.iter().find(|(name, _)| name == KEY).map(|(_, title)| title.clone());
    Ok(KeptTree { fields: texts.iter().filter_map(named).collect(), tree, key_name, further })
}

/// The payload of the list, for a key of `keylen` bytes.
///
/// # Errors
///
/// If the record would exceed what ROOT can read.
pub fn write_kept(kept: &KeptTree, keylen: usize) -> Result<Vec<u8>> {
    let fields = kept.fields.iter().map(|(field, branch)| (format!("{FIELD}{field}"), branch.clone()));
    let key_name = kept.key_name.iter().map(|name| (KEY.to_owned(), name.clone()));
    let texts: Vec<(String, String)> = key_name.chain(fields).collect();
    write::write_listed_tree(&kept.tree, &texts, keylen)
}

impl KeptTree {
    /// The field of a branch of the first level, by the names of the branches before and including it.
    pub fn field_of<'a>(&'a self, branch: &'a str, earlier: usize) -> &'a str {
        let mut own = self.fields.iter().filter(|(_, of)| of == branch);
        own.nth(earlier).map_or(branch.trim_end_matches('.'), |(field, _)| field)
    }
}

impl Tree {
    /// The same tree without entries, and without what only describes how they are stored: sizes, baskets, clusters,
    /// compression, and extremes of leaves.
    #[must_use]
    pub fn without_entries(&self) -> Self {
        Self {
            class: self.class.clone(),
            named: self.named.clone(),
            branches: self.branches.iter().map(Branch::without_entries).collect(),
            top: self.top.clone(),
            leaves: self.leaves.iter().map(Leaf::without_entries).collect(),
            leaf_list: self.leaf_list.clone(),
            subclass: self.subclass.clone(),
            graph: self.graph.clone(),
            entries: 0,
            tot_bytes: 0,
            zip_bytes: 0,
            saved_bytes: 0,
            flushed_bytes: 0,
            default_entry_offset_len: defaults::ENTRY_OFFSET_LEN,
            auto_save: defaults::AUTO_SAVE,
            auto_flush: defaults::AUTO_FLUSH,
            cluster_ranges: Vec::new(),
            io_bits: 0,
            ..*self
        }
    }

    /// The bytes of the objects behind a pointer of the tree. Equal bytes are equal objects.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn bytes_of(&self, object: Option<ObjectId>) -> Result<Vec<u8>> {
        let mut writer = ObjectWriter::new(0, &self.graph);
        writer.pointer(object.filter(|id| !self.is_empty_list(*id)))?;
        Ok(writer.out.bytes)
    }

    fn is_empty_list(&self, id: ObjectId) -> bool {
        let content = self.graph.get(id).map(|object| &object.content);
        matches!(content, Some(Content::Collection(list)) if list.items.is_empty())
    }
}

impl Branch {
    fn without_entries(&self) -> Self {
        let kind = match &self.kind {
            BranchKind::Plain => BranchKind::Plain,
            BranchKind::Element(element) => {
                let mut element = element.clone();
                element.maximum = 0;
                BranchKind::Element(element)
            }
            BranchKind::Object { class_name } => BranchKind::Object { class_name: class_name.clone() },
            BranchKind::Ref { ref_table } => BranchKind::Ref { ref_table: *ref_table },
            BranchKind::Clones(clones) => BranchKind::Clones(clones.clone()),
        };
        let entry_offset_len = if self.entry_offset_len > 0 { defaults::ENTRY_OFFSET_LEN } else { 0 };
        Self {
            fill: self.fill,
            entry_offset_len,
            offset: self.offset,
            split_level: self.split_level,
            children: self.children.clone(),
            parent: self.parent,
            leaves: self.leaves.clone(),
            compress: defaults::COMPRESSION.to_root_setting(),
            basket_size: defaults::BASKET_SIZE,
            ..Self::new(self.id, self.named.clone(), kind)
        }
    }
}

impl Leaf {
    fn without_entries(&self) -> Self {
        let mut extra = self.extra.clone();
        if let Some(members) = extra.as_mut().and_then(|object| object.members_mut()) {
            for name in ["fMinimum", "fMaximum"] {
                match members.get_mut(name) {
                    Some(Value::Int(value)) => *value = 0,
                    Some(Value::UInt(value)) => *value = 0,
                    Some(Value::F32(value)) => *value = 0.0,
                    Some(Value::F64(value)) => *value = 0.0,
                    _ => {}
                }
            }
        }
        // The length of text is that of the longest one.
        let len = if self.class == "TLeafC" { 1 } else { self.len };
        Self { class: self.class.clone(), named: self.named.clone(), extra, len, ..*self }
    }
}
