//! Metadata of a tree that refer to entries by number or to branches by position: its index, and its table of references.
//! They are kept right when trees are joined or entries are selected.
//!
//! Friends, aliases and user info do not refer to entries: see [`attached`](super::attached).

use dataset::EntrySet;
use dataset::tree::{BranchKind, IndexLine, Tree, TreeIndex};
use rootfile::Result;
use rootfile::object::{Content, Value};

use super::attached::{Alias, AliasConflicts, named_in};
use crate::execute::order::Order;

/// Makes the lines of an index of these expressions for one input, by its place among the inputs of the tree. The inner error says
/// why there can be none.
pub(crate) type MakeIndex<'a> = &'a dyn Fn(usize, &[String; 2]) -> Result<std::result::Result<Vec<IndexLine>, String>>;

/// The index and the table of references of the trees so far.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    /// The lines of those inputs that have an index.
    index: Option<TreeIndex>,
    /// First entries of inputs without an index.
    without: Vec<u64>,
    /// Why there is no index of all.
    no_index: Option<String>,
    /// Whether the inputs' tables of references differ.
    refs_differ: bool,
    joined: bool,
    /// Whether the entries are in another order.
    reordered: bool,
}

impl Relations {
    /// The relations of the first tree.
    pub fn of(tree: &Tree) -> Self {
        let mut relations = Self::default();
        relations.add_index(tree, 0);
        relations
    }

    /// Adds a tree whose entry 0 is entry `base` of the joined one.
    pub fn join(&mut self, first: &Tree, other: &Tree, base: u64) {
        self.joined = true;
        self.add_index(other, base);
        self.refs_differ |= match (table(first), table(other)) {
            (Some(first), Some(other)) => first != other,
            (None, Some(_)) => true,
            (_, None) => false,
        };
    }

    fn add_index(&mut self, tree: &Tree, base: u64) {
        match index_of(tree) {
            Some(more) => {
                let index = self.index.get_or_insert_with(|| more.without_lines());
                if index.is_like(&more) {
                    index.append(&more.lines, base);
                } else {
                    self.no_index.get_or_insert_with(|| "the inputs' indices have different expressions".to_owned());
                }
            }
            None if tree.tree_index.is_some() => {
                self.no_index.get_or_insert_with(|| "that of an input cannot be read".to_owned());
            }
            None if tree.entries > 0 => self.without.push(base),
            None => {}
        }
    }

    /// Makes the index for inputs that have none, if others have one. Without `make` there will be no index.
    pub fn complete(
        &mut self,
        input_entries: &[u64],
        make: Option<MakeIndex<'_>>,
        path: &str,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let Some(index) = self.index.as_mut().filter(|_| self.no_index.is_none() && !self.without.is_empty()) else {
            return Ok(());
        };
        let Some(make) = make else {
            self.no_index = Some("not all inputs have one".to_owned());
            return Ok(());
        };
        let mut first = 0;
        let mut made = 0;
        for (place, entries) in input_entries.iter().enumerate() {
            if *entries > 0 && self.without.binary_search(&first).is_ok() {
                match make(place, index.expressions())? {
                    Ok(lines) => index.append(&lines, first),
                    Err(why) => {
                        self.no_index = Some(format!("not all inputs have one, and {why}"));
                        return Ok(());
                    }
                }
                made += 1;
            }
            first = first.saturating_add(*entries);
        }
        let [major, minor] = index.expressions();
        let inputs = if made == 1 { "an input that has" } else { "inputs that have" };
        notes.push(format!("tree {path}: its index (TTreeIndex) is made from {major} and {minor} for {inputs} none"));
        Ok(())
    }

    /// Gives the index the numbers of rows in another order of the entries. It is left out where rows are no entries: it would not find them.
    pub fn reorder(&mut self, order: &Order) -> Result<()> {
        self.reordered = true;
        let Some(index) = self.index.as_mut().filter(|_| self.no_index.is_none()) else { return Ok(()) };
        if order.has_missing() {
            self.no_index = Some("not all entries are of the inputs".to_owned());
            return Ok(());
        }
        let rows = order.rows_of_entries()?;
        index.keep(|entry| usize::try_from(entry).ok().and_then(|entry| rows.get(entry).copied()).flatten());
        Ok(())
    }

    /// Leaves the index out if its values are not those of the joined or selected entries: it names an alias that the inputs do not have
    /// alike, or counts entries, which have other numbers now.
    pub fn check_values(&mut self, aliases: &[Alias], conflicts: &AliasConflicts, is_selected: bool) {
        let Some(index) = self.index.as_ref().filter(|_| self.joined || is_selected) else { return };
        let used = named_in(index.expressions(), aliases);
        let conflict = conflicts.iter().find(|(name, _)| used.contains(*name));
        if let Some((name, what)) = conflict {
            self.no_index = Some(format!("alias {name} {what}"));
        } else if used.iter().any(|text| text.contains("Entry$")) {
            self.no_index = Some("the numbers of entries (Entry$) are others".to_owned());
        }
    }

    /// Memory of the index, here and in the record, in bytes.
    pub fn memory(&self) -> u64 {
        self.index.as_ref().map_or(0, |index| TreeIndex::memory(index.lines.len() as u64))
    }

    /// Whether the table of references must be left out.
    pub fn refs_differ(&self) -> bool {
        self.refs_differ
    }

    /// Puts the index of the joined or selected entries into the tree.
    pub fn finish(self, tree: &mut Tree, selected: Option<&EntrySet>, path: &str, notes: &mut Vec<String>) {
        match (self.index, self.no_index) {
            _ if !self.joined && selected.is_none() && !self.reordered => {}
            (Some(mut index), None) => {
                if let Some(selected) = selected {
                    index.keep(|entry| selected.contains(entry).then(|| selected.rank(entry)));
                }
                tree.set_index(index);
            }
            (_, Some(why)) => {
                tree.tree_index = None;
                notes.push(format!("tree {path}: its index (TTreeIndex) is left out: {why}; BuildIndex makes it anew"));
            }
            (None, None) => {}
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
