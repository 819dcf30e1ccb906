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
        // Split containers of the standard library name their items there, too.
        BranchKind::Element(element) => {
            let is_array = element.class_name == "TClonesArray" && !element.clones_name.is_empty();
            class(&element.class_name, is_array.then_some(element.clones_name.as_str()))
        }
        BranchKind::Object { class_name } => class(class_name, None),
        BranchKind::Clones(clones) => class("TClonesArray", Some(&clones.class_name)),
        BranchKind::Ref { .. } => None,
        BranchKind::Plain => leaves(tree, branch).map(NewKind::Leaves),
    }
}

fn leaves(tree: &Tree, branch: &Branch) -> Option<Vec<NewLeaf>> {
    let leaves: Option<Vec<NewLeaf>> =
        branch.leaves.iter().map(|leaf| new_leaf(tree, tree.leaves.get(*leaf)?)).collect();
    leaves.filter(|leaves| !leaves.is_empty())
}

fn new_leaf(tree: &Tree, leaf: &Leaf) -> Option<NewLeaf> {
    let letter = letter(leaf)?;
    let counter = match leaf.leaf_count {
        Some(id) => Some(tree.leaves.iter().find(|other| other.id == id)?.named.name.clone()),
        None => None,
    };
    // The brackets of a range of packed numbers have commas.
    let title = leaf.named.title.as_str();
    let front = title.split('/').next().unwrap_or_default();
    let range =
        title.split_inclusive(']').filter_map(|part| part.get(part.find('[')?..)).find(|part| part.contains(','));
    let packing = range.filter(|_| "fd".contains(letter)).unwrap_or_default().to_owned();
    let dims = front.split_once('[').map_or("", |(_, dims)| dims);
    let dims = dims.split(['[', ']']).filter(|dim| !dim.is_empty() && !dim.contains(','));
    let dims: Vec<u32> = dims.filter_map(|dim| dim.parse().ok()).collect();
    // The length of text says how many characters there are.
    let dims = if letter == 'C' { Vec::new() } else { dims };
    let counter = counter.filter(|_| letter != 'C');
    Some(NewLeaf { name: leaf.named.name.clone(), letter, dims, counter, packing })
}

/// The title of a top-level branch, if it says more than its columns do: leaf lists and names say no more.
pub fn remark(tree: &Tree, top: usize) -> Option<&str> {
    let branch = tree.branches.get(top)?;
    let title = branch.named.title.as_str();
    let bare = |text: &str| text.trim_end_matches('.').to_owned();
    let is_plain = title.is_empty() || bare(title) == bare(branch.name()) || title == tree.named.name;
    (!is_plain && !is_leaf_list(title)).then_some(title)
}

/// Whether a title is a leaf list: names with dimensions and letters, separated by colons.
fn is_leaf_list(title: &str) -> bool {
    let is_leaf = |leaf: &str| {
        let (name, letter) = leaf.split_once('/').unwrap_or((leaf, ""));
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '[' | ']' | '.' | '#');
        name.chars().all(is_word) && (letter.is_empty() || letter.chars().nth(1).is_none_or(|c| c == '['))
    };
    title.contains('/') && title.split(':').all(is_leaf)
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
            ("r", NewKind::Leaves(vec![NewLeaf { packing: "[0,8,12]".to_owned(), ..leaf("r", 'd', &[2], None) }])),
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
