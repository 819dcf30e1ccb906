//! Compares tables whose entries may be in another order: those with the same key are put side by side on both sides, and compared as any
//! two tables are. Keys that one side lacks are differences. Two trees are compared by their bytes, other tables by the values of their columns.

use std::path::{Path, PathBuf};

use dataset::EntrySet;
use dataset::glob::NameFilter;
use rootfile::{Error, Hint, Result};

use super::context::Context;
use super::defined::{DefinedSide, OtherSide};
use super::kept;
use super::ntuples::{self, SideTable};
use super::options::VerifyOptions;
use super::side::{Side, SideTree};
use super::stored::{Sides, open_side};
use super::tree::trees;
use super::verdict::{Difference, TableKind, Verdict};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::keys::columns::KeyColumns;
use crate::keys::{LoneKeys, Matching, SortKey, match_entries};
use crate::reorder::table::reorder_table;
use crate::reorder::tree::reorder_tree;
use crate::select::{Define, DefinesFound, EntrySelection, OpenColumns, refused};

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

/// Compares files by keys, some of which are Parquet files.
pub(super) fn verify_files(
    inputs: &[PathBuf],
    output: &Path,
    options: &VerifyOptions,
    progress: Progress<'_>,
) -> Result<Verdict> {
    let output = [output.to_path_buf()];
    let opens: [OpenColumns<'_>; 2] = [&|_| open_side(inputs, true, options), &|_| open_side(&output, false, options)];
    let [first, second] = [open_side(inputs, true, options)?, open_side(&output, false, options)?];
    let mut keyed = KeyedTables::new(options);
    let mut selection = EntrySelection::new(&options.entries).with_defines(&options.defines).with_kept(&options.filter);
    let mut defines = DefinesFound::new(&options.defines);
    let path = first.path();
    let defined = DefinedSide::open(path, opens[0], &mut defines)?.map(|(defined, _)| defined);
    defines.finish()?;
    let other_options = other_options(defined.as_ref(), path, options);
    let defined = defined.as_ref();
    let compared = Compared { path, kind: TableKind::Table, options: [options, &other_options], opens, defined };
    let mut verdict = Verdict::default();
    keyed.compare_stored([&first, &second], &compared, &mut selection, progress, &mut verdict)?;
    selection.finish()?;
    keyed.finish()?;
    verdict.equal = verdict.differences.is_empty();
    Ok(verdict)
}

/// Two tables that are compared.
#[derive(Clone, Copy)]
struct Compared<'c> {
    path: &'c str,
    kind: TableKind,
    options: [&'c VerifyOptions; 2],
    /// Opens some columns of each.
    opens: [OpenColumns<'c>; 2],
    /// What is defined on the first side.
    defined: Option<&'c DefinedSide>,
}

/// The options of the second side, without what is defined on the first one.
fn other_options(defined: Option<&DefinedSide>, path: &str, options: &VerifyOptions) -> VerifyOptions {
    defined.map_or_else(|| options.clone(), |defined| defined.other_options(path, options))
}

impl<'a> KeyedTables<'a> {
    pub fn new(options: &'a VerifyOptions) -> Self {
        Self { options, has_any: false, lacking: None }
    }

    /// Compares two tables of ROOT files by their keys, if this is asked for and both have the columns. Returns whether they do.
    pub fn compare(
        &mut self,
        sides: [(&Side, &SideTree<'_>); 2],
        defined: Option<&DefinedSide>,
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
        let other_options = other_options(defined, path, options);
        let kind = match (mine.is_ntuple, other.is_ntuple) {
            (true, true) => TableKind::Ntuple,
            (false, false) => TableKind::Tree,
            _ => TableKind::Mixed,
        };
        let compared = Compared { path, kind, options: [options, &other_options], opens, defined };
        if kind == TableKind::Ntuple {
            let whole = [open(0, &options.filter)?, open(1, &other_options.filter)?];
            return self.compare_stored([&whole[0], &whole[1]], &compared, selection, progress, verdict);
        }
        let Some(pair) = self.pair(&compared, selection)? else { return Ok(false) };
        let before = verdict.differences.len();
        let [(first, _), (second, _)] = sides;
        let (a, of_first) = pair.in_order(0, first, mine, &compared, progress)?;
        let (b, of_second) = pair.in_order(1, second, other, &compared, progress)?;
        let options = &VerifyOptions { budget: pair.left(options.budget, of_first + of_second), ..options.clone() };
        match [a, b] {
            [SideTable::Tree(a, infos_a), SideTable::Tree(b, infos_b)] => {
                let infos = [infos_a, infos_b];
                let context = Context { path, options, whole: false, selected: true, infos: &infos };
                trees::compare(&a, &b, &context, progress, verdict)?;
            }
            tables => {
                let fields = kept::compare(path, sides, &tables, options, verdict)?;
                ntuples::compare((path, &fields), tables, options, progress, verdict)?;
            }
        }
        pair.finish(&compared, before, progress, verdict)?;
        Ok(true)
    }

    /// Compares two tables of any containers by the values of their columns, if this is asked for and both have those of the key. Returns
    /// whether they do.
    fn compare_stored(
        &mut self,
        tables: [&Dataset; 2],
        compared: &Compared<'_>,
        selection: &mut EntrySelection<'_>,
        progress: Progress<'_>,
        verdict: &mut Verdict,
    ) -> Result<bool> {
        let Some(pair) = self.pair(compared, selection)? else { return Ok(false) };
        let (budget, before) = (self.options.budget, verdict.differences.len());
        let side = |side: usize| {
            let (table, order) = (tables[side], &pair.matching.orders[side]);
            let columns: Vec<_> = table.default_columns().into_iter().map(Some).collect();
            let found = reorder_table(table, &columns, order, &[0, order.rows()], of_side(budget), progress);
            found.map_err(|e| budget.in_whole(e, SIDE))
        };
        let (a, b) = (side(0)?, side(1)?);
        let left = pair.left(budget, a.held + b.held);
        let options = compared.options.map(|options| VerifyOptions { budget: left, ..options.clone() });
        let rows = Some([&a.dataset, &b.dataset]);
        Sides { tables, rows, selected: None }.compare(options.each_ref(), progress, verdict)?;
        drop((a, b));
        pair.finish(compared, before, progress, verdict)?;
        verdict.differences.iter_mut().skip(before).for_each(|one| one.kind = compared.kind);
        Ok(true)
    }

    /// Matches the entries of two tables. None if one of them lacks the columns of the key.
    fn pair(&mut self, compared: &Compared<'_>, selection: &mut EntrySelection<'_>) -> Result<Option<Pair<'a>>> {
        let (options, Compared { path, opens, .. }) = (self.options, *compared);
        let Some(key) = &options.by else { return Ok(None) };
        let mut open = |side: usize, defines: &[Define]| {
            let columns = KeyColumns::open(path, opens[side], key.names(), defines).map_err(|e| e.object(path))?;
            Ok(match columns {
                Ok(columns) => Some(columns),
                Err(lacking) => {
                    self.lacking.get_or_insert_with(|| refused(&lacking, key.names().option()).object(path));
                    None
                }
            })
        };
        // What is defined on the first side is a column of the second.
        let both: [Result<Option<KeyColumns>>; 2] = [open(0, &options.defines), open(1, &[])];
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
    /// One side with its matched entries in the order of the pairs, and the memory that they take.
    fn in_order(
        &self,
        side: usize,
        of: &Side,
        tree: &SideTree<'_>,
        compared: &Compared<'_>,
        progress: Progress<'_>,
    ) -> Result<(SideTable, u64)> {
        let (path, options, order) = (compared.path, compared.options[side], &self.matching.orders[side]);
        let whole = |e: Error| self.budget.in_whole(e, SIDE);
        if tree.is_ntuple {
            let table = of.open_ntuple(tree, path, options, None)?;
            let (table, held) = table.in_order(order, of_side(self.budget), progress).map_err(whole)?;
            return Ok((SideTable::Ntuple(Box::new(table)), held));
        }
        let mut plan = of.plan_ordered(tree, path, options, order)?;
        let share = of_side(self.budget).share(plan.metadata, plan.scratch(false)).map_err(whole)?;
        let held = reorder_tree(&mut plan, order, &[], share, progress)?;
        let infos = plan.infos.clone();
        Ok((SideTable::Tree(Box::new(plan), infos), held))
    }

    /// Compares what is defined on the first side with the columns of the second, and reports what was found of the keys. Differences from
    /// number `before` on are those of these tables.
    fn finish(
        &self,
        compared: &Compared<'_>,
        before: usize,
        progress: Progress<'_>,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let Compared { path, kind, options: [options, _], opens: [_, open], defined } = *compared;
        if let Some(defined) = defined {
            let ([ours, theirs], own) = (&self.matching.orders, of_side(self.budget));
            let (defined, held) = defined.in_order(ours, own, progress)?;
            let table = open(&defined.other_columns(path))?;
            let columns: Vec<_> = table.default_columns().into_iter().map(Some).collect();
            let other = reorder_table(&table, &columns, theirs, &[0, theirs.rows()], own, progress)?;
            let budget = self.left(self.budget, held + other.held);
            let side = OtherSide { dataset: &other.dataset, kind, selected: None, tolerances: &options.tolerances };
            defined.compare(path, &side, budget, progress, verdict)?;
        }
        self.name_entries(&mut verdict.differences, before)?;
        self.report(path, kind, verdict);
        let equal = verdict.differences.len() == before;
        verdict.trees.last_mut().into_iter().for_each(|table| table.equal = equal);
        Ok(())
    }

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

/// The part of a budget for the entries of one side.
fn of_side(budget: Budget) -> Budget {
    Budget { memory: budget.memory / SIDE, ..budget }
}
