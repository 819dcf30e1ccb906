//! `TEntryList`: the selected entries of a tree in blocks, or one such list for each of several trees.

use std::collections::{HashMap, HashSet};

use rootfile::object::{Collection, Content, Graph, Object, ObjectId, TObject};

use super::element_lists;
use super::list::{
    ELEMENT_LISTS, are_of_one_tree, block_ids, change_count, decode, ids, members, point, pointer, text,
};
use crate::merge::import::{import, import_object};
use crate::merge::members::{int, named_mut, set_int};
use crate::merge::pair::{Addend, Target};

/// Lists inside lists, at most. ROOT makes lists of lists, and of lists of elements.
const DEEPEST: usize = 8;
/// `TObject` bits that a new object on the heap is written with.
const NEW_OBJECT: u32 = 0x0300_0000;

/// Adds an entry list to the first (`TEntryList::Add`). On failure, the first is unchanged and the reason is returned.
pub(in crate::merge) fn merge(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
) -> Result<(), String> {
    check(first, graph, (&mut HashSet::new(), 0))?;
    check(other, other_graph, (&mut HashSet::new(), 0))?;
    add(Target { object: first, graph }, Addend { object: other, graph: other_graph }, 0)
}

/// Checks a list before anything changes. A part that is reached twice is refused: following it could take unbounded
/// time.
pub(super) fn check(
    list: &Object,
    graph: &Graph,
    (seen, depth): (&mut HashSet<ObjectId>, usize),
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("its lists nest more than {DEEPEST} deep"));
    }
    let m = members(list)?;
    let blocks = block_ids(m, graph)?;
    let said = int(m, "fNBlocks");
    if !blocks.is_empty() && usize::try_from(said).ok() != Some(blocks.len()) {
        return Err(format!("it says that it has {said} blocks, and has {}", blocks.len()));
    }
    let twice = || "one of its parts is in two places".to_owned();
    for id in blocks {
        seen.insert(id).then_some(()).ok_or_else(twice)?;
        decode(id, graph)?;
    }
    let inner = ["fLists", ELEMENT_LISTS].into_iter().flat_map(|name| ids(m, name, graph).unwrap_or_default());
    for id in inner {
        seen.insert(id).then_some(()).ok_or_else(twice)?;
        check(graph.get(id).ok_or("one of its lists cannot be read")?, graph, (seen, depth + 1))?;
    }
    Ok(())
}

/// Adds a list to the first, which is at this depth of nested lists.
fn add(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    depth: usize,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("its lists nest more than {DEEPEST} deep"));
    }
    let (m, o) = (members(first)?, members(other)?);
    let lists = pointer(m, "fLists");
    if int(m, "fN") == 0 && lists.is_none() && text(m, "fTreeName").is_empty() && text(m, "fFileName").is_empty() {
        return copy(Target { object: first, graph }, Addend { object: other, graph: other_graph });
    }
    if pointer(o, "fLists").is_some() {
        for id in ids(o, "fLists", other_graph)? {
            let list = other_graph.get(id).ok_or("one of its lists cannot be read")?;
            add(Target { object: first, graph }, Addend { object: list, graph: other_graph }, depth + 1)?;
        }
        return Ok(());
    }
    match lists {
        None if are_of_one_tree(m, o) => {
            add_entries(Target { object: first, graph }, Addend { object: other, graph: other_graph }, depth)
        }
        None => split(Target { object: first, graph }, Addend { object: other, graph: other_graph }),
        Some(lists) => {
            let addend = Addend { object: other, graph: other_graph };
            add_to_lists(Target { object: first, graph }, lists, addend, depth)
        }
    }
}

/// The first list is of no tree and has no entries: it becomes the other.
fn copy(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
) -> Result<(), String> {
    let mut map = HashMap::new();
    let o = members(other)?;
    let m = first.members_mut().ok_or("its entries cannot be read")?;
    for name in ["fNBlocks", "fN", "fTreeName", "fFileName"] {
        if let (Some(mine), Some(theirs)) = (m.get_mut(name), o.get(name)) {
            *mine = theirs.clone();
        }
    }
    for name in ["fLists", "fBlocks", ELEMENT_LISTS] {
        if let Some(id) = pointer(o, name) {
            let id = import(id, other_graph, graph, &mut map)?;
            point(m, name, Some(id));
        }
    }
    Ok(())
}

/// Adds the entries of a list for the same tree.
fn add_entries(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    depth: usize,
) -> Result<(), String> {
    // Lists of elements come first: they depend on which entries each has.
    element_lists::add(Target { object: first, graph }, Addend { object: other, graph: other_graph }, depth, add)?;
    let o = members(other)?;
    let theirs = block_ids(o, other_graph)?;
    let m = first.members_mut().ok_or("its entries cannot be read")?;
    let Some(list) = pointer(m, "fBlocks") else {
        if let Some(blocks) = pointer(o, "fBlocks") {
            let id = import(blocks, other_graph, graph, &mut HashMap::new())?;
            point(m, "fBlocks", Some(id));
            set_int(m, "fNBlocks", int(o, "fNBlocks"));
            set_int(m, "fN", int(o, "fN"));
        }
        return Ok(());
    };
    let mine = block_ids(m, graph)?;
    let mut more = 0;
    for (mine, theirs) in mine.iter().zip(&theirs) {
        let added = decode(*theirs, other_graph)?;
        let mut block = decode(*mine, graph)?;
        let before = block.count();
        block.add(&added);
        let after = block.count();
        if after > before {
            more += after - before;
            if let Some(m) = graph.objects.get_mut(*mine).and_then(Option::as_mut).and_then(Object::members_mut) {
                block.encode(m);
            }
        }
    }
    let mut map = HashMap::new();
    for id in theirs.iter().skip(mine.len()) {
        more += decode(*id, other_graph)?.count();
        let id = import(*id, other_graph, graph, &mut map)?;
        push(list, id, graph);
    }
    change_count(m, i64::try_from(more).unwrap_or(i64::MAX));
    set_int(m, "fNBlocks", i64::try_from(mine.len().max(theirs.len())).unwrap_or(i64::MAX));
    Ok(())
}

fn push(list: ObjectId, id: ObjectId, graph: &mut Graph) {
    if let Some(Content::Collection(list)) =
        graph.objects.get_mut(list).and_then(Option::as_mut).map(|o| &mut o.content)
    {
        list.items.push(Some(id));
        if !list.options.is_empty() {
            list.options.resize(list.items.len(), String::new());
        }
    }
}

/// The first list, of one tree, becomes a list of two lists.
fn split(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
) -> Result<(), String> {
    let mut inner = first.clone();
    if let Some(m) = inner.members_mut() {
        if let Some(named) = named_mut(m) {
            named.name.clear();
            named.title.clear();
        }
        set_int(m, "fEntriesToProcess", 0);
        set_int(m, "fReapply", 0);
    }
    let items = vec![Some(graph.add(inner)), Some(copy_of(other, other_graph, graph)?)];
    let object = TObject { unique_id: 0, bits: NEW_OBJECT, pid: None };
    let list = Collection { object, items, ..Collection::default() };
    let list = Object { class: "TList".into(), version: 5, content: Content::Collection(Box::new(list)) };
    let list = graph.add(list);
    let m = first.members_mut().ok_or("its entries cannot be read")?;
    point(m, "fLists", Some(list));
    point(m, "fBlocks", None);
    point(m, ELEMENT_LISTS, None);
    change_count(m, int(members(other)?, "fN"));
    Ok(())
}

/// A copy among the lists of several trees. Of a `TEntryListArray`, ROOT does not copy the name.
fn copy_of(list: &Object, from: &Graph, to: &mut Graph) -> Result<ObjectId, String> {
    let id = import_object(list, from, to)?;
    let named = to.objects.get_mut(id).and_then(Option::as_mut).and_then(Object::members_mut).and_then(named_mut);
    if let Some(named) = named.filter(|_| &*list.class == "TEntryListArray") {
        named.name.clear();
        named.title.clear();
    }
    Ok(id)
}

/// Adds a list for one tree to the one of these lists that is of the same tree, or to their end.
fn add_to_lists(
    Target { object: first, graph }: Target<'_>,
    lists: ObjectId,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    depth: usize,
) -> Result<(), String> {
    let o = members(other)?;
    let known = ids(members(first)?, "fLists", graph)?;
    let same = |id: &ObjectId| graph.get(*id).and_then(Object::members).is_some_and(|m| are_of_one_tree(m, o));
    let more = match known.into_iter().find(same) {
        Some(id) => {
            let mut list = graph.take(id).ok_or("one of its lists cannot be read")?;
            let before = list.members().map_or(0, |m| int(m, "fN"));
            let added =
                add(Target { object: &mut list, graph }, Addend { object: other, graph: other_graph }, depth + 1);
            let after = list.members().map_or(0, |m| int(m, "fN"));
            if let Some(slot) = graph.objects.get_mut(id) {
                *slot = Some(list);
            }
            added?;
            after.saturating_sub(before)
        }
        None => {
            let id = copy_of(other, other_graph, graph)?;
            push(lists, id, graph);
            int(o, "fN")
        }
    };
    if let Some(m) = first.members_mut() {
        change_count(m, more);
    }
    Ok(())
}
