//! The columns of an RNTuple, from its schema and its page lists, as [`super::statistics`] lists those of trees. Each physical
//! column is a column; those of one field, and of the generated fields below it, are laid out alike.

use std::collections::HashSet;

use dataset::column_names::is_item_name;
use dataset::layout::{Compression, defaults};
use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::{Cluster, ColumnRange, Locator, Ntuple, Page, PageList, Schema};
use dataset::ntuple::read_page_list;
use dataset::tree::BasketRef;
use rootfile::{Error, Result, Source};

use super::column::{Column, PageColumn, TreeStats};
use super::kind::Kind;
use super::views::Views;
use super::workload::Demand;
use crate::math::as_f64;

/// The demand on a column, by the names of the fields that are read with it, and the name of its field at the top.
pub(super) type FieldDemand<'a> = dyn Fn(&[Vec<String>], &str) -> Option<Demand> + 'a;

/// The columns and clusters of an RNTuple.
pub(super) struct PageColumns {
    pub stats: TreeStats,
    pub columns: Vec<Column>,
}

/// Lists them. Columns of later versions, columns without elements, and columns without a demand are left out.
pub(super) fn page_columns(
    source: &dyn Source,
    ntuple: &Ntuple,
    path: String,
    demand: &FieldDemand<'_>,
) -> Result<PageColumns> {
    let schema = &*ntuple.schema;
    let mut sums: Vec<Option<Sum>> =
        (0..schema.columns.len()).map(|id| schema.encoding(id).ok().map(Sum::new)).collect();
    let (mut clusters, mut seen) = (Vec::new(), HashSet::new());
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(source, ntuple, group)?;
        for cluster in &list.clusters {
            let before = as_f64(sums.iter().flatten().map(|sum| sum.zip).sum());
            for (sum, range) in sums.iter_mut().zip(&cluster.columns) {
                let (Some(sum), Some(compression)) = (sum, range.compression) else { continue };
                sum.add((&list, cluster, range), compression, &mut seen, source.size())?;
            }
            let after = as_f64(sums.iter().flatten().map(|sum| sum.zip).sum());
            clusters.push((as_f64(cluster.entries), after - before));
        }
    }
    let limit = page_limit(sums.iter().flatten());
    let (lineages, views) = (read_with(schema), Views::new(schema));
    let mut columns = Vec::new();
    for (sum, described) in sums.into_iter().zip(&schema.columns) {
        let (Some(sum), Some(read)) = (sum, lineages.get(described.field)) else { continue };
        let (top, lineage) = (top(schema, described.field), lineage(schema, described.field));
        let name = schema.fields.get(top).map_or("", |field| field.name.as_str());
        let Some(demand) = demand(read, name).filter(|_| !sum.pages.is_empty()) else { continue };
        columns.push(Column { kind: views.kind(described.field), ..sum.column(lineage, demand, top, limit, ntuple) });
        if let Some(pages) = columns.last_mut().and_then(|column: &mut Column| column.pages.as_mut()) {
            pages.view = views.name(described.field);
        }
    }
    let narrow = |column: &Column| column.pages.as_ref().is_some_and(|pages| pages.encoding.can_be_narrower());
    let narrow: HashSet<Vec<String>> =
        columns.iter().filter(|column| narrow(column)).map(|column| column.lineage.clone()).collect();
    for Column { lineage, pages, .. } in &mut columns {
        if let Some(pages) = pages {
            pages.may_be_exact = narrow.contains(lineage);
        }
    }
    let entries = as_f64(ntuple.entries());
    let stats =
        TreeStats { address: path.clone(), path, entries, has_pages: true, whole: None, clusters, objects: Vec::new() };
    Ok(PageColumns { stats, columns })
}

/// The size of pages that the writer of an RNTuple was told: that of the largest in a cluster with several of a column. If there is none
/// it is not known, and taken for the usual one.
fn page_limit<'a>(sums: impl Iterator<Item = &'a Sum>) -> u64 {
    sums.filter(|sum| sum.is_cut).map(|sum| sum.largest).max().unwrap_or(defaults::NTUPLE_PAGE)
}

/// Sums over the pages of a column.
struct Sum {
    encoding: Encoding,
    raw: u64,
    zip: u64,
    /// Bytes in memory of the elements of the largest page.
    largest: u64,
    /// Whether a cluster has several of its pages: the largest is as large as its writer made them.
    is_cut: bool,
    checksums: bool,
    /// Compression settings and their bytes.
    settings: Vec<(u32, u64)>,
    pages: Vec<Page>,
    pieces: Vec<BasketRef>,
}

impl Sum {
    fn new(encoding: Encoding) -> Self {
        let (raw, zip, largest, is_cut, checksums) = (0, 0, 0, false, false);
        Self {
            encoding,
            raw,
            zip,
            largest,
            is_cut,
            checksums,
            settings: Vec::new(),
            pages: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// Adds the pages of a cluster. Of pages that share bytes only the first has a size and a position.
    fn add(
        &mut self,
        (list, cluster, range): (&PageList, &Cluster, &ColumnRange),
        compression: u32,
        seen: &mut HashSet<u64>,
        size: u64,
    ) -> Result<()> {
        let pages = list.pages.get(range.pages.clone()).unwrap_or_default();
        let all: u64 = pages.iter().map(|page| u64::from(page.elements)).sum();
        let mut elements = 0;
        self.is_cut |= pages.iter().filter(|page| page.elements > 0).count() > 1;
        // Entries are dealt out to pages by elements: which entries a page of items has needs the ends of the collections.
        let entry = |elements: u64| {
            let share = u128::from(cluster.entries) * u128::from(elements) / u128::from(all.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        for page in pages.iter().filter(|page| page.elements > 0) {
            let raw = page.raw_len(&self.encoding)? as u64;
            let first = cluster.first_entry.saturating_add(entry(elements));
            elements += u64::from(page.elements);
            let entries = cluster.first_entry.saturating_add(entry(elements)).saturating_sub(first);
            let ((seek, stored), packed) = match page.locator {
                Locator::File { offset, size: packed } if seen.insert(offset) => (page.extent_in(size)?, packed),
                _ => ((0, 0), 0),
            };
            self.raw = self.raw.saturating_add(if seek > 0 { raw } else { 0 });
            self.zip = self.zip.saturating_add(packed);
            self.largest = self.largest.max(u64::from(page.elements) * self.encoding.kind().memory_size() as u64);
            self.checksums |= page.has_checksum;
            match self.settings.iter_mut().find(|(known, _)| *known == compression) {
                Some((_, bytes)) => *bytes += raw,
                None => self.settings.push((compression, raw)),
            }
            self.pages.push(*page);
            let nbytes =
                u32::try_from(stored).map_err(|_| Error::corrupt(format!("a page of {stored} bytes")).at(seek))?;
            self.pieces.push(BasketRef { first_entry: first, entries, seek, nbytes });
        }
        Ok(())
    }

    fn column(self, lineage: Vec<String>, demand: Demand, top: usize, limit: u64, ntuple: &Ntuple) -> Column {
        // Pages that end with their clusters may be larger in larger ones.
        let size = if self.is_cut { self.largest } else { self.largest.max(limit) };
        let setting = self.settings.iter().max_by_key(|(_, bytes)| *bytes).map_or(0, |(setting, _)| *setting);
        let compression = i32::try_from(setting).ok().and_then(Compression::from_root_setting);
        let can_sample = self.pieces.iter().any(|piece| piece.seek > 0);
        Column {
            tree: 0,
            unit: 0,
            lineage,
            entries: as_f64(self.pieces.iter().map(|piece| piece.entries).sum()),
            raw: as_f64(self.raw.max(self.zip).max(1)),
            zip: as_f64(self.zip.max(1)),
            // The checksum is what a key is for a basket: bytes of each piece that do not compress.
            keylen: if self.checksums { 8 } else { 0 },
            has_offsets: false,
            compression: compression.unwrap_or(Compression::NONE),
            basket_size: u32::try_from(size).unwrap_or(u32::MAX),
            baskets: self.pieces,
            can_sample,
            plan: None,
            demand,
            kind: Kind::Number,
            value_bytes: f64::from(self.encoding.bits()) / 8.0,
            counts: false,
            recast: None,
            pages: Some(PageColumn {
                encoding: self.encoding,
                top,
                view: String::new(),
                pages: self.pages,
                max_key_size: ntuple.anchor.max_key_size,
                may_be_exact: false,
            }),
        }
    }
}

/// For each field the names that lead to the fields below it, itself and those that show them: who reads one of these reads its
/// columns.
fn read_with(schema: &Schema) -> Vec<Vec<Vec<String>>> {
    let mut all: Vec<Vec<Vec<String>>> = vec![Vec::new(); schema.fields.len()];
    for id in 0..schema.fields.len() {
        let names = lineage(schema, id);
        // A projected field is read from the columns of its source, and of what is above that.
        let source = schema.fields.get(id).and_then(|field| field.source);
        let mut at = source.or(Some(id));
        while let Some(field) = at {
            if let Some(list) = all.get_mut(field) {
                list.push(names.clone());
            }
            // A parent precedes its children, so a walk up ends.
            at = schema.fields.get(field).and_then(|described| described.parent);
        }
    }
    all
}

/// The names of a field and of those above it, from the top, without the generated names of items (`_0`).
fn lineage(schema: &Schema, field: usize) -> Vec<String> {
    let names = schema.lineage(field);
    names.into_iter().rev().filter(|name| !is_item_name(name)).map(str::to_owned).collect()
}

fn top(schema: &Schema, field: usize) -> usize {
    let mut at = field;
    while let Some(parent) = schema.fields.get(at).and_then(|field| field.parent) {
        at = parent;
    }
    at
}
