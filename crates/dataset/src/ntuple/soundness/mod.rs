//! Whether the metadata and the columns of an RNTuple agree with each other, so that each field reads: one place for all who
//! ask. A check reports it, readers refuse a field that fails, and writers move no page of one.
//!
//! | module | job |
//! |---|---|
//! | [`Starts`] | from page lists alone: each column continues where it ended in the cluster before |
//! | [`check_counts`] | from page lists alone: each column has as many elements as its field has values |
//! | [`Proofs`] | from the pages: the ends of collections and the tags of variants, and all elements that can be wrong |
//!
//! What the elements of pages must obey is in `decode::rules`, which the decoder uses too. Whether pages are where page lists say,
//! and decompress, is not asked here.

mod counts;
mod starts;
mod values;

pub use counts::check_counts;
pub use starts::Starts;
pub use values::{Proofs, largest_proved};

use rootfile::{Error, RangeBuffer, RangeReader, Result, Source};

use super::cluster_reader::ClusterSource;
use super::decode::FieldPlan;
use super::model::{Ntuple, PageList, Schema};
use super::open::read_page_list;
use crate::codecs::Codecs;

/// Checks page lists of an RNTuple one after the other, in the order of entries. For those who read no pages.
#[derive(Debug)]
pub struct ListCheck {
    plans: Vec<FieldPlan>,
    starts: Starts,
}

/// What is wrong with a field in a cluster.
#[derive(Debug)]
pub struct Contradiction {
    /// The ID of the field.
    pub field: usize,
    /// The number of the cluster in its page list.
    pub cluster: usize,
    /// What is wrong.
    pub error: Error,
}

impl ListCheck {
    /// For fields of a schema. Columns of other fields are not looked at.
    pub fn new(schema: &Schema, plans: Vec<FieldPlan>) -> Self {
        let mut columns = vec![false; schema.columns.len()];
        for column in plans.iter().flat_map(FieldPlan::columns) {
            columns.get_mut(*column).into_iter().for_each(|wanted| *wanted = true);
        }
        Self { plans, starts: Starts::new(schema, |column| columns.get(column).copied().unwrap_or(false)) }
    }

    /// Checks the next page list. Each field and each column is named at most once.
    pub fn list(&mut self, schema: &Schema, list: &PageList) -> Vec<Contradiction> {
        let mut found: Vec<Contradiction> = Vec::new();
        for (number, cluster) in list.clusters.iter().enumerate() {
            for plan in &self.plans {
                if found.iter().any(|known| known.field == plan.id()) {
                    continue;
                }
                if let Err(error) = check_counts(plan, list, cluster) {
                    found.push(Contradiction { field: plan.id(), cluster: number, error });
                }
            }
            for (column, error) in self.starts.cluster(list, cluster) {
                let field = schema.columns.get(column).map_or(0, |column| column.field);
                found.push(Contradiction { field, cluster: number, error });
            }
        }
        found
    }
}

/// Proves fields in all clusters of an RNTuple, one page list at a time. Only pages of ends, of tags, and of elements that can be
/// wrong are read.
///
/// # Errors
///
/// What is wrong first, or that a page or page list cannot be read.
pub fn prove_ntuple(source: &dyn Source, ntuple: &Ntuple, plans: &[FieldPlan]) -> Result<()> {
    let (mut buffer, mut codecs, mut number) = (RangeBuffer::default(), Codecs::new(), 0);
    let mut lists = ListCheck::new(&ntuple.schema, plans.to_vec());
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(source, ntuple, group)?;
        if let Some(first) = lists.list(&ntuple.schema, &list).into_iter().next() {
            return Err(first.error.file(source.name()));
        }
        for cluster in &list.clusters {
            let (schema, max_key_size) = (&*ntuple.schema, ntuple.anchor.max_key_size);
            let at = ClusterSource { file: 0, schema, max_key_size, list: &list, cluster, number };
            let mut proofs = Proofs::default();
            for plan in plans {
                proofs.prove(plan, at, (&mut RangeReader::of(source, &mut buffer), &mut codecs))?;
            }
            number += 1;
        }
    }
    Ok(())
}
