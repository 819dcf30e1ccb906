//! Compares two trees: what their metadata says of the content, then their columns.

use std::collections::HashSet;

use dataset::tree::{Branch, BranchKind, Tree};
use rootfile::Result;
use rootfile::object::{Content, Object, ObjectId};
use rootfile::streamer::StreamerInfos;

use super::VerifyOptions;
use super::columns::{self, Pair};
use super::entries::How;
use super::reshaped::{self, Reshaped, Tables};
use super::tasks::{Different, Found, Outcome};
use super::values::Comparison;
use super::verdict::{Difference, TreeVerdict, Verdict};
use super::wholes;
use crate::execute::progress::Progress;
use crate::plan::TablePlan;
use crate::plan::schema;
use crate::table::entry_set::Selected;
use crate::words::listed;

/// What is known of the job beside the two tables.
pub(super) struct Context<'a> {
    pub path: &'a str,
    pub options: &'a VerifyOptions,
    /// Whether the first side is one whole tree, so that all of its metadata must be found again.
    pub whole: bool,
    /// Whether only some of its entries are compared.
    pub chosen: bool,
    /// What describes the classes on each side.
    pub infos: &'a [StreamerInfos; 2],
    pub progress: Progress<'a>,
    /// Whether it is only asked what memory is needed.
    pub only_weighed: bool,
}

/// Compares two tables, and adds what was found to the verdict. Says how much memory is needed.
pub(super) fn compare(first: &TablePlan, second: &TablePlan, job: &Context<'_>, verdict: &mut Verdict) -> Result<u64> {
    let before = verdict.differences.len();
    let common = job.options.common;
    let tables = Tables { plans: [first, second], infos: job.infos.each_ref() };
    let mut found = schema::compare(&first.tree, &second.tree);
    let in_order = found.map.iter().flatten().is_sorted();
    let reshaped = reshaped::split(&tables, &found);
    found.leave_out(&reshaped.branches[0], &reshaped.branches[1]);
    let mut differences = found.differences(&first.tree, &second.tree);
    let map = found.map;
    match (first.tree.branch_ref, second.tree.branch_ref) {
        (Some(_), None) => differences.push(schema::Difference::Missing("TRefTable".to_owned())),
        (None, Some(_)) => differences.push(schema::Difference::Extra("TRefTable".to_owned())),
        _ => {}
    }
    let paths = schema::paths(&first.tree);
    let names: Vec<String> = paths.iter().map(schema::path_text).collect();
    let total = |table: &TablePlan| table.input_entries.iter().sum::<u64>();
    let (ours, theirs) = (total(first), total(second));
    let entries = first.selected.as_ref().map_or(ours, |selected| selected.len());
    verdict.differences.extend(metadata(&first.tree, &second.tree, job, &mut verdict.notes));
    if entries != theirs {
        let what = format!("has {entries} entries and {theirs}");
        verdict.differences.push(Difference::of_tree(job.path, what));
    }
    let mut changed = HashSet::new();
    for difference in differences {
        let (branch, what) = match difference {
            schema::Difference::Missing(_) | schema::Difference::Extra(_) if common => continue,
            schema::Difference::Missing(branch) => (branch, "only the first side has this branch".to_owned()),
            schema::Difference::Extra(branch) => (branch, "only the second side has this branch".to_owned()),
            schema::Difference::Changed { branch, first, second } => {
                changed.insert(branch.clone());
                (branch, format!("is a {first}, and a {second}"))
            }
        };
        verdict.differences.push(Difference::of_branch(job.path, &branch, what));
    }
    for (column, why) in &reshaped.unknown {
        let what = format!("is split otherwise, and cannot be compared: {why}");
        verdict.differences.push(Difference::of_branch(job.path, column, what));
    }
    if !in_order && reshaped.pairs.is_empty() {
        verdict.notes.push(format!("tree {}: branches come in another order", job.path));
    }

    let mut pairs = Vec::new();
    let mut pair_names = Vec::new();
    let mut branches = 0;
    for (i, theirs) in map.iter().enumerate() {
        let Some(theirs) = *theirs else { continue };
        let (Some(name), Some(a), Some(b)) = (names.get(i), first.columns.get(i), second.columns.get(theirs)) else {
            continue;
        };
        branches += 1;
        verdict.differences.extend(branch_metadata((&first.tree, i), (&second.tree, theirs), job, name));
        // Entries of another meaning cannot be held against each other.
        if changed.contains(name) || (a.source.pieces.is_empty() && b.source.pieces.is_empty()) {
            continue;
        }
        pairs.push(Pair { columns: [a, b] });
        pair_names.push(name);
    }
    let metadata = first.metadata + second.metadata;
    let scratch = columns::scratch(&pairs);
    let least = metadata + scratch.max(wholes::scratch(&reshaped.pairs));
    if job.only_weighed {
        return Ok(least);
    }
    let share = job.options.budget.share(metadata, scratch)?;
    let files = [&first.files[..], &second.files[..]];
    let mut outcome = columns::compare(&pairs, files, share.threads, job.progress)?;
    // Where one side is longer, that was said of the tree; no need to say it of each branch.
    let end = entries.min(theirs);
    let is_tail = |found: &Found| entries != theirs && found.entry == end && matches!(found.how, Different::Only(_));
    outcome.found.retain(|_, found| !is_tail(found));

    let unequal = outcome.found.iter().filter(|(_, found)| matches!(found.how, Different::Content(_)));
    let unequal: Vec<_> =
        unequal.filter_map(|(&n, _)| pairs.get(n).map(|pair| (n, pair.columns.map(|c| c.branch).into()))).collect();
    let (numbers, streamed) = reshaped::streamed(&tables, &unequal);
    let by_value = |reshaped: &Reshaped| -> Result<Outcome> {
        if reshaped.pairs.is_empty() {
            return Ok(Outcome::default());
        }
        let share = job.options.budget.share(metadata, wholes::scratch(&reshaped.pairs))?;
        wholes::compare(&reshaped.pairs, end, files, share.threads, job.progress)
    };
    let (split, mut by_stream) = (by_value(&reshaped)?, by_value(&streamed)?);
    for (number, pair) in numbers.iter().enumerate() {
        match by_stream.found.remove(&number) {
            // Of values that are not what their type says it is told which bytes differ.
            Some(Found { how: Different::Unknown(_), .. }) => {}
            found => {
                outcome.found.remove(pair);
                outcome.found.extend(found.map(|found| (*pair, found)));
            }
        }
    }
    let name_of = |pair: &usize| pair_names.get(*pair).map_or("", |name| name.as_str());
    let mut all: Vec<(Found, &str)> = outcome.found.into_iter().map(|(pair, found)| (found, name_of(&pair))).collect();
    let name_of = |pair: usize| reshaped.pairs.get(pair).map_or("", |pair| pair.name.as_str());
    all.extend(split.found.into_iter().map(|(pair, found)| (found, name_of(pair))));
    all.sort_by_key(|(found, _)| found.entry);
    let selected = first.selected.as_deref();
    for (found, name) in all {
        verdict.differences.push(describe(found, selected, Difference::of_branch(job.path, name, "")));
    }
    verdict.notes.extend(notes(job.path, &[&reshaped, &streamed]));
    verdict.trees.push(TreeVerdict {
        path: job.path.to_owned(),
        entries,
        branches,
        columns: pairs.len() as u64,
        by_value: (reshaped.pairs.len() + streamed.pairs.len()) as u64,
        bytes: outcome.bytes + split.bytes + by_stream.bytes,
        equal: verdict.differences.len() == before,
    });
    Ok(least)
}

/// What was compared by value, and what is no part of the values.
fn notes(path: &str, reshaped: &[&Reshaped; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    for (reshaped, how) in reshaped.iter().zip(["split", "streamed"]) {
        let names: Vec<&str> = reshaped.pairs.iter().map(|pair| pair.name.as_str()).collect();
        if !names.is_empty() {
            notes.push(format!("tree {path}: {how} otherwise, and compared by value: {}", listed(&names)));
        }
    }
    let with_bits: Vec<&str> = reshaped.iter().flat_map(|r| &r.with_bits).map(String::as_str).collect();
    if !with_bits.is_empty() {
        let what = "fUniqueID and fBits of the objects are not compared in";
        notes.push(format!("tree {path}: {what} {}", listed(&with_bits)));
    }
    notes
}

fn describe(found: Found, selected: Option<&Selected>, mut difference: Difference) -> Difference {
    let entry = selected.and_then(|selected| selected.nth(found.entry)).unwrap_or(found.entry);
    difference.entry = Some(entry);
    difference.what = match found.how {
        Different::Only(true) => "is missing from the second side".to_owned(),
        Different::Only(false) => "is missing from the first side".to_owned(),
        Different::Content(How::Lengths(a, b)) => format!("has {a} bytes and {b}"),
        Different::Content(How::Byte(at, a, b)) => {
            difference.byte = Some(at as u64);
            format!("is {a:#04x} and {b:#04x}")
        }
        Different::Member(member, what) => {
            difference.member = Some(member).filter(|member| !member.is_empty());
            what
        }
        Different::Unknown(why) => format!("cannot be compared: {why}"),
    };
    if entry != found.entry {
        difference.what.push_str(&format!(" (entry {} of the second side)", found.entry));
    }
    difference
}

/// What the trees' own records say of the content, beside the schema.
fn metadata(a: &Tree, b: &Tree, job: &Context<'_>, notes: &mut Vec<String>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: String| found.push(Difference::of_tree(job.path, what));
    if a.class != b.class {
        differ(format!("is a {} and a {}", a.class, b.class));
    }
    if a.named.title != b.named.title {
        differ(format!("the title is {:?} and {:?}", a.named.title, b.named.title));
    }
    if a.weight.to_bits() != b.weight.to_bits() {
        differ(format!("the weight is {} and {}", a.weight, b.weight));
    }
    if let (Some(ours), Some(theirs)) = (&a.subclass, &b.subclass)
        && !Comparison::new(&a.graph, &b.graph).objects_equal(ours, theirs)
    {
        differ(format!("the members of {} differ", a.class));
    }
    let mut attached = vec![("aliases", a.aliases, b.aliases), ("user info", a.user_info, b.user_info)];
    if job.whole {
        attached.push(("index", a.tree_index, b.tree_index));
        attached.push(("table of references", reference_table(a), reference_table(b)));
    } else if a.tree_index.is_some() {
        notes.push(format!("tree {}: its index holds for other entries, and is not compared", job.path));
    }
    if job.chosen && b.friends.is_none() && a.friends.is_some() {
        notes.push(format!("tree {}: its friends go with other entries, and are not compared", job.path));
    } else {
        attached.push(("friends", a.friends, b.friends));
    }
    for (what, ours, theirs) in attached {
        // An empty list of friends or aliases is none.
        let (ours, theirs) = (ours.filter(|id| !is_empty(a, *id)), theirs.filter(|id| !is_empty(b, *id)));
        match (ours, theirs) {
            (None, None) => {}
            (Some(_), Some(_)) => {
                if !Comparison::new(&a.graph, &b.graph).pointers_equal(ours, theirs) {
                    differ(format!("the {what} differ"));
                }
            }
            _ if job.options.common => {}
            (Some(_), None) => differ(format!("only the first side has {what}")),
            (None, Some(_)) => differ(format!("only the second side has {what}")),
        }
    }
    found
}

fn is_empty(tree: &Tree, id: ObjectId) -> bool {
    matches!(tree.graph.get(id), Some(Object { content: Content::Collection(list), .. }) if list.items.is_empty())
}

fn reference_table(tree: &Tree) -> Option<ObjectId> {
    match tree.branches.get(tree.branch_ref?)?.kind {
        BranchKind::Ref { ref_table } => ref_table,
        _ => None,
    }
}

/// Titles of two branches and of their leaves.
fn branch_metadata((a, i): (&Tree, usize), (b, j): (&Tree, usize), job: &Context<'_>, name: &str) -> Vec<Difference> {
    let (Some(ours), Some(theirs)) = (a.branches.get(i), b.branches.get(j)) else { return Vec::new() };
    let leaves = |tree: &Tree, branch: &Branch| -> Vec<String> {
        branch.leaves.iter().filter_map(|&l| Some(tree.leaves.get(l)?.named.title.clone())).collect()
    };
    let mut found = Vec::new();
    if ours.named.title != theirs.named.title {
        let what = format!("the title is {:?} and {:?}", ours.named.title, theirs.named.title);
        found.push(Difference::of_branch(job.path, name, what));
    }
    let (ours, theirs) = (leaves(a, ours), leaves(b, theirs));
    if ours != theirs {
        let what = format!("the titles of its leaves are {} and {}", ours.join(", "), theirs.join(", "));
        found.push(Difference::of_branch(job.path, name, what));
    }
    found
}
