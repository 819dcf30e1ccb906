//! Expected costs of layouts, side by side: each codec on all columns, and the choice of `tune`.

use std::path::Path;

use rootfile::Result;

use super::candidates::{cluster_options, with_codec};
use super::options::Options;
use super::search::{Search, main_packing, packings_for};
use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::cost::{Allowance, Codecs, FullRead, calibrate};
use crate::system::clock::process_seconds;

/// A layout with its expected cost.
#[derive(Clone, Debug)]
pub(crate) struct LayoutForecast {
    /// The difference: none, a codec, or the choice of `tune`.
    pub layout: String,
    pub cost: Cost,
}

/// The position of a piece that can be sampled; position and size as well if it is a basket.
pub(super) fn a_basket(stats: &FileStats) -> Option<(u64, Option<(u64, usize)>)> {
    let found = stats.columns.iter().filter(|c| c.can_sample).find_map(|c| Some((c, c.written().next()?)));
    found.map(|(column, piece)| (piece.seek, column.pages.is_none().then_some((piece.seek, piece.nbytes as usize))))
}

/// The columns as they are first; then with each codec, with the clusters and baskets that are cheapest to read; and
/// last as they would be chosen within the limits.
pub(crate) fn forecast_layouts(path: &Path, stats: &FileStats, options: &Options) -> Result<Vec<LayoutForecast>> {
    let Some((at, basket)) = a_basket(stats) else { return Ok(Vec::new()) };
    let allowance = Allowance::for_file(process_seconds(), stats);
    let full_read = FullRead::measure(stats, options.budget()).unwrap_or_default();
    let access = calibrate(&**stats.file.source(), basket, full_read.per_column()).map_err(|e| e.at(at).file(path))?;
    let own = main_packing(stats);
    let search = Search::new(
        stats,
        options,
        (access, &full_read),
        (&packings_for(stats, own), own),
        &allowance,
        &mut Codecs::default(),
    )?;
    let rest = stats.rest();
    let all = |cost: Cost| Cost { size: cost.size - rest, ..cost };
    let mut found = vec![LayoutForecast { layout: "as it is".to_owned(), cost: all(search.now.1) }];
    for (k, codec) in search.measured.codecs.iter().enumerate() {
        let costs = cluster_options(stats, options.min_clusters)
            .into_iter()
            .map(|option| with_codec(stats, &search.measured, &access, &option, Some(k)));
        // The first clusters are today's: others must be better by more than the noise of measuring.
        let best = costs.reduce(|best, cost| if cost.read < 0.99 * best.read { cost } else { best });
        found.extend(best.map(|cost| LayoutForecast { layout: codec.to_string(), cost }));
    }
    if let Ok(chosen) = search.decision {
        found.push(LayoutForecast { layout: "as tune chooses".to_owned(), cost: all(chosen.total) });
    }
    Ok(found)
}
