//! Compares the schemas of trees that are to be put together: branch by branch, by name and by what their bytes
//! mean. Layout (basket sizes, compression) is no part of it.

use std::collections::HashMap;

use dataset::tree::{Branch, BranchKind, Tree};

/// How a branch is found in another tree: names from the top down, each with its place among equal names.
pub(crate) type BranchPath = Vec<(String, usize)>;

/// The paths of all branches.
pub(crate) fn paths(tree: &Tree) -> Vec<BranchPath> {
    let mut paths: Vec<BranchPath> = vec![Vec::new(); tree.branches.len()];
    let mut lists: Vec<(BranchPath, Vec<usize>)> = vec![(Vec::new(), tree.top.clone())];
    // The table of references is in no list; it gets a name that no branch has.
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

/// What the entries of a branch mean, as text; equal texts can be put into one branch.
pub(crate) fn meaning(tree: &Tree, branch: &Branch) -> String {
    let mut text = match &branch.kind {
        BranchKind::Plain => "TBranch".to_owned(),
        BranchKind::Element(e) => format!(
            "TBranchElement of {} (version {}, checksum {:#x}), element {} of type {}/{}{}",
            e.class_name,
            e.class_version,
            e.checksum,
            e.element_id,
            e.element_type,
            e.streamer_type,
            if e.clones_name.is_empty() { String::new() } else { format!(", of {}", e.clones_name) }
        ),
        BranchKind::Object { class_name } => format!("TBranchObject of {class_name}"),
        BranchKind::Ref { .. } => "TBranchRef".to_owned(),
        BranchKind::Clones(c) => format!("TBranchClones of {}", c.class_name),
    };
    let plain = matches!(branch.kind, BranchKind::Plain);
    for leaf in branch.leaves.iter().filter_map(|&l| tree.leaves.get(l)) {
        let counter = leaf.leaf_count.and_then(|id| tree.leaves.iter().find(|l| l.id == id));
        let counter = counter.map(|c| format!(" by {}", c.named.name)).unwrap_or_default();
        let unsigned = if leaf.is_unsigned { " unsigned" } else { "" };
        if plain {
            text.push_str(&format!(", {} {}[{}]{counter}{unsigned}", leaf.class, leaf.named.name, leaf.len));
        }
    }
    text
}

/// One difference between the schemas of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A branch that only the first has.
    Missing(String),
    /// A branch that only the second has.
    Extra(String),
    /// A branch whose entries mean something else.
    Changed {
        /// The branch.
        branch: String,
        /// What it is in the first.
        first: String,
        /// What it is in the second.
        second: String,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(branch) => write!(f, "no branch {branch}"),
            Self::Extra(branch) => write!(f, "a further branch {branch}"),
            Self::Changed { branch, first, second } => write!(f, "branch {branch}: {second} instead of {first}"),
        }
    }
}

/// Branches of `other` by their number in `first`, and what differs.
pub(crate) fn compare(first: &Tree, other: &Tree) -> (Vec<Option<usize>>, Vec<Difference>) {
    let theirs: HashMap<BranchPath, usize> = paths(other).into_iter().enumerate().map(|(i, p)| (p, i)).collect();
    let mut differences = Vec::new();
    let mut used = vec![false; other.branches.len()];
    let mut map = Vec::with_capacity(first.branches.len());
    for (path, branch) in paths(first).iter().zip(&first.branches) {
        let found = theirs.get(path).copied();
        match found.and_then(|i| other.branches.get(i)) {
            None => differences.push(Difference::Missing(path_text(path))),
            Some(theirs) => {
                let (a, b) = (meaning(first, branch), meaning(other, theirs));
                if a != b {
                    differences.push(Difference::Changed { branch: path_text(path), first: a, second: b });
                }
            }
        }
        if let Some(slot) = found.and_then(|i| used.get_mut(i)) {
            *slot = true;
        }
        map.push(found);
    }
    let extra = paths(other).into_iter().zip(used).filter(|(_, used)| !used);
    differences.extend(extra.map(|(path, _)| Difference::Extra(path_text(&path))));
    (map, differences)
}
