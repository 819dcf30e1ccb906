//! Compares two trees: metadata and schema first, then the columns, by bytes or by value.

use std::collections::HashSet;

use dataset::{EntrySet, table};
use rootfile::Result;

use super::branch_values::{self, NamedBranches};
use super::column_bytes::{self, Pair};
use super::entry_bytes::ByteDifference;
use super::metadata;
use super::reshaped::{self, Reshaped, Tables};
use super::tolerated;
use crate::execute::progress::Progress;
use crate::plan::tree::{TablePlan, schema};
use crate::table::piece::Files;
use crate::table::text_list::listed;
use crate::verify::column_values;
use crate::verify::context::Context;
use crate::verify::tasks::{ColumnDifference, DifferenceKind, Outcome};
use crate::verify::verdict::{Difference, TreeVerdict, Verdict};

/// The memory that a comparison needs at least, in bytes.
pub(crate) fn memory(first: &TablePlan, second: &TablePlan, context: &Context<'_>) -> u64 {
    let trees = Trees::new(first, second, context);
    let scratch = column_bytes::scratch(&trees.pairs().0);
    trees.metadata_size() + scratch.max(column_values::scratch(&trees.reshaped.pairs))
}

/// Compares two trees, and adds the result to the verdict.
pub(crate) fn compare(
    first: &TablePlan,
    second: &TablePlan,
    context: &Context<'_>,
    progress: Progress<'_>,
    verdict: &mut Verdict,
) -> Result<()> {
    let before = verdict.differences.len();
    let trees = Trees::new(first, second, context);
    let branches = trees.compare_metadata(verdict);
    let columns = trees.compare_columns(progress, verdict)?;
    verdict.trees.push(TreeVerdict {
        path: context.path.to_owned(),
        entries: trees.entries()[0],
        branches,
        equal: verdict.differences.len() == before,
        ..columns
    });
    Ok(())
}

/// Two trees, and how their branches correspond.
struct Trees<'a> {
    tables: Tables<'a>,
    context: &'a Context<'a>,
    differences: Vec<table::Difference>,
    /// For each branch of the first tree, its branch of the second.
    map: Vec<Option<usize>>,
    /// Path of each branch of the first tree.
    names: Vec<String>,
    in_order: bool,
    /// Columns that the two trees split differently.
    reshaped: Reshaped,
    /// Columns whose numbers have other types, and may differ.
    tolerated: Reshaped,
}

impl<'a> Trees<'a> {
    fn new(first: &'a TablePlan, second: &'a TablePlan, context: &'a Context<'a>) -> Self {
        let tables = Tables { plans: [first, second], infos: context.infos.each_ref() };
        let mut found = schema::compare(first.described(), second.described());
        let in_order = found.map.iter().flatten().is_sorted();
        let mut reshaped = reshaped::split(&tables, &found);
        let names: Vec<String> = schema::paths(&first.tree).iter().map(schema::path_text).collect();
        let tolerance = |name: &str| context.options.tolerances.of_branch(context.path, name);
        reshaped.pairs.iter_mut().for_each(|pair| pair.tolerance = tolerance(&pair.name));
        found.leave_out(&reshaped.branches[0], &reshaped.branches[1]);
        let tolerated = match context.options.tolerances.is_empty() {
            true => Reshaped::default(),
            false => tolerated::changed(&tables, &found, &names, &tolerance),
        };
        found.leave_out(&tolerated.branches[0], &tolerated.branches[1]);
        let mut differences = found.differences(first.described(), second.described());
        match (first.tree.branch_ref, second.tree.branch_ref) {
            (Some(_), None) => differences.push(table::Difference::Missing("TRefTable".to_owned())),
            (None, Some(_)) => differences.push(table::Difference::Extra("TRefTable".to_owned())),
            _ => {}
        }
        Self { tables, context, differences, map: found.map, names, in_order, reshaped, tolerated }
    }

    /// The entries to compare, of each side.
    fn entries(&self) -> [u64; 2] {
        let [first, second] = self.tables.plans;
        [first.entries(), second.entries()]
    }

    /// Bytes of the metadata of both sides in memory.
    fn metadata_size(&self) -> u64 {
        self.tables.plans.iter().map(|plan| plan.metadata).sum()
    }

    /// The branches of both trees that correspond, with the name of the first.
    fn branches(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let [first, second] = self.tables.plans;
        self.map.iter().enumerate().filter_map(move |(i, other)| {
            let other = (*other)?;
            let has_columns = i < first.columns.len() && other < second.columns.len();
            has_columns.then_some((i, other, self.names.get(i)?.as_str()))
        })
    }

    /// The columns that are compared by their bytes, and their names.
    fn pairs(&self) -> (Vec<Pair<'a>>, Vec<&str>) {
        let changed: HashSet<&str> = (self.differences.iter())
            .filter_map(|difference| match difference {
                table::Difference::Changed { branch, .. } | table::Difference::Class { branch, .. } => {
                    Some(branch.as_str())
                }
                _ => None,
            })
            .collect();
        let [first, second] = self.tables.plans;
        let pair = |(i, other, name): (usize, usize, _)| {
            let columns = [first.columns.get(i)?, second.columns.get(other)?];
            // Entries of different types cannot be compared.
            let comparable = !changed.contains(name) && columns.iter().any(|column| !column.source.pieces.is_empty());
            comparable.then_some((Pair { columns }, name))
        };
        self.branches().filter_map(pair).unzip()
    }

    /// Compares metadata and schema. Returns the number of branches that both sides have.
    fn compare_metadata(&self, verdict: &mut Verdict) -> u64 {
        let [first, second] = self.tables.plans.map(|plan| &plan.tree);
        let path = self.context.path;
        verdict.differences.extend(metadata::trees(first, second, self.context, &mut verdict.notes));
        let [ours, theirs] = self.entries();
        if ours != theirs {
            verdict.differences.push(Difference::of_tree(path, format!("has {ours} entries and {theirs}")));
        }
        for difference in &self.differences {
            let (branch, what) = match difference {
                table::Difference::Missing(_) | table::Difference::Extra(_) if self.context.options.common => {
                    continue;
                }
                table::Difference::Missing(branch) => (branch, "only the first side has this branch".to_owned()),
                table::Difference::Extra(branch) => (branch, "only the second side has this branch".to_owned()),
                table::Difference::Class { branch, what } => (branch, format!("on the second side, {what}")),
                table::Difference::Changed { branch, first, second } => {
                    (branch, format!("is a {first}, and a {second}"))
                }
            };
            verdict.differences.push(Difference::of_branch(path, branch, what));
        }
        for (column, why) in &self.reshaped.unknown {
            let what = format!("is split differently, and cannot be compared: {why}");
            verdict.differences.push(Difference::of_branch(path, column, what));
        }
        if !self.in_order && self.reshaped.pairs.is_empty() {
            verdict.notes.push(format!("tree {path}: the branches are in another order"));
        }
        let mut branches = 0;
        for (i, other, name) in self.branches() {
            branches += 1;
            verdict.differences.extend(metadata::branches((first, i), (second, other), self.context, name));
        }
        branches
    }

    /// Tells values of branches whose bytes differ.
    fn tell_values(&self, pairs: &[Pair<'_>], names: &[&str], files: [&Files; 2], outcome: &mut Outcome) {
        let in_bytes = outcome.found.iter_mut().filter(|(_, found)| matches!(found.kind, DifferenceKind::Bytes(_)));
        let named = in_bytes.filter_map(|(&number, found)| {
            let (pair, name) = (pairs.get(number)?, names.get(number).copied()?);
            Some((NamedBranches { tops: pair.columns.map(|column| column.branch).into(), name }, found))
        });
        let (branches, mut found): (Vec<_>, Vec<_>) = named.unzip();
        branch_values::tell(&self.tables, &branches, files, &mut found);
    }

    /// Compares the entries of all columns. Returns the counts of the verdict.
    fn compare_columns(&self, progress: Progress<'_>, verdict: &mut Verdict) -> Result<TreeVerdict> {
        let (pairs, names) = self.pairs();
        let [first, second] = self.tables.plans;
        let files = [&first.files[..], &second.files[..]];
        let share = self.context.options.budget.share(self.metadata_size(), column_bytes::scratch(&pairs))?;
        let mut outcome = column_bytes::compare(&pairs, files, share, progress)?;
        // A longer side is reported once for the tree, and not for each branch.
        let [ours, theirs] = self.entries();
        let end = ours.min(theirs);
        let is_tail = |found: &ColumnDifference| {
            let only_one = matches!(found.kind, DifferenceKind::OnlyFirst | DifferenceKind::OnlySecond);
            ours != theirs && found.entry == end && only_one
        };
        outcome.found.retain(|_, found| !is_tail(found));

        let bytes = |found: &'_ ColumnDifference| match &found.kind {
            DifferenceKind::Bytes(difference) => Some(difference.clone()),
            _ => None,
        };
        let unequal: Vec<_> = outcome.found.iter().filter_map(|(&n, found)| Some((n, bytes(found)?))).collect();
        let unequal = unequal.iter();
        let unequal: Vec<reshaped::Unequal<'_>> = unequal
            .filter_map(|(n, difference)| Some((*n, pairs.get(*n)?.columns.map(|c| c.branch).into(), difference)))
            .collect();
        let tolerance = |name: &str| self.context.options.tolerances.of_branch(self.context.path, name);
        let (within, close) = tolerated::unequal(&self.tables, &unequal, &names, &tolerance);
        let others = unequal.iter().filter(|(number, ..)| !within.iter().any(|(pair, _)| pair == number));
        let (numbers, streamed) = reshaped::streamed(&self.tables, &others.copied().collect::<Vec<_>>());
        let by_value = |reshaped: &Reshaped| -> Result<Outcome> {
            if reshaped.pairs.is_empty() {
                return Ok(Outcome::default());
            }
            let scratch = column_values::scratch(&reshaped.pairs);
            let share = self.context.options.budget.share(self.metadata_size(), scratch)?;
            column_values::compare(&reshaped.pairs, end, files, share, progress)
        };
        let (split, mut by_stream) = (by_value(&self.reshaped)?, by_value(&streamed)?);
        let (mut changed, mut by_tolerance) = (by_value(&self.tolerated)?, by_value(&close)?);
        for (pair, value) in &within {
            outcome.found.remove(pair);
            outcome.found.extend(by_tolerance.found.remove(value).map(|found| (*pair, found)));
        }
        for (pair, value) in &numbers {
            // Values that cannot be decoded keep the difference of their bytes.
            let keeps = |found: &ColumnDifference| matches!(found.kind, DifferenceKind::Undecodable(_));
            if by_stream.found.get(value).is_some_and(keeps) {
                continue;
            }
            outcome.found.remove(pair);
            // Where several branches are one value, its difference is told once.
            outcome.found.extend(by_stream.found.remove(value).map(|found| (*pair, found)));
        }
        self.tell_values(&pairs, &names, files, &mut outcome);
        let name_of = |pair: &usize| names.get(*pair).copied().unwrap_or_default();
        let mut all: Vec<(ColumnDifference, &str)> =
            outcome.found.into_iter().map(|(pair, found)| (found, name_of(&pair))).collect();
        let name_of = |pair: usize| self.reshaped.pairs.get(pair).map_or("", |pair| pair.name.as_str());
        all.extend(split.found.into_iter().map(|(pair, found)| (found, name_of(pair))));
        let name_of = |pair: usize| self.tolerated.pairs.get(pair).map_or("", |pair| pair.name.as_str());
        all.extend(std::mem::take(&mut changed.found).into_iter().map(|(pair, found)| (found, name_of(pair))));
        all.sort_by_key(|(found, _)| found.entry);
        for (found, name) in all {
            let difference = Difference::of_branch(self.context.path, name, "");
            verdict.differences.push(describe(found, first.selected.as_deref(), difference));
        }
        verdict.notes.extend(notes(self.context.path, &[&self.reshaped, &streamed]));
        let by_value = [&self.reshaped, &streamed, &self.tolerated, &close];
        Ok(TreeVerdict {
            columns: (pairs.len() + self.tolerated.pairs.len()) as u64,
            by_value: by_value.iter().map(|reshaped| reshaped.pairs.len() as u64).sum(),
            bytes: outcome.bytes + split.bytes + by_stream.bytes + changed.bytes + by_tolerance.bytes,
            errors: by_value.iter().flat_map(|reshaped| column_values::errors(&reshaped.pairs)).collect(),
            ..TreeVerdict::default()
        })
    }
}

/// Notes on the columns that were compared by value, and on the members that are not compared.
fn notes(path: &str, reshaped: &[&Reshaped; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    for (reshaped, how) in reshaped.iter().zip(["split", "streamed"]) {
        let names: Vec<&str> = reshaped.pairs.iter().map(|pair| pair.name.as_str()).collect();
        if !names.is_empty() {
            notes.push(format!("tree {path}: {how} differently, and compared by value: {}", listed(&names)));
        }
    }
    let with_bits: Vec<&str> = reshaped.iter().flat_map(|r| &r.with_bits).map(String::as_str).collect();
    if !with_bits.is_empty() {
        let what = "fUniqueID and fBits of the objects are not compared in";
        notes.push(format!("tree {path}: {what} {}", listed(&with_bits)));
    }
    notes
}

/// Completes a difference of a branch.
pub(crate) fn describe(found: ColumnDifference, selected: Option<&EntrySet>, mut difference: Difference) -> Difference {
    let entry = selected.and_then(|selected| selected.nth(found.entry)).unwrap_or(found.entry);
    difference.entry = Some(entry);
    difference.what = match found.kind {
        DifferenceKind::OnlyFirst => "is missing from the second side".to_owned(),
        DifferenceKind::OnlySecond => "is missing from the first side".to_owned(),
        DifferenceKind::Bytes(ByteDifference::Lengths(a, b)) => format!("has {a} bytes and {b}"),
        DifferenceKind::Bytes(ByteDifference::Byte(at, a, b)) => {
            difference.byte = Some(at as u64);
            format!("is {a:#04x} and {b:#04x}")
        }
        DifferenceKind::Member(member, what) => {
            difference.member = Some(member).filter(|member| !member.is_empty());
            what
        }
        DifferenceKind::Undecodable(why) => format!("cannot be compared: {why}"),
    };
    if entry != found.entry {
        difference.what.push_str(&format!(" (entry {} of the second side)", found.entry));
    }
    difference
}
