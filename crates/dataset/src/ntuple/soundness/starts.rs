//! The index of each column's first element in a cluster, which must be the one behind its last element in the cluster before.
//! Readers that find elements by this index, as ROOT does, would take others. How many elements a cluster needs is known in
//! `counts`; here only where a late column begins.

use rootfile::{Error, Result};

use crate::ntuple::model::{Cluster, Deferred, PageList, Schema};

/// Follows columns from cluster to cluster, in the order of entries.
#[derive(Debug)]
pub struct Starts {
    columns: Vec<Followed>,
}

/// A column in all representations of its field.
#[derive(Debug)]
struct Followed {
    /// The column of each representation, by physical ID, and what is deferred of it.
    ids: Vec<(usize, Option<Deferred>)>,
    /// How many elements an entry has, if that is fixed.
    per_entry: Option<u64>,
    in_extension: bool,
    /// The element behind the last one, once a cluster has had the column.
    next: Option<u64>,
    /// Whether something was wrong: what follows would be, too.
    failed: bool,
}

impl Starts {
    /// The columns of a schema that are `wanted`, before the first cluster.
    pub fn new(schema: &Schema, wanted: impl Fn(usize) -> bool) -> Self {
        let mut columns = Vec::new();
        for field in 0..schema.fields.len() {
            let ids = schema.columns_of(field);
            let described = |id: &usize| schema.columns.get(*id);
            let width = ids.iter().filter_map(described).filter(|column| column.representation == 0).count();
            for (place, id) in ids.iter().enumerate().take(width).filter(|(_, id)| wanted(**id)) {
                let all = ids.iter().skip(place).step_by(width);
                columns.push(Followed {
                    ids: all.map(|id| (*id, described(id).and_then(|column| column.first_element))).collect(),
                    per_entry: schema.elements_per_entry(*id),
                    in_extension: described(id).is_some_and(|column| column.in_extension),
                    next: None,
                    failed: false,
                });
            }
        }
        Self { columns }
    }

    /// Follows the columns into the next cluster. Returns those that do not continue, by the physical ID in the
    /// first representation; each of them only once.
    pub fn cluster(&mut self, list: &PageList, cluster: &Cluster) -> Vec<(usize, Error)> {
        let mut found = Vec::new();
        for column in self.columns.iter_mut().filter(|column| !column.failed) {
            let id = column.ids.first().map_or(0, |(id, _)| *id);
            if let Err(error) = column.follow(list, cluster) {
                column.failed = true;
                let entry = cluster.first_entry;
                found.push((id, error.object(format!("column {id}, cluster at entry {entry}"))));
            }
        }
        found
    }
}

impl Followed {
    fn follow(&mut self, list: &PageList, cluster: &Cluster) -> Result<()> {
        let stored = self.ids.iter().find_map(|&(id, deferred)| {
            let range = cluster.columns.get(id).filter(|range| range.compression.is_some())?;
            Some((id, deferred, range.first_element))
        });
        let Some((id, deferred, begin)) = stored else {
            // Of a column that came later.
            return match self.next.filter(|_| cluster.entries > 0) {
                Some(_) => Err(Error::corrupt("the cluster lacks the column, which clusters before it have")),
                None => Ok(()),
            };
        };
        let elements = cluster.elements(list, id);
        let wrong = |message: String| Err(Error::corrupt(message));
        let Some(end) = begin.checked_add(elements) else { return wrong(format!("element {begin} is its first")) };
        let expected = match self.per_entry {
            Some(each) => {
                let bound =
                    |entries: u64| entries.checked_mul(each).ok_or_else(|| Error::corrupt("more than 2^64 elements"));
                let values = bound(cluster.first_entry)?..bound(cluster.first_entry.saturating_add(cluster.entries))?;
                if let Some(deferred) = deferred {
                    // All values from the first stored one on are stored.
                    let from = deferred.first_element.clamp(values.start, values.end);
                    if elements != values.end - from {
                        let wanted = values.end - from;
                        return wrong(format!("{elements} elements are stored, where it has {wanted}"));
                    }
                    self.next = Some(values.end);
                    return match values.start <= begin && begin <= from {
                        true => Ok(()),
                        false => wrong(format!("element {begin} is its first, not {from}")),
                    };
                }
                Some(values.start)
            }
            // Where lists have items that are not stored, the index counts them or not.
            None if deferred.is_some() => {
                return match self.next.replace(end) {
                    Some(next) if begin < next => wrong(format!("element {begin} is its first, and {next} is next")),
                    _ => Ok(()),
                };
            }
            None => self.next.or((!self.in_extension).then_some(0)),
        };
        self.next = Some(end);
        match expected {
            Some(expected) if expected != begin => wrong(format!("element {begin} is its first, not {expected}")),
            _ => Ok(()),
        }
    }
}
