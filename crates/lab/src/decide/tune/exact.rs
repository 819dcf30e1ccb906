//! What `tune` says of columns that are to have the fewest bits that keep every value. They are chosen like all other packings; how many
//! bits these are the rewrite finds out.

use dataset::ntuple::element::Kind;

use super::choice::Chosen;
use crate::cost::Packing;
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;

/// A sentence about them, if there are some.
pub(super) fn exact_sentence(stats: &FileStats, packings: &[Packing], chosen: &Chosen) -> Option<String> {
    let is_exact = |column: &&Column| {
        let pick = chosen.picks.get(column.unit).copied().flatten();
        pick.and_then(|pick| packings.get(pick.codec?)).is_some_and(Packing::is_exact)
    };
    let narrow = |kind: Kind| {
        let of_kind = |column: &&Column| column.pages.as_ref().is_some_and(|pages| pages.encoding.kind() == kind);
        stats.columns.iter().filter(is_exact).filter(of_kind).count()
    };
    let (floats, doubles) = (narrow(Kind::F32), narrow(Kind::F64));
    let columns = |n: usize, what: &str| format!("{n} column{} of {what}", if n == 1 { "" } else { "s" });
    let both = match (floats, doubles) {
        (0, 0) => return None,
        (n, 0) => columns(n, "floats"),
        (0, m) => columns(m, "doubles"),
        (n, m) => format!("{} and {m} of doubles", columns(n, "floats")),
    };
    let uproot = if doubles > 0 { "; uproot then shows these doubles as float32, with the same values" } else { "" };
    Some(format!(
        "exact: {both} have fewer bits and keep every value, which a look at all values makes sure of when the file is \
         written{uproot}"
    ))
}
