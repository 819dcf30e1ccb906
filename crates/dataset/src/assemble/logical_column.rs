//! A logical column: one value per entry, whatever the split of its branches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::assembler::Assembler;
use super::finder::BranchFinder;
use crate::decode::ColumnPlan;
use crate::decode::plan::parts;
use crate::tree::Tree;

/// A top-level branch as one logical value per entry, whatever its split level.
#[derive(Clone, Debug)]
pub struct LogicalColumn {
    field: FieldRef,
    top: usize,
    branches: Vec<usize>,
    /// The types of the branches' arrays.
    types: Vec<DataType>,
    opaque: Option<String>,
    assembler: Assembler,
}

/// The logical columns of a tree, in ROOT's order. `plans` are those of [`columns`](crate::decode::columns), in any order.
/// Plans of arrays whose item class only entries name should have [learned](ColumnPlan::learn) it.
pub fn logical_columns(tree: &Tree, infos: &StreamerInfos, plans: &[ColumnPlan]) -> Vec<LogicalColumn> {
    let plans: HashMap<usize, &ColumnPlan> = plans.iter().map(|plan| (plan.branch(), plan)).collect();
    let held = |top: usize| tree.below(top).into_iter().filter(|branch| plans.contains_key(branch)).collect();
    let columns = tree.top.iter().map(|&top| (top, held(top))).filter(|(_, held): &(_, Vec<usize>)| !held.is_empty());
    columns.map(|(top, held)| LogicalColumn::new(tree, infos, &plans, top, held)).collect()
}

/// Why a column has opaque bytes, if it has. Opaque bytes may refer to other bytes of their entry (class tags count from
/// the entry's start), so they cannot be moved.
fn opaque_part(plans: &[&ColumnPlan]) -> Option<String> {
    fn within(data_type: &DataType) -> bool {
        match data_type {
            DataType::LargeBinary => true,
            DataType::LargeList(item) | DataType::FixedSizeList(item, _) => within(item.data_type()),
            DataType::Struct(fields) => fields.iter().any(|field| within(field.data_type())),
            _ => false,
        }
    }
    let plan = plans.iter().find(|plan| within(plan.field().data_type()))?;
    Some(format!("{} holds objects that are not decoded", plan.field().name()))
}

impl LogicalColumn {
    fn new(
        tree: &Tree,
        infos: &StreamerInfos,
        plans: &HashMap<usize, &ColumnPlan>,
        top: usize,
        branches: Vec<usize>,
    ) -> Self {
        let found: Vec<&ColumnPlan> = branches.iter().filter_map(|branch| plans.get(branch).copied()).collect();
        let types = found.iter().map(|plan| plan.field().data_type().clone()).collect();
        let mut finder = BranchFinder::new(tree, infos, &branches, &found);
        if let ([plan], true) = (found.as_slice(), finder.is_single(top)) {
            let field = Arc::clone(plan.field());
            let opaque = plan.opaque().map(str::to_owned).or_else(|| opaque_part(&found));
            let assembler =
                Assembler::Leaf { slot: 0, nullable: field.is_nullable(), data_type: field.data_type().clone() };
            return Self { field, top, branches, types, opaque, assembler };
        }
        let (assembler, opaque) = match finder.top(top) {
            Ok(assembler) => (assembler, opaque_part(&found)),
            Err(why) => (Assembler::side_by_side(&found), Some(why)),
        };
        let name = tree.branches.get(top).map_or("", |branch| branch.name());
        let typename = parts::spelled(&finder.class_of_top(top));
        let mut metadata = HashMap::from([("typename".to_owned(), typename)]);
        metadata.extend(opaque.iter().map(|why| ("opaque".to_owned(), why.clone())));
        let field = Field::new(name, assembler.data_type(), assembler.nullable()).with_metadata(metadata);
        Self { field: Arc::new(field), top, branches, types, opaque, assembler }
    }

    /// The field: the name of the top-level branch (with a trailing dot, if any), its C++ type in the metadata
    /// (`typename`), and the Arrow type that decoding the unsplit branch would give. If the branches cannot be assembled,
    /// the type is a struct of their columns, and the metadata have the reason (`opaque`).
    pub fn field(&self) -> &FieldRef {
        &self.field
    }

    /// The index of the top-level branch.
    pub fn top(&self) -> usize {
        self.top
    }

    /// The indices of the branches that hold the column's data, in ROOT's order.
    pub fn branches(&self) -> &[usize] {
        &self.branches
    }

    /// Why the column cannot be split in another way; none if it can. Its parts are unknown, or hold opaque bytes, which
    /// are meaningful only in their place.
    pub fn opaque(&self) -> Option<&str> {
        self.opaque.as_deref()
    }

    /// Assembles the values from the arrays of [`branches`](Self::branches), one array for each branch in that order.
    ///
    /// # Errors
    ///
    /// If the arrays have other types or different lengths, or if lists do not agree with their counter.
    pub fn assemble(&self, arrays: &[ArrayRef]) -> Result<ArrayRef> {
        self.check(arrays).and_then(|len| self.assembler.assemble(&mut arrays.to_vec(), len)).map_err(|e| self.named(e))
    }

    /// The inverse of [`assemble`](Self::assemble): splits an array of [`field`](Self::field)'s type into one array for each
    /// branch, counters included.
    ///
    /// # Errors
    ///
    /// If the array has another type, or nulls where the branches have none.
    pub fn project(&self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        self.split(array).map_err(|e| self.named(e))
    }

    fn split(&self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let (wanted, given) = (self.field.data_type(), array.data_type());
        if wanted != given {
            return Err(Error::request(format!("an array of type {given} instead of {wanted}")));
        }
        let mut arrays = vec![None; self.branches.len()];
        self.assembler.project(array, &mut arrays)?;
        let missing = || Error::unsupported("a branch without values");
        arrays.into_iter().map(|array| array.ok_or_else(missing)).collect()
    }

    /// The number of entries. Checks the number, types and lengths of the arrays.
    fn check(&self, arrays: &[ArrayRef]) -> Result<usize> {
        let len = arrays.first().map_or(0, |array| array.len());
        if arrays.len() != self.types.len() {
            return Err(Error::request(format!("{} arrays for {} branches", arrays.len(), self.types.len())));
        }
        for (array, wanted) in arrays.iter().zip(&self.types) {
            if array.data_type() != wanted {
                let given = array.data_type();
                return Err(Error::request(format!("an array of type {given} for a branch of type {wanted}")));
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
