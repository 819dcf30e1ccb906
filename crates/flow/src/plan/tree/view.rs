//! A plan's branches with what their bytes mean: for finding branches to recode, and for comparing by value.

use std::collections::HashSet;

use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode::{self, ColumnPlan};
use rootfile::streamer::StreamerInfos;

use super::model::TablePlan;
use crate::execute::fetch::tree::column_stream::DecodeSource;
use crate::execute::fetch::tree::learn::learn;

/// The reason why a column keeps its layout, or cannot be decoded.
pub(crate) type Reason = String;

/// A plan with the decode plans of its branches.
pub(crate) struct View<'a> {
    pub plan: &'a TablePlan,
    pub infos: &'a StreamerInfos,
    /// The decode plan of each branch with entries. Plans below the requested branches are completed from first baskets.
    pub plans: Vec<ColumnPlan>,
}

impl<'a> View<'a> {
    /// A view of a plan. Branches below `tops` are completed from their first baskets.
    pub fn new(plan: &'a TablePlan, infos: &'a StreamerInfos, tops: impl Iterator<Item = usize>) -> Self {
        let wanted: HashSet<usize> = tops.flat_map(|top| plan.tree.below(top)).collect();
        let mut plans = decode::columns(&plan.tree, infos);
        for column in plans.iter_mut().filter(|column| wanted.contains(&column.branch())) {
            let source = plan.columns.get(column.branch());
            *column = learn(column.clone(), &plan.tree, infos, &plan.files, source);
        }
        Self { plan, infos, plans }
    }

    /// The logical columns of the branches.
    pub fn wholes(&self) -> Vec<LogicalColumn> {
        logical_columns(&self.plan.tree, self.infos, &self.plans)
    }

    /// The column of a branch, with its counters, for decoding.
    pub fn source(&self, branch: usize) -> Option<DecodeSource> {
        let plan = self.plans.iter().find(|plan| plan.branch() == branch)?;
        DecodeSource::of(plan, &self.plans, &self.plan.columns)
    }
}
