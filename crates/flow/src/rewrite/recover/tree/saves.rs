//! Tells whether two tree records under one name are saves of the same tree.

use std::collections::HashMap;

use dataset::tree::basket::BasketData;
use dataset::tree::{Branch, Tree};

/// Whether two records of one name are saves of the same tree: the record with more entries lists all baskets of the other,
/// at the same positions.
pub(crate) fn are_saves_of_one(a: &Tree, b: &Tree) -> bool {
    let (fewer, more) = if a.entries <= b.entries { (a, b) } else { (b, a) };
    let mut branches: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, branch) in more.branches.iter().enumerate() {
        branches.entry(branch.name()).or_default().push(i);
    }
    // Branches of one name follow one another in both.
    let mut seen: HashMap<&str, usize> = HashMap::new();
    fewer.branches.iter().all(|branch| {
        let nth = seen.entry(branch.name()).or_default();
        let same = branches.get(branch.name()).and_then(|all| all.get(*nth)).and_then(|i| more.branches.get(*i));
        *nth += 1;
        let Some(same) = same else { return false };
        let stored = branch.baskets.iter().take_while(|basket| basket.seek > 0);
        let (ours, theirs) = (entries_held(branch), entries_held(same));
        stored.zip(&same.baskets).all(|(a, b)| a.seek == b.seek && a.entries == b.entries)
            && match (ours, theirs) {
                // Both keep entries in their own records.
                (Some(ours), Some(theirs)) if stored_baskets(branch) == stored_baskets(same) => {
                    theirs.starts_with(&ours)
                }
                _ => stored_baskets(branch) <= stored_baskets(same),
            }
    })
}

/// Baskets with a record of their own.
fn stored_baskets(branch: &Branch) -> usize {
    branch.baskets.iter().take_while(|basket| basket.seek > 0).count()
}

/// The bytes of the entries of a branch that lie in the tree's record.
fn entries_held(branch: &Branch) -> Option<Vec<u8>> {
    let (_, last) = branch.embedded.last()?;
    let (_, data) = BasketData::parse_embedded(&last.bytes).ok()?;
    Some(data.data.to_vec())
}
