//! Whole columns: what the branches of a tree mean together.
//!
//! ROOT splits a class into branches of its members, and a collection into lists of its items' members, as deep as it
//! is told. A [`WholeColumn`] is one value per entry whatever the split: it puts the arrays of the branches together,
//! and takes a whole array apart. It neither decodes nor encodes, and shares buffers wherever it can.

mod gather;
mod node;
mod pool;
mod zeros;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use self::gather::Gather;
use self::node::Node;
use crate::decode::{ColumnPlan, parts};
use crate::tree::Tree;

/// A top-level branch as one logical value per entry, however it is split.
#[derive(Clone, Debug)]
pub struct WholeColumn {
    field: FieldRef,
    top: usize,
    branches: Vec<usize>,
    /// The types of the branches' arrays.
    types: Vec<DataType>,
    opaque: Option<String>,
    node: Node,
}

/// The whole columns of a tree in ROOT's order. `plans` are those of [`columns`](crate::decode::columns), in any order;
/// of arrays that say only in their entries what they hold, they should have [learned](ColumnPlan::learn) it.
pub fn whole_columns(tree: &Tree, infos: &StreamerInfos, plans: &[ColumnPlan]) -> Vec<WholeColumn> {
    let plans: HashMap<usize, &ColumnPlan> = plans.iter().map(|plan| (plan.branch(), plan)).collect();
    let held = |top: usize| tree.below(top).into_iter().filter(|branch| plans.contains_key(branch)).collect();
    let columns = tree.top.iter().map(|&top| (top, held(top))).filter(|(_, held): &(_, Vec<usize>)| !held.is_empty());
    columns.map(|(top, held)| WholeColumn::new(tree, infos, &plans, top, held)).collect()
}

/// Why there are bytes in columns, if so. They may refer to others of their entry (by class tags, which count from its
/// start), and so mean something only where they are.
fn unknown(plans: &[&ColumnPlan]) -> Option<String> {
    fn within(data_type: &DataType) -> bool {
        match data_type {
            DataType::LargeBinary => true,
            DataType::LargeList(item) | DataType::FixedSizeList(item, _) => within(item.data_type()),
            DataType::Struct(fields) => fields.iter().any(|field| within(field.data_type())),
            _ => false,
        }
    }
    let plan = plans.iter().find(|plan| within(plan.field().data_type()))?;
    Some(format!("{} holds objects that are only bytes", plan.field().name()))
}

impl WholeColumn {
    fn new(
        tree: &Tree,
        infos: &StreamerInfos,
        plans: &HashMap<usize, &ColumnPlan>,
        top: usize,
        branches: Vec<usize>,
    ) -> Self {
        let found: Vec<&ColumnPlan> = branches.iter().filter_map(|branch| plans.get(branch).copied()).collect();
        let types = found.iter().map(|plan| plan.field().data_type().clone()).collect();
        let mut gather = Gather::new(tree, infos, &branches, &found);
        if let ([plan], true) = (found.as_slice(), gather.is_single(top)) {
            let field = Arc::clone(plan.field());
            let opaque = plan.opaque().map(str::to_owned).or_else(|| unknown(&found));
            let node = Node::Leaf { slot: 0, nullable: field.is_nullable(), data_type: field.data_type().clone() };
            return Self { field, top, branches, types, opaque, node };
        }
        let (node, opaque) = match gather.top(top) {
            Ok(node) => (node, unknown(&found)),
            Err(why) => (Node::apart(&found), Some(why)),
        };
        let name = tree.branches.get(top).map_or("", |branch| branch.name());
        let typename = parts::spelled(&gather.class_of_top(top));
        let mut metadata = HashMap::from([("typename".to_owned(), typename)]);
        metadata.extend(opaque.iter().map(|why| ("opaque".to_owned(), why.clone())));
        let field = Field::new(name, node.data_type(), node.nullable()).with_metadata(metadata);
        Self { field: Arc::new(field), top, branches, types, opaque, node }
    }

    /// The name of the top-level branch (a trailing dot left as it is), its C++ type in the metadata (`typename`), and
    /// the Arrow type that decoding the unsplit branch would give. Of what cannot be put together it is a struct of
    /// several branches' columns as they are, and the metadata say why (`opaque`).
    pub fn field(&self) -> &FieldRef {
        &self.field
    }

    /// The index of the top-level branch.
    pub fn top(&self) -> usize {
        self.top
    }

    /// The branches that hold its data, in ROOT's order.
    pub fn branches(&self) -> &[usize] {
        &self.branches
    }

    /// Why it cannot be split otherwise, if so: its parts are not known, or hold bytes that mean something only where
    /// they are. It can then be kept only as it is.
    pub fn opaque(&self) -> Option<&str> {
        self.opaque.as_deref()
    }

    /// Puts the arrays of [`branches`](Self::branches) together.
    pub fn assemble(&self, arrays: &[ArrayRef]) -> Result<ArrayRef> {
        self.check(arrays).and_then(|len| self.node.assemble(&mut arrays.to_vec(), len)).map_err(|e| self.named(e))
    }

    /// The inverse: an array of [`field`](Self::field)'s type, taken apart into those of the branches, each of the type
    /// of its column, those that count included.
    pub fn project(&self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        self.apart(array).map_err(|e| self.named(e))
    }

    fn apart(&self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let (wanted, given) = (self.field.data_type(), array.data_type());
        if wanted != given {
            return Err(Error::request(format!("an array of type {given}, where {wanted} is wanted")));
        }
        let mut arrays = vec![None; self.branches.len()];
        self.node.project(array, &mut arrays)?;
        let missing = || Error::unsupported("a branch that no value goes to");
        arrays.into_iter().map(|array| array.ok_or_else(missing)).collect()
    }

    /// The number of entries, if the arrays are such as the branches have.
    fn check(&self, arrays: &[ArrayRef]) -> Result<usize> {
        let len = arrays.first().map_or(0, |array| array.len());
        if arrays.len() != self.types.len() {
            return Err(Error::request(format!("{} arrays for {} branches", arrays.len(), self.types.len())));
        }
        for (array, wanted) in arrays.iter().zip(&self.types) {
            if array.data_type() != wanted {
                let given = array.data_type();
                return Err(Error::request(format!("an array of type {given} of a branch whose type is {wanted}")));
            }
            if array.len() != len {
                return Err(Error::corrupt(format!("branches with {len} and with {} entries", array.len())));
            }
        }
        Ok(len)
    }

    fn named(&self, e: Error) -> Error {
        e.object(format!("branch {}", self.field.name()))
    }
}
