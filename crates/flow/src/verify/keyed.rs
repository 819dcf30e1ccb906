//! Compares tables whose entries may be in another order: those with the same key are put side by side on both sides, and compared as any
//! two tables are. Keys that one side lacks are differences. Trees are compared by their bytes, other tables by the values of their columns.

use std::sync::Arc;

use dataset::EntryFilter;
use dataset::EntrySet;
use dataset::glob::NameFilter;
use rootfile::{Error, Hint, Result};

use super::context::Context;
use super::options::VerifyOptions;
use super::side::{Side, SideTree};
use super::stored::verify_tables;
use super::tree::trees;
use super::verdict::{Difference, TableKind, Verdict};
use crate::arrow::read::Dataset;
use crate::execute::budget::{Budget, Share};
use crate::execute::progress::Progress;
use crate::keys::columns::KeyColumns;
use crate::keys::{LoneKeys, Matching, SortKey, match_entries};
use crate::plan::tree::TablePlan;
use crate::reorder::table::{Reordered, reorder_table};
use crate::reorder::tree::reorder_tree;
use crate::select::{EntrySelection, OpenColumns, refused};

/// Keys that a difference names.
const NAMED: usize = 5;
/// The part of the memory that the entries of one side may take in their new order.
const SIDE: u64 = 3;

/// The tables that are compared by their keys.
pub(super) struct KeyedTables<'a> {
    options: &'a VerifyOptions,
    has_any: bool,
    /// Why a table does not have the columns.
    lacking: Option<Error>,
}

/// Two tables whose entries stand side by side.
struct Pair<'a> {
    key: &'a SortKey,
    /// The columns of the key on the first side.
    columns: KeyColumns,
    matching: Matching,
    budget: Budget,
}

impl<'a> KeyedTables<'a> {
    pub fn new(options: &'a VerifyOptions) -> Self {
        Self { options, has_any: false, lacking: None }
    }

    /// Compares two tables of ROOT files by their keys, if this is asked for and both have the columns. Returns whether they do.
    pub fn compare(
        &mut self,
        sides: [(&Side, &SideTree<'_>); 2],
        selection: &mut EntrySelection<'_>,
        progress: Progress<'_>,
        verdict: &mut Verdict,
    ) -> Result<bool> {
        if self.options.by.is_none() {
            return Ok(false);
        }
        let [(_, mine), (_, other)] = sides;
        let (options, path) = (self.options, mine.path.as_str());
        let open = |side: usize, filter: &NameFilter| {
            let (side, tree) = sides[side];
            side.open_columns(tree, path, options, filter)
        };
        let opens: [OpenColumns<'_>; 2] = [&|filter| open(0, filter), &|filter| open(1, filter)];
        if mine.is_ntuple || other.is_ntuple {
            if mine.is_ntuple != other.is_ntuple {
                return Err(mixed(path));
            }
            let whole = [open(0, &options.filter)?, open(1, &options.filter)?];
            let found = self.compare_stored([&whole[0], &whole[1]], opens, Some(selection), progress)?;
            let Some(found) = found else { return Ok(false) };
            verdict.trees.extend(found.trees);
            verdict.keys.extend(found.keys);
            verdict.notes.extend(found.notes);
            verdict
                .differences
                .extend(found.differences.into_iter().map(|one| Difference { kind: TableKind::Ntuple, ..one }));
            return Ok(true);
        }
        let Some(pair) = self.pair(path, opens, selection)? else { return Ok(false) };
        let before = verdict.differences.len();
        pair.report(path, TableKind::Tree, verdict);
        let Pair { matching, .. } = &pair;
        let orders = matching.orders.each_ref();
        let mut held = 0;
        let mut planned = |side: usize| {
            let (of, tree) = sides[side];
            let order = Arc::clone(orders[side]);
            let mut plan = of.plan_ordered(tree, path, options, &order)?;
            let memory = options.budget.memory / SIDE;
            let share = Budget { memory, ..options.budget }.share(plan.metadata, plan.scratch(false));
            let share: Share = share.map_err(|e| options.budget.in_whole(e, SIDE))?;
            held += reorder_tree(&mut plan, &order, &[], share, progress)?;
            Ok(plan)
        };
        let plans: [Result<TablePlan>; 2] = [planned(0), planned(1)];
        let [a, b] = plans;
        let (a, b) = (a?, b?);
        let options = &VerifyOptions { budget: pair.left(options.budget, held), ..options.clone() };
        let infos = [&a, &b].map(|plan| plan.infos.clone());
        let context = Context { path, options, whole: false, selected: true, infos: &infos };
        trees::compare(&a, &b, &context, progress, verdict)?;
        pair.name_entries(&mut verdict.differences, before)?;
        if let Some(tree) = verdict.trees.last_mut() {
            tree.equal = verdict.differences.len() == before;
        }
        Ok(true)
    }

    /// Compares two tables of any containers by the values of their columns. None if this is not asked for, or one lacks the columns of the key.
    pub fn compare_stored(
        &mut self,
        tables: [&Dataset; 2],
        opens: [OpenColumns<'_>; 2],
        selection: Option<&mut EntrySelection<'_>>,
        progress: Progress<'_>,
    ) -> Result<Option<Verdict>> {
        if self.options.by.is_none() {
            return Ok(None);
        }
        let path = tables[0].path();
        let pair = match selection {
            Some(selection) => self.pair(path, opens, selection)?,
            None => {
                let mut own = EntrySelection::new(&self.options.entries);
                let pair = self.pair(path, opens, &mut own)?;
                own.finish()?;
                pair
            }
        };
        let Some(pair) = pair else { return Ok(None) };
        if tables[0].container() != tables[1].container() {
            return Err(mixed(path));
        }
        let mut held = 0;
        let mut reordered = |side: usize| {
            let (table, order) = (tables[side], &pair.matching.orders[side]);
            let rows = order.rows();
            let budget = Budget { memory: self.options.budget.memory / SIDE, ..self.options.budget };
            let columns = table.default_columns();
            let found = reorder_table((table, &columns), (order, &[0, rows]), budget, progress);
            let Reordered { dataset, held: here } = found.map_err(|e| self.options.budget.in_whole(e, SIDE))?;
            held += here;
            Ok(dataset)
        };
        let found: [Result<Dataset>; 2] = [reordered(0), reordered(1)];
        let [a, b] = found;
        let (a, b) = (a?, b?);
        let options = VerifyOptions {
            budget: pair.left(self.options.budget, held),
            entries: EntryFilter::default(),
            by: None,
            ..self.options.clone()
        };
        let mut verdict = verify_tables([&a, &b], &options, progress)?;
        pair.name_entries(&mut verdict.differences, 0)?;
        pair.report(path, TableKind::Table, &mut verdict);
        verdict.equal = verdict.differences.is_empty();
        verdict.trees.iter_mut().for_each(|table| {
            path.clone_into(&mut table.path);
            table.equal = verdict.equal;
        });
        Ok(Some(verdict))
    }

    /// Matches the entries of two tables. None if one of them lacks the columns of the key.
    fn pair(
        &mut self,
        path: &str,
        opens: [OpenColumns<'_>; 2],
        selection: &mut EntrySelection<'_>,
    ) -> Result<Option<Pair<'a>>> {
        let options = self.options;
        let Some(key) = &options.by else { return Ok(None) };
        if !options.defines.is_empty() {
            let define = Hint::named("define");
            return Err(Error::request(format!("{define} does not go with a comparison by keys")).hint(define));
        }
        let mut open = |side: usize| {
            let columns = KeyColumns::open(path, opens[side], key.names()).map_err(|e| e.object(path))?;
            Ok(match columns {
                Ok(columns) => Some(columns),
                Err(lacking) => {
                    self.lacking.get_or_insert_with(|| refused(&lacking, key.names().option()).object(path));
                    None
                }
            })
        };
        let both: [Result<Option<KeyColumns>>; 2] = [open(0), open(1)];
        let [first, second] = both;
        let (Some(first), Some(second)) = (first?, second?) else { return Ok(None) };
        self.has_any = true;
        let selected = selection.for_table(path, opens[0], None, options.budget)?;
        let entries: EntrySet = selected.entries(first.dataset().entries())?;
        let matching = match_entries([&first, &second], &entries, key, options.budget).map_err(|e| e.object(path))?;
        Ok(Some(Pair { key, columns: first, matching, budget: options.budget }))
    }

    /// Fails if no table has the columns of the key.
    pub fn finish(self) -> Result<()> {
        match (self.options.by.is_some() && !self.has_any, self.lacking, &self.options.by) {
            (true, Some(lacking), _) => Err(lacking),
            (true, None, Some(key)) => {
                let hint = Hint::named(key.names().option());
                Err(Error::request(format!("{hint} {key}: both sides have no tree")).hint(hint))
            }
            _ => Ok(()),
        }
    }
}

impl Pair<'_> {
    /// Memory that is left for the comparison.
    fn left(&self, budget: Budget, held: u64) -> Budget {
        let orders: u64 = self.matching.orders.iter().map(|order| order.memory()).sum();
        Budget { memory: budget.memory.saturating_sub(held).saturating_sub(orders), ..budget }
    }

    /// Reports what was found of the keys.
    fn report(&self, path: &str, kind: TableKind, verdict: &mut Verdict) {
        let mut found = self.matching.found.clone();
        path.clone_into(&mut found.path);
        for (lone, side) in [(&found.only_first, "first"), (&found.only_second, "second")] {
            verdict.differences.extend(of_lone(lone, side).map(|what| Difference::of_table(path, kind, what)));
        }
        verdict.keys.push(found);
    }

    /// Gives differences from a number on the entry of the first side, and its key, in place of the number of a pair.
    fn name_entries(&self, differences: &mut [Difference], from: usize) -> Result<()> {
        for difference in differences.iter_mut().skip(from) {
            let Some(number) = difference.entry.filter(|number| *number < self.matching.found.matched) else {
                continue;
            };
            let (entry, key) = self.matching.pair(number, &self.columns, self.key, self.budget)?;
            (difference.entry, difference.key) = (Some(entry), Some(key));
        }
        Ok(())
    }
}

/// What is said of keys that one side alone has.
fn of_lone(lone: &LoneKeys, side: &str) -> Option<String> {
    let named: Vec<String> = lone.listed.iter().take(NAMED).map(|one| one.key.join(":")).collect();
    let more = lone.entries.saturating_sub(named.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (named, entries) = (named.join(", "), lone.entries);
    let have = if entries == 1 { "1 entry has a key".to_owned() } else { format!("{entries} entries have keys") };
    (entries > 0).then(|| format!("{have} that only the {side} side has: {named}{more}"))
}

fn mixed(path: &str) -> Error {
    let message = "tables in different containers are not compared by keys; convert one of them first";
    Error::unsupported(message).object(path)
}
