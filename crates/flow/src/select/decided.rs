//! The clusters that cuts decide by what is known of their columns: none of the entries passes a cut, or all pass all. Nothing of these is
//! read.

use std::ops::Range;

use dataset::{EntrySet, EntrySetBuilder};
use expr::{Condition, Passing};

use super::cut_flow::Counts;
use crate::arrow::read::NamedTable;

/// A cluster that is decided.
struct Cluster {
    entries: Range<u64>,
    /// How many of them are named.
    named: u64,
    /// The cut that decides.
    by: usize,
    passes: bool,
}

/// The clusters of a table that are decided, in their order.
#[derive(Default)]
pub(super) struct Decided(Vec<Cluster>);

impl Decided {
    /// Those of a table, of which some entries are named. `before` is the number of entries of other tables before it.
    pub fn of(table: &dyn NamedTable, cuts: &[(usize, Condition)], named: Option<&EntrySet>, before: u64) -> Self {
        let mut found = Vec::new();
        for number in 0..table.clusters().len().saturating_sub(1) {
            let Some(entries) = table.cluster(number) else { continue };
            let named = named.map_or(entries.end - entries.start, |named| named.count(&entries));
            if named == 0 {
                continue;
            }
            let passing = |(_, cut): &(usize, Condition)| {
                let known: Vec<_> = cut.columns().iter().map(|column| table.extent(*column, number)).collect();
                cut.passing(&known, before + entries.start..before + entries.end)
            };
            let undecided = cuts.iter().map(passing).enumerate().find(|(_, passing)| *passing != Passing::All);
            match undecided {
                Some((_, Passing::Some)) => {}
                Some((by, _)) => found.push(Cluster { entries, named, by, passes: false }),
                None => found.push(Cluster { entries, named, by: cuts.len().saturating_sub(1), passes: true }),
            }
        }
        Self(found)
    }

    /// The named entries of which only their values tell. None if these are all entries.
    pub fn open(&self, named: Option<&EntrySet>, all: u64) -> Option<EntrySet> {
        match self.0.is_empty() {
            true => named.cloned(),
            false => Some(self.without(named, all, |_| true)),
        }
    }

    /// The named entries that may pass. None if these are all of them.
    pub fn passable(&self, named: &EntrySet, all: u64) -> Option<EntrySet> {
        let fails = |cluster: &Cluster| !cluster.passes;
        self.0.iter().any(fails).then(|| self.without(Some(named), all, fails))
    }

    /// The named entries that are not in some of the clusters.
    fn without(&self, named: Option<&EntrySet>, all: u64, is_left_out: impl Fn(&Cluster) -> bool) -> EntrySet {
        let (mut others, mut at) = (EntrySetBuilder::new(all), 0);
        for Cluster { entries, .. } in self.0.iter().filter(|cluster| is_left_out(cluster)) {
            others.push(at..entries.start);
            at = entries.end;
        }
        others.push(at..all);
        among(named, others.finish())
    }

    /// The end of the first cluster with which so many entries are known to pass.
    pub fn enough(&self, most: u64) -> Option<u64> {
        let mut passed = 0;
        let mut passing = self.0.iter().filter(|cluster| cluster.passes);
        passing
            .find(|cluster| {
                passed += cluster.named;
                passed >= most
            })
            .map(|cluster| cluster.entries.end)
    }

    /// Counts the clusters before an entry, and returns the named entries in them that pass.
    pub fn take(&self, named: Option<&EntrySet>, stop: u64, counts: &mut Counts) -> EntrySet {
        let mut passed = EntrySetBuilder::new(stop);
        for Cluster { entries, named, by, passes } in self.0.iter().take_while(|cluster| cluster.entries.start < stop) {
            counts.skip(*by, *named, *passes);
            if *passes {
                passed.push(entries.clone());
            }
        }
        among(named, passed.finish())
    }
}

/// The named ones of some entries.
fn among(named: Option<&EntrySet>, entries: EntrySet) -> EntrySet {
    match named {
        Some(named) => named.intersection(&entries),
        None => entries,
    }
}
