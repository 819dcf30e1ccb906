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
        if plain && leaf.class == "TLeafC" {
            // Its fLen is the longest string so far.
            text.push_str(&format!(", TLeafC {}", leaf.named.name));
        } else if plain {
            text.push_str(&format!(", {} {}[{}]{counter}{unsigned}", leaf.class, leaf.named.name, leaf.len));
        }
    }
    text
}

/// How the branches of two trees correspond, by number.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// For each branch of the first, the one of the other.
    pub map: Vec<Option<usize>>,
    /// Branches that only the first has.
    pub missing: Vec<usize>,
    /// Branches that only the other has.
    pub extra: Vec<usize>,
    /// Branches of the first whose entries mean something else in the other.
    pub changed: Vec<usize>,
}

/// Compares two trees. Their tables of references are no part of the schema, though they are mapped.
pub(crate) fn compare(first: &Tree, other: &Tree) -> Comparison {
    let their_paths = paths(other);
    let theirs: HashMap<&BranchPath, usize> = their_paths.iter().enumerate().map(|(i, p)| (p, i)).collect();
    let mut result = Comparison::default();
    let mut used = vec![false; other.branches.len()];
    for (i, (path, branch)) in paths(first).iter().zip(&first.branches).enumerate() {
        let found = theirs.get(path).copied();
        match found.and_then(|i| other.branches.get(i)) {
            None if first.branch_ref == Some(i) => {}
            None => result.missing.push(i),
            Some(theirs) if meaning(first, branch) != meaning(other, theirs) => result.changed.push(i),
            Some(_) => {}
        }
        if let Some(slot) = found.and_then(|i| used.get_mut(i)) {
            *slot = true;
        }
        result.map.push(found);
    }
    result.extra = (0..used.len()).filter(|&i| !used.get(i).copied().unwrap_or(true)).collect();
    result.extra.retain(|&i| other.branch_ref != Some(i));
    result
}

impl Comparison {
    /// Whether the trees have the same schema.
    pub fn is_equal(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.changed.is_empty()
    }

    /// The differences by name.
    pub fn differences(&self, first: &Tree, other: &Tree) -> Vec<Difference> {
        let (own, theirs) = (paths(first), paths(other));
        let name = |paths: &[BranchPath], i: usize| paths.get(i).map(path_text).unwrap_or_default();
        let missing = self.missing.iter().map(|&i| Difference::Missing(name(&own, i)));
        let extra = self.extra.iter().map(|&i| Difference::Extra(name(&theirs, i)));
        let changed = self.changed.iter().filter_map(|&i| {
            let other_branch = self.map.get(i).copied().flatten().and_then(|i| other.branches.get(i))?;
            let (first, second) = (meaning(first, first.branches.get(i)?), meaning(other, other_branch));
            Some(Difference::Changed { branch: name(&own, i), first, second })
        });
        missing.chain(extra).chain(changed).collect()
    }
}

/// One difference between the schemas of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
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
