//! Decides which tables of a rewrite are converted: where the layout asks for the other container, or for clusters, pages and
//! encodings that an RNTuple does not have.

use dataset::layout::{ClusterSize, Container, Layout};
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::soundness::prove_ntuple;
use dataset::ntuple::{read_ntuple, read_page_list};
use rootfile::Result;
use rootfile::codec::Compression;

use super::ntuples::moved;
use super::tables::{TableCycle, TablesPlanner};
use crate::plan::TreeInput;
use crate::plan::kept::Kept;
use crate::plan::ntuple::model::NtuplePlan;
use crate::plan::options::Pack;
use crate::rewrite::convert::{Source, ntuple_to_tree, recluster, tree_to_ntuple};
use crate::rewrite::prepared::PlannedTable;

/// A merge joins the clusters of an RNTuple if there are at least `MANY_CLUSTERS` and they average less than `TINY_CLUSTER`: uproot
/// writes one for each `extend`, and each costs a reader a request and a page for each column.
const MANY_CLUSTERS: u64 = 16;
const TINY_CLUSTER: u64 = 64_000;

impl TablesPlanner<'_> {
    /// Plans a tree as an RNTuple of this path.
    pub fn plan_tree_as_ntuple(&mut self, cycle: &TableCycle<'_>, path: &str) -> Result<Option<PlannedTable>> {
        let of_file = |input: &TreeInput| Compression::from_root_setting(input.1.header().compress);
        let layout = self.with_compression(cycle.inputs, path, of_file);
        self.bad.admit(tree_to_ntuple(&self.source(cycle, path, &layout)))
    }

    /// Plans an RNTuple anew, if the layout asks for a tree or for other clusters, pages or encodings, or if its pages cannot be
    /// moved. Otherwise the plan that moves them stays. A tree gets back what is `kept` beside the RNTuple.
    pub fn plan_ntuple_anew(
        &mut self,
        cycle: &TableCycle<'_>,
        mut plan: NtuplePlan,
        kept: &mut Option<Kept>,
    ) -> Result<Option<PlannedTable>> {
        let path = &cycle.table.path;
        let rules = self.layout.rules(path);
        let mut layout = self.with_compression(cycle.inputs, path, of_ntuple);
        let keys = &rules.tree;
        let to_tree = keys.container == Some(Container::Ttree);
        let of_columns = self.layout.columns().iter().any(|(_, own)| own.basket.is_some() || own.encoding.is_some());
        let asked = keys.cluster.is_some()
            || keys.basket.is_some()
            || keys.encoding.is_some()
            || keys.page_checksums.is_some()
            || keys.share_pages.is_some()
            || keys.unzipped_cluster.is_some()
            || of_columns;
        let totals = plan.totals;
        let tiny = totals.clusters >= MANY_CLUSTERS && totals.zip_bytes / totals.clusters.max(1) < TINY_CLUSTER;
        let packed = match self.planning.options.plan.pack {
            Pack::Bytes(bytes) => {
                layout.common.cluster = layout.common.cluster.or(Some(ClusterSize::Bytes(bytes)));
                true
            }
            Pack::Auto => tiny,
            Pack::No => false,
        };
        let uncounted = plan.uncounted.is_some();
        if !(to_tree || asked || packed || uncounted) {
            return Ok(Some(moved(plan)));
        }
        let source = self.source(cycle, path, &layout);
        let attributes = std::mem::take(&mut plan.attributes);
        let has_attributes = !attributes.is_empty();
        let planned = match to_tree {
            true => ntuple_to_tree(&source, kept.take()),
            // Stored fields are read, projected ones written as they are.
            false => prove_projections(&plan).and_then(|()| Ok((recluster(&source, attributes)?, Vec::new()))),
        };
        // What is only packed may stay as it is.
        if planned.is_err() && !to_tree && !asked && !uncounted && self.planning.options.plan.pack == Pack::Auto {
            return Ok(self.move_ntuple(cycle)?.map(moved));
        }
        let Some((table, mut lost)) = self.bad.admit(planned)? else { return Ok(None) };
        let mut notes = plan.notes;
        lost.append(&mut plan.lost);
        if to_tree && has_attributes {
            lost.push(format!("RNTuple {path}: a tree has no place for its attribute sets"));
        }
        if uncounted && !to_tree {
            notes.push(format!(
                "RNTuple {path}: has fields that were added below collections (format feature 0), so all its fields are \
                 decoded and encoded again"
            ));
        } else if !asked && !to_tree {
            let n = totals.clusters;
            notes.push(format!("RNTuple {path}: its {n} clusters are small, so they are joined"));
        }
        Ok(Some(PlannedTable { table: Box::new(table), notes, lost, kept: None }))
    }

    fn source<'s>(&self, cycle: &TableCycle<'s>, path: &'s str, layout: &'s Layout) -> Source<'s>
    where
        Self: 's,
    {
        let options = self.planning.options;
        let (filter, joining) = (&options.content.filter, options.plan);
        let (inputs, entries) = (cycle.inputs, cycle.entries);
        Source { inputs, path, layout, filter, joining, entries, memory: options.budget.memory }
    }

    /// The layout, with the compression of the first input where none is requested.
    fn with_compression(
        &self,
        inputs: &[TreeInput],
        path: &str,
        of: impl Fn(&TreeInput) -> Option<Compression>,
    ) -> Layout {
        let mut layout = self.layout.clone();
        if layout.resolve_tree(path).compression.is_none() {
            layout.common.compression = inputs.first().and_then(of);
        }
        layout
    }
}

/// Proves the projected fields of all inputs.
fn prove_projections(plan: &NtuplePlan) -> Result<()> {
    for input in &plan.job.inputs {
        let is_projected =
            |plan: &&FieldPlan| input.ntuple.schema.fields.get(plan.id()).is_some_and(|field| field.source.is_some());
        let projected: Vec<FieldPlan> = input.plans.iter().filter(is_projected).cloned().collect();
        if !projected.is_empty() {
            prove_ntuple(&*input.source, &input.ntuple, &projected)?;
        }
    }
    Ok(())
}

/// The compression of most columns in the first cluster of an RNTuple.
fn of_ntuple((_, file, key): &TreeInput) -> Option<Compression> {
    let ntuple = read_ntuple(file, key).ok().filter(|ntuple| !ntuple.groups.is_empty())?;
    let list = read_page_list(&**file.source(), &ntuple, 0).ok()?;
    let mut counts: Vec<(u32, usize)> = Vec::new();
    for setting in list.clusters.first()?.columns.iter().filter_map(|column| column.compression) {
        match counts.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, count)) => *count += 1,
            None => counts.push((setting, 1)),
        }
    }
    let (setting, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Compression::from_root_setting(i32::try_from(setting).ok()?)
}
