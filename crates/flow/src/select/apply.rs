//! The entries of each table that a rewrite keeps. No table is planned here.

use dataset::{EntryFilter, EntrySet};
use rootfile::{Error, Hint, Result};

use super::cut_flow::CutFlow;
use super::cuts::{CUT, Conditions, Cut, TableCuts, WEIGHT};
use super::define::Define;
use super::pass::Testing;
use super::source::{OpenColumns, SourceTree};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::unwatched;
use crate::plan::request::Select;

/// The selection of a rewrite: resolved tree by tree, then checked for parts that no tree matched.
pub(crate) struct EntrySelection<'a> {
    filter: &'a EntryFilter,
    /// Columns that the cuts may name.
    defines: &'a [Define],
    cuts: Vec<Cut>,
    weight: Option<Cut>,
    /// For each cut, and at the end for the weight, whether a tree has its columns.
    found: Vec<bool>,
    /// Why the trees so far do not have them.
    lacking: Vec<Option<expr::Error>>,
    /// The first cut, if none has a column: every tree has what they need.
    without_column: Option<usize>,
    trees: Vec<String>,
    flows: Vec<CutFlow>,
    /// Entries of the tables before the next one, where several are one after the other.
    before: u64,
    /// Whether an expression counts entries.
    counts_entries: bool,
}

/// The columns of the cuts of a table, and the cuts.
type BoundCuts = (Dataset, TableCuts);

/// The selection in one tree.
#[derive(Default)]
pub(crate) struct TreeSelection {
    filter: EntryFilter,
    /// The named entries that pass all cuts.
    passed: Option<EntrySet>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl<'a> EntrySelection<'a> {
    pub fn new(filter: &'a EntryFilter) -> Self {
        Self {
            filter,
            defines: &[],
            cuts: filter.cuts.iter().map(|text| Cut::new(text, CUT)).collect(),
            weight: filter.weight.as_deref().map(|text| Cut::new(text, WEIGHT)),
            found: vec![false; filter.cuts.len() + 1],
            lacking: vec![None; filter.cuts.len() + 1],
            without_column: None,
            trees: Vec::new(),
            flows: Vec::new(),
            before: 0,
            counts_entries: false,
        }
    }

    /// The same with columns that the cuts may name.
    pub fn with_defines(self, defines: &'a [Define]) -> Self {
        Self { defines, ..self }
    }

    /// The same in a table that so many entries of others are before.
    pub fn behind(self, before: u64) -> Self {
        Self { before, ..self }
    }

    /// Whether an expression counts the entries of a table so far.
    pub fn counts_entries(&self) -> bool {
        self.counts_entries
    }

    /// The selection in a tree or an RNTuple. Reads the columns of the cuts.
    pub fn for_tree(&mut self, tree: &SourceTree<'_>) -> Result<TreeSelection> {
        self.for_table(tree.path, &|filter| tree.open(filter), None, tree.budget)
    }

    /// The selection in a table of any container, whose columns `open` opens. `named` selects entries in place of the filter.
    pub fn for_table(
        &mut self,
        path: &str,
        open: OpenColumns<'_>,
        named: Select<'_>,
        budget: Budget,
    ) -> Result<TreeSelection> {
        let filter = self.filter.for_tree(path);
        let (bound, notes) = self.bound(path, open)?;
        let Some((dataset, cuts)) = bound else { return Ok(TreeSelection { filter, passed: None, notes }) };
        let named = match named {
            Some(named) => Some(named(dataset.entries())?),
            None => filter.resolve(dataset.entries())?,
        };
        self.counts_entries |= cuts.counts_entries();
        let how = Testing { budget, before: self.before, most: None, remembers: false, progress: &unwatched };
        let selected = cuts.select(&dataset, named.as_ref(), &self.cuts, &how)?;
        self.flows.push(CutFlow { path: path.to_owned(), cuts: selected.cuts });
        Ok(TreeSelection { filter, passed: Some(selected.entries), notes })
    }

    /// Looks whether a table has the columns of the cuts. Nothing of them is read.
    pub fn look_at(&mut self, path: &str, open: OpenColumns<'_>) -> Result<()> {
        self.bound(path, open).map(drop)
    }

    /// The cuts that can be evaluated in a table, if there are some, and notes on those that cannot.
    fn bound(&mut self, path: &str, open: OpenColumns<'_>) -> Result<(Option<BoundCuts>, Vec<String>)> {
        self.trees.push(path.to_owned());
        let mut notes = Vec::new();
        if self.cuts.is_empty() {
            return Ok((None, notes));
        }
        let (dataset, cuts) = TableCuts::open(
            path,
            open,
            &Conditions { cuts: &self.cuts, weight: self.weight.as_ref(), defines: self.defines },
        )?;
        let mut lacks = Vec::new();
        for (place, error) in &cuts.lacking {
            lacks.push(error.subject().to_owned());
            self.lack(*place, error);
        }
        lacks.dedup();
        if !lacks.is_empty() {
            let lacks = lacks.join(", ");
            notes.push(format!("tree {path} has no column {lacks}: none of its entries is left out for that"));
        }
        // A cut without a column is about the tables that the others are about.
        let names_none = !cuts.name_columns();
        let found: Vec<usize> = cuts.places().collect();
        if found.is_empty() || names_none && !cuts.lacking.is_empty() {
            return Ok((None, notes));
        }
        self.without_column = self.without_column.or(found.first().copied().filter(|_| names_none));
        found.into_iter().for_each(|place| self.find(place));
        match &cuts.lacks_weight {
            Some(error) => {
                let name = error.subject();
                notes.push(format!("tree {path} has no column {name}: its cut flow has no weights"));
                self.lack(self.cuts.len(), error);
            }
            None => self.find(self.cuts.len()),
        }
        Ok((Some((dataset, cuts)), notes))
    }

    /// Fails if a tree pattern matched no tree, or if no tree has the columns of a cut. Returns what the cuts left of each table.
    pub fn finish(self) -> Result<Vec<CutFlow>> {
        let of = || if self.trees.is_empty() { "no tree".to_owned() } else { self.trees.join(", ") };
        if let Some(tree) = self.filter.unmatched_pattern(&self.trees) {
            let message = format!("--entries {}=: no such tree; there are: {}", tree.as_str(), of());
            return Err(Error::request(message).hint(Hint::named("entries")));
        }
        if let Some(cut) = self.without_column.and_then(|place| self.cuts.get(place)) {
            self.refuse_several(cut)?;
        }
        for ((cut, found), error) in self.cuts.iter().chain(&self.weight).zip(&self.found).zip(&self.lacking) {
            if !found {
                return Err(match error {
                    Some(error) => cut.refused(error).object(of()),
                    None => cut.refused_by_no_tree(),
                });
            }
        }
        Ok(self.flows)
    }

    /// Fails if there are several trees: a cut without a column would leave out entries of counters and sums of weights, too.
    fn refuse_several(&self, cut: &Cut) -> Result<()> {
        let mut trees: Vec<&str> = self.trees.iter().map(String::as_str).collect();
        trees.sort_unstable();
        trees.dedup();
        let [one, _, ..] = trees.as_slice() else { return Ok(()) };
        let (hint, entries) = (Hint::named(CUT), Hint::named("entries"));
        let message = format!(
            "{hint} {} names no column, so it would be about all of {}: let it name a column of the tree that is meant, or choose entries of \
             one tree with {entries}, as in {one}=0:1000",
            cut.text,
            trees.join(", ")
        );
        Err(Error::request(message).hint(hint).hint(entries))
    }

    fn find(&mut self, cut: usize) {
        self.found.get_mut(cut).into_iter().for_each(|found| *found = true);
    }

    /// Keeps why a tree does not have the columns of a cut; of several trees, the reason that says most.
    fn lack(&mut self, cut: usize, error: &expr::Error) {
        let Some(kept) = self.lacking.get_mut(cut) else { return };
        if kept.as_ref().is_none_or(|kept| kept.message().len() < error.message().len()) {
            *kept = Some(error.clone());
        }
    }
}

impl TreeSelection {
    /// Whether all entries are kept.
    pub fn is_all(&self) -> bool {
        self.passed.is_none() && self.filter.keeps_all()
    }

    /// The same with these of its entries alone.
    pub fn only(self, entries: EntrySet) -> Self {
        Self { passed: Some(entries), ..self }
    }

    /// Whether cuts have been applied.
    pub fn is_cut(&self) -> bool {
        self.passed.is_some()
    }

    /// The set of entries, in a table that has `all`.
    pub fn entries(&self, all: u64) -> Result<EntrySet> {
        match &self.passed {
            Some(passed) => Ok(passed.clone()),
            None => Ok(self.filter.resolve(all)?.unwrap_or_else(|| EntrySet::range(0..all))),
        }
    }
}
