//! RNTuples in the report of `inspect`: their metadata and page lists, as plain values. The rules that find faults in them are
//! in `diagnose`.
//!
//! | module | job |
//! |---|---|
//! | [`mod@report`] | the values |
//! | `pages` | sums over the page lists |
//! | `thinned` | a bounded sample of the pages |
//! | `fields` | fields and columns |
//! | `sample` | the content of sampled pages, to try codecs |
//! | `layout` | the layout, as far as pages show it |

mod fields;
pub mod layout;
mod pages;
pub mod report;
pub mod sample;
mod thinned;

use std::collections::BTreeMap;

use dataset::ntuple::model::{AttributeSet, FormatVersion, Link, Locator, Ntuple, Role};
use dataset::ntuple::read_attribute_set;
use dataset::table::catalog::TableEntry;
use rootfile::{Result, RootFile};

use super::options::Options;
use super::values::{Memory, ReadTime, Sizes};
use pages::{ColumnSums, Sampled};
use report::{AttributeSetReport, Checksums, FieldReport, NtupleReport};

/// The report on an RNTuple, and a sample of its pages. Codecs are not tried yet, and times not estimated.
///
/// # Errors
///
/// A page list cannot be read.
pub fn report(
    file: &RootFile,
    table: &TableEntry,
    ntuple: &Ntuple,
    options: &Options,
) -> Result<(NtupleReport, Vec<Sampled>)> {
    let key = &table.key;
    let mut sums = pages::sum(file, ntuple, options.list_baskets)?;
    let memory = memory(&sums.columns, sums.largest_cluster);
    let all = |of: fn(&ColumnSums) -> u64| sums.columns.iter().map(of).fold(0, u64::saturating_add);
    let (pages, checked) = (all(|column| column.pages), all(|column| column.checked));
    let anchor = Sizes { bytes: u64::from(key.nbytes), raw_bytes: u64::from(key.objlen) };
    let (header, footer) = (sizes(&ntuple.anchor.header), sizes(&ntuple.anchor.footer));
    let page_lists = total(ntuple.groups.iter().map(|group| sizes(&group.page_list)));
    let fields_in = |wanted: fn(&dataset::ntuple::model::Field) -> bool| {
        ntuple.schema.fields.iter().filter(|field| wanted(field)).count() as u64
    };
    let mut report = NtupleReport {
        path: table.path.clone(),
        cycle: key.cycle,
        newest: table.newest,
        name: ntuple.name.clone(),
        description: ntuple.description.clone(),
        writer: ntuple.writer.clone(),
        format: version_text(ntuple.anchor.version),
        features: features(&ntuple.features),
        entries: ntuple.entries(),
        top_fields: fields_in(|field| field.parent.is_none()),
        columns: ntuple.schema.columns.len() as u64,
        projected_fields: fields_in(|field| field.source.is_some()),
        streamer_fields: fields_in(|field| field.role == Role::Streamer),
        alternative_fields: 0,
        extension_fields: fields_in(|field| field.in_extension),
        extension_columns: ntuple.schema.columns.iter().filter(|column| column.in_extension).count() as u64,
        tot_bytes: all(|column| column.tot_bytes),
        zip_bytes: all(|column| column.zip_bytes),
        pages,
        shared_pages: all(|column| column.shared),
        pages_elsewhere: all(|column| column.elsewhere),
        checked_pages: checked,
        checksums: match checked {
            _ if checked == pages => Checksums::All,
            0 => Checksums::None,
            _ => Checksums::Some,
        },
        codecs: BTreeMap::new(),
        metadata: total([anchor, header, footer, page_lists].into_iter()),
        header,
        footer,
        page_lists,
        cluster_groups: ntuple.groups.len() as u64,
        cluster_count: sums.cluster_count,
        clusters_cut: sums.cluster_count > sums.clusters.len() as u64,
        clusters: std::mem::take(&mut sums.clusters),
        largest_cluster: sums.largest_cluster,
        trials: Vec::new(),
        mixed: None,
        memory,
        read_time: ReadTime::default(),
        attribute_sets: ntuple.attribute_sets.iter().map(|set| attribute_set(file, ntuple, set)).collect(),
        fields: fields::fields(ntuple, &mut sums.columns, options.list_baskets),
    };
    let has_alternatives = |field: &&FieldReport| field.columns.iter().any(|column| column.representation > 0);
    report.alternative_fields = report.fields.iter().filter(has_alternatives).count() as u64;
    for (codec, n) in report.fields.iter().flat_map(|field| &field.columns).flat_map(|column| &column.codecs) {
        *report.codecs.entry(codec.clone()).or_default() += n;
    }
    Ok((report, sums.sample))
}

/// A version as ROOT prints it.
fn version_text(version: FormatVersion) -> String {
    let FormatVersion { epoch, major, minor, patch } = version;
    format!("{epoch}.{major}.{minor}.{patch}")
}

/// The numbers of the flags that are set. The highest bit of a word is no flag.
fn features(words: &[u64]) -> Vec<u64> {
    let set = |(number, word): (usize, &u64)| {
        let word = *word;
        (0..63).filter(move |bit| word >> bit & 1 == 1).map(move |bit| number as u64 * 64 + bit)
    };
    words.iter().enumerate().flat_map(set).collect()
}

fn sizes(link: &Link) -> Sizes {
    let bytes = match link.locator {
        Locator::File { size, .. } => size,
        Locator::Unknown { .. } => 0,
    };
    Sizes { bytes, raw_bytes: link.len }
}

fn total(all: impl Iterator<Item = Sizes>) -> Sizes {
    all.fold(Sizes::default(), Sizes::and)
}

fn attribute_set(file: &RootFile, ntuple: &Ntuple, set: &AttributeSet) -> AttributeSetReport {
    let (major, minor) = set.schema_version;
    let report = AttributeSetReport {
        name: set.name.clone(),
        schema_version: format!("{major}.{minor}"),
        ..AttributeSetReport::default()
    };
    match read_attribute_set(&**file.source(), ntuple, set) {
        Ok(found) => AttributeSetReport {
            entries: Some(found.entries()),
            top_fields: Some(found.schema.children(None).len() as u64),
            ..report
        },
        Err(e) => AttributeSetReport { reason: e.to_string(), ..report },
    }
}

fn memory(columns: &[ColumnSums], largest_cluster: u64) -> Memory {
    let (raw, disk) = columns.iter().fold((0, 0), |(raw, disk), column| {
        let (largest, stored) = column.largest;
        (u64::saturating_add(raw, largest), u64::saturating_add(disk, stored))
    });
    Memory {
        read_baskets: raw,
        read_compressed: disk,
        read_cache: largest_cluster,
        read: raw.saturating_add(disk).saturating_add(largest_cluster),
        write: raw.saturating_add(largest_cluster),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_numbered_by_word() {
        assert_eq!(features(&[]), [0; 0]);
        assert_eq!(features(&[0b101, 1 << 9]), [0, 2, 73]);
    }
}
