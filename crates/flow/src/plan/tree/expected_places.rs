//! Places of baskets that are not written, made up of a forecast: the record of a tree is as large with them as it would be.

use std::collections::HashMap;

use dataset::tree::BasketRef;

use crate::plan::forecast::Forecast;

/// Most baskets whose places are made up for the record of a tree.
const PLACES: u64 = 1 << 22;

/// The expected baskets of a tree, made up: as many and as large as its forecast says, at even places.
pub(crate) struct ExpectedPlaces<'a> {
    columns: HashMap<&'a str, (u64, u64)>,
    /// How many places stand for one that is made up.
    thinned: u64,
}

impl<'a> ExpectedPlaces<'a> {
    /// Those of a forecast.
    pub fn of(forecast: &'a Forecast) -> Self {
        let columns =
            forecast.columns.iter().map(|column| (column.name.as_str(), (column.bytes_after, column.baskets)));
        let recoded = forecast.recodes.iter().flat_map(|recode| &recode.outputs);
        let recoded = recoded.map(|(name, bytes, baskets)| (name.as_str(), (*bytes, *baskets)));
        Self { columns: columns.chain(recoded).collect(), thinned: forecast.baskets.div_ceil(PLACES).max(1) }
    }

    /// Those of a branch with these names from the top down, in clusters of these bounds.
    pub fn baskets(&self, lineage: &[&str], bounds: &[u64]) -> Vec<BasketRef> {
        // What is not known has at least one.
        let (bytes, baskets) = self.columns.get(lineage.join("/").as_str()).copied().unwrap_or((0, 1));
        let (first, last) = (bounds.first().copied().unwrap_or(0), bounds.last().copied().unwrap_or(0));
        let n = (baskets / self.thinned).max(u64::from(baskets > 0)).min(last - first);
        let entry = |k: u64| {
            let place = u128::from(last - first) * u128::from(k) / u128::from(n.max(1));
            first + u64::try_from(place).unwrap_or(0)
        };
        // Sizes that are all the same would compress better than those of real baskets.
        let size = |k: u64| {
            let mean = bytes / baskets.max(1);
            let spread = mean / 4;
            let noise = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            u32::try_from(mean - spread / 2 + spread * noise / (1 << 24)).unwrap_or(u32::MAX)
        };
        let basket =
            |k: u64| BasketRef { first_entry: entry(k), entries: entry(k + 1) - entry(k), seek: 0, nbytes: size(k) };
        (0..n).map(basket).collect()
    }
}
