//! What the columns of an existing tree are made of: the inverse of [`make_tree`](super::make_tree), for the top-level branches.

use super::{NewKind, NewLeaf};
use crate::tree::model::{Branch, BranchKind, Leaf, Tree};

/// The content of a top-level branch, by its index among all branches. None if no column of a tree can be made like it.
pub fn kind_of(tree: &Tree, top: usize) -> Option<NewKind> {
    let branch = tree.branches.get(top)?;
    let class = |type_name: &str, clones: Option<&str>| {
        Some(NewKind::Class { type_name: type_name.to_owned(), clones: clones.map(str::to_owned) })
    };
    match &branch.kind {
        BranchKind::Element(element) if element.clones_name.is_empty() => class(&element.class_name, None),
        BranchKind::Element(element) => class(&element.class_name, Some(&element.clones_name)),
        BranchKind::Object { class_name } => class(class_name, None),
        BranchKind::Clones(clones) => class("TClonesArray", Some(&clones.class_name)),
        BranchKind::Ref { .. } => None,
        BranchKind::Plain => leaves(tree, branch).map(NewKind::Leaves),
    }
}

fn leaves(tree: &Tree, branch: &Branch) -> Option<Vec<NewLeaf>> {
    let leaves: Option<Vec<NewLeaf>> = branch.leaves.iter().map(|leaf| new_leaf(tree, tree.leaves.get(*leaf)?)).collect();
    leaves.filter(|leaves| !leaves.is_empty())
}

fn new_leaf(tree: &Tree, leaf: &Leaf) -> Option<NewLeaf> {
    let letter = letter(leaf)?;
    let counter = match leaf.leaf_count {
        Some(id) => Some(tree.leaves.iter().find(|other| other.id == id)?.named.name.clone()),
        None => None,
    };
    let dims = leaf.named.title.split_once('[').map_or("", |(_, dims)| dims);
    // Ranges of packed numbers come last, behind the letter.
    let dims = dims.split('/').next().unwrap_or_default();
    let dims = dims.split(['[', ']']).filter(|dim| !dim.is_empty());
    let dims: Vec<u32> = dims.filter_map(|dim| dim.parse().ok()).collect();
    // The length of text says how many characters there are.
    let dims = if letter == 'C' { Vec::new() } else { dims };
    let counter = counter.filter(|_| letter != 'C');
    Some(NewLeaf { name: leaf.named.name.clone(), letter, dims, counter, packing: String::new() })
}

/// The letter of a leaf list for a class of leaves.
fn letter(leaf: &Leaf) -> Option<char> {
    let (signed, unsigned) = match leaf.class.as_str() {
        "TLeafO" => ('O', 'O'),
        "TLeafB" => ('B', 'b'),
        "TLeafC" => ('C', 'C'),
        "TLeafS" => ('S', 's'),
        "TLeafI" => ('I', 'i'),
        "TLeafL" => ('L', 'l'),
        "TLeafG" => ('G', 'g'),
        "TLeafF" => ('F', 'F'),
        "TLeafF16" => ('f', 'f'),
        "TLeafD" => ('D', 'D'),
        "TLeafD32" => ('d', 'd'),
        _ => return None,
    };
    Some(if leaf.is_unsigned { unsigned } else { signed })
}

#[cfg(test)]
mod tests {
    use rootfile::streamer::StreamerInfos;

    use super::*;
    use crate::tree::make::{NewColumn, make_tree};

    #[test]
    fn columns_are_found_again() {
        let leaf = |name: &str, letter: char, dims: &[u32], counter: Option<&str>| NewLeaf {
            name: name.to_owned(),
            letter,
            dims: dims.to_vec(),
            counter: counter.map(str::to_owned),
            packing: String::new(),
        };
        let kinds = [
            ("n", NewKind::Leaves(vec![leaf("n", 'I', &[], None)])),
            ("x", NewKind::Leaves(vec![leaf("x", 'F', &[], Some("n"))])),
            ("y", NewKind::Leaves(vec![leaf("y", 's', &[2, 3], Some("n"))])),
            ("p", NewKind::Leaves(vec![leaf("a", 'O', &[], None), leaf("b", 'd', &[4], None)])),
            ("t", NewKind::Leaves(vec![leaf("t", 'C', &[], None)])),
            ("v", NewKind::Class { type_name: "vector<float>".to_owned(), clones: None }),
        ];
        let columns: Vec<NewColumn> = kinds.iter().map(|(name, kind)| NewColumn::new(*name, kind.clone())).collect();
        let tree = make_tree("t", "", &columns, &StreamerInfos::new()).unwrap();
        for (top, (_, kind)) in tree.top.iter().zip(&kinds) {
            assert_eq!(kind_of(&tree, *top).as_ref(), Some(kind));
        }
    }
}
