//! Opens data sets.

use std::sync::{Arc, Mutex, OnceLock};

use dataset::decode;
use dataset::glob::NameFilter;
use dataset::layout::{Container, Layout};
use dataset::near::{no_such_parquet_table, no_such_table};
use dataset::ntuple::is_ntuple;
use dataset::ntuple::table::NtupleTable;
use dataset::parquet::ParquetTable;
use dataset::table::{Join, StoredTable, TableSchema, catalog};
use rootfile::{Error, FilePool, Follow, Holder, Key, OPEN_FILES, Result, RootFile, Source, open_source};

use super::chain::NtupleChain;
use super::dataset::{Dataset, Sources};
use super::planned_columns::PlannedColumns;
use super::remembered::Remembered;
use super::trees::TreeTable;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::ntuple::parts::read_parts;
use crate::plan::options::{Absent, Pack, PlanOptions};
use crate::plan::request::{TableInput, TableRequest};
use crate::plan::tree::attached::AliasConflicts;
use crate::plan::tree::{Gaps, plan_table};
use crate::table::tree::added::AddedBranches;

impl Dataset {
    /// Opens the tables of some inputs: the named ones, or the only one of a file. All must have the same columns.
    ///
    /// # Errors
    ///
    /// A file cannot be read or has no such table, or the tables have other columns.
    pub fn open(inputs: &[Input]) -> Result<Self> {
        Self::open_following(inputs, Follow::default())
    }

    /// Opens them, and follows addresses in their files so far: those of friends and of baskets in other files, when these are read.
    ///
    /// # Errors
    ///
    /// As for [`Dataset::open`].
    pub fn open_following(inputs: &[Input], follow: Follow) -> Result<Self> {
        if Format::are_parquet(inputs.iter().map(|input| input.path.as_path()))? {
            return Self::of_whole_parquet(inputs, u64::MAX);
        }
        Self::of_opened(inputs, open_files(inputs, follow)?, PlanOptions { is_read: true, ..PlanOptions::default() })
    }

    /// The trees or RNTuples of inputs whose files are open.
    pub(super) fn of_opened(inputs: &[Input], files: Vec<Arc<RootFile>>, joining: PlanOptions) -> Result<Self> {
        let mut trees = Vec::with_capacity(inputs.len());
        let mut path = String::new();
        for (number, (input, file)) in inputs.iter().zip(files).enumerate() {
            let (found, key) = find_table(&file, input.tree.as_deref())?;
            if number == 0 {
                path = found;
            }
            trees.push((number, file, key));
        }
        Self::of(inputs.to_vec(), &trees, &path, (&NameFilter::default(), joining), (false, None))
    }

    /// Opens a tree or RNTuple of a file that is open already.
    ///
    /// # Errors
    ///
    /// As for [`Dataset::open`].
    pub fn of_file(file: &Arc<RootFile>, tree: &str) -> Result<Self> {
        let (path, key) = find_table(file, Some(tree))?;
        Self::of_trees(&[(0, Arc::clone(file), key)], &path, &NameFilter::default(), PlanOptions::default())
    }

    /// Opens some branches of trees that are open already. All have this path.
    pub(crate) fn of_trees(
        trees: &[TableInput],
        path: &str,
        filter: &NameFilter,
        joining: PlanOptions,
    ) -> Result<Self> {
        // Its entries are read next.
        Self::of(inputs_of(trees, path), trees, path, (filter, joining), (true, None))
    }

    /// The same for a request: the branches that it adds are there as well.
    pub(crate) fn of_request(request: &TableRequest<'_>) -> Result<Self> {
        let TableRequest { inputs, path, filter, options, added, .. } = *request;
        Self::of(inputs_of(inputs, path), inputs, path, (filter, options), (true, added))
    }

    fn of(
        inputs: Vec<Input>,
        trees: &[TableInput],
        path: &str,
        (filter, joining): (&NameFilter, PlanOptions),
        (looks_elsewhere, added): (bool, Option<&AddedBranches>),
    ) -> Result<Self> {
        if trees.iter().any(|(.., key)| is_ntuple(&key.class)) {
            return Self::of_ntuples(inputs, trees, path, filter, joining);
        }
        let (layout, entries) = (&Layout::default(), None);
        let options = PlanOptions { absent: Absent::Fail, pack: Pack::No, ..joining };
        let request = TableRequest { inputs: trees, path, layout, filter, entries, options, added, order: None };
        let plan = plan_table(&request, Gaps::Keep)?;
        let infos = Arc::new(plan.infos);
        let mut places = vec![None; plan.tree.branches.len()];
        for (place, column) in plan.columns.iter().enumerate() {
            if let Some(slot) = places.get_mut(column.branch) {
                *slot = Some(place);
            }
        }
        // Opening a table opens no file that is named in it. Its own file is the first of each input.
        let is_own = |file: usize| {
            let before = file.checked_sub(1).and_then(|before| plan.file_inputs.get(before));
            before.is_none_or(|before| plan.file_inputs.get(file) != Some(before))
        };
        let table = TreeTable {
            columns: PlannedColumns::of(decode::column_branches(&plan.tree).collect()),
            schema: TableSchema::Tree(Box::new(plan.tree)),
            infos: Arc::clone(&infos),
            may_learn: (0..plan.files.len()).map(|file| looks_elsewhere || is_own(file)).collect(),
            files: plan.files.clone(),
            sources: plan.columns,
            places,
            bounds: plan.clusters.bounds,
            memory: plan.metadata,
            nodes_before: 0,
        };
        let opened = Self::of_sources(Sources::Trees(Box::new(table)), plan.files, path);
        let (uuids, holders) = of_files(trees);
        let (joining_notes, alias_conflicts) = (plan.messages.notes, plan.messages.alias_conflicts);
        let input_entries = plan.input_entries;
        Ok(Self { infos, input_entries, alias_conflicts, joining_notes, uuids, holders, ..opened }.with_inputs(inputs))
    }

    /// RNTuples: for readers, or several of them as a merge joins them.
    fn of_ntuples(
        inputs: Vec<Input>,
        tables: &[TableInput],
        path: &str,
        filter: &NameFilter,
        joining: PlanOptions,
    ) -> Result<Self> {
        if let Some((_, file, key)) = tables.iter().find(|(.., key)| !is_ntuple(&key.class)) {
            return Err(mixed_containers(Container::Ttree).object(key.name.clone()).file(file.name()));
        }
        let (chain, files, input_entries) = if joining.is_read || tables.len() < 2 && !joining.prunes {
            let opened =
                tables.iter().map(|(_, file, key)| NtupleTable::open(file, key)).collect::<Result<Vec<_>>>()?;
            let paths: Vec<_> = inputs.iter().map(|i| i.path.clone()).collect();
            let chain = NtupleChain::new(opened, &paths, joining.schema)?;
            let input_entries = chain.entries();
            (chain, tables.iter().map(|(_, file, _)| Arc::clone(file.source())).collect(), input_entries)
        } else {
            let parts = read_parts(tables)?;
            // A merge has no part for an input without entries.
            let input_entries = parts.iter().map(|part| part.ntuple.entries()).collect();
            let (chain, files) = NtupleChain::merged(parts, path, filter, joining)?;
            (chain, files, input_entries)
        };
        let opened = Self::of_sources(Sources::of(Box::new(chain)), files, path);
        let (uuids, holders) = of_files(tables);
        Ok(Self { input_entries, uuids, holders, ..opened }.with_inputs(inputs))
    }

    /// Opens the columns of Parquet files that `keeps` names, given the path of the table and the name of a column. Returns those that are
    /// left out as well. Of `memory` bytes their metadata may take a part.
    ///
    /// # Errors
    ///
    /// As for [`ParquetTable::open`], and if another table is named than the one of the files.
    pub(crate) fn of_parquet(
        inputs: &[Input],
        keeps: &dyn Fn(&str, &str) -> bool,
        join: Join,
        memory: u64,
    ) -> Result<(Self, Vec<String>)> {
        let files = inputs.iter().map(|input| open_source(&input.path)).collect::<Result<Vec<_>>>()?;
        let table = ParquetTable::open(&files, keeps, join, memory)?;
        let own = table.schema().names().0;
        let mut named = inputs.iter().filter_map(|input| Some((input, input.tree.as_deref()?)));
        if let Some((input, wanted)) = named.find(|(_, wanted)| *wanted != own) {
            return Err(no_such_parquet_table(wanted, own).file(&input.path));
        }
        let (input_entries, uuids) = (table.entries(), vec![String::new(); files.len()]);
        let left_out = table.left_out().to_vec();
        let opened = Self::of_table(Box::new(table), files);
        Ok((Self { input_entries, uuids, ..opened }.with_inputs(inputs.to_vec()), left_out))
    }

    /// Opens Parquet files, which must all have the same columns. Of `memory` bytes their metadata may take a part.
    pub(crate) fn of_whole_parquet(inputs: &[Input], memory: u64) -> Result<Self> {
        Ok(Self::of_parquet(inputs, &|_, _| true, Join::Strict, memory)?.0)
    }

    /// A table of any container as a data set, with the files that its pieces are in, by their numbers.
    pub fn of_table(table: Box<dyn StoredTable>, files: Vec<Arc<dyn Source>>) -> Self {
        let path = table.schema().names().0.to_owned();
        Self::of_sources(Sources::of(table), files, &path)
    }

    fn of_sources(sources: Sources, files: Vec<Arc<dyn Source>>, path: &str) -> Self {
        let table = sources.table();
        let bounds = table.clusters();
        Self {
            inputs: Vec::new(),
            paths: Vec::new(),
            path: path.to_owned(),
            uuids: Vec::new(),
            alias_conflicts: AliasConflicts::new(),
            joining_notes: Vec::new(),
            infos: Arc::default(),
            files,
            input_entries: bounds.last().copied().into_iter().collect(),
            metadata: table.memory().saturating_add((bounds.len() * size_of::<u64>()) as u64),
            bounds,
            sources,
            holders: Vec::new(),
            given: Mutex::default(),
            friends: OnceLock::new(),
            remembered: Remembered::default(),
        }
    }

    fn with_inputs(self, inputs: Vec<Input>) -> Self {
        Self { paths: inputs.iter().map(|input| input.path.clone()).collect(), inputs, ..self }
    }
}

/// The error for a table of this container among inputs of the other one.
pub(crate) fn mixed_containers(here: Container) -> Error {
    Error::differs(match here {
        Container::Ttree => {
            "is a tree, and other inputs are RNTuples; `basketry rewrite --container rntuple` makes an RNTuple of it"
        }
        Container::Rntuple => {
            "is an RNTuple, and other inputs are trees; `basketry rewrite --container ttree` makes a tree of it"
        }
    })
}

/// Opens the files of some inputs.
pub(super) fn open_files(inputs: &[Input], follow: Follow) -> Result<Vec<Arc<RootFile>>> {
    let pool = FilePool::following(OPEN_FILES, follow);
    inputs.iter().map(|input| pool.open(&input.path).map(Arc::new)).collect()
}

/// The UUIDs of the files of some tables, and the files as those that name others.
fn of_files(tables: &[TableInput]) -> (Vec<String>, Vec<Holder>) {
    tables.iter().map(|(_, file, _)| (file.header().uuid_text(), file.holder())).unzip()
}

/// Path and key of a tree or RNTuple: the named one, or the [only](catalog::only) one.
pub(crate) fn find_table(file: &RootFile, wanted: Option<&str>) -> Result<(String, Key)> {
    let tables = catalog::tables(file);
    let found = match wanted {
        Some(wanted) => catalog::find(&tables, wanted),
        None => catalog::only(&tables),
    };
    if let Some(found) = found {
        return Ok((found.path.clone(), found.key.clone()));
    }
    let names: Vec<&str> = catalog::by_path(&tables).into_iter().map(|table| table.path.as_str()).collect();
    Err(no_such_table(wanted, &names).file(file.name()))
}

/// The inputs of tables that are open already. All have this path.
fn inputs_of(trees: &[TableInput], path: &str) -> Vec<Input> {
    let input = |file: &RootFile| Input { path: file.name().to_owned(), tree: Some(path.to_owned()) };
    trees.iter().map(|(_, file, _)| input(file)).collect()
}
