//! Minima and maxima in the metadata of leaves and branches, over several trees.
//!
//! Readers allocate memory by `TLeafI::fMaximum` of a leaf that counts others, so a merged tree needs the largest of all.
//! `TBranchElement::fMaximum` is the same for split collections.

use dataset::tree::{Branch, BranchKind, Leaf};
use rootfile::object::{Members, Value};

/// Raises a branch's maximum to another's.
pub(crate) fn raise_branch(mine: &mut Branch, theirs: &Branch) {
    if let (BranchKind::Element(mine), BranchKind::Element(theirs)) = (&mut mine.kind, &theirs.kind) {
        mine.maximum = mine.maximum.max(theirs.maximum);
    }
}

/// Widens a leaf's minimum and maximum to include another's. Also raises the length of a `TLeafC`.
pub(crate) fn raise_leaf(mine: &mut Leaf, theirs: &Leaf) {
    if mine.class == "TLeafC" {
        mine.len = mine.len.max(theirs.len);
    }
    let theirs = theirs.extra.as_ref().and_then(|o| o.members());
    let mine = mine.extra.as_mut().and_then(|o| o.members_mut());
    if let (Some(mine), Some(theirs)) = (mine, theirs) {
        widen(mine, theirs, "fMinimum", |a, b| a > b);
        widen(mine, theirs, "fMaximum", |a, b| a < b);
    }
}

fn widen(mine: &mut Members, theirs: &Members, name: &str, replace: impl Fn(f64, f64) -> bool) {
    let Some(other) = theirs.get(name) else { return };
    if let Some(own) = mine.get_mut(name)
        && std::mem::discriminant(own) == std::mem::discriminant(other)
    {
        let larger = match (&*own, other) {
            (Value::Int(a), Value::Int(b)) => replace(0.0, 1.0) == (a < b) && a != b,
            (Value::UInt(a), Value::UInt(b)) => replace(0.0, 1.0) == (a < b) && a != b,
            _ => own.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| replace(a, b)),
        };
        if larger {
            *own = other.clone();
        }
    }
}

/// Records the largest value of a branch that counts others, or the length of the longest text of a `TLeafC` plus one.
pub(crate) fn set_maximum(branch: &mut Branch, leaves: &mut [Leaf], maximum: u64) {
    if let BranchKind::Element(element) = &mut branch.kind {
        element.maximum = i32::try_from(maximum).unwrap_or(i32::MAX);
    }
    for &leaf in &branch.leaves {
        if let Some(leaf) = leaves.get_mut(leaf) {
            raise_leaf_to(leaf, maximum);
        }
    }
}

/// Raises the largest value of a leaf, and the length of a `TLeafC`.
pub(crate) fn raise_leaf_to(leaf: &mut Leaf, value: u64) {
    if leaf.class == "TLeafC" {
        leaf.len = leaf.len.max(i32::try_from(value).unwrap_or(i32::MAX));
    }
    match leaf.extra.as_mut().and_then(|o| o.members_mut()).and_then(|members| members.get_mut("fMaximum")) {
        Some(Value::Int(most)) => *most = (*most).max(i64::try_from(value).unwrap_or(i64::MAX)),
        Some(Value::UInt(most)) => *most = (*most).max(value),
        _ => {}
    }
}
