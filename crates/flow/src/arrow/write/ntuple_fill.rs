//! What a fill context fills of an RNTuple: the pages of its fields.

use std::ops::Range;

use arrow_array::ArrayRef;
use rayon::ThreadPool;
use rootfile::Result;

use super::cluster_rule::FillLevel;
use super::finished_cluster::Content;
use super::ntuple_plan::NtuplePlan;
use crate::execute::encode::page_fill::FieldFill;
use crate::execute::encode::parallel_pages;
use crate::execute::encode::scratch::{EncodeScratch, EncodeScratchPool};
use crate::table::made_pages::{ColumnPages, share};

/// The fields of an RNTuple that are being filled.
#[derive(Debug)]
pub(crate) struct NtupleFill {
    fields: Vec<FieldFill>,
}

impl NtupleFill {
    pub fn new(plan: &NtuplePlan) -> Self {
        let mut new = Self { fields: Vec::new() };
        new.extend(plan);
        new
    }

    /// Adds the fields that a later plan has.
    pub fn extend(&mut self, plan: &NtuplePlan) {
        let late = plan.encoder.fields().iter().skip(self.fields.len());
        let rules = |columns: Range<usize>| plan.rules.get(columns).unwrap_or_default();
        self.fields.extend(late.map(|encoder| FieldFill::new(encoder, rules(encoder.columns()))));
    }

    /// Adds entries: the rows of the arrays of all inputs.
    pub fn fill(
        &mut self,
        plan: &NtuplePlan,
        (arrays, rows): (&[Option<ArrayRef>], Range<usize>),
        team: Option<&ThreadPool>,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        let encoders = plan.encoder.fields();
        if let Some(team) = team {
            return parallel_pages::fill(team, &mut self.fields, encoders, (arrays, rows), scratches);
        }
        let mut pairs = self.fields.iter_mut().zip(encoders);
        let fill = |scratch: &mut EncodeScratch| {
            pairs.try_for_each(|(fill, encoder)| fill.fill(encoder, arrays, rows.clone(), scratch))
        };
        scratches.clocks.encode(|| scratches.with(fill))
    }

    /// Makes the last pages of the cluster.
    pub fn finish(&mut self, team: Option<&ThreadPool>, scratches: &EncodeScratchPool) -> Result<()> {
        if let Some(team) = team {
            return parallel_pages::finish_pages(team, &mut self.fields, scratches);
        }
        let finish = |scratch: &mut EncodeScratch| {
            self.fields.iter_mut().try_for_each(|fill| {
                let pages = fill.last_pages();
                fill.make_all(&pages, scratch)
            })
        };
        scratches.clocks.encode(|| scratches.with(finish))
    }

    /// Returns the pages of the cluster, and begins the next one.
    pub fn start_cluster(&mut self, plan: &NtuplePlan) -> Content {
        let mut columns: Vec<ColumnPages> = self.fields.iter_mut().flat_map(FieldFill::start_cluster).collect();
        if plan.share_pages {
            share(&mut columns);
        }
        Content::Pages(columns)
    }

    pub fn level(&self) -> FillLevel {
        let written = self.fields.iter().map(FieldFill::written);
        let (raw, packed) = written.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        FillLevel { raw, packed, pending: self.fields.iter().map(FieldFill::pending).sum() }
    }

    pub fn make_room(&mut self, done: u64, ahead: u64) {
        self.fields.iter_mut().for_each(|fill| fill.make_room(done, ahead));
    }

    pub fn memory(&self) -> u64 {
        self.fields.iter().map(FieldFill::memory).sum()
    }

    pub fn drop_buffers(&mut self) {
        self.fields.iter_mut().for_each(FieldFill::drop_buffers);
    }

    pub fn recycle(&mut self, columns: Vec<ColumnPages>) {
        let mut columns = columns.into_iter();
        self.fields.iter_mut().for_each(|fill| fill.recycle(&mut columns));
    }
}
