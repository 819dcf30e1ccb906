//! Builds the branches and leaves of a tree: the part common to all kinds of columns.

use std::collections::HashMap;
use std::sync::Arc;

use rootfile::codec::Compression;
use rootfile::object::{Content, Graph, Members, Named, Object, ObjectId, Plan, Step, TObject, Value};
use rootfile::streamer::{StreamerInfos, builtin, code};
use rootfile::{Error, Result};

use super::classes::Classes;
use super::{NewColumn, NewKind};
use crate::layout::defaults;
use crate::tree::model::{Branch, BranchKind, Leaf, Tree};

/// Bits of a `TBranch`: its objects are `TObject`s or other objects that pointers in the entry may refer to; or its
/// entries hold no such objects.
pub(super) const IS_TOBJECT: u32 = 1 << 12;
pub(super) const IS_OBJECT: u32 = 1 << 17;
pub(super) const NO_POINTERS: u32 = 1 << 22;
/// `TObject` bit of a leaf whose counter was not found by its name.
const ZOMBIE: u32 = 1 << 26;

pub(super) struct Maker<'a> {
    pub classes: Classes<'a>,
    pub branches: Vec<Branch>,
    leaves: Vec<Leaf>,
    top: Vec<usize>,
    /// Leaves and branches by name, the first of each.
    leaf_names: HashMap<String, usize>,
    branch_names: HashMap<String, usize>,
    next_id: ObjectId,
    pub compression: Compression,
}

/// The type of a new leaf.
#[derive(Default)]
pub(super) struct LeafType {
    pub class: &'static str,
    pub len_type: i32,
    pub is_unsigned: bool,
}

impl<'a> Maker<'a> {
    pub(super) fn new(infos: &'a StreamerInfos) -> Self {
        Self {
            classes: Classes::new(infos),
            branches: Vec::new(),
            leaves: Vec::new(),
            top: Vec::new(),
            leaf_names: HashMap::new(),
            branch_names: HashMap::new(),
            next_id: 0,
            compression: defaults::COMPRESSION,
        }
    }

    pub(super) fn column(&mut self, column: &NewColumn) -> Result<()> {
        self.compression = column.compression;
        let at = match &column.kind {
            NewKind::Leaves(leaves) => self.plain(column, leaves)?,
            NewKind::Class { type_name, clones } => self.class(column, type_name, clones.as_deref())?,
        };
        self.top.push(at);
        Ok(())
    }

    pub(super) fn id(&mut self) -> ObjectId {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Adds a branch with ROOT's defaults, below another if there is one.
    pub(super) fn branch(&mut self, name: &str, kind: BranchKind, parent: Option<usize>, basket_size: u32) -> usize {
        let (id, at) = (self.id(), self.branches.len());
        self.branches.push(Branch {
            compress: self.compression.to_root_setting(),
            basket_size: basket_size.max(100),
            parent,
            ..Branch::new(id, named(name, name, NO_POINTERS), kind)
        });
        self.branch_names.entry(name.to_owned()).or_insert(at);
        if let Some(above) = parent.and_then(|p| self.branches.get_mut(p)) {
            above.children.push(at);
        }
        at
    }

    /// A branch made before.
    pub(super) fn made(&mut self, at: usize) -> Result<&mut Branch> {
        self.branches.get_mut(at).ok_or_else(|| Error::request("internal error: an unknown branch"))
    }

    /// The first branch of a name, as `TTree::GetBranch` finds it.
    pub(super) fn find_branch(&self, name: &str) -> Option<usize> {
        self.branch_names.get(name).copied()
    }

    /// Renames a branch.
    pub(super) fn rename(&mut self, at: usize, name: &str) -> Result<()> {
        let branch = self.made(at)?;
        let old = std::mem::replace(&mut branch.named.name, name.to_owned());
        name.clone_into(&mut branch.named.title);
        if self.branch_names.get(&old) == Some(&at) {
            self.branch_names.remove(&old);
        }
        self.branch_names.entry(name.to_owned()).or_insert(at);
        Ok(())
    }

    /// Adds a leaf to a branch. Brackets in its title are dimensions: fixed ones multiply to fLen, the first may be
    /// the name of the leaf that counts this one.
    pub(super) fn leaf(&mut self, branch: usize, title: &str, of: LeafType, extra: Option<Object>) -> Result<usize> {
        let (id, at) = (self.id(), self.leaves.len());
        let shape = self.shape(branch, title)?;
        let mut leaf = Leaf {
            id,
            class: of.class.to_owned(),
            named: named(title, title, 0),
            len: 1,
            len_type: of.len_type,
            offset: 0,
            is_range: false,
            is_unsigned: of.is_unsigned,
            leaf_count: None,
            extra,
            branch,
        };
        match shape {
            Some((len, counter)) => {
                leaf.len = len;
                leaf.named.name.truncate(title.find('[').unwrap_or(title.len()));
                if let Some(counter) = counter.and_then(|i| self.leaves.get_mut(i)) {
                    counter.is_range = true;
                    leaf.leaf_count = Some(counter.id);
                }
            }
            None => {
                leaf.len = -1;
                leaf.named.object.bits |= ZOMBIE;
            }
        }
        self.leaf_names.entry(leaf.named.name.clone()).or_insert(at);
        self.leaves.push(leaf);
        self.made(branch)?.leaves.push(at);
        Ok(at)
    }

    /// fLen and the counter by a leaf's title. The counter is `None` if there is no leaf of that name.
    fn shape(&self, branch: usize, title: &str) -> Result<Option<(i32, Option<usize>)>> {
        let mut dims = title.split('[').skip(1).map(|part| part.split_once(']').map_or("", |(dim, _)| dim));
        let Some(first) = dims.next() else { return Ok(Some((1, None))) };
        let own = self.branches.get(branch).map(|b| b.leaves.as_slice()).unwrap_or_default();
        let of_name = |i: &&usize| self.leaves.get(**i).is_some_and(|leaf| leaf.named.name == first);
        let counter = own.iter().find(of_name).copied().or_else(|| self.leaf_names.get(first).copied());
        let number = |dim: &str| dim.parse::<i32>().ok();
        let Some(mut len) = counter.map_or_else(|| number(first), |_| Some(1)) else { return Ok(None) };
        for dim in dims {
            let dim = number(dim).ok_or_else(|| Error::request(format!("{dim} is not a fixed length")))?;
            len = len.checked_mul(dim).ok_or_else(|| Error::request("an array of more than 2^31 items"))?;
        }
        Ok(Some((len, counter)))
    }

    /// A leaf made before.
    pub(super) fn made_leaf(&mut self, at: usize) -> Result<&mut Leaf> {
        self.leaves.get_mut(at).ok_or_else(|| Error::request("internal error: an unknown leaf"))
    }

    /// Whether there is a leaf of this name.
    pub(super) fn has_leaf(&self, name: &str) -> bool {
        self.leaf_names.contains_key(name)
    }

    /// Sets name and title of a branch's leaf, and marks it as a counter.
    pub(super) fn rename_leaf(&mut self, at: usize, name: &str, counts: bool) -> Result<()> {
        let leaf = self.made_leaf(at)?;
        let old = std::mem::replace(&mut leaf.named.name, name.to_owned());
        name.clone_into(&mut leaf.named.title);
        leaf.is_range = counts;
        if self.leaf_names.get(&old) == Some(&at) {
            self.leaf_names.remove(&old);
        }
        self.leaf_names.entry(name.to_owned()).or_insert(at);
        Ok(())
    }

    pub(super) fn finish(self, named: Named) -> Tree {
        // Objects that are added to the graph later must not get the identities of branches and leaves.
        let graph = Graph { objects: (0..self.next_id).map(|_| None).collect() };
        Tree {
            leaf_list: (0..self.leaves.len()).collect(),
            branches: self.branches,
            top: self.top,
            leaves: self.leaves,
            graph,
            ..Tree::new(named)
        }
    }
}

pub(super) fn named(name: &str, title: &str, bits: u32) -> Named {
    let object = TObject { bits, ..TObject::default() };
    Named { object, name: name.to_owned(), title: title.to_owned() }
}

/// The members that a leaf's class adds to `TLeaf`: these numbers, or zeros.
pub(super) fn leaf_extra(class: &str, numbers: &[i64]) -> Option<Object> {
    let info = builtin::infos().iter().filter(|info| info.name == class).max_by_key(|info| info.version)?;
    let plan = Arc::new(Plan::new(info));
    let mut numbers = numbers.iter().copied();
    let value = |(_, step): &(String, Step)| match step {
        Step::Base { .. } => Value::Int(0),
        Step::Packed(number) => Value::Raw(vec![0; number.packed.size()].into()),
        Step::Basic(code::FLOAT) => Value::F32(0.0),
        Step::Basic(code::DOUBLE) => Value::F64(0.0),
        _ => Value::Int(numbers.next().unwrap_or(0)),
    };
    let values = plan.steps.iter().map(value).collect();
    let version = i16::try_from(info.version).ok()?;
    Some(Object { class: class.into(), version, content: Content::Members(Members { plan, values }) })
}
