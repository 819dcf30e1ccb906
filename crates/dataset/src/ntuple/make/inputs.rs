//! The columns that a writer takes: one for each top-level field, except that a collection of columns with one counter takes
//! these columns instead.

use arrow_schema::FieldRef;

use crate::ntuple::decode::FieldPlan;
use crate::ntuple::model::Schema;

/// A column of a batch of entries.
#[derive(Clone, Debug)]
pub struct Input {
    /// The top-level field with this name. A projected one for columns that are stored in a collection.
    pub id: usize,
    /// What becomes of it.
    pub used: InputUse,
    pub(in crate::ntuple) plan: FieldPlan,
}

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputUse {
    /// It fills its field.
    Field,
    /// It fills a member of the records in a collection.
    Member {
        /// The field of the collection.
        of: usize,
        /// The field of the member.
        field: usize,
    },
    /// It has the numbers of items of a collection, which the members tell as well. It may be left out.
    Counter {
        /// The field of the collection.
        of: usize,
    },
}

impl Input {
    pub(super) fn new(id: usize, used: InputUse) -> Self {
        Self { id, used, plan: FieldPlan::new(&Schema::default(), id) }
    }

    pub(super) fn of_field(id: usize) -> Self {
        Self::new(id, InputUse::Field)
    }

    pub(super) fn plan_for(&mut self, schema: &Schema) {
        self.plan = FieldPlan::new(schema, self.id);
    }

    /// Its name and Arrow type.
    pub fn field(&self) -> &FieldRef {
        self.plan.field()
    }
}
