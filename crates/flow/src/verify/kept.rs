//! Compares what is kept beside RNTuples of the trees from which they were made: with that beside another RNTuple, or with a tree.

use dataset::tree::write_kept;
use rootfile::Result;

use super::context::Context;
use super::ntuples::SideTable;
use super::options::VerifyOptions;
use super::side::{Side, SideTree};
use super::tree::metadata;
use super::verdict::{Difference, TableKind, Verdict};
use crate::plan::tree::kept::leave_out_relations;

/// Compares what is kept of one table on both sides. `tables` are the sides as they are compared otherwise. Returns the names of fields
/// and of their branches, where an RNTuple has other ones than the tree.
pub(super) fn compare(
    path: &str,
    sides: [(&Side, &SideTree<'_>); 2],
    tables: &[SideTable; 2],
    options: &VerifyOptions,
    verdict: &mut Verdict,
) -> Result<Vec<(String, String)>> {
    let mut kept = [None, None];
    for ((slot, (side, tree)), table) in kept.iter_mut().zip(sides).zip(tables) {
        let joined = side.kept(tree)?;
        verdict.notes.extend(joined.lost);
        *slot = joined.kept.map(|kept| kept.tree);
        if let (Some(kept), true) = (slot.as_mut(), tables.iter().any(SideTable::is_other)) {
            leave_out_relations(&mut kept.tree, path, &mut Vec::new());
        }
        if let SideTable::Tree(..) = table {
            *slot = None;
        }
    }
    let of_table = |kind, what: &str| Difference::of_table(path, kind, what);
    let is_mixed = tables.iter().any(|table| matches!(table, SideTable::Tree(..)));
    let fields = kept.iter().flatten().filter(|_| is_mixed).flat_map(|kept| kept.fields.clone()).collect();
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
            let selected = tables.iter().any(SideTable::is_other);
            let whole = plan.input_entries.len() == 1 && !selected;
            let context = Context { path, options, whole, selected, infos: &infos };
            match tables {
                [SideTable::Tree(..), _] => metadata::trees(&plan.tree, &kept.tree, &context, &mut verdict.notes),
                _ => metadata::trees(&kept.tree, &plan.tree, &context, &mut verdict.notes),
            }
        }
        _ => Vec::new(),
    };
    verdict.differences.extend(found);
    Ok(fields)
}

/// Trees whose keys have no name, and the RNTuples made of them, which must have one: the paths on both sides.
pub(super) fn unnamed_partners(
    [first, second]: [&Side; 2],
    [ours, theirs]: [&[SideTree<'_>]; 2],
) -> Result<Vec<(String, String)>> {
    let mut partners = Vec::new();
    for (trees, (side, ntuples), is_swapped) in [(ours, (second, theirs), false), (theirs, (first, ours), true)] {
        for tree in trees.iter().filter(|tree| !tree.is_ntuple && (tree.path.is_empty() || tree.path.ends_with('/'))) {
            for ntuple in ntuples.iter().filter(|ntuple| ntuple.is_ntuple) {
                let directory =
                    ntuple.path.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
                let kept = if directory == tree.path { side.kept(ntuple)?.kept } else { None };
                if kept.is_some_and(|kept| kept.tree.key_name.as_deref() == Some("")) {
                    let pair = (tree.path.clone(), ntuple.path.clone());
                    partners.push(if is_swapped { (pair.1, pair.0) } else { pair });
                }
            }
        }
    }
    Ok(partners)
}
