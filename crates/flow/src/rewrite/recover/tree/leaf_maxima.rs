//! Raises the maxima in a tree's metadata to the values in baskets that its record does not list.
//!
//! Readers allocate by the largest count (`TLeafI::fMaximum` of leaves that count others, `TBranchElement::fMaximum` of
//! split collections) and by the longest string (`TLeafC::fLen`): too small a number lets them overrun.

use std::collections::HashSet;

use dataset::tree::basket::{BasketData, BasketHeader};
use dataset::tree::{BranchKind, Leaf, Tree};
use rootfile::bytes::Cursor;
use rootfile::object::ObjectId;
use rootfile::{Result, RootFile};

use crate::commit::tree::leaf_maxima::raise_leaf_to;

/// Raises the maxima of a tree to the values in the baskets at these positions.
pub(crate) fn raise(file: &RootFile, tree: &mut Tree, found: &HashSet<u64>) -> Result<()> {
    let counting: HashSet<ObjectId> = tree.leaves.iter().filter_map(|leaf| leaf.leaf_count).collect();
    for branch in &mut tree.branches {
        let is_master = branch.element().is_some_and(|e| matches!(e.element_type, 3 | 4));
        let counts = |leaf: &Leaf| counting.contains(&leaf.id) || leaf.class == "TLeafC";
        let leaves = || branch.leaves.iter().copied();
        if !is_master && !leaves().any(|leaf| tree.leaves.get(leaf).is_some_and(counts)) {
            continue;
        }
        let mut most = 0;
        for basket in branch.baskets.iter().filter(|basket| found.contains(&basket.seek)) {
            let data = open(file, basket.seek)?;
            let mut longest = vec![0; branch.leaves.len()];
            for entry in 0..data.count as usize {
                let bytes = data.range(entry).and_then(|range| data.data.get(range)).unwrap_or_default();
                let mut c = Cursor::new(bytes);
                if is_master {
                    most = most.max(c.i32().unwrap_or(0));
                    continue;
                }
                for (leaf, longest) in leaves().zip(&mut longest) {
                    let Some(leaf) = tree.leaves.get(leaf) else { break };
                    // Leaves behind one of varying length are not read.
                    let Some(value) = value(&mut c, leaf) else { break };
                    *longest = value.max(*longest);
                }
            }
            for (leaf, longest) in leaves().zip(longest) {
                if let Some(leaf) = tree.leaves.get_mut(leaf).filter(|leaf| counts(leaf)) {
                    raise_leaf_to(leaf, u64::try_from(longest).unwrap_or(0));
                }
            }
        }
        if let BranchKind::Element(element) = &mut branch.kind {
            element.maximum = element.maximum.max(most);
        }
    }
    Ok(())
}

fn open(file: &RootFile, seek: u64) -> Result<BasketData> {
    let key = file.key_at(seek)?;
    let header = file.source().read(seek, usize::from(key.keylen))?;
    BasketHeader::parse(&mut Cursor::new(&header))?.open(file.payload(&key)?)
}

/// The value of a leaf that counts, or the bytes of a string with its end; 0 for others.
fn value(c: &mut Cursor<'_>, leaf: &Leaf) -> Option<i64> {
    if leaf.class == "TLeafC" {
        return c.string_bytes().ok().and_then(|text| i64::try_from(text.len() + 1).ok());
    }
    if leaf.leaf_count.is_some() {
        return None;
    }
    match (leaf.len, leaf.len_type) {
        (1, 1) => c.i8().ok().map(i64::from),
        (1, 2) => c.i16().ok().map(i64::from),
        (1, 4) => c.i32().ok().map(i64::from),
        (1, 8) => c.i64().ok(),
        (len, each) => c.skip(usize::try_from(len.checked_mul(each)?).ok()?).ok().map(|()| 0),
    }
}
