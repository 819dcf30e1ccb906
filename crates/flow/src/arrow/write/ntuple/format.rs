//! RNTuples as a format of the writer.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use dataset::layout::Container;
use dataset::ntuple::encode::FieldEncoder;
use dataset::ntuple::make::{Input, extended};
use dataset::ntuple::model::{Ntuple, Schema};
use rootfile::Result;

use super::arrays::input_arrays;
use super::first_pass::ExactPass;
use super::output::NtupleOutput;
use super::plan::NtuplePlan;
use crate::arrow::write::cluster_rule::ClusterRule;
use crate::arrow::write::conform::Casting;
use crate::arrow::write::format::{ClusterEnd, FirstPass, TableFormat};
use crate::execute::encode::ntuple::FieldFill;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::encode::stream_fill::Arrays;
use crate::table::ntuple::made_pages::{ColumnPages, share};

/// The format of RNTuples.
pub(crate) struct NtupleFormat;

impl TableFormat for NtupleFormat {
    const CONTAINER: Container = Container::Rntuple;
    // As in ROOT, the anchor is not compressed.
    const IS_COMPRESSED: bool = false;

    type Plan = NtuplePlan;
    type Record = Ntuple;
    type Stream = FieldFill;
    type Content = Vec<ColumnPages>;
    type Open = NtupleOutput;

    fn cluster_rule(plan: &NtuplePlan) -> ClusterRule {
        ClusterRule::new(plan.cluster, plan.unzipped_cluster)
    }

    fn fields(plan: &NtuplePlan) -> Box<dyn Iterator<Item = &FieldRef> + '_> {
        Box::new(plan.inputs.iter().map(Input::field))
    }

    fn arrays(plan: &NtuplePlan, batch: &RecordBatch, casting: Casting) -> Result<Box<Arrays>> {
        input_arrays(plan, batch, casting)
    }

    fn extend(plan: &mut NtuplePlan, before: &NtuplePlan) -> Result<()> {
        // The footer has the fields that the other plan lacks.
        plan.schema = Arc::new(extended(&before.schema, Schema::clone(&plan.schema))?);
        Ok(())
    }

    fn check_defaults(plan: &NtuplePlan, before: &NtuplePlan, _: &EncodeScratchPool) -> Result<()> {
        plan.check_zeros(before.rules.len())
    }

    fn width(plan: &NtuplePlan) -> u64 {
        plan.rules.len() as u64
    }

    fn reuses_buffers(_: &NtuplePlan) -> bool {
        true
    }

    fn streams(plan: &NtuplePlan) -> &[FieldEncoder] {
        plan.encoder.fields()
    }

    fn streams_from(plan: &NtuplePlan, first: usize) -> impl Iterator<Item = FieldFill> {
        let rules = |columns: Range<usize>| plan.rules.get(columns).unwrap_or_default();
        let late = plan.encoder.fields().iter().skip(first);
        late.map(move |encoder| FieldFill::new(encoder, rules(encoder.columns())))
    }

    fn first_pass(plan: &Arc<NtuplePlan>) -> Option<Box<dyn FirstPass<NtuplePlan, Ntuple>>> {
        ExactPass::of(plan).map(|pass| Box::new(pass) as _)
    }

    fn start_cluster(fields: &mut [FieldFill], plan: &NtuplePlan, _: ClusterEnd) -> Vec<ColumnPages> {
        let mut columns: Vec<ColumnPages> = fields.iter_mut().flat_map(FieldFill::start_cluster).collect();
        if plan.share_pages {
            share(&mut columns);
        }
        columns
    }
}
