//! Turns leaves of packed numbers (`Double32_t`, `Float16_t`) into leaves of the numbers that they are in memory: values that were
//! packed in different ranges fit into these without a loss. And back, where a layout asks for it.

use super::maker::leaf_extra;
use crate::tree::model::Tree;

impl Tree {
    /// Turns the packed leaves of a branch into plain ones. Entries in baskets stay as they are. Returns whether there was one.
    pub fn unpack_leaves(&mut self, branch: usize) -> bool {
        let mut was_packed = false;
        let Some(branch) = self.branches.get_mut(branch) else { return false };
        branch.named.title = unpacked_list(&branch.named.title);
        for leaf in branch.leaves.iter() {
            let Some(leaf) = self.leaves.get_mut(*leaf) else { continue };
            let plain = match leaf.class.as_str() {
                "TLeafD32" => "TLeafD",
                "TLeafF16" => "TLeafF",
                _ => continue,
            };
            leaf.class = plain.to_owned();
            leaf.extra = leaf_extra(plain, &[]);
            leaf.named.title = without_range(&leaf.named.title);
            was_packed = true;
        }
        was_packed
    }
}

impl Tree {
    /// Turns the only leaf of a branch, of floats or doubles, into one of packed numbers with this range (`[0,1,12]`, or empty). Entries
    /// in baskets stay as they are. Returns whether it did.
    pub fn pack_leaf(&mut self, branch: usize, packing: &str) -> bool {
        let Some(&[leaf]) = self.branches.get(branch).map(|branch| branch.leaves.as_slice()) else { return false };
        let Some(leaf) = self.leaves.get_mut(leaf) else { return false };
        let (packed, letter) = match leaf.class.as_str() {
            "TLeafF" => ("TLeafF16", 'f'),
            "TLeafD" => ("TLeafD32", 'd'),
            _ => return false,
        };
        let name = leaf.named.title.rsplit_once('/').map_or(leaf.named.title.as_str(), |(name, _)| name).to_owned();
        leaf.class = packed.to_owned();
        leaf.extra = leaf_extra(packed, &[]);
        // ROOT finds the range in the title.
        leaf.named.title = format!("{name}/{letter}{packing}");
        let list = leaf.named.title.clone();
        if let Some(branch) = self.branches.get_mut(branch) {
            let is_list = branch.named.title.rsplit_once('/').is_some_and(|(_, letter)| matches!(letter, "F" | "D"));
            if is_list {
                branch.named.title = list;
            }
        }
        true
    }
}

/// A leaf list without packed numbers.
fn unpacked_list(title: &str) -> String {
    let leaf = |leaf: &str| match leaf.rsplit_once('/') {
        Some((name, packed)) if packed.starts_with('d') => format!("{}/D", without_range(name)),
        Some((name, packed)) if packed.starts_with('f') => format!("{}/F", without_range(name)),
        _ => leaf.to_owned(),
    };
    title.split(':').map(leaf).collect::<Vec<_>>().join(":")
}

/// A leaf's title without its letter and its range, whose brackets have commas.
pub(super) fn without_range(title: &str) -> String {
    let name = title.rsplit_once('/').map_or(title, |(name, _)| name);
    let keeps = |part: &&str| !part.split_once('[').is_some_and(|(_, inside)| inside.contains(','));
    let parts = name.split_inclusive(']');
    parts.filter(keeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_ranges_and_keep_dimensions() {
        assert_eq!(unpacked_list("x/d[0,100,10]"), "x/D");
        assert_eq!(unpacked_list("n/I:x[n][3]/f[-pi,pi,12]:y[2]/F"), "n/I:x[n][3]/F:y[2]/F");
        assert_eq!(unpacked_list("energy in GeV"), "energy in GeV");
        assert_eq!(without_range("x[n]/d[0,100,10]"), "x[n]");
        assert_eq!(without_range("x[3]"), "x[3]");
    }
}
