//! One `THn` or `THnSparse` added to another.
//!
//! The rules are those of `THnBase::Merge`: both must have the same number of axes and bins. ROOT ignores the
//! limits. Labels, ranges and titles of axes stay those of the first histogram. Where only one of the two keeps sums of
//! squares, the sums of the whole count both ([`Sums`]); ROOT's count one.

use rootfile::object::{Content, Graph, Members, Value};

use super::axis::Axis;
use super::kind::{Errors, is_sparse};
use super::sums::Sums;
use super::{dense, sparse};
use crate::merge::members::{array_of, int, number, set_number};
use crate::merge::pair::{Addend, Note, Target};

/// Adds a histogram to the first. On failure, the first is unchanged and the reason is returned.
pub(in crate::merge) fn merge(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let (Some(m), Some(o)) = (first.members(), other.members()) else {
        return Err("its members cannot be read".to_owned());
    };
    let (axes, others) = (axes(m, graph)?, axes(o, other_graph)?);
    if axes.len() != others.len() {
        return Err(format!("it has {} axes, the first {}", others.len(), axes.len()));
    }
    for (i, (mine, theirs)) in axes.iter().zip(&others).enumerate() {
        if mine.bins != theirs.bins {
            return Err(format!("its axis {i} has {} bins, that of the first {}", theirs.bins, mine.bins));
        }
    }
    let bins: Vec<usize> = axes.iter().map(|axis| axis.bins).collect();
    let errors = Errors { mine: number(m, "fTsumw2") >= 0.0, theirs: number(o, "fTsumw2") >= 0.0 };
    let sums_of = |object, graph, axes: &[Axis], m, kept| match (errors.any(), kept) {
        (false, _) => Ok(None),
        (true, true) => Ok(Some(Sums::kept(m))),
        (true, false) => Sums::of_bins(object, graph, axes).map(Some),
    };
    let sums =
        sums_of(&*first, &*graph, &axes, m, errors.mine)?.zip(sums_of(other, other_graph, &others, o, errors.theirs)?);
    let overflows = if is_sparse(&first.class) {
        sparse::merge(Target { object: first, graph }, Addend { object: other, graph: other_graph }, &bins, errors)?
    } else {
        dense::merge(first, other, &bins, errors)?
    };
    if overflows > 0 {
        notes.push(Note::Changed(format!("{overflows} bins overflowed their number type")));
    }
    if let Some(axis) = axes.iter().zip(&others).position(|(mine, theirs)| !mine.has_limits_of(theirs)) {
        notes.push(Note::Changed(format!("its axis {axis} has other limits, and ROOT adds bin number to bin number")));
    }
    if let (Some(m), Some(o)) = (first.members_mut(), other.members()) {
        let entries = number(m, "fEntries") + number(o, "fEntries");
        set_number(m, "fEntries", entries);
        if let Some((mine, theirs)) = sums {
            mine.store(&theirs, m);
        }
    }
    Ok(())
}

fn axes(m: &Members, graph: &Graph) -> Result<Vec<Axis>, String> {
    let unreadable = || "its axes cannot be read".to_owned();
    let Some(Value::Object(list)) = m.get("fAxes") else { return Err(unreadable()) };
    let Content::Collection(list) = &list.content else { return Err(unreadable()) };
    let dimensions = int(m, "fNdimensions");
    if usize::try_from(dimensions).ok() != Some(list.items.len()) || list.items.is_empty() {
        return Err(format!("it has {dimensions} dimensions and {} axes", list.items.len()));
    }
    let axis = |id: &Option<usize>| {
        let m = graph.get((*id)?)?.members()?;
        // A histogram holds its bins in an int, with two more of each axis.
        let bins = usize::try_from(int(m, "fNbins")).ok().filter(|bins| i32::try_from(*bins).is_ok())?;
        Some(Axis { bins, limits: [number(m, "fXmin"), number(m, "fXmax")], edges: array_of(m, "fXbins") })
    };
    list.items.iter().map(|id| axis(id).ok_or_else(unreadable)).collect()
}
