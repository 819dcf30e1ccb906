//! One side of a comparison: its files, the plan of its objects, its trees as plans of columns, and its RNTuples.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::near::no_such_table;
use dataset::table::catalog::tables;
use objects::{ObjectLocation, ObjectPlan, inner_trees, plan_objects_with, refuse_damage_in};
use rootfile::{Error, FilePool, Follow, Hint, Key, Result, RootFile};

use super::ntuple_side::NtupleSide;
use super::options::VerifyOptions;
use crate::arrow::read::Dataset;
use crate::execute::order::Order;
use crate::keys::tree::index_lines;
use crate::plan::options::{Absent, PlanOptions};
use crate::plan::request::TableRequest;
use crate::plan::tree::kept::{JoinedKept, KeptLists};
use crate::plan::tree::{Gaps, TablePlan, plan_indexed_table};
use crate::select::{EntrySelection, SourceTree, TreeSelection};

/// One side: a file, or several that count as one.
pub(super) struct Side {
    pub files: Vec<Arc<RootFile>>,
    pub plan: ObjectPlan,
    /// What is kept of trees beside RNTuples.
    pub kept: KeptLists,
}

/// A tree or RNTuple of a side.
pub(super) struct SideTree<'a> {
    pub path: String,
    pub is_ntuple: bool,
    pub parts: &'a [ObjectLocation],
    /// Older cycles, the second newest first.
    pub older: &'a [Vec<ObjectLocation>],
}

impl SideTree<'_> {
    /// What it is, in messages.
    pub fn what(&self) -> &'static str {
        if self.is_ntuple { "this RNTuple" } else { "this tree" }
    }
}

impl Side {
    pub fn open(paths: &[PathBuf], tree: Option<&str>, follow: Follow) -> Result<Self> {
        let pool = FilePool::following(rootfile::OPEN_FILES, follow);
        let files = paths.iter().map(|path| open(&pool, path, tree.is_none())).collect::<Result<Vec<_>>>()?;
        // If one tree is compared, damage elsewhere does not matter.
        let leads_to_tree = |path: &str| {
            let below = |tree: &str| {
                // A cycle of it, or what lies in it.
                let inside = |rest: &str| rest.is_empty() || rest.starts_with([';', '/']);
                path.is_empty() || tree.strip_prefix(path).is_some_and(inside)
            };
            tree.is_none_or(below)
        };
        let mut plan =
            plan_objects_with(&files, |file, walk, notes| refuse_damage_in(file, walk, notes, leads_to_tree))?;
        let kept = KeptLists::take(&mut plan, &files);
        Ok(Self { files, plan, kept })
    }

    /// All trees and RNTuples, or those of this path: it may be that of a tree and of an RNTuple. A path with a cycle (`dir/tree;2`) is
    /// that cycle.
    pub fn trees(&self, only: Option<&str>) -> Result<Vec<SideTree<'_>>> {
        let trees = self.plan.trees().map(|tree| (tree, false));
        let all = trees.chain(self.plan.ntuples().map(|ntuple| (ntuple, true)));
        let trees: Vec<SideTree<'_>> = all
            .map(|((directory, entry, parts), is_ntuple)| {
                let directory = self.plan.directories.get(directory).map_or("", |d| d.path.as_str());
                SideTree { path: path_of(directory, &entry.name), is_ntuple, parts, older: &entry.older }
            })
            .collect();
        let Some(only) = only else { return Ok(trees) };
        let all: Vec<String> = trees.iter().map(|tree| tree.path.clone()).collect();
        let mut found = Vec::new();
        for tree in trees {
            match only.strip_prefix(tree.path.as_str()) {
                Some("") => found.push(tree),
                Some(rest) => found.extend(self.cycle_of(tree, rest)?),
                None => {}
            }
        }
        match (found.is_empty(), self.files.first()) {
            (true, Some(file)) => {
                let names: Vec<&str> = all.iter().map(String::as_str).collect();
                Err(no_such_table(Some(only), &names).file(file.name()))
            }
            _ => Ok(found),
        }
    }

    /// The cycle of a tree that is written behind its path, `;2`.
    fn cycle_of<'a>(&self, tree: SideTree<'a>, written: &str) -> Result<Option<SideTree<'a>>> {
        let Some(wanted) = written.strip_prefix(';').and_then(|cycle| cycle.parse::<i16>().ok()) else {
            return Ok(None);
        };
        for parts in std::iter::once(tree.parts).chain(tree.older.iter().map(Vec::as_slice)) {
            for part in parts {
                let (_, _, key) = self.locate(*part)?;
                if key.cycle == wanted {
                    return Ok(Some(SideTree { parts, older: &[], ..tree }));
                }
            }
        }
        Ok(None)
    }

    /// Plans the columns of a tree. Filters of branches and entries see it under the name `path`.
    pub fn plan_tree(
        &self,
        tree: &SideTree<'_>,
        path: &str,
        options: &VerifyOptions,
        selection: Option<&mut EntrySelection<'_>>,
    ) -> Result<TablePlan> {
        let inputs = tree.parts.iter().map(|part| self.locate(*part)).collect::<Result<Vec<_>>>()?;
        let source = SourceTree { inputs: &inputs, path, joining: options.joining(), budget: options.budget };
        let selected = selection.map(|selection| selection.for_tree(&source)).transpose()?.unwrap_or_default();
        Self::planned(tree, &source, options, &selected, None)
    }

    /// Plans the columns of a tree with the rows of an order.
    pub fn plan_ordered(
        &self,
        tree: &SideTree<'_>,
        path: &str,
        options: &VerifyOptions,
        order: &Arc<Order>,
    ) -> Result<TablePlan> {
        let inputs = tree.parts.iter().map(|part| self.locate(*part)).collect::<Result<Vec<_>>>()?;
        let source = SourceTree { inputs: &inputs, path, joining: options.joining(), budget: options.budget };
        Self::planned(tree, &source, options, &TreeSelection::default(), Some(order))
    }

    fn planned(
        tree: &SideTree<'_>,
        source: &SourceTree<'_>,
        options: &VerifyOptions,
        selected: &TreeSelection,
        order: Option<&Arc<Order>>,
    ) -> Result<TablePlan> {
        let SourceTree { inputs, path, .. } = *source;
        let entries = |all: u64| selected.entries(all);
        let make_index = |place: usize, expressions: &[String; 2]| {
            let inputs = inputs.get(place..=place).unwrap_or_default();
            index_lines(&SourceTree { inputs, ..*source }, expressions)
        };
        let layout = Layout::default();
        let request = TableRequest {
            inputs,
            path,
            layout: &layout,
            filter: &options.filter,
            entries: (!selected.is_all()).then_some(&entries as &dyn Fn(u64) -> Result<EntrySet>),
            options: PlanOptions { absent: Absent::LeaveOut, ..options.joining() },
            added: None,
            order,
        };
        let planned = plan_indexed_table(&request, Gaps::Compare, Some(&make_index));
        let mut plan = planned.map_err(|e| e.object(tree.path.clone()))?;
        if let Some(source) = plan.files.first() {
            inner_trees::hash_baskets(&mut plan.tree.graph, &**source);
        }
        Ok(plan)
    }

    /// Opens an RNTuple. Filters of fields and entries see it under the name `path`.
    pub fn open_ntuple(
        &self,
        tree: &SideTree<'_>,
        path: &str,
        options: &VerifyOptions,
        selection: Option<&mut EntrySelection<'_>>,
    ) -> Result<NtupleSide> {
        let inputs = tree.parts.iter().map(|part| self.locate(*part)).collect::<Result<Vec<_>>>()?;
        let source = SourceTree { inputs: &inputs, path, joining: options.joining(), budget: options.budget };
        let selected = selection.map(|selection| selection.for_tree(&source)).transpose()?.unwrap_or_default();
        let mut side = NtupleSide::open(&inputs, path, &options.filter, options.schema)?;
        if !selected.is_all() {
            side.selected = Some(Arc::new(selected.entries(side.table.entries())?));
        }
        Ok(side)
    }

    /// Opens some columns of a tree or an RNTuple, which filters see under the name `path`.
    pub fn open_columns(
        &self,
        tree: &SideTree<'_>,
        path: &str,
        options: &VerifyOptions,
        filter: &NameFilter,
    ) -> Result<Dataset> {
        let inputs = tree.parts.iter().map(|part| self.locate(*part)).collect::<Result<Vec<_>>>()?;
        let joining = PlanOptions { prunes: true, ..options.joining() };
        SourceTree { inputs: &inputs, path, joining, budget: options.budget }.open(filter)
    }

    /// What is kept of the trees from which the inputs of an RNTuple were made.
    pub fn kept(&self, tree: &SideTree<'_>) -> Result<JoinedKept> {
        if !tree.is_ntuple {
            return Ok(JoinedKept::default());
        }
        let inputs = tree.parts.iter().map(|part| self.locate(*part)).collect::<Result<Vec<_>>>()?;
        self.kept.join(&tree.path, &inputs, false)
    }

    pub fn locate(&self, part: ObjectLocation) -> Result<(usize, Arc<RootFile>, Key)> {
        let file = self.files.get(part.file as usize).ok_or_else(no_file)?;
        let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
        Ok((part.file as usize, Arc::clone(file), key))
    }
}

#[cold]
pub(super) fn no_file() -> Error {
    Error::request("no such file among the inputs")
}

pub(super) fn path_of(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Opens a file. Fails if the file is cut short, or holds an object that cannot be compared.
fn open(pool: &Arc<FilePool>, path: &Path, with_objects: bool) -> Result<Arc<RootFile>> {
    let file = pool.open(path)?;
    file.check_length()?;
    let tables = if with_objects { tables(&file) } else { Vec::new() };
    match tables.into_iter().find(|table| table.is_unreleased()) {
        // The record of an RNTuple holds positions only.
        Some(table) => {
            let message = "is an RNTuple of a pre-release format, which cannot be compared; other trees and RNTuples can, \
                           one at a time, with --tree";
            let error = Error::unsupported(message).hint(Hint::named("tree"));
            Err(error.object(table.path).file(path))
        }
        None => Ok(Arc::new(file)),
    }
}
