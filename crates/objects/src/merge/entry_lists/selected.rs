//! The entries that a list names, for who reads them: of each tree in ascending order. Nothing is merged here.

use std::collections::HashSet;

use rootfile::object::{Graph, Object, ObjectReader};
use rootfile::{Error, Key, Result, RootFile};

use super::add::check;
use super::block::BLOCK;
use super::events::events;
use super::list::{block_ids, decode, ids, members, text};

/// Entries of one tree in one file, or of all trees in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedEntries {
    /// The path of the tree; empty if the list names none.
    pub tree: String,
    /// The file, as ROOT names it; empty if the list names none. Then entries are counted through all trees.
    pub file: String,
    /// The numbers of the entries, in ascending order.
    pub entries: Vec<u64>,
}

/// Whether objects of a class are lists of entries.
pub fn is_entry_list(class: &str) -> bool {
    matches!(class, "TEntryList" | "TEntryListArray" | "TEventList")
}

/// Reads the list of a key: a `TEntryList` with the lists in it, or a `TEventList`. Of a `TEntryListArray` the elements that are selected in
/// an entry say nothing here.
///
/// # Errors
///
/// The record is damaged, or its class is no list of entries.
pub fn selected_entries(file: &RootFile, key: &Key) -> Result<Vec<SelectedEntries>> {
    let wrong = |why: String| Error::corrupt(why).object(key.name.clone()).file(file.name());
    let payload = file.payload(key)?;
    let reader = ObjectReader::new(&payload, usize::from(key.keylen), file.infos());
    let (object, graph) = reader.read_root(&key.class)?;
    if key.class == "TEventList" {
        let entries = object.members().ok_or_else(|| "its events cannot be read".to_owned()).and_then(events);
        let entries = numbers(entries.map_err(wrong)?.1).map_err(wrong)?;
        return Ok(vec![SelectedEntries { entries, ..SelectedEntries::default() }]);
    }
    check(&object, &graph, (&mut HashSet::new(), 0)).map_err(wrong)?;
    let mut found = Vec::new();
    collect(&object, &graph, &mut found).map_err(wrong)?;
    Ok(found)
}

/// Adds the lists of a list, or itself. It is checked: they nest a few times at most.
fn collect(list: &Object, graph: &Graph, found: &mut Vec<SelectedEntries>) -> std::result::Result<(), String> {
    let m = members(list)?;
    let lists = ids(m, "fLists", graph)?;
    for id in &lists {
        collect(graph.get(*id).ok_or("one of its lists cannot be read")?, graph, found)?;
    }
    if !lists.is_empty() {
        return Ok(());
    }
    let mut entries = Vec::new();
    for (number, id) in block_ids(m, graph)?.into_iter().enumerate() {
        let first = (number * BLOCK) as u64;
        entries.extend(decode(id, graph)?.numbers().map(|entry| first + u64::from(entry)));
    }
    let [tree, file] = ["fTreeName", "fFileName"].map(|name| text(m, name).to_owned());
    found.push(SelectedEntries { tree, file, entries });
    Ok(())
}

/// The numbers of entries, which ascend.
fn numbers(events: Vec<i64>) -> std::result::Result<Vec<u64>, String> {
    let found: Option<Vec<u64>> = events.into_iter().map(|event| u64::try_from(event).ok()).collect();
    let mut found = found.ok_or("an event has a number below 0")?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
