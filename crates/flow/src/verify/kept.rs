//! Compares what is kept beside RNTuples of the trees from which they were made: with that beside another RNTuple, or with a tree.

use dataset::tree::write_kept;
use rootfile::Result;

use super::context::Context;
use super::ntuples::SideTable;
use super::options::VerifyOptions;
use super::side::{Side, SideTree};
use super::tree_metadata;
use super::verdict::{Difference, TableKind, Verdict};
use crate::plan::kept::leave_out_relations;

/// Compares what is kept of one table on both sides. `tables` are the sides as they are compared otherwise.
pub(super) fn compare(
    path: &str,
    sides: [(&Side, &SideTree<'_>); 2],
    tables: &[SideTable; 2],
    options: &VerifyOptions,
    verdict: &mut Verdict,
) -> Result<()> {
    let mut kept = [None, None];
    for ((slot, (side, tree)), table) in kept.iter_mut().zip(sides).zip(tables) {
        let joined = side.kept(tree)?;
        verdict.notes.extend(joined.lost);
        *slot = joined.kept.map(|kept| kept.tree);
        if let (Some(kept), true) = (slot.as_mut(), tables.iter().any(|table| table.selected().is_some())) {
            leave_out_relations(&mut kept.tree, path, &mut Vec::new());
        }
        if let SideTable::Tree(..) = table {
            *slot = None;
        }
    }
    let of_table = |kind, what: &str| Difference::of_table(path, kind, what);
    let found = match (tables, kept) {
        ([SideTable::Ntuple(_), SideTable::Ntuple(_)], [Some(ours), Some(theirs)]) => {
            let equal = write_kept(&ours, 0)? == write_kept(&theirs, 0)?;
            let what = "what is kept of its tree differs";
            (!equal).then(|| of_table(TableKind::Ntuple, what)).into_iter().collect()
        }
        ([SideTable::Ntuple(_), SideTable::Ntuple(_)], [ours, theirs]) if ours.is_some() != theirs.is_some() => {
            let side = if ours.is_some() { "first" } else { "second" };
            let what = format!("only the {side} side keeps what its tree had");
            (!options.common).then(|| of_table(TableKind::Ntuple, &what)).into_iter().collect()
        }
        ([SideTable::Tree(plan, infos), SideTable::Ntuple(_)], [_, Some(kept)])
        | ([SideTable::Ntuple(_), SideTable::Tree(plan, infos)], [Some(kept), _]) => {
            let infos = [infos.clone(), infos.clone()];
            let selected = plan.selected.is_some();
            let whole = plan.input_entries.len() == 1 && !selected;
            let context = Context { path, options, whole, selected, infos: &infos };
            match tables {
                [SideTable::Tree(..), _] => tree_metadata::trees(&plan.tree, &kept.tree, &context, &mut verdict.notes),
                _ => tree_metadata::trees(&kept.tree, &plan.tree, &context, &mut verdict.notes),
            }
        }
        _ => Vec::new(),
    };
    verdict.differences.extend(found);
    Ok(())
}
