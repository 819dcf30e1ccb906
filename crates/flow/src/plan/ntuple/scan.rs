//! Reads all page lists once, one at a time: what they add up to, and whether the selected entries are whole clusters.

use dataset::EntrySet;
use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::Locator;
use rootfile::{Error, Result};

use super::model::Totals;
use crate::execute::engine::pages::job::{PageInput, TargetColumn};

/// Reads the page lists of an input.
pub(super) fn scan(
    (input, targets): (&PageInput, &[TargetColumn]),
    selected: Option<&EntrySet>,
    path: &str,
    totals: &mut Totals,
) -> Result<()> {
    // Of pages in another encoding, the larger one counts.
    let mut columns: Vec<(usize, [Option<Encoding>; 2])> = Vec::new();
    for (source, target) in input.columns.iter().zip(targets) {
        if let Some(id) = source.column() {
            columns.push((id, [input.column(id).and_then(|column| column.encoding().ok()), target.encoding]));
        }
    }
    for (group, described) in input.ntuple.groups.iter().enumerate() {
        totals.lists += described.page_list.len;
        totals.largest_list = totals.largest_list.max(described.page_list.len);
        let list = input.page_list(group)?;
        for cluster in &list.clusters {
            let first = input.first_entry + cluster.first_entry;
            let chosen = selected.map(|selected| selected.count(&(first..first + cluster.entries)));
            match chosen {
                Some(0) => continue,
                Some(count) if count < cluster.entries => {
                    let end = first + cluster.entries;
                    return Err(Error::request(format!(
                        "RNTuple {path}: {count} of the {} entries {first} to {} are selected, and these are one cluster; \
                         clusters are kept or left out as a whole so far: select entries from {first} or {end} on",
                        cluster.entries,
                        end - 1
                    ))
                    .file(input.source.name()));
                }
                _ => {}
            }
            totals.clusters += 1;
            let mut pages = 0;
            for (column, encodings) in &columns {
                for page in cluster.pages(&list, *column).unwrap_or_default() {
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
