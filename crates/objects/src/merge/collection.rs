//! Lists, stacks of histograms and efficiencies, merged element by element (`TSeqCollection::Merge`, `THStack::Merge`,
//! `TEfficiency::Merge`).

use std::collections::HashMap;

use rootfile::object::{Collection, Content, Graph, Object, ObjectId, Value};

use super::import::import;
use super::members::{number, set_number};
use super::pair::{Addend, Context, Note, Target};
use super::rules::MergeRule;

/// Merges each element with the one at the same place. Elements of classes that are not merged are appended.
pub(super) fn merge_list(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let (Content::Collection(list), Content::Collection(others)) = (&mut first.content, &other.content) else {
        return Err("it cannot be read as a list".to_owned());
    };
    let class = |id: &Option<ObjectId>, graph: &Graph| Some(graph.get((*id)?)?.class.clone());
    for (i, (mine, theirs)) in list.items.iter().zip(&others.items).enumerate() {
        if let (Some(mine), Some(theirs)) = (class(mine, graph), class(theirs, other_graph))
            && mine != theirs
            && MergeRule::of(&mine).merges()
        {
            return Err(format!("element {i} is a {mine} in one and a {theirs} in the other"));
        }
    }
    if others.items.len() > list.items.len() {
        let (more, n) = (others.items.len() - list.items.len(), list.items.len());
        context
            .notes
            .push(Note::NotMerged(format!("the first list has {n} elements; {more} more of this one are left out")));
    }
    let mut map = HashMap::new();
    let mut appended = Vec::new();
    for (mine, theirs) in list.items.iter().zip(&others.items) {
        let (Some(mine), Some(theirs)) = (*mine, *theirs) else { continue };
        let rule = graph.get(mine).map(|object| MergeRule::of(&object.class));
        if rule.is_some_and(|rule| rule.merges() || rule == MergeRule::FirstOnly) {
            merge_shared(graph, mine, (other_graph, theirs), context)?;
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

/// Merges two objects behind pointers.
fn merge_shared(
    graph: &mut Graph,
    mine: ObjectId,
    (other_graph, theirs): (&Graph, ObjectId),
    context: &mut Context<'_>,
) -> Result<(), String> {
    let Some(other) = other_graph.get(theirs) else { return Ok(()) };
    let Some(mut object) = graph.take(mine) else { return Ok(()) };
    let target = Target { object: &mut object, graph };
    let merged = (context.merge_object)(target, Addend { object: other, graph: other_graph }, context);
    if let Some(slot) = graph.objects.get_mut(mine) {
        *slot = Some(object);
    }
    // ROOT goes on with the next element and says nothing.
    if let Err(why) = merged {
        context.notes.push(Note::NotMerged(why));
    }
    Ok(())
}

/// Merges the objects behind the same member of both.
fn merge_member(
    name: &str,
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let pointer = |object: &Object| object.members().and_then(|m| m.get(name)).and_then(Value::as_pointer);
    match (pointer(first), pointer(other)) {
        (_, None) => Ok(()),
        (Some(mine), Some(theirs)) => merge_shared(graph, mine, (other_graph, theirs), context),
        (None, Some(theirs)) => {
            let id = import(theirs, other_graph, graph, &mut HashMap::new())?;
            if let Some(value) = first.members_mut().and_then(|m| m.get_mut(name)) {
                *value = Value::Pointer(Some(id));
            }
            Ok(())
        }
    }
}

/// Merges the histograms of two stacks.
pub(super) fn merge_stack(
    Target { object: first, graph }: Target<'_>,
    other: Addend<'_>,
    context: &mut Context<'_>,
) -> Result<(), String> {
    merge_member("fHists", Target { object: first, graph }, other, context)
}

/// Merges the passed and total histograms of two efficiencies, and their weights (`TEfficiency::operator+=`). On failure, the first
/// is unchanged.
pub(super) fn merge_efficiency(
    Target { object: first, graph }: Target<'_>,
    other: Addend<'_>,
    context: &mut Context<'_>,
) -> Result<(), String> {
    // An efficiency needs both histograms: if one fails, the other is restored.
    let total = first.members().and_then(|m| m.get("fTotalHistogram")).and_then(Value::as_pointer);
    let before = total.and_then(|id| Some((id, graph.get(id)?.clone())));
    for name in ["fTotalHistogram", "fPassedHistogram"] {
        let mut notes = Vec::new();
        let mut inner = Context { infos: context.infos, notes: &mut notes, merge_object: context.merge_object };
        merge_member(name, Target { object: first, graph }, other, &mut inner)?;
        if let Some(Note::NotMerged(why)) = notes.iter().find(|note| matches!(note, Note::NotMerged(_))) {
            if let Some((id, total)) = before
                && let Some(slot) = graph.objects.get_mut(id)
            {
                *slot = Some(total);
            }
            return Err(why.clone());
        }
        context.notes.extend(notes);
    }
    let theirs = other.object.members().map_or(0.0, |m| number(m, "fWeight"));
    if let Some(m) = first.members_mut() {
        let mine = number(m, "fWeight");
        if mine + theirs != 0.0 {
            set_number(m, "fWeight", mine * theirs / (mine + theirs));
        }
    }
    Ok(())
}
