//! What a forecast of the output found of the columns that it tried, against what was expected of them. Nothing is decided here.

use std::collections::{HashMap, HashSet};

use dataset::column_names::is_item_name;
use flow::Outlook;

use crate::cost::column::METADATA_PER_BASKET;
use crate::cost::statistics::FileStats;
use crate::math::as_f64;

use super::choice::Chosen;

/// A column, or the columns of a field: the path of its table, and the names down to it.
type Place<'a> = (&'a str, String);

/// Bytes of the columns that the forecast tried, as found and as expected of the choice. None if it tried no column by itself.
pub(super) fn tried(stats: &FileStats, chosen: &Chosen, outlook: &Outlook) -> Option<(f64, f64)> {
    let mut expected = expected(stats, chosen);
    let mut found: HashMap<Place<'_>, Option<f64>> = HashMap::new();
    for (table, column) in
        outlook.tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)))
    {
        let bytes = as_f64(column.bytes_after) + METADATA_PER_BASKET * as_f64(column.baskets);
        // If a part of the place was not tried, the place was not.
        let sum = found.entry((table.path.as_str(), of_forecast(&column.name))).or_insert(Some(0.0));
        *sum = sum.filter(|_| column.sampled > 0).map(|sum| sum + bytes);
    }
    let pairs = found.into_iter().filter_map(|(place, bytes)| Some((bytes?, expected.remove(&place)?)));
    let sums = pairs.fold((0.0, 0.0), |sums, (found, expected)| (sums.0 + found, sums.1 + expected));
    (sums.1 > 0.0).then_some(sums)
}

/// What the choice expects of the columns of each place. A unit with columns of several places is left out.
fn expected<'a>(stats: &'a FileStats, chosen: &Chosen) -> HashMap<Place<'a>, f64> {
    let mut places: Vec<HashSet<Place<'a>>> = vec![HashSet::new(); stats.units.len()];
    for column in stats.now() {
        let table = stats.trees.get(column.tree).map_or("", |tree| tree.path.as_str());
        if let Some(all) = places.get_mut(column.unit) {
            all.insert((table, of_forecast(&column.lineage.join("."))));
        }
    }
    let mut sums: HashMap<Place<'a>, f64> = HashMap::new();
    let several: HashSet<Place<'a>> = places.iter().filter(|all| all.len() > 1).flatten().cloned().collect();
    for (all, cost) in places.into_iter().zip(&chosen.costs) {
        for place in all.into_iter().filter(|place| !several.contains(place)) {
            *sums.entry(place).or_default() += cost.size;
        }
    }
    sums
}

/// The names of a forecast's column: with `/` between branches, and with generated names of items (`_0`) between fields.
fn of_forecast(name: &str) -> String {
    name.split(['/', '.']).filter(|name| !is_item_name(name)).collect::<Vec<_>>().join(".")
}
