//! Compares the metadata of two trees and of their branches: titles, weight, aliases, friends, index and user info.

use dataset::tree::{Branch, BranchKind, Tree};
use rootfile::object::{Content, Object, ObjectId};

use crate::table::object_values::Comparison;
use crate::verify::context::Context;
use crate::verify::verdict::Difference;

/// Differences between the trees' own records, beside the schema.
pub(crate) fn trees(a: &Tree, b: &Tree, context: &Context<'_>, notes: &mut Vec<String>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: String| found.push(Difference::of_tree(context.path, what));
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
    if context.whole {
        attached.push(("index", a.tree_index, b.tree_index));
        attached.push(("table of references", reference_table(a), reference_table(b)));
    } else if a.tree_index.is_some() {
        notes.push(format!("tree {}: its index holds for other entries, and is not compared", context.path));
    }
    let (ours, theirs) = (a.friends(), b.friends());
    if context.selected && theirs.len() < ours.len() && theirs.iter().all(|friend| ours.contains(friend)) {
        let some = if theirs.is_empty() { "" } else { "some of " };
        notes.push(format!("tree {}: {some}its friends align with other entries, and are not compared", context.path));
    } else {
        attached.push(("friends", a.friends, b.friends));
    }
    for (what, ours, theirs) in attached {
        // An empty list of friends or aliases equals no list.
        let (ours, theirs) = (ours.filter(|id| !is_empty(a, *id)), theirs.filter(|id| !is_empty(b, *id)));
        match (ours, theirs) {
            (None, None) => {}
            (Some(_), Some(_)) => {
                if !Comparison::new(&a.graph, &b.graph).pointers_equal(ours, theirs) {
                    differ(format!("the {what} differ"));
                }
            }
            _ if context.options.common => {}
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

/// Differences between the titles of two branches and of their leaves.
pub(super) fn branches(
    (a, i): (&Tree, usize),
    (b, j): (&Tree, usize),
    context: &Context<'_>,
    name: &str,
) -> Vec<Difference> {
    let (Some(ours), Some(theirs)) = (a.branches.get(i), b.branches.get(j)) else { return Vec::new() };
    let leaves = |tree: &Tree, branch: &Branch| -> Vec<String> {
        branch.leaves.iter().filter_map(|&l| Some(tree.leaves.get(l)?.named.title.clone())).collect()
    };
    let mut found = Vec::new();
    if ours.named.title != theirs.named.title {
        let what = format!("the title is {:?} and {:?}", ours.named.title, theirs.named.title);
        found.push(Difference::of_branch(context.path, name, what));
    }
    let (ours, theirs) = (leaves(a, ours), leaves(b, theirs));
    if ours != theirs {
        let what = format!("the titles of its leaves are {} and {}", ours.join(", "), theirs.join(", "));
        found.push(Difference::of_branch(context.path, name, what));
    }
    found
}
