//! Metadata of a tree that refer to entries by number or to branches by position: its index, and its table of references.
//! They are kept right when trees are joined or entries are selected.
//!
//! Friends, aliases and user info do not refer to entries; as in hadd, those of the first input are kept.

use dataset::EntrySet;
use dataset::tree::{BranchKind, Tree, TreeIndex};
use rootfile::object::{Content, Value};

/// The index and the table of references of the trees so far.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    index: Option<TreeIndex>,
    /// Whether some tree had an index.
    had_index: bool,
    /// Whether the inputs' tables of references differ.
    refs_differ: bool,
    joined: bool,
}

impl Relations {
    /// The relations of the first tree.
    pub fn of(tree: &Tree) -> Self {
        Self { index: index_of(tree), had_index: tree.tree_index.is_some(), ..Self::default() }
    }

    /// Adds a tree whose entry 0 is entry `base` of the joined one.
    pub fn join(&mut self, first: &Tree, other: &Tree, base: u64) {
        self.joined = true;
        self.had_index |= other.tree_index.is_some();
        self.index = match (self.index.take(), index_of(other)) {
            (Some(mut index), Some(more)) if index.is_like(&more) => {
                index.append(&more, base);
                Some(index)
            }
            _ => None,
        };
        self.refs_differ |= match (table(first), table(other)) {
            (Some(first), Some(other)) => first != other,
            (None, Some(_)) => true,
            (_, None) => false,
        };
    }

    /// Memory of the index, here and in the record, in bytes.
    pub fn memory(&self) -> u64 {
        self.index.as_ref().map_or(0, |index| index.lines.len() as u64 * 48)
    }

    /// Whether the table of references must be left out.
    pub fn refs_differ(&self) -> bool {
        self.refs_differ
    }

    /// Puts the index of the joined or selected entries into the tree.
    pub fn finish(self, tree: &mut Tree, selected: Option<&EntrySet>, path: &str, notes: &mut Vec<String>) {
        match self.index {
            _ if !self.joined && selected.is_none() => {}
            Some(mut index) => {
                if let Some(selected) = selected {
                    index.keep(|entry| selected.contains(entry).then(|| selected.rank(entry)));
                }
                if let Some(slot) = tree.tree_index.and_then(|id| tree.graph.objects.get_mut(id)) {
                    *slot = Some(index.object());
                }
            }
            None if self.had_index => {
                tree.tree_index = None;
                notes.push(format!(
                    "tree {path}: its index (TTreeIndex) is left out: not all inputs have one over the same \
                     expressions; BuildIndex makes it anew"
                ));
            }
            None => {}
        }
        if self.refs_differ {
            notes.push(format!(
                "tree {path}: its table of references (TBranchRef) is left out: the inputs' tables differ; TRef \
                 finds objects of branches that were read, but reads none by itself"
            ));
        }
    }
}

/// The index, if it can be read.
fn index_of(tree: &Tree) -> Option<TreeIndex> {
    TreeIndex::of(tree).ok().flatten()
}

/// The meaning of the numbers in a table of references: names of branches, and process identifiers.
fn table(tree: &Tree) -> Option<(Vec<String>, Option<&Value>)> {
    let branch = tree.branches.get(tree.branch_ref?)?;
    let BranchKind::Ref { ref_table } = &branch.kind else { return None };
    let Some(members) = ref_table.and_then(|id| tree.graph.get(id)).and_then(|table| table.members()) else {
        return Some((Vec::new(), None));
    };
    let parents = members.get("fParents").and_then(Value::as_pointer).and_then(|id| tree.graph.get(id));
    let items = match parents.map(|parents| &parents.content) {
        Some(Content::Collection(collection)) => collection.items.as_slice(),
        _ => &[],
    };
    let places = tree.places();
    let name = |id: &Option<usize>| {
        let branch = id.and_then(|id| tree.branches.get(places.branch(id)?));
        branch.map_or_else(String::new, |b| b.name().to_owned())
    };
    Some((items.iter().map(name).collect(), members.get("fProcessGUIDs")))
}
