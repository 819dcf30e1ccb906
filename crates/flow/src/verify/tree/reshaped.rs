//! Finds top-level columns of equal type that the two trees split into other branches, or whose collections they stream
//! differently. [`column_values`](crate::verify::column_values) compares them.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use dataset::assemble::LogicalColumn;
use dataset::decode::ColumnPlan;
use dataset::layout::Streaming;
use dataset::tree::{BranchKind, Tree};
use rootfile::streamer::StreamerInfos;

use super::entry_bytes::ByteDifference;
use crate::plan::tree::schema::Comparison;
use crate::plan::tree::{Reason, TablePlan, View, class_of, current_streaming};
use crate::verify::column_values::{PairSide, ValuePair};
use crate::verify::memory_bits;

/// Branches of the first level of both trees, by their numbers.
pub(super) type Tops = (usize, usize);

/// The columns to compare by value.
#[derive(Default)]
pub(super) struct Reshaped {
    /// Columns to compare.
    pub pairs: Vec<ValuePair>,
    /// Columns that cannot be compared, and why.
    pub unknown: Vec<(String, Reason)>,
    /// The branches of all these columns, on each side.
    pub branches: [HashSet<usize>; 2],
    /// Names of columns with members that are not compared: `fUniqueID` and `fBits` of `TObject`s.
    pub with_bits: Vec<String>,
}

/// The two tables, and the streamer infos of their classes.
pub(super) struct Tables<'a> {
    pub plans: [&'a TablePlan; 2],
    pub infos: [&'a StreamerInfos; 2],
}

/// The columns that the trees split differently.
pub(super) fn split(tables: &Tables<'_>, found: &Comparison) -> Reshaped {
    let [first, second] = tables.plans.map(|plan| &plan.tree);
    let mut reshaped = Reshaped::default();
    let tops: Vec<Tops> = first.top.iter().filter_map(|&top| split_differently((first, second), top, found)).collect();
    if tops.is_empty() {
        return reshaped;
    }
    let views = views(tables, &tops);
    let wholes = views.each_ref().map(View::wholes);
    for tops @ (a, b) in tops {
        let whole = |side: usize, top| wholes.get(side)?.iter().find(|whole| whole.top() == top);
        let (Some(ours), Some(theirs)) = (whole(0, a), whole(1, b)) else { continue };
        let name = ours.field().name().clone();
        let same_type = ours.field().data_type() == theirs.field().data_type();
        match ours.opaque().or(theirs.opaque()) {
            // The second tree lacks some members. The others are compared branch by branch.
            None if !same_type => continue,
            Some(_) if shares_members((first, second), tops, found) => continue,
            Some(why) => reshaped.unknown.push((name, why.to_owned())),
            None => match pair(&views, [ours, theirs]) {
                Ok(pair) => reshaped.add(pair, &views),
                Err(why) => reshaped.unknown.push((name, why)),
            },
        }
        let [own, other] = &mut reshaped.branches;
        own.extend(first.below(a));
        other.extend(second.below(b));
    }
    reshaped
}

/// A pair of branches with different bytes: its number, the branches, and the first difference.
pub(super) type Unequal<'a> = (usize, Tops, &'a ByteDifference);

/// Among branches with different bytes, those whose values may be equal all the same, by the number of the pair of branches, each
/// with the number of the values to compare: the two sides stream collections differently, frames around containers have other
/// versions, empty text of leaves has no length, fBits of objects other bits about memory, counted arrays of pointers hold objects
/// (in files of ROOT 5), or a member of a collection has no bytes on one side.
pub(super) fn streamed(tables: &Tables<'_>, branches: &[Unequal<'_>]) -> (Vec<(usize, usize)>, Reshaped) {
    let [first, second] = tables.plans.map(|plan| &plan.tree);
    let objects = |tree: &Tree, branch: usize| {
        tree.branches.get(branch).is_some_and(|b| !matches!(b.kind, BranchKind::Ref { .. }))
    };
    let (mut numbers, mut reshaped) = (Vec::new(), Reshaped::default());
    let some = |(_, (a, b), _): &&Unequal<'_>| objects(first, *a) && objects(second, *b);
    let branches: Vec<Unequal<'_>> = branches.iter().filter(some).copied().collect();
    if branches.is_empty() {
        return (numbers, reshaped);
    }
    let top = |tree: &Tree, branch: usize| tree.top.iter().copied().find(|&top| tree.below(top).contains(&branch));
    let tops_of = |(a, b): Tops, difference: &ByteDifference| {
        is_unwritten((first, a), (second, b), difference).then(|| Some((top(first, a)?, top(second, b)?))).flatten()
    };
    let tops: Vec<Option<Tops>> = branches.iter().map(|(_, both, difference)| tops_of(*both, difference)).collect();
    let wanted = branches.iter().zip(&tops).map(|((_, both, _), tops)| tops.unwrap_or(*both));
    let views = views(tables, &wanted.collect::<Vec<_>>());
    let wholes: OnceCell<[Vec<LogicalColumn>; 2]> = OnceCell::new();
    let mut collections: HashMap<Tops, usize> = HashMap::new();
    for ((number, (a, b), difference), tops) in branches.into_iter().zip(tops) {
        let [ours, theirs] = [(0, a), (1, b)].map(|(side, branch)| {
            let view: &View<'_> = views.get(side)?;
            view.plans.iter().find(|plan| plan.branch() == branch)
        });
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        let both = |is: &dyn Fn(&ColumnPlan) -> bool| is(ours) && is(theirs);
        let same_type = ours.field().data_type() == theirs.field().data_type();
        if !same_type || !both(&|plan| plan.opaque().is_none()) {
            continue;
        }
        let is_in_memory_bits = match difference {
            ByteDifference::Byte(_, a, b) => memory_bits::differ_at_most_in_them(*a, *b),
            ByteDifference::Lengths(..) => false,
        };
        let other_streaming = both(&ColumnPlan::streams_collections) && !same_streaming(&views, [ours, theirs]);
        let is_frame_version =
            both(&ColumnPlan::begins_with_frame) && matches!(difference, ByteDifference::Byte(5, ..));
        let other_frames = is_frame_version || both(&|plan| plan.has_framed_values() && !plan.omits_tobjects());
        let is_other_length = matches!(difference, ByteDifference::Lengths(..));
        let other_pointers = is_other_length && both(&ColumnPlan::counts_pointers);
        let other_memory = is_in_memory_bits && both(&|plan| plan.omits_tobjects() || plan.has_references());
        let is_empty_text = matches!(difference, ByteDifference::Lengths(0, 1) | ByteDifference::Lengths(1, 0))
            && both(&ColumnPlan::is_leaf_text);
        let is_bits = both(&ColumnPlan::is_tobject_bits) || (is_in_memory_bits && both(&ColumnPlan::is_tobject));
        if let Some(tops) = tops {
            let known = collections.get(&tops).copied().or_else(|| {
                let wholes = wholes.get_or_init(|| views.each_ref().map(View::wholes));
                let whole = |side: usize, top| wholes.get(side)?.iter().find(|whole| whole.top() == top);
                reshaped.add(pair(&views, [whole(0, tops.0)?, whole(1, tops.1)?]).ok()?, &views);
                collections.insert(tops, reshaped.pairs.len() - 1);
                Some(reshaped.pairs.len() - 1)
            });
            numbers.extend(known.map(|known| (number, known)));
            continue;
        }
        if !(other_streaming || other_frames || other_pointers || other_memory || is_empty_text || is_bits) {
            continue;
        }
        let [a, b] = &views;
        if let (Some(a), Some(b)) = (a.source(ours.branch()), b.source(theirs.branch())) {
            numbers.push((number, reshaped.pairs.len()));
            let sides = [a, b].map(|source| PairSide::Branches { sources: vec![source], whole: None });
            let pair = ValuePair::new(ours.field().name().clone(), sides, None);
            reshaped.add(pair.of_tobject_bits(is_bits), &views);
        }
    }
    (numbers, reshaped)
}

/// Whether a member of a split collection has no bytes on one side, as ROOT leaves it where a container has no dictionary: readers
/// take defaults.
fn is_unwritten((first, a): (&Tree, usize), (second, b): (&Tree, usize), difference: &ByteDifference) -> bool {
    let is_item = |tree: &Tree, branch: usize| {
        let element = tree.branches.get(branch).and_then(|branch| branch.element());
        element.is_some_and(|element| matches!(element.element_type, 31 | 41))
    };
    let none = matches!(difference, ByteDifference::Lengths(0, _) | ByteDifference::Lengths(_, 0));
    none && is_item(first, a) && is_item(second, b)
}

impl Reshaped {
    fn add(&mut self, pair: ValuePair, views: &[View<'_>; 2]) {
        let has_bits = |(side, view): (&PairSide, &View<'_>)| {
            let PairSide::Branches { sources, .. } = side else { return false };
            let named = |branch: usize| view.plan.tree.branches.get(branch).map_or("", |b| b.name());
            sources.iter().any(|s| s.plan.omits_tobjects() || named(s.plan.branch()).ends_with("fUniqueID"))
        };
        if pair.sides.iter().zip(views).any(has_bits) {
            self.with_bits.push(pair.name.clone());
        }
        self.pairs.push(pair);
    }
}

pub(super) fn views<'a>(tables: &Tables<'a>, tops: &[Tops]) -> [View<'a>; 2] {
    let ([a, b], [of_a, of_b]) = (tables.plans, tables.infos);
    [View::new(a, of_a, tops.iter().map(|(top, _)| *top)), View::new(b, of_b, tops.iter().map(|(_, top)| *top))]
}

/// A top-level branch and its counterpart, if both have the same class and are split differently.
fn split_differently((first, second): (&Tree, &Tree), top: usize, found: &Comparison) -> Option<Tops> {
    let other = found.map.get(top).copied().flatten().filter(|other| second.top.contains(other))?;
    let (ours, theirs) = (first.branches.get(top)?, second.branches.get(other)?);
    let (own, extra) = (first.below(top), second.below(other));
    let element = |tree: &Tree, branch: usize| {
        let element = tree.branches.get(branch)?.element()?;
        Some((element.element_id, element.element_type))
    };
    let changed = |branch: &usize| {
        found.map.get(*branch).copied().flatten().is_some_and(|o| element(first, *branch) != element(second, o))
    };
    let differs = own.iter().any(|branch| found.missing.contains(branch) || changed(branch))
        || extra.iter().any(|branch| found.extra.contains(branch));
    (differs && class_of(ours)? == class_of(theirs)?).then_some((top, other))
}

/// Whether some branches below both are the same.
fn shares_members((first, second): (&Tree, &Tree), (a, b): Tops, found: &Comparison) -> bool {
    let theirs: HashSet<usize> = second.below(b).into_iter().filter(|&branch| branch != b).collect();
    let mapped = |branch: usize| found.map.get(branch).copied().flatten();
    first.below(a).into_iter().filter(|&branch| branch != a).filter_map(mapped).any(|other| theirs.contains(&other))
}

fn pair(views: &[View<'_>; 2], wholes: [&LogicalColumn; 2]) -> Result<ValuePair, Reason> {
    let ([first, second], [ours, theirs]) = (views, wholes);
    let sides = [branches_of(first, ours)?, branches_of(second, theirs)?];
    Ok(ValuePair::new(ours.field().name().clone(), sides, None))
}

/// A logical column of a tree as a side of a pair.
pub(crate) fn branches_of(view: &View<'_>, whole: &LogicalColumn) -> Result<PairSide, Reason> {
    let source = |branch: &usize| {
        let source = view.source(*branch).ok_or("no such branch")?;
        view.check_entries(&source.plan)?;
        Ok::<_, Reason>(source)
    };
    let sources = whole.branches().iter().map(source).collect::<Result<Vec<_>, _>>()?;
    Ok(PairSide::Branches { sources, whole: Some(whole.clone()) })
}

/// Whether both are certainly streamed in the same way.
fn same_streaming(views: &[View<'_>; 2], plans: [&ColumnPlan; 2]) -> bool {
    let of = |preferred| [0, 1].map(|side| current_streaming(views.get(side)?, plans.get(side)?, preferred));
    let ([a, b], [c, d]) = (of(Streaming::MemberWise), of(Streaming::ObjectWise));
    // If both ways fit the bytes, the preferred one is found.
    a == b && a == c && c == d
}
