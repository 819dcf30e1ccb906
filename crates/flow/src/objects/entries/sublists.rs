//! `TEntryListArray`: an entry list that says of some entries which of their elements are selected, by a list for each;
//! of an entry without such a list, all elements are.

use std::cmp::Ordering;

use rootfile::object::{Collection, Content, Graph, Members, Object, ObjectId};

use super::lists::{add as add_list, contains, ids, members, point, pointer};
use crate::objects::rewrite::import_object;
use crate::objects::values::int;

/// The member that points to these lists. A `TEntryList` has none.
pub(super) const MEMBER: &str = "fSubLists";

/// Adds the lists of elements of an entry list for the same tree, before its entries are added
/// (`TEntryListArray::AddEntriesAndSubLists`): lists of one entry are added; where one of the two has the entry without
/// such a list, all of its elements are selected.
pub(super) fn add(
    (first, graph): (&mut Object, &mut Graph),
    (other, other_graph): (&Object, &Graph),
    depth: usize,
) -> Result<(), String> {
    let (m, o) = (members(first)?, members(other)?);
    if pointer(m, MEMBER).is_none() && pointer(o, MEMBER).is_none() {
        return Ok(());
    }
    let entry =
        |id: &ObjectId, graph: &Graph| graph.get(*id).and_then(Object::members).map_or(-1, |m| int(m, "fEntry"));
    let mut mine = ids(m, MEMBER, graph)?.into_iter().peekable();
    let mut theirs = ids(o, MEMBER, other_graph)?.into_iter().peekable();
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
                    let done = add_list((&mut list, graph), (added, other_graph), depth + 1);
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
        point(m, MEMBER, None);
        return Ok(());
    }
    let list = pointer(m, MEMBER).and_then(|id| graph.get(id)).or_else(|| their_list(other.members()?, other_graph));
    let mut list = list.cloned().ok_or("its lists of elements cannot be read")?;
    if let Content::Collection(list) = &mut list.content {
        **list = Collection { items: kept.into_iter().map(Some).collect(), options: Vec::new(), ..(**list).clone() };
    }
    let id = graph.add(list);
    point(m, MEMBER, Some(id));
    Ok(())
}

fn their_list<'a>(o: &Members, graph: &'a Graph) -> Option<&'a Object> {
    graph.get(pointer(o, MEMBER)?)
}
