//! Forecasts the plan of a tree. Sizes under another codec are measured on one basket from the middle of each column, sizes of recoded
//! columns on some of their entries.

use dataset::layout::Container;
use rootfile::Result;
use rootfile::codec::Compressor;

use super::model::TablePlan;
use crate::execute::engine::tree::recode::sample as sample_recode;
use crate::execute::engine::tree::recode_job::{Recode, Sampled};
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::plan::forecast::{ColumnForecast, Forecast, MAX_SAMPLED, RecodeForecast};
use crate::table::depth::{Depth, Depths, OutputCluster, depth};
use crate::table::tree::column::Column;

/// Forecasts a plan. `sample` says whether to measure compression; without it all codecs are taken to be equal.
pub(crate) fn forecast_table(plan: &TablePlan, path: &str, sample: bool) -> Result<Forecast> {
    let (mut fetcher, mut compressor) = (Fetcher::new(), Compressor::new());
    let mut sampled = 0;
    let mut columns = Vec::new();
    for column in &plan.columns {
        let Some(all) = plan.clusters.bounds.first().zip(plan.clusters.bounds.last()) else { break };
        let kept = column.source.overlapping(&(*all.0..*all.1));
        if kept.is_empty() {
            continue;
        }
        let mut depths = Depths::default();
        let mut opened = 0.0;
        let mut at = 0;
        for (i, bound) in plan.clusters.bounds.windows(2).enumerate() {
            let entries = bound[0]..bound[1];
            let packed = plan.clusters.packed.get(i).copied().unwrap_or(false);
            let pieces = column.source.overlapping_next(&mut at, &entries);
            if pieces.is_empty() {
                continue;
            }
            let cluster = OutputCluster { entries: entries.clone(), packed, copies_fit: plan.copies_fit };
            let depth = depth(column, &pieces, &cluster);
            depths.count(depth);
            if depth != Depth::Copy {
                opened += column.source.share(pieces, &entries);
            }
        }
        let before = column.source.share(kept.clone(), &(*all.0..*all.1));
        let mut factor = 1.0;
        if opened > 0.0 && sample && sampled < MAX_SAMPLED {
            let middle = kept.start + kept.len() / 2;
            if let Some((was, is)) = measure(plan, column, middle, &mut fetcher, &mut compressor)? {
                sampled += was;
                #[expect(clippy::cast_precision_loss, reason = "a ratio")]
                let ratio = is as f64 / was.max(1) as f64;
                factor = ratio;
            }
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        columns.push(ColumnForecast {
            name: plan.tree.lineage(column.branch).into_iter().rev().collect::<Vec<_>>().join("/"),
            depths,
            bytes_before: before as u64,
            bytes_after: (before - opened + opened * factor) as u64,
            compression: column.target.compression,
        });
    }
    let entries = plan.clusters.bounds.first().zip(plan.clusters.bounds.last()).map_or(0, |(a, b)| b - a);
    Ok(Forecast {
        path: path.to_owned(),
        container: Container::Ttree,
        input_entries: plan.input_entries.iter().sum(),
        entries,
        clusters: Some((plan.clusters.bounds.len() as u64).saturating_sub(1)),
        columns,
        recodes: plan.recodes.iter().map(|one| recode(plan, one, sample)).collect(),
        notes: Vec::new(),
    })
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn recode(plan: &TablePlan, recode: &Recode, sample: bool) -> RecodeForecast {
    let entries = plan.clusters.bounds.first().copied().unwrap_or(0)..plan.clusters.bounds.last().copied().unwrap_or(0);
    let before: f64 = recode.sources.iter().map(|source| source.share(&entries)).sum();
    // A column that cannot be recoded fails in the work itself, not here.
    let sampled = if sample {
        sample_recode(recode, &plan.files, &plan.clusters.bounds).unwrap_or_default()
    } else {
        Sampled::default()
    };
    let zip: u64 = sampled.outputs.iter().map(|(_, zip)| zip).sum();
    let factor = if sampled.before > 0.0 { zip as f64 / sampled.before } else { 1.0 };
    let [now, then] = recode.forms;
    RecodeForecast {
        name: recode.name.clone(),
        before: now,
        after: then,
        bytes_before: before as u64,
        bytes_after: (before * factor) as u64,
    }
}

/// Bytes on disk of one basket: now, and with the requested compression.
fn measure(
    plan: &TablePlan,
    column: &Column,
    index: usize,
    fetcher: &mut Fetcher,
    compressor: &mut Compressor,
) -> Result<Option<(u64, u64)>> {
    let Some(piece) = column.source.record(index).filter(|p| p.record().is_some()) else { return Ok(None) };
    let header = fetcher.fetch(&plan.files, column, &piece)?;
    fetcher.unpack(&header)?;
    let mut out = Vec::new();
    let packed = compressor.compress(column.target.compression, &fetcher.codecs.payload, &mut out)?;
    let len = if packed { out.len() } else { fetcher.codecs.payload.len() };
    Ok(Some((u64::from(piece.packed_len()), (len + header.keylen()) as u64)))
}
