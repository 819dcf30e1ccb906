//! Plans one cycle of an RNTuple: its pages are moved, or its entries are encoded anew (`conversions`).

use dataset::layout::Container;
use rootfile::Result;

use super::tables::{TableCycle, TablesPlanner};
use crate::plan::kept::{JoinedKept, leave_out_relations};
use crate::plan::ntuple::model::{NtuplePlan, NtupleRequest};
use crate::plan::ntuple::plan_ntuple;
use crate::rewrite::output_table::OutputPlace;
use crate::rewrite::prepared::PlannedTable;

impl TablesPlanner<'_> {
    /// Plans a cycle of an RNTuple. Older cycles stay as they are.
    pub fn plan_ntuple(&mut self, cycle: &TableCycle<'_>) -> Result<Option<(OutputPlace, PlannedTable)>> {
        let (mut place, path) = (cycle.place(), &cycle.table.path);
        let Some(mut plan) = self.move_ntuple(cycle)? else { return Ok(None) };
        if let Some(older) = cycle.older {
            plan.check_counted(older)?;
            return Ok(Some((place, moved(plan))));
        }
        let ignored = std::mem::take(&mut plan.ignored);
        let Some(JoinedKept { mut kept, mut lost }) = self.bad.admit(self.kept.join(path, cycle.inputs))? else {
            return Ok(None);
        };
        // A tree follows all keys.
        if self.layout.resolve_tree(path).container == Some(Container::Ttree) {
            if let Some(name) = kept.as_ref().and_then(|kept| kept.tree.key_name.as_ref()) {
                place.name.clone_from(name);
            }
        } else if !ignored.is_empty() {
            self.ignored.push(format!("RNTuple {path}: {} is for trees only", ignored.join(", ")));
        }
        if let Some(kept) = kept.as_mut().filter(|_| cycle.entries.is_some()) {
            leave_out_relations(&mut kept.tree.tree, path, &mut lost);
        }
        let Some(mut plan) = self.plan_ntuple_anew(cycle, plan, &mut kept)? else { return Ok(None) };
        plan.lost.append(&mut lost);
        plan.kept = kept;
        Ok(Some((place, plan)))
    }

    /// Plans to move the pages of an RNTuple. `None` if inputs are bad.
    pub fn move_ntuple(&mut self, cycle: &TableCycle<'_>) -> Result<Option<NtuplePlan>> {
        let options = self.planning.options;
        let request = NtupleRequest {
            inputs: cycle.inputs,
            path: cycle.path(),
            layout: self.layout,
            filter: &options.content.filter,
            entries: cycle.entries,
            options: options.plan,
            check: options.check,
        };
        if self.bad.any() {
            return Ok(None);
        }
        self.bad.admit(plan_ntuple(&request))
    }
}

/// An RNTuple whose pages are moved.
pub(super) fn moved(mut plan: NtuplePlan) -> PlannedTable {
    let (notes, lost) = (std::mem::take(&mut plan.notes), std::mem::take(&mut plan.lost));
    PlannedTable { table: Box::new(plan), notes, lost, kept: None }
}
