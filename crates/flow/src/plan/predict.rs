//! What a plan will come to, before it runs: at which depth each column is treated, and how many bytes it will
//! take. Sizes under another codec are measured on one basket of each column, chosen from its middle; those of columns that
//! are recoded on some of their entries.

use rootfile::Result;
use rootfile::codec::Compression;

use super::table::TablePlan;
use crate::engine::{Asked, Depth, Depths, Form, Recode, Sampled, Scratch, depth};

/// Most bytes that are compressed to see how well that goes.
const SAMPLED: u64 = 32 << 20;

/// What a table will come to.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Forecast {
    /// Path of the tree.
    pub path: String,
    /// Entries of the inputs.
    pub input_entries: u64,
    /// Entries of the output.
    pub entries: u64,
    /// Clusters of the output.
    pub clusters: u64,
    /// Branches with entries that are not recoded.
    pub columns: Vec<ColumnForecast>,
    /// Columns that are split or streamed otherwise.
    pub recodes: Vec<RecodeForecast>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What a column will come to.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ColumnForecast {
    /// Branch names from the top down, with `/` between.
    pub name: String,
    /// Clusters by depth.
    pub depths: Depths,
    /// Bytes on disk now.
    pub bytes_before: u64,
    /// Bytes on disk that are expected.
    pub bytes_after: u64,
    /// Compression of the output.
    #[serde(serialize_with = "as_text")]
    pub compression: Compression,
}

/// What a column that is split or streamed otherwise will come to.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RecodeForecast {
    /// The branch of the first level; where only its streaming changes, with those above it.
    pub name: String,
    /// How it lies now.
    pub before: Form,
    /// How it will.
    pub after: Form,
    /// Bytes on disk now.
    pub bytes_before: u64,
    /// Bytes on disk that are expected.
    pub bytes_after: u64,
}

/// Looks ahead. `sample` says whether to measure compression; without it codecs are taken to do equally well.
pub(crate) fn forecast(plan: &TablePlan, path: &str, sample: bool) -> Result<Forecast> {
    let mut scratch = Scratch::new();
    let mut sampled = 0;
    let mut columns = Vec::new();
    for column in &plan.columns {
        let Some(all) = plan.bounds.first().zip(plan.bounds.last()) else { break };
        let kept = column.overlapping(&(*all.0..*all.1));
        if kept.is_empty() {
            continue;
        }
        let mut depths = Depths::default();
        let mut opened = 0.0;
        let mut at = 0;
        for (i, bound) in plan.bounds.windows(2).enumerate() {
            let entries = bound[0]..bound[1];
            let packed = plan.packed.get(i).copied().unwrap_or(false);
            let pieces = column.overlapping_next(&mut at, &entries);
            if pieces.is_empty() {
                continue;
            }
            let asked = Asked { entries: entries.clone(), packed, copies_fit: plan.copies_fit };
            let depth = depth(column, &pieces, &asked);
            depths.count(depth);
            if depth != Depth::Copy {
                opened += column.share(pieces, &entries);
            }
        }
        let before = column.share(kept.clone(), &(*all.0..*all.1));
        let mut factor = 1.0;
        if opened > 0.0 && sample && sampled < SAMPLED {
            let middle = kept.start + kept.len() / 2;
            if let Some((was, is)) = measure(plan, column, middle, &mut scratch)? {
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
            compression: column.compression,
        });
    }
    let entries = plan.bounds.first().zip(plan.bounds.last()).map_or(0, |(a, b)| b - a);
    Ok(Forecast {
        path: path.to_owned(),
        input_entries: plan.input_entries.iter().sum(),
        entries,
        clusters: (plan.bounds.len() as u64).saturating_sub(1),
        columns,
        recodes: plan.recodes.iter().map(|one| recode(plan, one, sample)).collect(),
        notes: plan.notes.iter().chain(&plan.lost).cloned().collect(),
    })
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn recode(plan: &TablePlan, recode: &Recode, sample: bool) -> RecodeForecast {
    let entries = plan.bounds.first().copied().unwrap_or(0)..plan.bounds.last().copied().unwrap_or(0);
    let before: f64 = recode.sources.iter().map(|source| source.share(&entries)).sum();
    // Of what cannot be recoded the work itself will say so.
    let sampled =
        if sample { recode.sample(&plan.files, &plan.bounds).unwrap_or_default() } else { Sampled::default() };
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

/// Bytes on disk of one basket, as it is and compressed as asked.
fn measure(
    plan: &TablePlan,
    column: &crate::column::Column,
    index: usize,
    scratch: &mut Scratch,
) -> Result<Option<(u64, u64)>> {
    let Some(piece) = column.record(index).filter(|p| !p.is_embedded()) else { return Ok(None) };
    let header = scratch.fetch(&plan.files, column, &piece)?;
    scratch.unpack(&header)?;
    let mut out = Vec::new();
    let packed = scratch.compressor.compress(column.compression, &scratch.payload, &mut out)?;
    let len = if packed { out.len() } else { scratch.payload.len() };
    Ok(Some((u64::from(piece.nbytes), (len + header.keylen()) as u64)))
}

fn as_text<S: serde::Serializer>(compression: &Compression, s: S) -> std::result::Result<S::Ok, S::Error> {
    s.collect_str(compression)
}
