//! Says what a conversion would do, without writing.

use rootfile::codec::Compression;

use super::model::ConvertPlan;
use crate::plan::forecast::{ColumnForecast, Forecast};
use crate::table::depth::Depths;

/// The forecast of a conversion. Its sizes are those of the input: what is made of them shows only when it is made.
pub(super) fn forecast_converted(plan: &ConvertPlan, path: &str) -> Forecast {
    let entries = plan.dataset.entries();
    let clusters = (plan.dataset.clusters().len() as u64).saturating_sub(1);
    let column = |(&column, &compression): (&usize, &Compression)| {
        let (bytes, _) = plan.dataset.stored(column, &(0..entries));
        ColumnForecast {
            name: plan.dataset.column(column).map_or_else(String::new, |plan| plan.field().name().clone()),
            depths: Depths { recode: clusters, ..Depths::default() },
            bytes_before: bytes,
            bytes_after: bytes,
            compression,
        }
    };
    let unknown = format!("{path}: is decoded and encoded again; its size afterwards is not forecast");
    Forecast {
        path: path.to_owned(),
        container: plan.table.container(),
        input_entries: entries,
        entries: plan.selection.as_ref().map_or(entries, |selection| selection.len()),
        clusters: plan.keeps_clusters.then_some(clusters),
        columns: plan.read.iter().zip(&plan.compressions).map(column).collect(),
        recodes: Vec::new(),
        notes: vec![unknown],
    }
}
