//! Some entries of a cluster: which elements of each column they have, found by following the ends of collections and the tags of
//! variants down the fields. No page is written here.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dataset::ntuple::cluster_reader::ClusterPages;
use dataset::ntuple::decode::ElementSource;
use dataset::ntuple::element::{Elements, Kind};
use dataset::ntuple::model::Role;
use rootfile::{Error, Result};

use super::outline::SourceCluster;
use crate::execute::fetch::tree::fetcher::Fetcher;

/// Ranges of elements, in ascending order.
pub(super) type Runs = Arc<[Range<u64>]>;

/// The elements of a column that are kept.
#[derive(Clone, Debug)]
pub(super) struct KeptElements {
    /// Elements that the column does not store, since it was added later. They are zero, and come first.
    pub zeros: u64,
    /// Stored elements, counted from the first one of the cluster.
    pub runs: Runs,
}

impl KeptElements {
    /// How many are stored.
    pub fn stored(&self) -> u64 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }
}

/// Finds the elements of the entries `kept` in each column of the input, by physical ID.
pub(super) fn kept_elements(
    at: &SourceCluster<'_>,
    kept: &[Range<u64>],
    fetcher: &mut Fetcher,
) -> Result<HashMap<usize, KeptElements>> {
    let schema = &at.input.ntuple.schema;
    let mut found = HashMap::new();
    // Fields with the values that are kept of them.
    let mut left: Vec<(usize, Runs)> = schema.children(None).into_iter().map(|id| (id, Arc::from(kept))).collect();
    while let Some((id, runs)) = left.pop() {
        let Some(field) = schema.fields.get(id).filter(|field| field.source.is_none()) else { continue };
        let runs = match field.array_size {
            None => runs,
            Some(size) => {
                let scaled = runs.iter().map(|run| Ok(times(run.start, size)?..times(run.end, size)?));
                scaled.collect::<Result<Vec<_>>>()?.into()
            }
        };
        let columns = active_columns(at, id);
        let Some(&principal) = columns.first() else {
            left.extend(schema.children(Some(id)).into_iter().map(|child| (child, Arc::clone(&runs))));
            continue;
        };
        let kind = schema.encoding(principal)?.kind();
        let own = stored_part(at, principal, &runs)?;
        let all = 0..at.elements(principal);
        let path = schema.path(id);
        let (mut bytes, codecs) = fetcher.of(&*at.input.source);
        let mut pages = at.cluster_source().pages(&path, &mut bytes, codecs);
        match kind {
            Kind::Index => {
                let mut ends = Elements::new(Kind::Index, false);
                decode_elements(&mut pages, principal, all, &mut ends)?;
                let Elements::Index(ends) = &ends else { return Err(contradiction()) };
                let offset = |at: u64| -> Result<u64> {
                    let offset = usize::try_from(at).ok().and_then(|at| ends.offsets().get(at).copied());
                    offset.and_then(|offset| u64::try_from(offset).ok()).ok_or_else(contradiction)
                };
                let items = own.runs.iter().map(|run| Ok(offset(run.start)?..offset(run.end)?));
                let items = items.collect::<Result<Vec<_>>>()?;
                let items: Runs = items.into_iter().filter(|run| !run.is_empty()).collect();
                if let Some(&second) = columns.get(1) {
                    found.insert(second, KeptElements { zeros: 0, runs: Arc::clone(&items) });
                }
                left.extend(schema.children(Some(id)).into_iter().map(|child| (child, Arc::clone(&items))));
            }
            Kind::Switch if field.role == Role::Variant => {
                let mut switches = Elements::new(Kind::Switch, false);
                decode_elements(&mut pages, principal, all, &mut switches)?;
                let Elements::Switch(switches) = &switches else { return Err(contradiction()) };
                let children = schema.children(Some(id));
                let mut alternatives: Vec<Vec<Range<u64>>> = vec![Vec::new(); children.len()];
                for run in own.runs.iter() {
                    let range = usize::try_from(run.start).ok().zip(usize::try_from(run.end).ok());
                    let values = range.and_then(|(start, end)| switches.get(start..end)).ok_or_else(contradiction)?;
                    for &(index, tag) in values {
                        let alternative = (tag as usize).checked_sub(1).and_then(|tag| alternatives.get_mut(tag));
                        let Some(alternative) = alternative else { continue };
                        match alternative.last_mut() {
                            Some(last) if last.end == index => last.end += 1,
                            Some(last) if last.end > index => return Err(contradiction()),
                            _ => alternative.push(index..index.checked_add(1).ok_or_else(contradiction)?),
                        }
                    }
                }
                left.extend(children.into_iter().zip(alternatives).map(|(child, runs)| (child, Arc::from(runs))));
            }
            _ => {}
        }
        found.insert(principal, own);
    }
    Ok(found)
}

/// The part of a column's values that is stored, and the number of those that are not.
fn stored_part(at: &SourceCluster<'_>, column: usize, runs: &Runs) -> Result<KeptElements> {
    let schema = &at.input.ntuple.schema;
    let is_deferred = schema.columns.get(column).is_some_and(|column| column.first_element.is_some());
    let per_entry = schema.elements_per_entry(column).filter(|_| is_deferred);
    let Some(expected) = per_entry.and_then(|each| each.checked_mul(at.cluster.entries)) else {
        return Ok(KeptElements { zeros: 0, runs: Arc::clone(runs) });
    };
    let lead = expected.checked_sub(at.elements(column)).ok_or_else(contradiction)?;
    let zeros = runs.iter().map(|run| run.end.min(lead).saturating_sub(run.start)).sum();
    let runs = runs.iter().map(|run| run.start.max(lead) - lead..run.end.max(lead) - lead);
    Ok(KeptElements { zeros, runs: runs.filter(|run| !run.is_empty()).collect() })
}

/// The columns of the representation of a field that has the elements of the cluster.
fn active_columns(at: &SourceCluster<'_>, field: usize) -> Vec<usize> {
    let schema = &at.input.ntuple.schema;
    let columns = schema.columns_of(field);
    let representation = |id: &usize| schema.columns.get(*id).map(|column| column.representation);
    let has_elements = |id: &usize| at.cluster.columns.get(*id).is_some_and(|range| range.compression.is_some());
    let mut all = columns.chunk_by(|a, b| representation(a) == representation(b));
    all.find(|columns| columns.first().is_some_and(has_elements)).map(<[usize]>::to_vec).unwrap_or_default()
}

/// Decodes some elements of a column in the cluster.
pub(super) fn decode_elements(
    pages: &mut ClusterPages<'_, '_>,
    column: usize,
    range: Range<u64>,
    out: &mut Elements,
) -> Result<()> {
    let (before, wanted) = (out.len(), range.end - range.start);
    pages.decode(column, range, out)?;
    if (out.len() - before) as u64 == wanted { Ok(()) } else { Err(contradiction()) }
}

fn times(number: u64, size: u64) -> Result<u64> {
    number.checked_mul(size).ok_or_else(contradiction)
}

#[cold]
pub(super) fn contradiction() -> Error {
    Error::corrupt("the columns of a field contradict each other")
}
