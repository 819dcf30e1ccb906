//! Compares two trees: what their metadata says of the content, then their columns.

use std::collections::HashSet;
use std::ops::Range;

use dataset::tree::{Branch, BranchKind, Tree};
use rootfile::Result;
use rootfile::object::{Content, Object, ObjectId};

use super::VerifyOptions;
use super::columns::{self, Different, Found, Pair};
use super::entries::How;
use super::values::Comparison;
use super::verdict::{Difference, TreeVerdict, Verdict};
use crate::engine::Progress;
use crate::plan::TablePlan;
use crate::plan::schema;

/// What is known of the job beside the two tables.
pub(super) struct Context<'a> {
    pub path: &'a str,
    pub options: &'a VerifyOptions,
    /// Whether the first side is one whole tree, so that all of its metadata must be found again.
    pub whole: bool,
    pub progress: Progress<'a>,
}

/// Compares two tables, and adds what was found to the verdict.
pub(super) fn compare(first: &TablePlan, second: &TablePlan, job: &Context<'_>, verdict: &mut Verdict) -> Result<()> {
    let before = verdict.differences.len();
    let common = job.options.common;
    let found = schema::compare(&first.tree, &second.tree);
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
    let asked = job.options.entries.clone().unwrap_or(0..u64::MAX);
    let window = asked.start.min(ours)..match job.options.entries {
        Some(_) => asked.end.min(ours),
        None => u64::MAX,
    };
    let entries = window.end.min(ours) - window.start;

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
    if !map.iter().flatten().is_sorted() {
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
        if changed.contains(name) || (a.pieces.is_empty() && b.pieces.is_empty()) {
            continue;
        }
        pairs.push(Pair { columns: [a, b], windows: [window.clone(), 0..u64::MAX] });
        pair_names.push(name);
    }
    let share = job.options.budget.share(first.metadata + second.metadata, columns::scratch(&pairs))?;
    let outcome = columns::compare(&pairs, [&first.files, &second.files], share.threads, job.progress)?;
    let mut found: Vec<_> = outcome.found.into_iter().collect();
    // Where one side is longer, that was said of the tree; no need to say it of each branch.
    let end = entries.min(theirs);
    let is_tail = |found: &Found| entries != theirs && found.entry == end && matches!(found.how, Different::Only(_));
    found.retain(|(_, found)| !is_tail(found));
    found.sort_by_key(|(pair, found)| (found.entry, *pair));
    for (pair, found) in found {
        let name = pair_names.get(pair).map_or("", |name| name.as_str());
        verdict.differences.push(describe(&found, &window, Difference::of_branch(job.path, name, "")));
    }
    verdict.trees.push(TreeVerdict {
        path: job.path.to_owned(),
        entries,
        branches,
        columns: pairs.len() as u64,
        bytes: outcome.bytes,
        equal: verdict.differences.len() == before,
    });
    Ok(())
}

fn describe(found: &Found, window: &Range<u64>, mut difference: Difference) -> Difference {
    difference.entry = Some(window.start + found.entry);
    difference.what = match &found.how {
        Different::Only(true) => "is missing from the second side".to_owned(),
        Different::Only(false) => "is missing from the first side".to_owned(),
        Different::Content(How::Lengths(a, b)) => format!("has {a} bytes and {b}"),
        Different::Content(How::Byte(at, a, b)) => {
            difference.byte = Some(*at as u64);
            format!("is {a:#04x} and {b:#04x}")
        }
    };
    if window.start > 0 {
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
    let mut attached = vec![
        ("aliases", a.aliases, b.aliases),
        ("friends", a.friends, b.friends),
        ("user info", a.user_info, b.user_info),
    ];
    if job.whole {
        attached.push(("index", a.tree_index, b.tree_index));
        attached.push(("table of references", reference_table(a), reference_table(b)));
    } else if a.tree_index.is_some() {
        notes.push(format!("tree {}: its index holds for other entries, and is not compared", job.path));
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
