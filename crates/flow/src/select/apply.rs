//! The entries of each table that a rewrite keeps. No table is planned here.

use dataset::glob::NameFilter;
use dataset::{EntryFilter, EntrySet};
use rootfile::{Error, Hint, Result};

use super::cut_flow::CutFlow;
use super::cuts::{CUT, Conditions, Cut, TableCuts, WEIGHT};
use super::define::Define;
use super::defined::Defined;
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
    /// The columns that get to the output, besides those that are defined.
    kept: NameFilter,
    /// The first cut, if none has a column, and the trees that they are about: every tree of which a column gets to the output.
    without_column: Option<usize>,
    about: Vec<String>,
    /// Whether they are about one of these, which something else chooses.
    about_one: bool,
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
            kept: NameFilter::default(),
            without_column: None,
            about: Vec::new(),
            about_one: false,
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

    /// The same where these columns get to the output: cuts that name none are about the tables that have some.
    pub fn with_kept(self, kept: &NameFilter) -> Self {
        Self { kept: kept.clone(), ..self }
    }

    /// The same where only one of the tables is used in the end.
    pub fn about_one(self) -> Self {
        Self { about_one: true, ..self }
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

    /// Looks whether a table, all of whose columns are open, has those of the cuts. Nothing of them is read.
    pub fn look_at(&mut self, path: &str, dataset: &Dataset) -> Result<()> {
        self.trees.push(path.to_owned());
        if !self.cuts.is_empty() {
            let cuts = TableCuts::bind(path, dataset, &self.asked()).map_err(|e| e.object(path))?;
            let keeps_any = cuts.name_columns() || self.keeps_any(path, dataset)?;
            self.are_about(path, &cuts, keeps_any);
        }
        Ok(())
    }

    /// Takes note of a table that does not get to the output after all.
    pub fn leave_out(&mut self, path: &str) {
        self.about.retain(|about| about != path);
        self.flows.retain(|flow| flow.path != path);
    }

    /// What is asked of a table.
    fn asked(&self) -> Conditions<'_> {
        Conditions { cuts: &self.cuts, weight: self.weight.as_ref(), defines: self.defines }
    }

    /// Whether a column of a table gets to the output.
    fn keeps_any(&self, path: &str, dataset: &Dataset) -> Result<bool> {
        if self.kept.keeps_all() {
            return Ok(true);
        }
        let schema = dataset.schema();
        let filter = self.kept.of_table(path, (0..schema.len()).map(|node| schema.lineage(node)));
        if (0..schema.len()).any(|node| filter.keeps(path, &schema.lineage(node))) {
            return Ok(true);
        }
        Ok(!Defined::bind(dataset, path, self.defines)?.is_empty())
    }

    /// The cuts that can be evaluated in a table, if there are some, and notes on those that cannot.
    fn bound(&mut self, path: &str, open: OpenColumns<'_>) -> Result<(Option<BoundCuts>, Vec<String>)> {
        self.trees.push(path.to_owned());
        if self.cuts.is_empty() {
            return Ok((None, Vec::new()));
        }
        let (dataset, cuts) = TableCuts::open(path, open, &self.asked())?;
        // All columns are opened only where it is asked.
        let keeps_any =
            cuts.name_columns() || self.kept.keeps_all() || self.keeps_any(path, &open(&NameFilter::default())?)?;
        let (are_about, notes) = self.are_about(path, &cuts, keeps_any);
        Ok((are_about.then_some((dataset, cuts)), notes))
    }

    /// Whether a table is one that the cuts are about, and notes on those that cannot be evaluated. `keeps_any` says whether a column of it
    /// gets to the output, if the cuts name none.
    fn are_about(&mut self, path: &str, cuts: &TableCuts, keeps_any: bool) -> (bool, Vec<String>) {
        let mut notes = Vec::new();
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
        let Some(&first) = found.first().filter(|_| !names_none || cuts.lacking.is_empty()) else {
            return (false, notes);
        };
        if names_none {
            self.without_column.get_or_insert(first);
            if !keeps_any {
                return (false, notes);
            }
            self.about.push(path.to_owned());
        }
        found.into_iter().for_each(|place| self.find(place));
        match &cuts.lacks_weight {
            Some(error) => {
                let name = error.subject();
                notes.push(format!("tree {path} has no column {name}: its cut flow has no weights"));
                self.lack(self.cuts.len(), error);
            }
            None => self.find(self.cuts.len()),
        }
        (true, notes)
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
                let why = if self.trees.is_empty() { "there is no tree" } else { "no tree keeps a column" };
                return Err(match error {
                    Some(error) => cut.refused(error).object(of()),
                    None => cut.refused_without_tree(why),
                });
            }
        }
        Ok(self.flows)
    }

    /// Fails if there are several trees: a cut without a column would leave out entries of counters and sums of weights, too.
    fn refuse_several(&self, cut: &Cut) -> Result<()> {
        let mut trees: Vec<&str> = self.about.iter().map(String::as_str).collect();
        trees.sort_unstable();
        trees.dedup();
        let ([one, _, ..], false) = (trees.as_slice(), self.about_one) else { return Ok(()) };
        let (hint, entries) = (Hint::named(CUT), Hint::named("entries"));
        let message = format!(
            "{hint} {} names no column, so it would be about all of {}: let it name a column of the tree that is meant, name this tree alone, as \
             in FILE:{one}, or choose its entries with {entries}, as in {one}=0:1000",
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
