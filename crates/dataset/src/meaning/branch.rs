//! The meaning of a branch by its own metadata: its leaves, or its class and member. The classes of its values are those of
//! [`Meanings::reach`].

use std::fmt;
use std::sync::Arc;

use rootfile::streamer::{Packed, StreamerInfo, StreamerInfos};

use super::conflict::{ClassConflict, ClassConflicts};
use super::element::ElementForm;
use super::reach::Reach;
use crate::decode::plan::leaves::dimensions;
use crate::tree::{Branch, BranchKind, Leaf, Tree};
use crate::type_name::TypeName;

/// What a branch's metadata say about its bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum BranchMeaning<'a> {
    /// Leaves of basic types.
    Leaves(Vec<LeafMeaning<'a>>),
    /// A member, a base or a collection of a class.
    Element(ElementMeaning<'a>),
    /// Unsplit objects with their class name.
    Object(&'a str),
    /// A table of references.
    References,
    /// A collection of ROOT 2.
    Clones(&'a str),
}

/// What a leaf says about bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafMeaning<'a> {
    class: &'a str,
    name: &'a str,
    /// Numbers of an item; 0 for texts, whose length is that of the longest so far.
    len: i32,
    dims: Vec<usize>,
    /// The name of the leaf that counts it.
    counter: Option<&'a str>,
    is_unsigned: bool,
    packed: Option<Packed>,
}

/// What a branch of a class says about bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementMeaning<'a> {
    class: &'a str,
    clones: &'a str,
    version: i16,
    checksum: u32,
    id: i32,
    kind: i32,
    streamer: i32,
}

/// The meanings of the branches of a tree.
#[derive(Debug)]
pub struct Meanings<'a> {
    tree: &'a Tree,
    infos: &'a StreamerInfos,
    /// Names of leaves by identity, to find counters.
    names: Vec<Option<&'a str>>,
}

impl<'a> Meanings<'a> {
    /// Of a tree whose classes are described by `infos`.
    pub fn new(tree: &'a Tree, infos: &'a StreamerInfos) -> Self {
        // Identities are numbers of objects in a record.
        let mut names = vec![None; tree.leaves.iter().map(|leaf| leaf.id + 1).max().unwrap_or(0)];
        for leaf in &tree.leaves {
            if let Some(slot) = names.get_mut(leaf.id) {
                *slot = Some(leaf.named.name.as_str());
            }
        }
        Self { tree, infos, names }
    }

    /// The meaning of a branch by its own metadata.
    pub fn of(&self, branch: &'a Branch) -> BranchMeaning<'a> {
        match &branch.kind {
            BranchKind::Plain => BranchMeaning::Leaves(self.leaves(branch).map(|leaf| self.leaf(leaf)).collect()),
            BranchKind::Element(e) => BranchMeaning::Element(ElementMeaning {
                class: &e.class_name,
                clones: &e.clones_name,
                version: e.class_version,
                // Containers of the standard library have no description; writers differ in what they note for them.
                checksum: if TypeName::parse(&e.class_name).container().is_some() { 0 } else { e.checksum },
                id: e.element_id,
                kind: e.element_type,
                streamer: e.streamer_type,
            }),
            BranchKind::Object { class_name } => BranchMeaning::Object(class_name),
            BranchKind::Ref { .. } => BranchMeaning::References,
            BranchKind::Clones(clones) => BranchMeaning::Clones(&clones.class_name),
        }
    }

    fn leaves(&self, branch: &'a Branch) -> impl Iterator<Item = &'a Leaf> {
        branch.leaves.iter().filter_map(|&l| self.tree.leaves.get(l))
    }

    fn leaf(&self, leaf: &'a Leaf) -> LeafMeaning<'a> {
        let title = leaf.named.title.as_str();
        let is_text = leaf.class == "TLeafC";
        let len = if is_text { 0 } else { leaf.len };
        let dims = if is_text || !title.contains('[') {
            Vec::new()
        } else {
            dimensions(title, usize::try_from(leaf.len.max(1)).unwrap_or(1))
        };
        LeafMeaning {
            class: &leaf.class,
            name: &leaf.named.name,
            len,
            dims,
            counter: leaf.leaf_count.and_then(|id| self.names.get(id).copied().flatten()),
            is_unsigned: leaf.is_unsigned,
            packed: match leaf.class.as_str() {
                "TLeafD32" => Some(Packed::double32(title)),
                "TLeafF16" => Some(Packed::float16(title)),
                _ => None,
            },
        }
    }

    /// Whether two branches are one member in two descriptions of their class, so that their bytes mean the same; or objects of one
    /// class, whose members are the branches below. The classes that the member uses are not compared.
    pub fn is_same_member(&self, branch: &Branch, (other, their): (&Meanings<'_>, &Branch)) -> bool {
        let (Some(a), Some(b)) = (branch.element(), their.element()) else { return false };
        let alike = (&a.class_name, &a.clones_name, a.element_type) == (&b.class_name, &b.clones_name, b.element_type);
        if !alike {
            return false;
        }
        match (a.element_id, b.element_id) {
            (..0, ..0) => !branch.children.is_empty() && !their.children.is_empty(),
            (0.., 0..) => match (self.member(branch), other.member(their)) {
                (Some(ours), Some(theirs)) if a.element_type == 1 => ours.is_same_but_version(&theirs),
                (ours, theirs) => ours.is_some() && ours == theirs,
            },
            _ => false,
        }
    }

    /// What the member of a branch says about bytes, by the description of its class.
    fn member(&self, branch: &Branch) -> Option<ElementForm> {
        let info = self.description(branch)?;
        let id = usize::try_from(branch.element()?.element_id).ok()?;
        Some(ElementForm::of(info, info.elements.get(id)?))
    }

    /// The description of the class whose member a branch is.
    pub fn description(&self, branch: &Branch) -> Option<&'a Arc<StreamerInfo>> {
        let element = branch.element()?;
        self.infos.layout(&element.class_name, element.class_version.into(), element.checksum)
    }

    /// Adds the classes that readers need for a branch: those that its entries use, and the class whose member it is.
    pub fn reach_with_own_class(&self, branch: &Branch, reach: &mut Reach) {
        self.reach(branch, reach);
        if let Some(element) = branch.element() {
            reach.add(&element.class_name, false, self.infos, &|_| true);
        }
    }

    /// Adds the classes that the entries of a branch use.
    pub fn reach(&self, branch: &Branch, reach: &mut Reach) {
        let element = match &branch.kind {
            BranchKind::Plain | BranchKind::Ref { .. } => return,
            BranchKind::Object { class_name } => return reach.add(class_name, false, self.infos, &|_| true),
            BranchKind::Clones(clones) => return reach.add(&clones.class_name, true, self.infos, &|_| true),
            BranchKind::Element(element) => element,
        };
        let in_collection = matches!(element.element_type, 31 | 41);
        match (element.element_type, usize::try_from(element.element_id)) {
            // A count, or nothing.
            (1..=4, _) => {}
            (_, Ok(id)) => match self.description(branch).and_then(|info| info.elements.get(id)) {
                Some(member) => reach.add(&member.type_name, in_collection, self.infos, &|_| true),
                None => reach.add(&element.class_name, true, self.infos, &|_| true),
            },
            (_, Err(_)) => reach.add(&element.class_name, in_collection, self.infos, &|_| true),
        }
    }

    /// The conflict that changes the member which is this branch, if there is one: two descriptions may agree on a member, and
    /// differ in others.
    pub fn conflict_of_member<'c>(&self, branch: &Branch, classes: &'c ClassConflicts) -> Option<&'c ClassConflict> {
        let element = branch.element().filter(|e| e.element_id >= 0 && !(1..=4).contains(&e.element_type))?;
        let conflict = classes.of(&element.class_name)?;
        let last = branch.name().trim_end_matches('.').rsplit('.').next().unwrap_or_default();
        conflict.changes(last.split('[').next().unwrap_or_default()).then_some(conflict)
    }
}

impl BranchMeaning<'_> {
    /// Whether two branches of leaves differ in no more than how numbers are packed (`Double32_t`, `Float16_t`), so that both
    /// hold the same kind of numbers.
    pub fn differs_in_packing(&self, other: &Self) -> bool {
        let (Self::Leaves(ours), Self::Leaves(theirs)) = (self, other) else { return false };
        let alike = |(a, b): (&LeafMeaning<'_>, &LeafMeaning<'_>)| {
            let plain = |leaf: &LeafMeaning<'_>| match leaf.class {
                "TLeafD32" => "TLeafD",
                "TLeafF16" => "TLeafF",
                _ => "",
            };
            let same_number = a.class == b.class || plain(a) == b.class || a.class == plain(b);
            same_number
                && a.name == b.name
                && (a.len, &a.dims, a.counter) == (b.len, &b.dims, b.counter)
                && a.is_unsigned == b.is_unsigned
        };
        self != other && ours.len() == theirs.len() && ours.iter().zip(theirs).all(alike)
    }

    /// Whether each leaf differs, if two branches of leaves differ in no more than the types of their numbers.
    pub fn differs_in_numbers(&self, other: &Self) -> Option<Vec<bool>> {
        let (Self::Leaves(ours), Self::Leaves(theirs)) = (self, other) else { return None };
        let differs = |(a, b): (&LeafMeaning<'_>, &LeafMeaning<'_>)| {
            let same_place = a.name == b.name && (a.len, &a.dims, a.counter) == (b.len, &b.dims, b.counter);
            let are_numbers = [a, b].iter().all(|leaf| leaf.is_number());
            (a == b || (same_place && are_numbers)).then_some(a != b)
        };
        if ours.len() != theirs.len() {
            return None;
        }
        ours.iter().zip(theirs).map(differs).collect()
    }
}

impl LeafMeaning<'_> {
    fn is_number(&self) -> bool {
        !matches!(self.class, "TLeafC" | "TLeafObject" | "TLeafElement")
    }
}

impl fmt::Display for BranchMeaning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaves(leaves) => {
                f.write_str("TBranch")?;
                leaves.iter().try_for_each(|leaf| write!(f, ", {leaf}"))
            }
            Self::Element(e) => {
                let (class, version, checksum) = (e.class, e.version, e.checksum);
                write!(f, "TBranchElement of {class} (version {version}, checksum {checksum:#x})")?;
                write!(f, ", element {} of type {}/{}", e.id, e.kind, e.streamer)?;
                if e.clones.is_empty() { Ok(()) } else { write!(f, ", of {}", e.clones) }
            }
            Self::Object(class) => write!(f, "TBranchObject of {class}"),
            Self::References => f.write_str("TBranchRef"),
            Self::Clones(class) => write!(f, "TBranchClones of {class}"),
        }
    }
}

impl fmt::Display for LeafMeaning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.class, self.name)?;
        self.dims.iter().try_for_each(|dim| write!(f, "[{dim}]"))?;
        if self.dims.is_empty() && self.len > 1 {
            write!(f, "[{}]", self.len)?;
        }
        if let Some(packed) = self.packed {
            write!(f, " {packed}")?;
        }
        if let Some(counter) = self.counter {
            write!(f, " by {counter}")?;
        }
        f.write_str(if self.is_unsigned { " unsigned" } else { "" })
    }
}
