//! The members of a `TEntryList`: its tree, its blocks, the lists that it points to, and their objects.

use rootfile::object::{Content, Graph, Members, Object, ObjectId, Value};

use super::block::{BLOCK, Block};
use crate::merge::members::{int, set_int};

/// The member of a `TEntryListArray` that points to its lists of elements. A `TEntryList` has none.
pub(super) const ELEMENT_LISTS: &str = "fSubLists";

pub(super) fn members(list: &Object) -> Result<&Members, String> {
    list.members().filter(|m| m.get("fTreeName").is_some()).ok_or_else(|| "its entries cannot be read".to_owned())
}

pub(super) fn pointer(m: &Members, name: &str) -> Option<ObjectId> {
    m.get(name).and_then(Value::as_pointer)
}

pub(super) fn point(m: &mut Members, name: &str, to: Option<ObjectId>) {
    if let Some(value @ Value::Pointer(_)) = m.get_mut(name) {
        *value = Value::Pointer(to);
    }
}

/// The objects of a list that a member points to; none if there is no list.
pub(super) fn ids(m: &Members, name: &str, graph: &Graph) -> Result<Vec<ObjectId>, String> {
    let Some(id) = pointer(m, name) else { return Ok(Vec::new()) };
    match graph.get(id).map(|list| &list.content) {
        Some(Content::Collection(list)) => Ok(list.items.iter().flatten().copied().collect()),
        _ => Err(format!("its {name} cannot be read")),
    }
}

/// The blocks. A missing block is an error.
pub(super) fn block_ids(m: &Members, graph: &Graph) -> Result<Vec<ObjectId>, String> {
    let blocks = ids(m, "fBlocks", graph)?;
    let places = pointer(m, "fBlocks").and_then(|id| graph.get(id)).map_or(0, |list| match &list.content {
        Content::Collection(list) => list.items.len(),
        _ => 0,
    });
    if places == blocks.len() { Ok(blocks) } else { Err("it lacks a block of entries".to_owned()) }
}

pub(super) fn decode(id: ObjectId, graph: &Graph) -> Result<Block, String> {
    let m = graph.get(id).and_then(Object::members).ok_or("a block of entries cannot be read")?;
    Block::decode(m)
}

/// Whether an entry is in a list for one tree.
pub(super) fn contains(m: &Members, graph: &Graph, entry: i64) -> bool {
    let Ok(entry) = usize::try_from(entry) else { return false };
    let block = ids(m, "fBlocks", graph).unwrap_or_default().get(entry / BLOCK).copied();
    block.and_then(|id| decode(id, graph).ok()).is_some_and(|block| block.contains(entry % BLOCK))
}

pub(super) fn text<'a>(m: &'a Members, name: &str) -> &'a str {
    m.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn are_of_one_tree(m: &Members, o: &Members) -> bool {
    ["fTreeName", "fFileName"].into_iter().all(|name| text(m, name) == text(o, name))
}

pub(super) fn change_count(m: &mut Members, by: i64) {
    let count = int(m, "fN").saturating_add(by);
    set_int(m, "fN", count);
}
