//! Says what a conversion would do, without writing: some of its entries are converted into a file that is discarded, or all, if that
//! takes few seconds.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use dataset::layout::Container;
use rootfile::codec::Compression;
use rootfile::{FileWriter, Result};

use super::model::ConvertPlan;
use super::work::ConvertWork;
use crate::arrow::write::TableWriter;
use crate::execute::budget::{Budget, Share};
use crate::execute::progress::unwatched;
use crate::plan::forecast::{ColumnForecast, Forecast, Tally, of_one_sample, recoding, whole};
use crate::table::depth::Depths;

/// Bytes before compression of a sample, at least: pages and baskets become as large as in the output.
const SAMPLE: f64 = 16e6;
/// Most samples.
const SAMPLES: f64 = 6.0;
/// Bytes on disk of the place of a page in a page list, and of a basket in the record of a tree.
const PAGE_PLACE: u64 = 7;
const BASKET_PLACE: u64 = 12;

/// The forecast of a conversion. Samples take about so many seconds of one core; with none its sizes are those of the input.
pub(super) fn forecast_converted(plan: &ConvertPlan, path: &str, share: Share, seconds: f64) -> Result<Forecast> {
    let all = 0..plan.dataset.entries();
    let clusters = (plan.dataset.clusters().len() as u64).saturating_sub(1);
    let sums = if seconds > 0.0 { sample(plan, share, seconds)? } else { Sums::default() };
    let factor = sums.tally.factor().unwrap_or(1.0);
    let column = |(&column, &compression): (&usize, &Compression)| {
        let bytes = plan.dataset.share(column, &all) * kept_share(plan, &all);
        ColumnForecast {
            name: plan.dataset.column(column).map_or_else(String::new, |plan| plan.field().name().clone()),
            depths: Depths { recode: clusters, ..Depths::default() },
            bytes_before: whole(bytes),
            bytes_after: whole(bytes * factor),
            baskets: 0,
            sampled: 0,
            compression,
        }
    };
    let columns: Vec<ColumnForecast> = plan.read.iter().zip(&plan.compressions).map(column).collect();
    let before = before(plan, &all);
    let scale = if sums.tally.before > 0.0 { before / sums.tally.before } else { 1.0 };
    let baskets = whole(float(sums.baskets) * scale);
    let part = 1.0 - 1.0 / scale.max(1.0);
    let variance = sums.tally.variance(before, part).unwrap_or_default().max(of_one_sample(before * factor, part));
    let container = plan.table.container();
    let place = if container == Container::Rntuple { PAGE_PLACE } else { BASKET_PLACE };
    let sets = plan.attributes.iter().flat_map(|(_, sets)| sets);
    let sets: u64 = sets.map(|set| set.plan.totals.zip_bytes + set.plan.totals.lists).sum();
    Ok(Forecast {
        path: path.to_owned(),
        container,
        input_entries: plan.dataset.entries(),
        entries: kept(plan, &all),
        clusters: plan.keeps_clusters.then_some(clusters),
        bytes_before: columns.iter().map(|column| column.bytes_before).sum(),
        bytes_after: whole(before * factor),
        baskets,
        metadata: if seconds > 0.0 { sums.metadata + (baskets - sums.baskets.min(baskets)) * place + sets } else { 0 },
        uncertainty: whole(2.0 * variance.sqrt()),
        sampled: whole(sums.tally.before),
        columns,
        recodes: Vec::new(),
        notes: vec![format!("{path}: is decoded and encoded again")],
    })
}

/// What samples became.
#[derive(Default)]
struct Sums {
    tally: Tally,
    baskets: u64,
    /// Bytes of the metadata of all samples as one table.
    metadata: u64,
}

/// Converts some entries, or all.
fn sample(plan: &ConvertPlan, share: Share, seconds: f64) -> Result<Sums> {
    let all = 0..plan.dataset.entries();
    let raw = float(plan.dataset.bytes_of(&plan.read)) * kept_share(plan, &all);
    let work: f64 = {
        let each = plan.read.iter().zip(&plan.compressions);
        each.map(|(column, compression)| recoding(float(plan.dataset.bytes_of(&[*column])), *compression)).sum::<f64>()
            * kept_share(plan, &all)
    };
    let ranges = match work <= seconds {
        true => vec![all],
        false => {
            let bytes = raw * seconds / work;
            let n = (bytes / SAMPLE).floor().clamp(1.0, SAMPLES);
            let entries = whole((float(all.end) * seconds / work / n).ceil()).clamp(1, all.end.max(1));
            let n = whole(n).max(1);
            let start =
                |k: u64| whole(float(all.end) * (2.0 * float(k) + 1.0) / (2.0 * float(n)) - float(entries) / 2.0);
            (0..n).map(|k| start(k).min(all.end - entries)).map(|start| start..start + entries).collect()
        }
    };
    let name = Path::new("sample.root");
    let create = || FileWriter::discarding(name, plan.compressions.first().map_or(0, |c| c.to_root_setting()), 0, "");
    let besides = create()?.finish()?;
    let mut file = create()?;
    let directory = file.top();
    let (beside, cluster) = plan.divide(share);
    let budget = Budget { threads: 1, ..plan.reading(beside) };
    if let Some(mut pass) = Arc::clone(&plan.table).first_pass()? {
        for range in &ranges {
            let steps = within(&plan.steps, range);
            let work = ConvertWork { plan, steps: &steps, budget, team: None, overlaps: false };
            work.look(&mut *pass, &unwatched)?;
        }
        pass.end()?;
    }
    let mut writer = TableWriter::new(&mut file, directory, Arc::clone(&plan.table), (None, cluster))?;
    let mut sums = Sums::default();
    for range in ranges {
        let steps = within(&plan.steps, &range);
        let start = file.position();
        let work = ConvertWork { plan, steps: &steps, budget, team: None, overlaps: false };
        work.run((&mut file, &mut writer), &unwatched)?;
        writer.flush(&mut file)?;
        let raw = float(plan.dataset.bytes_of(&plan.read)) * float(range.end - range.start)
            / float(plan.dataset.entries().max(1));
        sums.tally.add(before(plan, &range), float(file.position() - start), raw);
    }
    let compression = plan.compressions.first().copied().unwrap_or(Compression::NONE);
    let written = writer.finish(&mut file, compression)?;
    sums.baskets = written.baskets;
    // What lies between the pages or baskets is metadata as well.
    sums.metadata = file.finish()?.saturating_sub(besides).saturating_sub(whole(sums.tally.after));
    Ok(sums)
}

/// The steps within some entries.
fn within(steps: &[u64], entries: &Range<u64>) -> Vec<u64> {
    let inside = steps.iter().copied().filter(|step| *step > entries.start && *step < entries.end);
    std::iter::once(entries.start).chain(inside).chain(std::iter::once(entries.end)).collect()
}

/// Bytes on disk of the selected ones of some entries.
fn before(plan: &ConvertPlan, entries: &Range<u64>) -> f64 {
    plan.read.iter().map(|column| plan.dataset.share(*column, entries)).sum::<f64>() * kept_share(plan, entries)
}

/// The selected ones of some entries.
fn kept(plan: &ConvertPlan, entries: &Range<u64>) -> u64 {
    plan.selection.as_ref().map_or(entries.end - entries.start, |selection| selection.count(entries))
}

fn kept_share(plan: &ConvertPlan, entries: &Range<u64>) -> f64 {
    float(kept(plan, entries)) / float((entries.end - entries.start).max(1))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(n: u64) -> f64 {
    n as f64
}
