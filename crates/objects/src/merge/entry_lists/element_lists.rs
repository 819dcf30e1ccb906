//! `TEntryListArray`: an entry list with lists of selected elements for some of its entries. An entry without such a list
//! has all of its elements selected.

use std::cmp::Ordering;

use rootfile::object::{Collection, Content, Graph, Members, Object, ObjectId};

use super::list::{ELEMENT_LISTS, contains, ids, members, point, pointer};
use crate::merge::import::import_object;
use crate::merge::members::int;
use crate::merge::pair::{Addend, Target};

/// Adds one entry list to another, both at this depth of nested lists.
type AddList = fn(Target<'_>, Addend<'_>, usize) -> Result<(), String>;

/// Adds the lists of elements of an entry list for the same tree, before its entries are added
/// (`TEntryListArray::AddEntriesAndSubLists`): lists of one entry are added; where one of the two has the entry without
/// such a list, all of its elements are selected.
pub(super) fn add(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    depth: usize,
    add_list: AddList,
) -> Result<(), String> {
    let (m, o) = (members(first)?, members(other)?);
    if pointer(m, ELEMENT_LISTS).is_none() && pointer(o, ELEMENT_LISTS).is_none() {
        return Ok(());
    }
    let entry =
        |id: &ObjectId, graph: &Graph| graph.get(*id).and_then(Object::members).map_or(-1, |m| int(m, "fEntry"));
    let mut mine = ids(m, ELEMENT_LISTS, graph)?.into_iter().peekable();
    let mut theirs = ids(o, ELEMENT_LISTS, other_graph)?.into_iter().peekable();
    let mut kept = Vec::new();
    loop {
        let next = (mine.peek().map(|id| entry(id, graph)), theirs.peek().map(|id| entry(id, other_graph)));
        let order = match next {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(mine), Some(theirs)) => mine.cmp(&theirs),
        };
        match order {
            Ordering::Less => kept.extend(mine.next().filter(|id| !contains(o, other_graph, entry(id, graph)))),
            Ordering::Equal => {
                if let (Some(id), Some(added)) = (mine.next(), theirs.next()) {
                    let added = other_graph.get(added).ok_or("a list of elements cannot be read")?;
                    let mut list = graph.take(id).ok_or("a list of elements cannot be read")?;
                    let done = add_list(
                        Target { object: &mut list, graph },
                        Addend { object: added, graph: other_graph },
                        depth + 1,
                    );
                    if let Some(slot) = graph.objects.get_mut(id) {
                        *slot = Some(list);
                    }
                    done?;
                    kept.push(id);
                }
            }
            Ordering::Greater => {
                if let Some(id) = theirs.next().filter(|id| !contains(m, graph, entry(id, other_graph))) {
                    let list = other_graph.get(id).ok_or("a list of elements cannot be read")?;
                    kept.push(import_object(list, other_graph, graph)?);
                }
            }
        }
    }
    store(first, other, (graph, other_graph), kept)
}

fn store(
    first: &mut Object,
    other: &Object,
    (graph, other_graph): (&mut Graph, &Graph),
    kept: Vec<ObjectId>,
) -> Result<(), String> {
    let m = first.members_mut().ok_or("its entries cannot be read")?;
    if kept.is_empty() {
        point(m, ELEMENT_LISTS, None);
        return Ok(());
    }
    let list =
        pointer(m, ELEMENT_LISTS).and_then(|id| graph.get(id)).or_else(|| their_list(other.members()?, other_graph));
    let mut list = list.cloned().ok_or("its lists of elements cannot be read")?;
    if let Content::Collection(list) = &mut list.content {
        **list = Collection { items: kept.into_iter().map(Some).collect(), options: Vec::new(), ..(**list).clone() };
    }
    let id = graph.add(list);
    point(m, ELEMENT_LISTS, Some(id));
    Ok(())
}

fn their_list<'a>(o: &Members, graph: &'a Graph) -> Option<&'a Object> {
    graph.get(pointer(o, ELEMENT_LISTS)?)
}
