//! Objects that count entries of a tree by their old numbers, where some entries are left out: friends that no longer align are
//! dropped, and entry lists get a note.

use std::path::Path;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::tree::FriendName;
use objects::ObjectPlan;

use crate::plan::tree::TablePlan;

/// Classes of objects that list entries of trees by their numbers.
const ENTRY_LISTS: [&str; 3] = ["TEntryList", "TEventList", "TEntryListArray"];

/// A tree of the output, some of whose entries may be left out, and what is said of it.
pub(crate) struct SelectedTree<'a> {
    pub path: &'a str,
    pub plan: &'a mut TablePlan,
    pub notes: &'a mut Vec<String>,
    pub lost: &'a mut Vec<String>,
}

/// Drops friends whose entries no longer align, and notes entry lists, which keep the old numbers.
pub(crate) fn drop_misaligned_friends(plans: &mut [SelectedTree<'_>], own: &Path, objects: &ObjectPlan) {
    let about = |SelectedTree { path, plan, .. }: &SelectedTree<'_>| {
        ((*path).to_owned(), plan.selected.clone(), plan.tree.tree_index.is_some(), plan.order.is_some())
    };
    let trees: Vec<(String, Option<Arc<EntrySet>>, bool, bool)> = plans.iter().map(about).collect();
    if trees.iter().all(|(_, chosen, _, reordered)| chosen.is_none() && !reordered) {
        return;
    }
    for SelectedTree { path, plan, lost, .. } in plans.iter_mut() {
        let still_aligned = |friend: &FriendName| {
            let here = friend.file.is_empty() || Path::new(&friend.file).file_name() == own.file_name();
            let tree = trees.iter().find(|(path, ..)| here && path == friend.tree.trim_start_matches('/'));
            match tree {
                // A friend with an index is looked up by it, whatever the entry numbers.
                Some((_, chosen, indexed, reordered)) => {
                    *indexed || (*chosen == plan.selected && !reordered && plan.order.is_none())
                }
                None => plan.selected.is_none() && plan.order.is_none(),
            }
        };
        let friends = plan.tree.friends();
        let names: Vec<&str> = friends.iter().filter(|f| !still_aligned(f)).map(|f| f.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let why = match plan.order {
            Some(_) => "their entries are in another order",
            None => "their entries no longer align with the selected ones",
        };
        lost.push(format!("tree {path}: its friends {} are left out: {why}", names.join(", ")));
        let stays: Vec<FriendName> = friends.iter().filter(|f| still_aligned(f)).cloned().collect();
        plan.tree.retain_friends(|friend| stays.contains(friend));
    }
    let entries =
        objects.directories.iter().flat_map(|d| d.entries.iter().map(|entry| (d.path_of(&entry.name), entry)));
    let lists: Vec<String> =
        entries.filter(|(_, entry)| ENTRY_LISTS.contains(&entry.class.as_str())).map(|(path, _)| path).collect();
    let first = plans.iter_mut().find(|tree| tree.plan.selected.is_some() || tree.plan.order.is_some());
    if let (false, Some(tree)) = (lists.is_empty(), first) {
        tree.notes.push(format!(
            "entry lists are copied unchanged and keep the entry numbers of the input: {}",
            lists.join(", ")
        ));
    }
}
