//! What layouts would cost, side by side: each codec on all columns, and what would be chosen.

use std::path::Path;

use rootfile::Result;

use super::candidates::{cluster_options, with_codec};
use super::{Options, Search, codecs_for, main_codec};
use crate::cost::facts::Facts;
use crate::cost::model::Cost;
use crate::cost::{Allowance, Codecs, InPlace, calibrate, measure, process_seconds};

/// A layout, and what reading costs in it.
#[derive(Clone, Debug)]
pub(crate) struct Outlook {
    /// What is different in it: nothing, a codec, or what `tune` chooses.
    pub layout: String,
    pub cost: Cost,
}

/// The columns as they are first; then with each codec, with the clusters and baskets that are cheapest to read; and
/// last as they would be chosen within the limits.
pub(crate) fn outlook(path: &Path, facts: &Facts, options: &Options) -> Result<Vec<Outlook>> {
    let Some(basket) = facts.columns.iter().filter(|c| c.can_sample).find_map(|c| c.written().next()) else {
        return Ok(Vec::new());
    };
    let allowance = Allowance::new(process_seconds(), 1e-9 * measure::nominal_rewrite(&facts.columns));
    let in_place = InPlace::measure(facts, options.budget()).unwrap_or_default();
    let access = calibrate(&**facts.file.source(), (basket.seek, basket.nbytes as usize), in_place.per_column())
        .map_err(|e| e.at(basket.seek).file(path))?;
    let own = main_codec(facts);
    let search =
        Search::new(facts, options, (access, &in_place), (&codecs_for(own), own), &allowance, &mut Codecs::default())?;
    let rest = facts.rest();
    let all = |cost: Cost| Cost { size: cost.size - rest, ..cost };
    let mut found = vec![Outlook { layout: "as it is".to_owned(), cost: all(search.now.1) }];
    for (k, codec) in search.measured.codecs.iter().enumerate() {
        let costs = cluster_options(facts)
            .into_iter()
            .map(|option| with_codec(facts, &search.measured, &access, &option, Some(k)));
        // The first clusters are today's: others must be better by more than the noise of measuring.
        let best = costs.reduce(|best, cost| if cost.read < 0.99 * best.read { cost } else { best });
        found.extend(best.map(|cost| Outlook { layout: codec.to_string(), cost }));
    }
    if let Ok(chosen) = search.decision {
        found.push(Outlook { layout: "as tune chooses".to_owned(), cost: all(chosen.total) });
    }
    Ok(found)
}
