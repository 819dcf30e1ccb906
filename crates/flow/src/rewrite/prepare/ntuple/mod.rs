//! Plans one cycle of an RNTuple: its pages are moved, or its entries are encoded anew: where the layout asks for a tree, or for clusters,
//! pages and encodings that the RNTuple does not have.

mod shown;

use dataset::layout::{ClusterSize, Container, Layout};
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::soundness::prove_ntuple;
use rootfile::{Error, Result};

use super::tables::{TableCycle, TablesPlanner};
use crate::plan::ntuple::model::NtuplePlan;
use crate::plan::ntuple::plan_ntuple;
use crate::plan::options::Pack;
use crate::plan::request::TableInput;
use crate::plan::tree::kept::{JoinedKept, Kept, leave_out_relations};
use crate::rewrite::convert::{FurtherColumns, ntuple_to_tree, recluster};
use crate::rewrite::output_table::OutputPlace;
use crate::rewrite::prepared::PlannedTable;
use shown::shown;

/// A merge joins the clusters of an RNTuple if there are at least `MANY_CLUSTERS` and they average less than `TINY_CLUSTER`: uproot
/// writes one for each `extend`, and each costs a reader a request and a page for each column.
const MANY_CLUSTERS: u64 = 16;
const TINY_CLUSTER: u64 = 64_000;

impl TablesPlanner<'_> {
    /// Plans a cycle of an RNTuple. Older cycles stay as they are.
    pub fn plan_ntuple(&mut self, cycle: &TableCycle<'_>) -> Result<Option<(OutputPlace, PlannedTable)>> {
        let (mut place, path) = (cycle.place(), &cycle.table.path);
        let Some(mut plan) = self.move_ntuple(cycle)? else { return Ok(None) };
        if let Some(name) = cycle.new_name(&plan.ntuple.name) {
            plan.ntuple.name = name;
        }
        if let Some(older) = cycle.older {
            plan.check_counted(older)?;
            return Ok(Some((place, moved(plan))));
        }
        let ignored = std::mem::take(&mut plan.ignored);
        let Some(JoinedKept { mut kept, mut lost }) =
            self.bad.admit(self.kept.join(path, cycle.inputs, cycle.replaces_index))?
        else {
            return Ok(None);
        };
        if let Some(kept) = &mut kept
            && let Some(name) = cycle.new_name(&kept.tree.tree.named.name)
        {
            kept.tree.tree.named.name = name;
        }
        // A tree follows all keys.
        if self.layout.resolve_tree(path).container == Some(Container::Ttree) {
            if let Some(name) = kept.as_ref().and_then(|kept| kept.tree.key_name.as_ref()) {
                place.name.clone_from(name);
            }
        } else if !ignored.is_empty() {
            let what = format!("RNTuple {path}: {} is for trees only", ignored.join(", "));
            self.ignored.push((Container::Ttree, what));
        }
        if let Some(kept) = kept.as_mut().filter(|_| cycle.entries.is_some() || cycle.order.is_some()) {
            leave_out_relations(&mut kept.tree.tree, path, &mut lost);
        }
        let Some(mut plan) = self.plan_ntuple_anew(cycle, plan, &mut kept)? else { return Ok(None) };
        plan.lost.append(&mut lost);
        plan.kept = kept;
        Ok(Some((place, plan)))
    }

    /// Plans an RNTuple anew, if the layout asks for a tree or for other clusters, pages or encodings, or if its pages cannot be
    /// moved. Otherwise the plan that moves them stays. A tree gets back what is `kept` beside the RNTuple.
    fn plan_ntuple_anew(
        &mut self,
        cycle: &TableCycle<'_>,
        mut plan: NtuplePlan,
        kept: &mut Option<Kept>,
    ) -> Result<Option<PlannedTable>> {
        let path = &cycle.table.path;
        let rules = self.layout.rules(path);
        let keys = &rules.tree;
        let to_tree = keys.container == Some(Container::Ttree);
        let mut layout = match to_tree {
            true => self.with_compression(cycle.inputs, path, |input| shown(input)?.compression),
            false => self.with_shown(cycle.inputs, path),
        };
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
        let mut about = Vec::new();
        let Some(defined) = self.define_fields(cycle, &mut about)? else { return Ok(None) };
        plan.notes.append(&mut about);
        let beside = self.joined_fields(cycle)?;
        if to_tree && !beside.is_empty() {
            let message = "internal error: columns come beside an RNTuple that becomes a tree";
            return Err(Error::request(message).object(path));
        }
        let (further, ordered) = (FurtherColumns { defined, beside }, cycle.order.is_some());
        if !(to_tree || asked || packed || uncounted || ordered || further.any()) {
            return Ok(Some(moved(plan)));
        }
        let (asked, defines) = (asked || ordered || further.any(), further.any());
        let keeps_clusters = !packed && keys.cluster.is_none() && keys.unzipped_cluster.is_none();
        let source = self.request(cycle, path, &layout);
        let memory = self.planning.options.budget.memory;
        let attributes = std::mem::take(&mut plan.attributes);
        let has_attributes = !attributes.is_empty();
        let planned = match to_tree {
            true => ntuple_to_tree(&source, memory, kept.take(), further.defined),
            // Stored fields are read, projected ones written as they are.
            false => prove_projections(&plan)
                .and_then(|()| Ok((recluster(&source, memory, attributes, keeps_clusters, further)?, Vec::new()))),
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
        if defines && !to_tree {
            notes.push(format!("RNTuple {path}: gets new fields, so all its fields are decoded and encoded again"));
        } else if uncounted && !to_tree {
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

    /// The layout, with the settings of the first input where none are requested.
    fn with_shown(&self, inputs: &[TableInput], path: &str) -> Layout {
        let (mut layout, asked) = (self.layout.clone(), self.layout.resolve_tree(path));
        if let Some(shown) = inputs.first().and_then(shown) {
            let common = &mut layout.common;
            common.compression = asked.compression.or(shown.compression);
            common.page_checksums = asked.page_checksums.or(shown.page_checksums);
            common.share_pages = asked.share_pages.or(shown.share_pages);
            common.basket = asked.basket.or(shown.basket);
        }
        layout
    }

    /// Plans to move the pages of an RNTuple. `None` if inputs are bad.
    fn move_ntuple(&mut self, cycle: &TableCycle<'_>) -> Result<Option<NtuplePlan>> {
        if self.bad.any() {
            return Ok(None);
        }
        let request = self.request(cycle, cycle.path(), self.layout);
        self.bad.admit(plan_ntuple(&request, self.planning.options.check))
    }
}

/// An RNTuple whose pages are moved.
fn moved(mut plan: NtuplePlan) -> PlannedTable {
    let (notes, lost) = (std::mem::take(&mut plan.notes), std::mem::take(&mut plan.lost));
    PlannedTable { table: Box::new(plan), notes, lost, kept: None }
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
