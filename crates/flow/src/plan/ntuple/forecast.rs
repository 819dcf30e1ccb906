//! Forecasts a plan before it runs: the depth of each field, and its bytes in the output. Sizes under another codec are measured on
//! one page from the middle of each field.

use std::collections::BTreeMap;

use dataset::layout::Container;
use dataset::ntuple::model::Page;
use rootfile::Result;
use rootfile::codec::{Compression, Compressor, Decompressor};

use super::model::NtuplePlan;
use crate::execute::engine::ntuple::job::PageInput;
use crate::plan::forecast::{ColumnForecast, Forecast, MAX_SAMPLED};
use crate::table::depth::{Depth, Depths};

/// What is known of a field.
#[derive(Default)]
struct FieldBytes {
    depths: Depths,
    kept: u64,
    opened: u64,
    compression: Option<Compression>,
    /// The page to measure: its input, column, and bytes.
    sample: Option<(usize, usize, Page)>,
    pages: u64,
}

/// Forecasts a plan. `sample` says whether to measure compression; without it all codecs are taken to be equal.
pub(crate) fn forecast_ntuple(plan: &NtuplePlan, path: &str, sample: bool) -> Result<Forecast> {
    let mut fields: BTreeMap<usize, FieldBytes> = BTreeMap::new();
    let job = &plan.job;
    let mut entries = 0;
    for (number, input) in job.inputs.iter().enumerate() {
        for group in 0..input.ntuple.groups.len() {
            let list = input.page_list(group)?;
            for cluster in &list.clusters {
                let first = input.first_entry + cluster.first_entry;
                if job.selected.as_ref().is_some_and(|set| set.count(&(first..first + cluster.entries)) == 0) {
                    continue;
                }
                entries += cluster.entries;
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
                    let field = fields.entry(own.field).or_default();
                    field.add(pages, (number, id), (depth, compression));
                }
            }
        }
    }
    let mut sampled = 0;
    let mut columns = Vec::with_capacity(fields.len());
    for (id, field) in fields {
        let mut after = field.opened;
        if let (true, Some((input, column, page))) = (sample && sampled < MAX_SAMPLED, field.sample)
            && let Some(input) = job.inputs.get(input)
            && let Some((was, is)) = measure(input, column, &page, field.compression)?
        {
            sampled += was;
            after = u64::try_from(u128::from(field.opened) * u128::from(is) / u128::from(was.max(1))).unwrap_or(after);
        }
        columns.push(ColumnForecast {
            name: plan.ntuple.schema.path(id),
            depths: field.depths,
            bytes_before: field.kept + field.opened,
            bytes_after: field.kept + after,
            compression: field.compression.unwrap_or(Compression::NONE),
        });
    }
    Ok(Forecast {
        path: path.to_owned(),
        container: Container::Rntuple,
        input_entries: plan.input_entries,
        entries,
        clusters: Some(plan.totals.clusters),
        columns,
        recodes: Vec::new(),
        notes: Vec::new(),
    })
}

impl FieldBytes {
    fn add(&mut self, pages: &[Page], (input, column): (usize, usize), (depth, compression): (Depth, Compression)) {
        self.depths.count(depth);
        self.compression = Some(compression);
        let bytes: u64 = pages.iter().filter_map(Page::stored_len).sum();
        if depth == Depth::Copy {
            self.kept += bytes;
            return;
        }
        self.opened += bytes;
        // The last page whose number is a power of two is not far from the middle.
        for page in pages {
            self.pages += 1;
            if self.pages.is_power_of_two() {
                self.sample = Some((input, column, *page));
            }
        }
    }
}

/// Bytes on disk of one page: now, and with the requested compression. `target` is the column of the output. A page that gets
/// another encoding is measured in its own.
fn measure(
    input: &PageInput,
    target: usize,
    page: &Page,
    compression: Option<Compression>,
) -> Result<Option<(u64, u64)>> {
    let column = input.columns.get(target).and_then(|source| input.column(source.column()?));
    let encoding = column.and_then(|column| column.encoding().ok());
    let (Some(encoding), Some(size)) = (encoding, page.stored_len()) else { return Ok(None) };
    let record = page.read(&*input.source, input.ntuple.anchor.max_key_size)?;
    let (mut raw, mut out) = (Vec::new(), Vec::new());
    let content =
        page.open(&encoding, &record, &mut Decompressor::new(), &mut raw).map_err(|e| e.file(input.source.name()))?;
    let packed = Compressor::new().compress(compression.unwrap_or(Compression::NONE), content, &mut out)?;
    let len = if packed { out.len() } else { content.len() };
    Ok(Some((size, len as u64 + 8)))
}
