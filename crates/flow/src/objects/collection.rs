//! Lists, and what holds histograms in lists or pairs: merged element by element (`TSeqCollection::Merge`,
//! `THStack::Merge`, `TEfficiency::Merge`).

use std::collections::HashMap;

use rootfile::object::{Collection, Content, Graph, Object, ObjectId, Value};
use rootfile::streamer::StreamerInfos;

use super::classes::Kind;
use super::merge::{Note, merge_pair};
use super::rewrite::import;
use super::values::{number, set_number};

/// Elements are merged with those at the same place; what is not mergeable is appended to the first.
pub(super) fn merge_list(
    (first, graph): (&mut Object, &mut Graph),
    (other, other_graph): (&Object, &Graph),
    infos: &StreamerInfos,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let (Content::Collection(list), Content::Collection(others)) = (&mut first.content, &other.content) else {
        return Err("it cannot be read as a list".to_owned());
    };
    let class = |id: &Option<ObjectId>, graph: &Graph| Some(graph.get((*id)?)?.class.clone());
    for (i, (mine, theirs)) in list.items.iter().zip(&others.items).enumerate() {
        if let (Some(mine), Some(theirs)) = (class(mine, graph), class(theirs, other_graph))
            && mine != theirs
            && Kind::of(&mine).merges()
        {
            return Err(format!("element {i} is a {mine} in one and a {theirs} in the other"));
        }
    }
    if others.items.len() > list.items.len() {
        let (more, n) = (others.items.len() - list.items.len(), list.items.len());
        notes.push(Note::Left(format!("the first list has {n} elements; {more} more of this one are left out")));
    }
    let mut map = HashMap::new();
    let mut appended = Vec::new();
    for (mine, theirs) in list.items.iter().zip(&others.items) {
        let (Some(mine), Some(theirs)) = (*mine, *theirs) else { continue };
        let kind = graph.get(mine).map(|object| Kind::of(&object.class));
        if kind.is_some_and(|kind| kind.merges() || kind == Kind::First) {
            merge_shared(graph, mine, (other_graph, theirs), infos, notes)?;
        } else {
            appended.push(Some(import(theirs, other_graph, graph, &mut map)?));
        }
    }
    append(list, appended);
    Ok(())
}

fn append(list: &mut Collection, items: Vec<Option<ObjectId>>) {
    list.items.extend(items);
    if !list.options.is_empty() {
        list.options.resize(list.items.len(), String::new());
    }
}

/// Merges objects behind pointers.
fn merge_shared(
    graph: &mut Graph,
    mine: ObjectId,
    (other_graph, theirs): (&Graph, ObjectId),
    infos: &StreamerInfos,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let Some(other) = other_graph.get(theirs) else { return Ok(()) };
    let Some(mut object) = graph.take(mine) else { return Ok(()) };
    let merged = merge_pair((&mut object, graph), (other, other_graph), infos, notes);
    if let Some(slot) = graph.objects.get_mut(mine) {
        *slot = Some(object);
    }
    // ROOT goes on with the next element; so do we, and say so.
    if let Err(why) = merged {
        notes.push(Note::Left(why));
    }
    Ok(())
}

/// Merges the objects that a member of both points to.
fn merge_member(
    name: &str,
    (first, graph): (&mut Object, &mut Graph),
    (other, other_graph): (&Object, &Graph),
    infos: &StreamerInfos,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let pointer = |object: &Object| object.members().and_then(|m| m.get(name)).and_then(Value::as_pointer);
    match (pointer(first), pointer(other)) {
        (_, None) => Ok(()),
        (Some(mine), Some(theirs)) => merge_shared(graph, mine, (other_graph, theirs), infos, notes),
        (None, Some(theirs)) => {
            let id = import(theirs, other_graph, graph, &mut HashMap::new())?;
            if let Some(value) = first.members_mut().and_then(|m| m.get_mut(name)) {
                *value = Value::Pointer(Some(id));
            }
            Ok(())
        }
    }
}

/// The histograms of a stack.
pub(super) fn merge_stack(
    (first, graph): (&mut Object, &mut Graph),
    other: (&Object, &Graph),
    infos: &StreamerInfos,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    merge_member("fHists", (first, graph), other, infos, notes)
}

/// Passed and total histogram of an efficiency, and its weight (`TEfficiency::operator+=`). On failure, the first is as it
/// was.
pub(super) fn merge_efficiency(
    (first, graph): (&mut Object, &mut Graph),
    other: (&Object, &Graph),
    infos: &StreamerInfos,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    // One histogram without the other is no efficiency.
    let total = first.members().and_then(|m| m.get("fTotalHistogram")).and_then(Value::as_pointer);
    let before = total.and_then(|id| Some((id, graph.get(id)?.clone())));
    for name in ["fTotalHistogram", "fPassedHistogram"] {
        let mut said = Vec::new();
        merge_member(name, (first, graph), other, infos, &mut said)?;
        if let Some(Note::Left(why)) = said.iter().find(|note| matches!(note, Note::Left(_))) {
            if let Some((id, total)) = before
                && let Some(slot) = graph.objects.get_mut(id)
            {
                *slot = Some(total);
            }
            return Err(why.clone());
        }
        notes.extend(said);
    }
    let theirs = other.0.members().map_or(0.0, |m| number(m, "fWeight"));
    if let Some(m) = first.members_mut() {
        let mine = number(m, "fWeight");
        if mine + theirs != 0.0 {
            set_number(m, "fWeight", mine * theirs / (mine + theirs));
        }
    }
    Ok(())
}
