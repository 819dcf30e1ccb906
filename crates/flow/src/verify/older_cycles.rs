//! Compares older cycles of trees. If both sides have the same number, they are compared like any tree. Otherwise an
//! earlier save of the newest cycle is no content of its own and becomes a note; another tree under the same name counts.

use dataset::layout::Container;
use rootfile::Result;

use super::context::Context;
use super::cycles::{self, CycleKind, OlderCycle};
use super::options::VerifyOptions;
use super::side::{Side, SideTree};
use super::tree::trees;
use super::verdict::{Difference, Verdict};
use crate::execute::progress::Progress;

/// A side and a tree of it.
pub(super) type TreeOfSide<'a> = (&'a Side, &'a SideTree<'a>);

/// Compares the older cycles of a tree. A side without the tree is `None`.
pub(super) fn compare(
    trees: [Option<TreeOfSide<'_>>; 2],
    options: &VerifyOptions,
    verdict: &mut Verdict,
    progress: Progress<'_>,
) -> Result<()> {
    let number = |tree: &Option<TreeOfSide<'_>>| tree.map_or(0, |(_, tree)| tree.older.len());
    let [ours, theirs] = trees.each_ref().map(number);
    verdict.older_cycles += ours.max(theirs) as u64;
    let mut ranks = [(0..ours).collect::<Vec<_>>(), (0..theirs).collect()];
    if ours != theirs {
        let judged = trees.map(|tree| tree.map(judge).unwrap_or_default());
        for (ranks, (judged, side)) in ranks.iter_mut().zip(judged.iter().zip(["first", "second"])) {
            ranks.retain(|rank| judged.iter().any(|(at, cycle)| at == rank && cycle.kind != CycleKind::EarlierSave));
            let several = judged.iter().any(|(_, cycle)| judged.iter().any(|(_, other)| other.file != cycle.file));
            for (_, cycle) in judged.iter().filter(|(at, _)| !ranks.contains(at)) {
                verdict.notes.push(format!(
                    "tree {}: {} of the {side} side is an earlier save of the same tree, and is not compared",
                    cycle.path,
                    cycle.name(several)
                ));
            }
        }
        if ranks[0].len() != ranks[1].len() {
            if !options.common {
                verdict.differences.extend(unmatched(&ranks, &judged));
            }
            return Ok(());
        }
    }
    let [Some(first), Some(second)] = trees else { return Ok(()) };
    // The oldest first, as the cycles of an output are numbered.
    for (i, j) in ranks[0].iter().zip(&ranks[1]).rev() {
        let (Some(a), Some(b)) = (first.1.older.get(*i), second.1.older.get(*j)) else { continue };
        let path = format!("{};{}", first.1.path, ours.saturating_sub(*i));
        let [mine, other] = [a, b].map(|parts| SideTree { path: path.clone(), is_ntuple: false, parts, older: &[] });
        let a = first.0.plan_tree(&mine, &first.1.path, options, None)?;
        let b = second.0.plan_tree(&other, &first.1.path, options, None)?;
        let infos = [&a, &b].map(|plan| plan.infos.clone());
        let context = Context { path: &path, options, whole: mine.parts.len() == 1, selected: false, infos: &infos };
        trees::compare(&a, &b, &context, progress, verdict)?;
    }
    Ok(())
}

/// The kind of each older cycle, with its rank: 0 is the second newest.
fn judge((side, tree): TreeOfSide<'_>) -> Vec<(usize, OlderCycle)> {
    let newest: Vec<_> = tree.parts.iter().filter_map(|part| side.locate(*part).ok()).collect();
    let mut judged = Vec::new();
    for (rank, parts) in tree.older.iter().enumerate() {
        for (number, file, key) in parts.iter().filter_map(|part| side.locate(*part).ok()) {
            let Some((.., own)) = newest.iter().find(|(n, ..)| *n == number) else { continue };
            judged.push((rank, cycles::judge(Container::Ttree, &tree.path, &file, [own, &key])));
        }
    }
    judged
}

/// The differences where one side has more older cycles that are other trees than the other.
fn unmatched(ranks: &[Vec<usize>; 2], judged: &[Vec<(usize, OlderCycle)>; 2]) -> Vec<Difference> {
    let (side, at) = if ranks[0].len() > ranks[1].len() { ("first", 0) } else { ("second", 1) };
    let (Some(ranks), Some(judged), fewer) = (ranks.get(at), judged.get(at), ranks[1 - at].len()) else {
        return Vec::new();
    };
    let several = judged.iter().any(|(_, cycle)| judged.iter().any(|(_, other)| other.file != cycle.file));
    let lost = judged.iter().filter(|(rank, cycle)| ranks.contains(rank) && cycle.kind != CycleKind::EarlierSave);
    let describe = |(_, cycle): &(usize, OlderCycle)| {
        let name = cycle.name(several);
        let what = match (fewer, cycle.kind) {
            (0, CycleKind::Unreadable) => {
                format!("only the {side} side has the older cycle {name}, which cannot be read")
            }
            (0, _) => format!("only the {side} side has the older cycle {name}, another tree under the same name"),
            _ => format!(
                "the {side} side has {} older cycles that are other trees, the other side {fewer}; one is {name}",
                ranks.len()
            ),
        };
        Difference::of_tree(&cycle.path, what)
    };
    lost.map(describe).collect()
}
