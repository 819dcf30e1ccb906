//! Whether two sides have equal content, whatever their layout: schema and entry bytes of every tree, schema and values of every
//! RNTuple, and all other objects. Entries of trees are compared as bytes, so branches of any class can be compared. Only
//! columns that the two sides split or stream differently are decoded and compared by value. Where a side is in no ROOT file, one
//! table is compared with one table, by value (`stored`).

mod announced;
mod column_values;
mod common_type;
mod compare_objects;
mod context;
pub(crate) mod cycles;
mod defined;
mod field_match;
mod first_difference;
mod kept;
mod keyed;
mod memory_bits;
mod ntuple_side;
mod ntuples;
mod older_cycles;
mod options;
mod side;
mod stored;
mod tasks;
mod tolerance;
mod tree;
mod verdict;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::table::catalog::split_cycle;
use rootfile::{Error, Result};

use self::context::Context;
pub use self::cycles::{CycleKind, OlderCycle};
use self::defined::{DefinedSide, OtherSide};
use self::keyed::KeyedTables;
use self::ntuples::SideTable;
pub use self::options::VerifyOptions;
use self::side::{Side, SideTree};
pub use self::stored::verify_tables;
pub use self::tolerance::{Tolerance, Tolerances};
pub use self::verdict::{ColumnError, Difference, TableKind, TreeVerdict, Verdict};
use crate::execute::progress::Progress;
use crate::plan::tree::TablePlan;
use crate::select::{DefinesFound, EntrySelection};

/// Compares `inputs`, taken as one, with `output`. Differences are listed in the verdict.
///
/// # Errors
///
/// A side cannot be read, or the budget is too small.
pub fn verify(inputs: &[PathBuf], output: &Path, options: &VerifyOptions, progress: Progress<'_>) -> Result<Verdict> {
    if inputs.is_empty() {
        return Err(Error::request("no input"));
    }
    if stored::has_parquet(inputs, output)? {
        if options.by.is_some() {
            return keyed::verify_files(inputs, output, options, progress);
        }
        return stored::verify_files(inputs, output, options, progress);
    }
    let tree = options.tree.as_deref().or(options.second_tree.as_deref());
    let second_tree = options.second_tree.as_deref().or(tree);
    let first = Side::open(inputs, tree, options.follow)?;
    let second = Side::open(&[output.to_path_buf()], second_tree, options.follow)?;
    let ours = first.trees(tree)?;
    // A cycle of the first side alone, such as what a rewrite has taken from it, is the newest one of the second.
    let path_alone = tree.filter(|_| options.second_tree.is_none()).and_then(split_cycle);
    let theirs =
        second.trees(second_tree).or_else(|e| path_alone.map_or(Err(e), |(path, _)| second.trees(Some(path))))?;
    let mut verdict = Verdict::default();
    verdict.notes.extend(first.plan.notes.iter().chain(&second.plan.notes).map(ToString::to_string));
    let mut selection = EntrySelection::new(&options.entries).with_defines(&options.defines).with_kept(&options.filter);
    let mut defines = DefinesFound::new(&options.defines);
    let mut keyed = KeyedTables::new(options);
    if tree.is_none() {
        compare_objects::directories(&first, &second, options.common, &mut verdict);
    }
    let partners = kept::unnamed_partners([&first, &second], [&ours, &theirs])?;
    let is_partner = |mine: &SideTree<'_>, other: &SideTree<'_>| {
        partners.iter().any(|(own, theirs)| *own == mine.path && *theirs == other.path)
    };
    let meet = |mine: &SideTree<'_>, other: &SideTree<'_>| {
        tree.is_some() || other.path == mine.path || is_partner(mine, other)
    };
    // A tree and an RNTuple may share a path. Each is compared with one of its kind, if the other side has one.
    let same = |mine: &SideTree<'_>| {
        let met = || theirs.iter().filter(|other| meet(mine, other));
        let is_taken = |other: &SideTree<'_>| ours.iter().any(|o| o.is_ntuple == other.is_ntuple && meet(o, other));
        met().find(|other| other.is_ntuple == mine.is_ntuple).or_else(|| met().find(|other| !is_taken(other)))
    };
    let partner_of: Vec<_> = ours.iter().map(|mine| (mine, same(mine))).collect();
    let pairs: Vec<_> = partner_of.iter().filter_map(|(mine, other)| Some((*mine, (*other)?))).collect();
    if let [_, _, ..] = pairs.as_slice() {
        check_memory([&first, &second], &pairs, options)?;
    }
    for &(mine, other) in &partner_of {
        let Some(other) = other else {
            if !options.common {
                verdict
                    .differences
                    .push(Difference::of_tree(&mine.path, format!("only the first side has {}", mine.what())));
                older_cycles::compare([Some((&first, mine)), None], options, &mut verdict, progress)?;
            }
            continue;
        };
        let open = |filter: &NameFilter| first.open_columns(mine, &mine.path, options, filter);
        let defined = match DefinedSide::open(&mine.path, &open, &mut defines)? {
            Some((defined, notes)) => {
                verdict.notes.extend(notes);
                Some(defined)
            }
            None => None,
        };
        let sides = [(&first, mine), (&second, other)];
        if keyed.compare(sides, defined.as_ref(), &mut selection, progress, &mut verdict)? {
            if tree.is_none() && !mine.is_ntuple && !other.is_ntuple {
                older_cycles::compare(sides.map(Some), options, &mut verdict, progress)?;
            }
            continue;
        }
        let other_options = defined.as_ref().map(|defined| defined.other_options(&mine.path, options));
        let other_options = other_options.as_ref().unwrap_or(options);
        let compare_defined = |kind: TableKind, selected: Option<&EntrySet>, verdict: &mut Verdict| {
            let Some(defined) = &defined else { return Ok(()) };
            let columns = defined.other_columns(&mine.path);
            let dataset = &second.open_columns(other, &mine.path, options, &columns)?;
            let side = OtherSide { dataset, kind, selected, tolerances: &options.tolerances };
            defined.compare(&mine.path, &side, options.budget, progress, verdict)
        };
        if mine.is_ntuple || other.is_ntuple {
            let pair = [(&first, mine), (&second, other)];
            let (kind, selected) =
                compare_ntuples(pair, [options, other_options], &mut selection, progress, &mut verdict)?;
            compare_defined(kind, selected.as_ref(), &mut verdict)?;
            continue;
        }
        let a = first.plan_tree(mine, &mine.path, options, Some(&mut selection))?;
        let b = second.plan_tree(other, &mine.path, other_options, None)?;
        let remarks = [&a, &b].into_iter().flat_map(|plan| &plan.messages.remarks);
        verdict.notes.extend(remarks.map(|remark| format!("tree {}: {remark}", mine.path)));
        let whole = mine.parts.len() == 1 && a.selected.is_none();
        let infos = [&a, &b].map(|plan| plan.infos.clone());
        let context = Context { path: &mine.path, options, whole, selected: a.selected.is_some(), infos: &infos };
        tree::trees::compare(&a, &b, &context, progress, &mut verdict)?;
        compare_defined(TableKind::Tree, a.selected.as_deref(), &mut verdict)?;
        report_absent(&mine.path, [&a, &b], options.common, &mut verdict);
        if tree.is_none() {
            older_cycles::compare([Some((&first, mine)), Some((&second, other))], options, &mut verdict, progress)?;
        }
    }
    selection.finish()?;
    defines.finish()?;
    keyed.finish()?;
    let is_met = |other: &&SideTree<'_>| pairs.iter().any(|(_, met)| std::ptr::eq(*met, *other));
    for other in theirs.iter().filter(|other| tree.is_none() && !options.common && !is_met(other)) {
        verdict
            .differences
            .push(Difference::of_tree(&other.path, format!("only the second side has {}", other.what())));
    }
    if tree.is_none() {
        compare_objects::compare(&first, &second, options, &mut verdict)?;
    }
    verdict.equal = verdict.differences.is_empty();
    Ok(verdict)
}

/// Compares two tables of which at least one is an RNTuple, with their older cycles.
fn compare_ntuples(
    pair: [(&Side, &SideTree<'_>); 2],
    [options, other_options]: [&VerifyOptions; 2],
    selection: &mut EntrySelection<'_>,
    progress: Progress<'_>,
    verdict: &mut Verdict,
) -> Result<(TableKind, Option<EntrySet>)> {
    let [(first, mine), (second, other)] = pair;
    let kind = if mine.is_ntuple && other.is_ntuple { TableKind::Ntuple } else { TableKind::Mixed };
    let sides = [
        open_table((first, mine), &mine.path, options, Some(selection))?,
        open_table((second, other), &mine.path, other_options, None)?,
    ];
    let selected = sides[0].selected().cloned();
    let fields = kept::compare(&mine.path, pair, &sides, options, verdict)?;
    ntuples::compare((&mine.path, &fields), sides, options, progress, verdict)?;
    if options.tree.is_some() || options.second_tree.is_some() {
        return Ok((kind, selected));
    }
    // Older cycles of a tree may be earlier saves of it.
    match (mine.is_ntuple, other.is_ntuple) {
        (false, true) if other.older.is_empty() => {
            older_cycles::compare([Some((first, mine)), None], options, verdict, progress)?;
            return Ok((kind, selected));
        }
        (true, false) if mine.older.is_empty() => {
            older_cycles::compare([None, Some((second, other))], options, verdict, progress)?;
            return Ok((kind, selected));
        }
        _ => {}
    }
    // An older cycle of an RNTuple is another RNTuple: none is saved before it is whole.
    let [ours, theirs] = [mine.older.len(), other.older.len()];
    verdict.older_cycles += ours.max(theirs) as u64;
    if ours != theirs {
        if !options.common {
            let what = format!("has {ours} older cycles and {theirs}");
            verdict.differences.push(Difference::of_table(&mine.path, TableKind::Ntuple, what));
        }
        return Ok((kind, selected));
    }
    for (rank, (a, b)) in mine.older.iter().zip(other.older).enumerate().rev() {
        let path = format!("{};{}", mine.path, ours - rank);
        let cycle = |parts| SideTree { path: path.clone(), is_ntuple: true, parts, older: &[] };
        let sides = [
            open_table((first, &cycle(a)), &mine.path, options, None)?,
            open_table((second, &cycle(b)), &mine.path, options, None)?,
        ];
        ntuples::compare((&path, &[]), sides, options, progress, verdict)?;
    }
    Ok((kind, selected))
}

/// Opens a tree or an RNTuple. Filters of columns and entries see it under the name `path`.
fn open_table(
    (side, tree): (&Side, &SideTree<'_>),
    path: &str,
    options: &VerifyOptions,
    selection: Option<&mut EntrySelection<'_>>,
) -> Result<SideTable> {
    Ok(match tree.is_ntuple {
        true => SideTable::Ntuple(Box::new(side.open_ntuple(tree, path, options, selection)?)),
        false => {
            let plan = side.plan_tree(tree, path, options, selection)?;
            let infos = plan.infos.clone();
            SideTable::Tree(Box::new(plan), infos)
        }
    })
}

/// Fails if the budget is too small for any of these pairs of trees, before one of them is read. A selection of entries is
/// not resolved yet; each pair is then checked on its own.
fn check_memory(sides: [&Side; 2], pairs: &[(&SideTree<'_>, &SideTree<'_>)], options: &VerifyOptions) -> Result<()> {
    if !options.entries.keeps_all() {
        return Ok(());
    }
    let mut least = 0;
    for (mine, other) in pairs.iter().filter(|(mine, other)| !mine.is_ntuple && !other.is_ntuple) {
        let a = sides[0].plan_tree(mine, &mine.path, options, None)?;
        let b = sides[1].plan_tree(other, &mine.path, options, None)?;
        let infos = [&a, &b].map(|plan| plan.infos.clone());
        let context = Context { path: &mine.path, options, whole: false, selected: false, infos: &infos };
        least = tree::trees::memory(&a, &b, &context).max(least);
    }
    if least > options.budget.memory { Err(options.budget.too_small(least, "")) } else { Ok(()) }
}

/// Reports the branches that could not be compared because their baskets lie in a file that is absent.
fn report_absent(path: &str, plans: [&TablePlan; 2], common: bool, verdict: &mut Verdict) {
    let mut reported = HashSet::new();
    for (name, why) in plans.into_iter().flat_map(|plan| &plan.messages.absent) {
        if !reported.insert(name) {
            continue;
        }
        if common {
            verdict.notes.push(format!("tree {path}: branch {name} is not compared: {why}"));
            continue;
        }
        // A branch that only one side has is reported already, without the reason.
        verdict.differences.retain(|d| d.branch.as_ref() != Some(name) || d.tree.as_deref() != Some(path));
        verdict.differences.push(Difference::of_branch(path, name, format!("cannot be compared: {why}")));
        if let Some(tree) = verdict.trees.iter_mut().find(|tree| tree.path == path) {
            tree.equal = false;
        }
    }
}
