//! Compares the schemas of trees branch by branch: names, and the meaning of bytes ([`dataset::meaning`]). Layout (basket sizes,
//! compression) is not part of a schema.

use std::collections::{HashMap, HashSet};

use dataset::meaning::{ClassConflict, ClassConflicts, Meanings, Reach};
use dataset::table::Difference;
use dataset::tree::{Branch, Tree};
use rootfile::streamer::StreamerInfos;

/// Path of a branch: names from the top down, each with its index among equal names.
pub(crate) type BranchPath = Vec<(String, usize)>;

/// The paths of all branches.
pub(crate) fn paths(tree: &Tree) -> Vec<BranchPath> {
    let mut paths: Vec<BranchPath> = vec![Vec::new(); tree.branches.len()];
    let mut lists: Vec<(BranchPath, Vec<usize>)> = vec![(Vec::new(), tree.top.clone())];
    // The table of references is in no list. It gets a name that no branch can have.
    if let Some(i) = tree.branch_ref
        && let Some(path) = paths.get_mut(i)
    {
        *path = vec![("\0TRefTable".to_owned(), 0)];
    }
    while let Some((above, list)) = lists.pop() {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for i in list {
            let Some(branch) = tree.branches.get(i) else { continue };
            let nth = count.entry(branch.name()).or_default();
            let mut path = above.clone();
            path.push((branch.name().to_owned(), *nth));
            *nth += 1;
            lists.push((path.clone(), branch.children.clone()));
            if let Some(slot) = paths.get_mut(i) {
                *slot = path;
            }
        }
    }
    paths
}

/// A path as text.
pub(crate) fn path_text(path: &BranchPath) -> String {
    path.iter().map(|(name, _)| name.trim_start_matches('\0')).collect::<Vec<_>>().join("/")
}

/// A tree with the descriptions of its classes.
#[derive(Clone, Copy)]
pub(crate) struct Described<'a> {
    pub tree: &'a Tree,
    pub infos: &'a StreamerInfos,
}

/// Whether two trees have branches of the same names at the same indices, as most inputs of a merge do.
fn same_places(first: &Tree, other: &Tree) -> bool {
    first.branches.len() == other.branches.len()
        && first.top == other.top
        && first.branch_ref == other.branch_ref
        && first
            .branches
            .iter()
            .zip(&other.branches)
            .all(|(a, b)| a.named.name == b.named.name && a.parent == b.parent && a.children == b.children)
}

/// How the branches of two trees correspond, by index.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Comparison {
    /// For each branch of the first tree, the branch of the other.
    pub map: Vec<Option<usize>>,
    /// Branches that only the first has.
    pub missing: Vec<usize>,
    /// Branches that only the other has.
    pub extra: Vec<usize>,
    /// Branches of the first tree whose entries have another meaning in the other.
    pub changed: Vec<usize>,
    /// For those of them whose own metadata are equal, the classes of their values that are described differently.
    pub conflicts: HashMap<usize, Vec<ClassConflict>>,
    /// For those of them whose entries name another class, what they name.
    pub named: HashMap<usize, String>,
    /// The classes that the two sides describe differently, whether branches use them or not.
    pub classes: ClassConflicts,
}

/// Compares two trees. Tables of references are mapped, but not compared.
pub(crate) fn compare(first: Described<'_>, other: Described<'_>) -> Comparison {
    let (mine, theirs) = (Meanings::new(first.tree, first.infos), Meanings::new(other.tree, other.infos));
    let classes = ClassConflicts::between(first.infos, other.infos);
    let mut result = Comparison { map: mapping(first.tree, other.tree), ..Comparison::default() };
    let mut used = vec![false; other.tree.branches.len()];
    for (i, (found, branch)) in result.map.iter().zip(&first.tree.branches).enumerate() {
        match found.and_then(|i| other.tree.branches.get(i)) {
            None if first.tree.branch_ref == Some(i) => {}
            None => result.missing.push(i),
            Some(their) if mine.of(branch) != theirs.of(their) => result.changed.push(i),
            Some(_) if classes.is_empty() => {}
            Some(their) => {
                let conflicts = conflicts((&mine, branch), (&theirs, their), &classes);
                if !conflicts.is_empty() {
                    result.changed.push(i);
                    result.conflicts.insert(i, conflicts);
                }
            }
        }
        if let Some(slot) = found.and_then(|i| used.get_mut(i)) {
            *slot = true;
        }
    }
    result.extra = (0..used.len()).filter(|&i| !used.get(i).copied().unwrap_or(true)).collect();
    result.extra.retain(|&i| other.tree.branch_ref != Some(i));
    result.classes = classes;
    result
}

/// The classes that entries of two branches use and that are described differently.
pub(super) fn conflicts(
    (mine, ours): (&Meanings<'_>, &Branch),
    (theirs, their): (&Meanings<'_>, &Branch),
    classes: &ClassConflicts,
) -> Vec<ClassConflict> {
    let mut reach = Reach::default();
    mine.reach(ours, &mut reach);
    theirs.reach(their, &mut reach);
    let own = mine.conflict_of_member(ours, classes);
    classes.among(&reach).into_iter().chain(own).cloned().collect()
}

/// The branch of `other` that each branch of `first` corresponds to.
fn mapping(first: &Tree, other: &Tree) -> Vec<Option<usize>> {
    if same_places(first, other) {
        return (0..first.branches.len()).map(Some).collect();
    }
    let theirs: HashMap<BranchPath, usize> = paths(other).into_iter().enumerate().map(|(i, p)| (p, i)).collect();
    paths(first).iter().map(|path| theirs.get(path).copied()).collect()
}

impl Comparison {
    /// Whether the trees have the same schema.
    pub fn is_equal(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.changed.is_empty()
    }

    /// Ignores some branches of the first tree and of the other.
    pub fn leave_out(&mut self, own: &HashSet<usize>, theirs: &HashSet<usize>) {
        self.missing.retain(|branch| !own.contains(branch));
        self.changed.retain(|branch| !own.contains(branch));
        self.conflicts.retain(|branch, _| !own.contains(branch));
        self.extra.retain(|branch| !theirs.contains(branch));
        own.iter().for_each(|&branch| {
            if let Some(found) = self.map.get_mut(branch) {
                *found = None;
            }
        });
    }

    /// Whether a branch is split in one of the trees and not in the other.
    pub fn split_differs(&self, first: &Tree, other: &Tree) -> bool {
        let whole = |tree: &Tree, i: usize| tree.branches.get(i).map(|branch| branch.children.is_empty());
        self.changed.iter().any(|&i| match self.map.get(i) {
            Some(&Some(theirs)) => whole(first, i) != whole(other, theirs),
            _ => false,
        })
    }

    /// The differences by name.
    pub fn differences(&self, first: Described<'_>, other: Described<'_>) -> Vec<Difference> {
        let (own, theirs) = (paths(first.tree), paths(other.tree));
        let (mine, yours) = (Meanings::new(first.tree, first.infos), Meanings::new(other.tree, other.infos));
        let name = |paths: &[BranchPath], i: usize| paths.get(i).map(path_text).unwrap_or_default();
        let missing = self.missing.iter().map(|&i| Difference::Missing(name(&own, i)));
        let extra = self.extra.iter().map(|&i| Difference::Extra(name(&theirs, i)));
        let changed = self.changed.iter().filter_map(|&i| {
            if let Some(what) = self.named.get(&i) {
                return Some(Difference::Class { branch: name(&own, i), what: what.clone() });
            }
            if let Some(conflicts) = self.conflicts.get(&i) {
                let texts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
                return Some(Difference::Class { branch: name(&own, i), what: texts.join(", ") });
            }
            let other_branch = self.map.get(i).copied().flatten().and_then(|i| other.tree.branches.get(i))?;
            let (first, second) = (mine.of(first.tree.branches.get(i)?), yours.of(other_branch));
            Some(Difference::Changed { branch: name(&own, i), first: first.to_string(), second: second.to_string() })
        });
        missing.chain(extra).chain(changed).collect()
    }
}
