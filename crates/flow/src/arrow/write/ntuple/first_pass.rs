//! The first pass over the values of an RNTuple whose layout asks for the fewest bits that keep every value: it looks at the elements
//! that its encoders make, and plans the columns by what they need. Nothing is written here.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use dataset::ntuple::element::{ColumnType, NeededBits};
use dataset::ntuple::encode::{FieldEncoder, PendingColumn};
use dataset::ntuple::make::{Input, InputUse};
use dataset::ntuple::model::Ntuple;
use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::Result;

use super::arrays::given_arrays;
use super::plan::{ExactColumn, NtuplePlan, narrow_columns};
use crate::arrow::write::conform::Casting;
use crate::arrow::write::exact::{ExactColumns, NarrowColumn};
use crate::arrow::write::format::FirstPass;

/// The fewest bits, where no more are asked for.
const LEAST_BITS: u16 = 1;

/// A look at the columns of an RNTuple.
pub(super) struct ExactPass {
    plan: Arc<NtuplePlan>,
    fields: Vec<SeenField>,
}

/// A field with such columns.
struct SeenField {
    /// The number of its encoder.
    encoder: usize,
    pending: Vec<PendingColumn>,
    /// What each of its columns needs.
    needed: Vec<NeededBits>,
}

impl ExactPass {
    /// The pass that a plan needs, if its layout asks for one.
    pub fn of(plan: &Arc<NtuplePlan>) -> Option<Self> {
        let has_some = |encoder: &FieldEncoder| plan.exact.iter().any(|column| encoder.columns().contains(&column.id));
        let encoders = plan.encoder.fields().iter().enumerate().filter(|(_, encoder)| has_some(encoder));
        let field = |(number, encoder): (usize, &FieldEncoder)| {
            let pending = encoder.start(|_| false);
            SeenField { encoder: number, needed: vec![NeededBits::default(); pending.len()], pending }
        };
        let fields: Vec<SeenField> = encoders.map(field).collect();
        (!fields.is_empty()).then(|| Self { plan: Arc::clone(plan), fields })
    }

    /// What a column needs.
    fn needed(&self, id: usize) -> NeededBits {
        let of_field = |field: &SeenField| {
            let columns = self.plan.encoder.fields().get(field.encoder)?.columns();
            field.needed.get(id.checked_sub(columns.start)?).copied().filter(|_| columns.contains(&id))
        };
        self.fields.iter().find_map(of_field).unwrap_or_default()
    }
}

impl FirstPass<NtuplePlan, Ntuple> for ExactPass {
    fn columns(&self) -> HashSet<String> {
        let schema = &self.plan.schema;
        // The fields of the columns, and what is above them.
        let mut above = HashSet::new();
        for column in self.plan.exact.iter().filter_map(|column| schema.columns.get(column.id)) {
            let mut at = Some(column.field);
            while let Some(field) = at.filter(|field| above.insert(*field)) {
                at = schema.fields.get(field).and_then(|field| field.parent);
            }
        }
        let is_seen = |input: &&Input| match input.used {
            InputUse::Field => above.contains(&input.id),
            InputUse::Member { field, .. } => above.contains(&field),
            InputUse::Counter { .. } => false,
        };
        self.plan.inputs.iter().filter(is_seen).map(|input| input.field().name().clone()).collect()
    }

    fn look(&mut self, batch: &RecordBatch, team: Option<&ThreadPool>) -> Result<()> {
        let arrays: Vec<Option<ArrayRef>> = given_arrays(&self.plan, batch, Casting::Exact)?;
        let (rows, encoders) = (batch.num_rows(), self.plan.encoder.fields());
        let look = |field: &mut SeenField| {
            let Some(encoder) = encoders.get(field.encoder) else { return Ok(()) };
            encoder.append_given(&arrays, rows, &mut field.pending)?;
            for (pending, needed) in field.pending.iter_mut().zip(&mut field.needed) {
                pending.take_needed(needed);
            }
            Ok(())
        };
        match team {
            Some(team) => team.install(|| self.fields.par_iter_mut().try_for_each(look)),
            None => self.fields.iter_mut().try_for_each(look),
        }
    }

    fn end(self: Box<Self>, ntuple: &mut Ntuple) -> Result<(NtuplePlan, ExactColumns)> {
        let mut narrow: Vec<(usize, (ColumnType, u16))> = Vec::new();
        let mut found = ExactColumns::default();
        for &ExactColumn { id, own, least } in &self.plan.exact {
            let field = self.plan.schema.columns.get(id).map_or_else(String::new, |c| self.plan.schema.path(c.field));
            match self.needed(id).narrower(&own, least.unwrap_or(LEAST_BITS)) {
                Some((column_type, bits)) => {
                    narrow.push((id, (column_type, bits)));
                    let (column_type, before) = (column_type.to_string(), own.bits());
                    found.narrowed.push(NarrowColumn { field, column_type, bits, before });
                }
                None => found.full.push(field),
            }
        }
        narrow_columns(&mut ntuple.schema, &narrow);
        Ok((self.plan.narrowed(&narrow)?, found))
    }
}
