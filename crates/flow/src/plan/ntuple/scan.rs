//! Reads all page lists once, one at a time: whether they agree with the schema, and what they add up to.

use dataset::EntrySet;
use dataset::ntuple::element::{Encoding, Kind};
use dataset::ntuple::model::Locator;
use dataset::ntuple::soundness::{ListCheck, largest_proved};
use rootfile::Result;

use super::model::Totals;
use crate::execute::engine::ntuple::job::{PageInput, TargetColumn};

/// Bytes of memory for each end or tag in a cluster of which some entries are kept: decoded, and as ranges.
const SLICED_ELEMENT: u64 = 24;

/// Reads the page lists of an input. Fails where a field that is kept cannot have values of all entries.
pub(super) fn scan(
    (input, targets): (&PageInput, &[TargetColumn]),
    selected: Option<&EntrySet>,
    totals: &mut Totals,
) -> Result<()> {
    // Of pages in another encoding, the larger one counts.
    let mut columns: Vec<(usize, [Option<Encoding>; 2])> = Vec::new();
    for (source, target) in input.columns.iter().zip(targets) {
        if let Some(id) = source.column() {
            columns.push((id, [input.column(id).and_then(|column| column.encoding().ok()), target.encoding]));
        }
    }
    let schema = &input.ntuple.schema;
    let mut lists = ListCheck::new(schema, input.plans.to_vec());
    for (group, described) in input.ntuple.groups.iter().enumerate() {
        totals.lists += described.page_list.len;
        totals.largest_list = totals.largest_list.max(described.page_list.len);
        let list = input.page_list(group)?;
        if let Some(first) = lists.list(schema, &list).into_iter().next() {
            return Err(first.error.object(input.ntuple.name.clone()).file(input.source.name()));
        }
        let proved = largest_proved(&input.plans, schema, (&list, &list.clusters));
        totals.largest_proved = totals.largest_proved.max(proved);
        for cluster in &list.clusters {
            let first = input.first_entry + cluster.first_entry;
            let kept = selected.map_or(cluster.entries, |set| set.count(&(first..first + cluster.entries)));
            if kept == 0 {
                continue;
            }
            let is_sliced = kept < cluster.entries;
            totals.clusters += 1;
            let mut pages = 0;
            for (column, encodings) in &columns {
                let of_column = cluster.pages(&list, *column).unwrap_or_default();
                let has_items = |encoding: &Encoding| matches!(encoding.kind(), Kind::Index | Kind::Switch);
                if is_sliced && encodings.iter().flatten().any(has_items) {
                    let elements: u64 = of_column.iter().map(|page| u64::from(page.elements)).sum();
                    totals.sliced = totals.sliced.max(elements.saturating_mul(SLICED_ELEMENT));
                }
                for page in of_column {
                    pages += 1;
                    let Locator::File { size, .. } = page.locator else { continue };
                    let raw = encodings.iter().flatten().filter_map(|encoding| page.raw_len(encoding).ok()).max();
                    totals.zip_bytes += size;
                    totals.largest = totals.largest.max(size);
                    totals.largest_raw = totals.largest_raw.max(raw.map_or(size, |raw| raw as u64));
                }
            }
            totals.pages = totals.pages.max(pages);
        }
    }
    Ok(())
}
