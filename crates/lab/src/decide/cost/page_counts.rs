//! How many pages a column of an RNTuple gets: the rule of the writer, over the elements that each cluster has. Where clusters and pages
//! are known this is a count, no estimate.

use super::column::{Column, TreeStats};
use super::model::Clusters;
use crate::math::as_f64;

/// Elements of a column in each cluster of a table.
pub(crate) struct PageCounts {
    /// Bytes of an element in memory, which the limit of pages counts.
    element: f64,
    /// Numbers of elements, and of clusters with as many.
    clusters: Vec<(f64, f64)>,
    /// The share of the table that the column was read from.
    share: f64,
}

impl PageCounts {
    /// The elements of a column in some clusters of its table. None for branches of trees.
    pub fn new(column: &Column, tree: &TreeStats, clusters: &Clusters) -> Option<Self> {
        let pages = column.pages.as_ref()?;
        let whole = tree.whole.unwrap_or(tree.entries).max(1.0);
        let share = (tree.entries / whole).min(1.0);
        let elements = Elements::new(column, share);
        let mut counts =
            Self { element: as_f64(pages.encoding.kind().memory_size() as u64), clusters: Vec::new(), share };
        let (mut start, mut before) = (0.0, 0.0);
        let mut add = |end: f64| {
            let until = elements.until(end);
            counts.add(until - before);
            (start, before) = (end, until);
            start
        };
        match (clusters.each, tree.whole) {
            (Some(each), _) => {
                let each = each.max(1.0);
                let mut end = 0.0;
                while end < whole {
                    end = add((end + each).min(whole));
                }
            }
            (None, Some(whole)) => drop(add(whole)),
            (None, None) => {
                let mut end = 0.0;
                for (entries, _) in &tree.clusters {
                    end = add(end + entries);
                }
            }
        }
        Some(counts)
    }

    fn add(&mut self, elements: f64) {
        let elements = elements.round();
        match self.clusters.last_mut() {
            Some((same, clusters)) if *same == elements => *clusters += 1.0,
            _ => self.clusters.push((elements, 1.0)),
        }
    }

    /// The pages of at most `size` bytes in memory. A page has at least one element, and ends with its cluster.
    pub fn pages(&self, size: u32) -> f64 {
        let limit = (f64::from(size) / self.element).floor().max(1.0);
        self.share * self.clusters.iter().map(|(elements, clusters)| clusters * (elements / limit).ceil()).sum::<f64>()
    }
}

/// The elements before each entry.
struct Elements<'a> {
    column: &'a Column,
    /// The elements before each page.
    before: Vec<f64>,
    all: f64,
    /// Of the whole table.
    share: f64,
}

impl<'a> Elements<'a> {
    fn new(column: &'a Column, share: f64) -> Self {
        let mut all = 0.0;
        let pages = column.pages.iter().flat_map(|pages| &pages.pages);
        let before = pages.map(|page| {
            all += f64::from(page.elements);
            all - f64::from(page.elements)
        });
        let before = before.collect();
        Self { column, before, all, share }
    }

    /// The elements of the entries before one. Within a page of items, as if all entries had as many.
    fn until(&self, entry: f64) -> f64 {
        let pieces = &self.column.baskets;
        let last = pieces.last().map_or(0.0, |piece| as_f64(piece.first_entry) + as_f64(piece.entries));
        if self.share < 1.0 {
            return self.all / last.max(1.0) * entry;
        }
        if entry >= last {
            return self.all;
        }
        let page = pieces.partition_point(|piece| as_f64(piece.first_entry) <= entry).saturating_sub(1);
        let (Some(piece), Some(before)) = (pieces.get(page), self.before.get(page)) else { return self.all };
        let next = self.before.get(page + 1).copied().unwrap_or(self.all);
        let inside = (entry - as_f64(piece.first_entry)) / as_f64(piece.entries).max(1.0);
        before + (next - before) * inside.clamp(0.0, 1.0)
    }
}
