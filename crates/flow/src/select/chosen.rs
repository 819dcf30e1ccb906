//! The entries of one table that is read: those that are named, and pass cuts. Unlike in a rewrite of many tables, each cut must name
//! columns of this one.

use std::ops::Range;

use dataset::{Entries, EntrySet};
use rootfile::Result;

use super::cut_flow::CutStep;
use super::cuts::{CUT, Conditions, Cut, TableCuts, WEIGHT};
use super::define::Define;
use super::pass::{Selected, Testing};
use crate::arrow::read::{NamedTable, ReadCost};
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;

/// Which entries of a table are chosen.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Those that are named.
    pub entries: Entries,
    /// Seed of a random share of entries.
    pub seed: u64,
    /// Expressions that must be true for an entry, one after the other.
    pub cuts: Vec<String>,
    /// An expression whose sum over the entries is told before and after each cut.
    pub weight: Option<String>,
    /// Columns that are defined, which the expressions may name.
    pub defines: Vec<Define>,
    /// Most entries: those behind the last of them are not tested.
    pub most: Option<u64>,
    /// Entries of the tables before this one, where several are one after the other: expressions count them as well.
    pub before: u64,
    /// Whether the table stays open for further cuts: it then remembers the values of their columns.
    pub remembers: bool,
}

/// The chosen entries of a table.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// From the first to the last, at least.
    pub range: Range<u64>,
    /// The entries among these, if not all.
    pub selection: Option<EntrySet>,
    /// What each cut leaves.
    pub cuts: Vec<CutStep>,
    /// The columns that were read for the cuts, and what that cost.
    pub read: Vec<(usize, ReadCost)>,
}

impl Choice {
    /// The entries of a range, and of these those of a selection, that pass the cuts. Reads the columns of the cuts.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    pub fn of_selected(
        &self,
        table: &dyn NamedTable,
        entries: Range<u64>,
        selection: Option<&EntrySet>,
        budget: Budget,
        progress: Progress<'_>,
    ) -> Result<EntrySet> {
        let named = match selection {
            Some(chosen) => {
                let within = chosen.all_runs().flatten().filter(|entry| entries.contains(entry));
                EntrySet::sorted(within.collect::<Vec<u64>>())?
            }
            None => EntrySet::range(entries),
        };
        Ok(self.tested(table, &named, budget, progress)?.entries)
    }

    /// The chosen entries of a table. Reads the columns of the cuts. `progress` gets their bytes, and can end the work.
    ///
    /// # Errors
    ///
    /// A cut is no condition on entries of the table, its columns cannot be read, or the list of entries cannot be.
    pub fn of(&self, table: &dyn NamedTable, budget: Budget, progress: Progress<'_>) -> Result<Chosen> {
        let all = table.entries();
        let named = self.entries.resolve(all, self.seed)?;
        if self.cuts.is_empty() {
            return Chosen::of(&named, self.most, all);
        }
        let found = self.tested(table, &named, budget, progress)?;
        Ok(Chosen { cuts: found.cuts, read: found.read, ..Chosen::of(&found.entries, self.most, all)? })
    }

    /// Looks whether the cuts are conditions on entries of a table. Nothing is read.
    ///
    /// # Errors
    ///
    /// One is not.
    pub fn check(&self, table: &dyn NamedTable) -> Result<()> {
        self.bound(table).map(drop)
    }

    /// The cuts, bound to the columns of a table.
    fn bound(&self, table: &dyn NamedTable) -> Result<(Vec<Cut>, TableCuts)> {
        let cuts: Vec<Cut> = self.cuts.iter().map(|text| Cut::new(text, CUT)).collect();
        let weight = self.weight.as_deref().map(|text| Cut::new(text, WEIGHT));
        let asked = Conditions { cuts: &cuts, weight: weight.as_ref(), defines: &self.defines };
        let bound = TableCuts::bind(table.path(), table, &asked);
        let bound = bound.map_err(|e| e.object(table.path()))?;
        let lacking = bound.lacking.first().and_then(|(place, error)| Some((cuts.get(*place)?, error)));
        if let Some((cut, error)) = lacking.or(weight.as_ref().zip(bound.lacks_weight.as_ref())) {
            return Err(cut.refused(error).object(table.path()));
        }
        Ok((cuts, bound))
    }

    /// Those of some entries that pass the cuts.
    fn tested(
        &self,
        table: &dyn NamedTable,
        named: &EntrySet,
        budget: Budget,
        progress: Progress<'_>,
    ) -> Result<Selected> {
        let (cuts, bound) = self.bound(table)?;
        let is_all = named.len() == table.entries();
        let how = Testing { budget, before: self.before, most: self.most, remembers: self.remembers, progress };
        bound.select(table, (!is_all).then_some(named), &cuts, &how)
    }
}

impl Chosen {
    /// The first of the entries in a set, in a table that has `all`.
    fn of(set: &EntrySet, most: Option<u64>, all: u64) -> Result<Self> {
        let count = most.map_or(set.len(), |most| most.min(set.len()));
        let mut runs = set.runs(0..count);
        let (range, selection) = match (runs.next(), runs.next()) {
            (first, None) => (first.unwrap_or(0..0), None),
            _ if count == set.len() => (0..all, Some(set.clone())),
            _ => {
                let chosen: Vec<u64> = set.runs(0..count).flatten().collect();
                (0..chosen.last().map_or(0, |last| last + 1), Some(EntrySet::sorted(chosen)?))
            }
        };
        Ok(Self { range, selection, ..Self::default() })
    }

    /// How many entries are chosen.
    pub fn count(&self) -> u64 {
        self.selection.as_ref().map_or(self.range.end - self.range.start, |set| set.count(&self.range))
    }
}
