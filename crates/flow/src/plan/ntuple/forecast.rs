//! Forecasts a plan before it runs: the depth of each field, and its bytes in the output.
//!
//! Pages that are copied keep their bytes. Of the others all are tried if that takes few seconds, otherwise some, at places that are even
//! over the work.

use std::collections::BTreeMap;

use dataset::layout::Container;
use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::{Link, Locator, Page, PageList};
use dataset::ntuple::recode_page;
use rootfile::Result;
use rootfile::codec::{Compression, Compressor, Decompressor};

use super::model::NtuplePlan;
use crate::execute::engine::ntuple::job::{ColumnSource, PageInput, TargetColumn};
use crate::execute::engine::ntuple::shared::{SharedPages, Sharing};
use crate::plan::forecast::{ColumnForecast, Forecast, Places, Tally, opening, whole};
use crate::table::depth::{Depth, Depths};

/// Bytes of an RNTuple on disk that are neither pages nor header, footer or page lists: keys and the anchor.
const KEYS: u64 = 400;
/// Bytes of the checksum behind a page.
const CHECKSUM: f64 = 8.0;
/// Seconds to open a page and to begin a codec.
const START: f64 = 20e-6;

/// What is known of a field.
#[derive(Default)]
struct FieldBytes {
    depths: Depths,
    kept: f64,
    opened: f64,
    /// Seconds to try what is opened.
    work: f64,
    /// The same, each page as often as it would be chosen.
    squares: f64,
    pages: u64,
    compression: Option<Compression>,
    tally: Tally,
}

struct Codecs {
    compressor: Compressor,
    decompressor: Decompressor,
}

/// Pages of a column in a cluster, and what becomes of them.
struct Pages<'a> {
    input: &'a PageInput,
    source: ColumnSource,
    target: &'a TargetColumn,
    field: usize,
    bits: u16,
    depth: Depth,
    compression: Compression,
    /// How many there are.
    count: u64,
    /// Those with bytes of their own: several pages may share them, and these are stored once.
    pages: &'a [Page],
    /// The share of the entries that is kept.
    share: f64,
}

/// Forecasts a plan. Samples take about so many seconds of one core; with none all codecs are taken to be equal.
pub(crate) fn forecast_ntuple(plan: &NtuplePlan, path: &str, seconds: f64) -> Result<Forecast> {
    let mut fields: BTreeMap<usize, FieldBytes> = BTreeMap::new();
    let entries = each_pages(plan, |pages| {
        fields.entry(pages.field).or_default().add(&pages);
        Ok(())
    })?;
    let work: f64 = fields.values().map(|field| field.work).sum();
    if seconds > 0.0 && work > 0.0 {
        // A page is chosen as often as its work is large.
        let mean = fields.values().map(|field| field.squares).sum::<f64>() / work;
        let mut places = (work > seconds).then(|| Places::new(work, seconds / mean.max(f64::MIN_POSITIVE)));
        let mut codecs = Codecs { compressor: Compressor::new(), decompressor: Decompressor::new() };
        each_pages(plan, |pages| {
            let Some(field) = fields.get_mut(&pages.field).filter(|_| pages.depth != Depth::Copy) else {
                return Ok(());
            };
            for page in pages.pages {
                if places.as_mut().is_some_and(|places| places.within(pages.work(page)).is_empty()) {
                    continue;
                }
                let Some((before, after)) = pages.measure(page, &mut codecs)? else { continue };
                match places {
                    Some(_) => field.tally.add(before, after, pages.work(page)),
                    None => field.tally.add_whole(before, after),
                }
            }
            Ok(())
        })?;
    }
    let mut pool = Tally::default();
    fields.values().for_each(|field| pool.join(&field.tally));
    let is_sampled = seconds > 0.0;
    let (mut variance, mut sampled) = (0.0, 0.0);
    let columns: Vec<ColumnForecast> = fields
        .iter()
        .map(|(id, field)| {
            let factor = field.tally.factor().or_else(|| pool.factor()).unwrap_or(1.0);
            let part = 1.0 - (field.tally.before / field.opened.max(1.0)).min(1.0);
            let own = field.tally.variance(field.opened, part).or_else(|| pool.variance(field.opened, part));
            variance += own.unwrap_or(0.0);
            sampled += field.tally.before;
            ColumnForecast {
                name: plan.ntuple.schema.path(*id),
                depths: field.depths,
                bytes_before: whole(field.kept + field.opened),
                bytes_after: whole(field.kept + field.opened * factor),
                baskets: field.pages,
                sampled: whole(field.tally.before),
                compression: field.compression.unwrap_or(Compression::NONE),
            }
        })
        .collect();
    let used = columns.iter().map(|column| column.compression).find(|compression| !compression.is_none());
    let envelope = |input: &PageInput, link: &Link| used.map_or(link.len, |used| envelope(input, link, used));
    let ends = plan.job.inputs.first().map_or(0, |input| {
        let anchor = &input.ntuple.anchor;
        envelope(input, &anchor.header) + envelope(input, &anchor.footer)
    });
    let groups = plan.job.inputs.iter().flat_map(|input| input.ntuple.groups.iter().map(move |group| (input, group)));
    let lists: u64 = groups.map(|(input, group)| envelope(input, &group.page_list)).sum();
    let sets: u64 = plan.attributes.iter().map(|set| set.plan.totals.zip_bytes + set.plan.totals.lists).sum();
    Ok(Forecast {
        path: path.to_owned(),
        container: Container::Rntuple,
        input_entries: plan.input_entries,
        entries,
        clusters: Some(plan.totals.clusters),
        bytes_before: columns.iter().map(|column| column.bytes_before).sum(),
        bytes_after: columns.iter().map(|column| column.bytes_after).sum(),
        baskets: columns.iter().map(|column| column.baskets).sum(),
        metadata: if is_sampled { lists + ends + sets + KEYS } else { 0 },
        uncertainty: whole(2.0 * variance.sqrt()),
        sampled: whole(sampled),
        columns,
        recodes: Vec::new(),
        notes: Vec::new(),
    })
}

/// Finds the pages that will have bytes of their own in the output, as the engine does.
#[derive(Default)]
struct OwnPages {
    shared: SharedPages,
    next: u32,
    found: Vec<Page>,
}

impl OwnPages {
    fn of(&mut self, pages: &[Page], encoding: Option<&Encoding>, setting: i32) -> &[Page] {
        self.found.clear();
        for page in pages {
            let len = encoding.map_or(Ok(0), |encoding| page.raw_len(encoding)).unwrap_or(0);
            if !matches!(self.shared.find(page, (len, setting), &mut self.next), Sharing::Again(_)) {
                self.found.push(*page);
            }
        }
        &self.found
    }
}

/// Calls `see` with the pages of each column in each cluster that has kept entries. Returns these entries.
fn each_pages(plan: &NtuplePlan, mut see: impl FnMut(Pages<'_>) -> Result<()>) -> Result<u64> {
    let job = &plan.job;
    let mut entries = 0;
    for input in &job.inputs {
        let mut own_pages = OwnPages::default();
        for group in 0..input.ntuple.groups.len() {
            let list: PageList = input.page_list(group)?;
            own_pages.shared.add(&list);
            for cluster in &list.clusters {
                let first = input.first_entry + cluster.first_entry;
                let all = first..first + cluster.entries;
                let kept = job.selected.as_ref().map_or(cluster.entries, |set| set.count(&all));
                if kept == 0 && job.selected.is_some() {
                    continue;
                }
                entries += kept;
                let share = float(kept) / float(cluster.entries.max(1));
                for ((id, target), source) in job.columns.iter().enumerate().zip(input.columns.iter()) {
                    let Some(column) = source.column() else { continue };
                    let Some(range) = cluster.columns.get(column) else { continue };
                    let (Some(setting), Some(own)) = (range.compression, plan.ntuple.schema.columns.get(id)) else {
                        continue;
                    };
                    let pages = list.pages.get(range.pages.clone()).unwrap_or_default();
                    if pages.is_empty() {
                        continue;
                    }
                    let (depth, compression) = target.depth(setting, *source, input);
                    // Pages of a cluster of which some entries are kept are made anew.
                    let depth = if kept < cluster.entries { depth.max(Depth::Recompress) } else { depth };
                    let (source, field, bits, count) = (*source, own.field, own.bits, pages.len() as u64);
                    let pages = match depth {
                        Depth::Recode => pages,
                        _ if kept < cluster.entries => pages,
                        _ => own_pages.of(pages, target.encoding.as_ref(), compression.to_root_setting()),
                    };
                    see(Pages { input, source, target, field, bits, depth, compression, count, pages, share })?;
                }
            }
        }
    }
    Ok(entries)
}

impl FieldBytes {
    fn add(&mut self, pages: &Pages<'_>) {
        self.depths.count(pages.depth);
        self.compression = Some(pages.compression);
        self.pages += pages.count;
        let bytes = pages.share * float(pages.pages.iter().filter_map(Page::stored_len).sum());
        match pages.depth {
            Depth::Copy => self.kept += bytes,
            _ => {
                self.opened += bytes;
                for page in pages.pages {
                    self.work += pages.work(page);
                    self.squares += pages.work(page).powi(2);
                }
            }
        }
    }
}

impl Pages<'_> {
    /// Seconds to try a page.
    fn work(&self, page: &Page) -> f64 {
        START + opening(float(u64::from(page.elements) * u64::from(self.bits)) / 8.0, self.compression)
    }

    /// Bytes on disk of a page now and in the output.
    fn measure(&self, page: &Page, codecs: &mut Codecs) -> Result<Option<(f64, f64)>> {
        let column = self.source.column().and_then(|column| self.input.column(column));
        let (Some(from), Some(size)) = (column.and_then(|column| column.encoding().ok()), page.stored_len()) else {
            return Ok(None);
        };
        let record = page.read(&*self.input.source, self.input.ntuple.anchor.max_key_size)?;
        let (mut raw, mut recoded, mut out) = (Vec::new(), Vec::new(), Vec::new());
        let opened = page.open(&from, &record, &mut codecs.decompressor, &mut raw);
        let mut content = opened.map_err(|e| e.file(self.input.source.name()))?;
        if let (ColumnSource::Recoded(_), Some(to)) = (self.source, &self.target.encoding) {
            recode_page((&from, to), content, page.elements as usize, &mut recoded)?;
            content = &recoded;
        }
        let packed = codecs.compressor.compress(self.compression, content, &mut out)?;
        let len = if packed { out.len() } else { content.len() };
        Ok(Some((float(size), float(len as u64) + CHECKSUM)))
    }
}

/// Bytes on disk of an envelope in a compressed output: as now, unless it is not compressed now.
fn envelope(input: &PageInput, link: &Link, compression: Compression) -> u64 {
    let Locator::File { offset, size } = link.locator else { return 0 };
    if size < link.len {
        return size;
    }
    let bytes = usize::try_from(size).ok().and_then(|size| input.source.read(offset, size).ok()).unwrap_or_default();
    let mut out = Vec::new();
    let packed = Compressor::new().compress(compression, &bytes, &mut out).unwrap_or(false);
    if packed { out.len() as u64 } else { size }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(n: u64) -> f64 {
    n as f64
}
