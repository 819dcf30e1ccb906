//! Picks of columns of RNTuples as a rewrite understands them. It makes either no page of an RNTuple anew or all, and then a
//! column without a rule gets what the others have. So columns that stay as they are get rules that say how they are.

use crate::cost::Packing;
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;

use super::candidates::{ClusterOption, Pick};

/// Picks with their packings, and whether rules name encodings.
pub(super) struct Explicit {
    pub packings: Vec<Packing>,
    pub picks: Vec<Option<Pick>>,
    pub names_encodings: bool,
}

impl Explicit {
    /// Completes the picks of a choice where pages are made anew.
    pub fn new(stats: &FileStats, packings: &[Packing], option: &ClusterOption, picks: &[Option<Pick>]) -> Self {
        let mut all = Self { packings: packings.to_vec(), picks: picks.to_vec(), names_encodings: false };
        let largest = largest_of_units(stats);
        all.names_encodings = makes_anew(stats, packings, option, picks);
        if all.names_encodings {
            for (column, pick) in largest.iter().zip(&mut all.picks) {
                if let (Some((column, page)), Some(pick)) = (column, pick) {
                    pick.codec.get_or_insert_with(|| index_of(&mut all.packings, column.packing()));
                    pick.basket.get_or_insert((*page).max(1));
                }
            }
        }
        all
    }
}

/// Whether the pages of RNTuples are made anew. Otherwise they are moved, and compressed again where the codec is another.
pub(super) fn makes_anew(
    stats: &FileStats,
    packings: &[Packing],
    option: &ClusterOption,
    picks: &[Option<Pick>],
) -> bool {
    let is_new = |column: &Column| {
        let pick = picks.get(column.unit).copied().flatten();
        let packing = pick.and_then(|pick| packings.get(pick.codec?));
        pick.is_some_and(|pick| pick.basket.is_some())
            || packing.is_some_and(|packing| packing.encoding != column.packing().encoding)
    };
    let mut columns = stats.columns.iter().filter(|column| column.pages.is_some());
    let any = columns.clone().next().is_some();
    any && (stats.baseline.is_some() || option.size.is_some() || columns.any(is_new))
}

/// By unit, its column of an RNTuple with most bytes, and the size of its largest page.
fn largest_of_units(stats: &FileStats) -> Vec<Option<(&Column, u32)>> {
    let mut largest: Vec<Option<(&Column, u32)>> = vec![None; stats.units.len()];
    for column in stats.columns.iter().filter(|column| column.pages.is_some()) {
        if let Some(slot) = largest.get_mut(column.unit) {
            *slot = match *slot {
                Some((other, page)) if other.raw >= column.raw => Some((other, page.max(column.basket_size))),
                Some((_, page)) => Some((column, page.max(column.basket_size))),
                None => Some((column, column.basket_size)),
            };
        }
    }
    largest
}

fn index_of(packings: &mut Vec<Packing>, packing: Packing) -> usize {
    packings.iter().position(|known| *known == packing).unwrap_or_else(|| {
        packings.push(packing);
        packings.len() - 1
    })
}
