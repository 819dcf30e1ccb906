//! Opens data sets.

use std::sync::{Arc, Mutex, OnceLock};

use dataset::decode;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::ntuple::is_ntuple;
use dataset::ntuple::table::NtupleTable;
use dataset::table::{TableColumn, TableSchema, is_table_class};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, FilePool, Key, OPEN_FILES, Result, RootFile};

use super::chain::NtupleChain;
use super::dataset::{Dataset, Sources};
use crate::execute::fetch::learn::learn;
use crate::plan::inputs::Input;
use crate::plan::options::{Absent, Pack, PlanOptions, Schema};
use crate::plan::{TableRequest, plan_table};

impl Dataset {
    /// Opens the trees or RNTuples of some inputs: the named ones, or the only one of a file. All must have the same columns.
    pub fn open(inputs: &[Input]) -> Result<Self> {
        let pool = FilePool::new(OPEN_FILES);
        let mut trees = Vec::with_capacity(inputs.len());
        let mut path = String::new();
        for (number, input) in inputs.iter().enumerate() {
            let file = Arc::new(pool.open(&input.path)?);
            let (found, key) = find_table(&file, input.tree.as_deref())?;
            if number == 0 {
                path = found;
            }
            trees.push((number, file, key));
        }
        Self::of(inputs.to_vec(), &trees, &path, (&NameFilter::default(), Schema::Strict))
    }

    /// Opens a tree or RNTuple of a file that is open already.
    ///
    /// # Errors
    ///
    /// As for [`Dataset::open`].
    pub fn of_file(file: &Arc<RootFile>, tree: &str) -> Result<Self> {
        let (path, key) = find_table(file, Some(tree))?;
        Self::of_trees(&[(0, Arc::clone(file), key)], &path, &NameFilter::default(), Schema::Strict)
    }

    /// Opens some branches of trees that are open already. All have this path.
    pub(crate) fn of_trees(
        trees: &[(usize, Arc<RootFile>, Key)],
        path: &str,
        filter: &NameFilter,
        schema: Schema,
    ) -> Result<Self> {
        let input = |file: &RootFile| Input { path: file.name().to_owned(), tree: Some(path.to_owned()) };
        let inputs = trees.iter().map(|(_, file, _)| input(file)).collect();
        Self::of(inputs, trees, path, (filter, schema))
    }

    fn of(
        inputs: Vec<Input>,
        trees: &[(usize, Arc<RootFile>, Key)],
        path: &str,
        (filter, schema): (&NameFilter, Schema),
    ) -> Result<Self> {
        if trees.iter().any(|(.., key)| is_ntuple(&key.class)) {
            return Self::of_ntuples(inputs, trees, path);
        }
        let mut infos = StreamerInfos::new();
        trees.iter().for_each(|(_, file, _)| infos.extend(file.infos()));
        let plan = plan_table(&TableRequest {
            inputs: trees,
            path,
            layout: &Layout::default(),
            filter,
            entries: None,
            options: PlanOptions { schema, absent: Absent::Fail, pack: Pack::No },
        })?;
        let mut places = vec![None; plan.tree.branches.len()];
        for (place, column) in plan.columns.iter().enumerate() {
            if let Some(slot) = places.get_mut(column.branch) {
                *slot = Some(place);
            }
        }
        let columns = decode::columns(&plan.tree, &infos).into_iter().map(|column| {
            let source = places.get(column.branch()).copied().flatten().and_then(|place| plan.columns.get(place));
            TableColumn::Branch(learn(column, &plan.tree, &infos, &plan.files, source))
        });
        Ok(Self {
            paths: inputs.iter().map(|i| i.path.clone()).collect(),
            inputs,
            path: path.to_owned(),
            uuids: uuids(trees),
            columns: columns.collect(),
            schema: TableSchema::Tree(Box::new(plan.tree)),
            sources: Sources::Tree { columns: plan.columns, places },
            files: plan.files,
            input_entries: plan.input_entries,
            bounds: plan.clusters.bounds,
            metadata: plan.metadata,
            given: Mutex::default(),
            friends: OnceLock::new(),
        })
    }

    fn of_ntuples(inputs: Vec<Input>, tables: &[(usize, Arc<RootFile>, Key)], path: &str) -> Result<Self> {
        if let Some((_, file, key)) = tables.iter().find(|(.., key)| !is_ntuple(&key.class)) {
            let message = "is a tree, and the first input is an RNTuple; convert one of them first";
            return Err(Error::request(message).object(key.name.clone()).file(file.name()));
        }
        let opened = tables.iter().map(|(_, file, key)| NtupleTable::open(file, key)).collect::<Result<Vec<_>>>()?;
        let paths: Vec<_> = inputs.iter().map(|i| i.path.clone()).collect();
        let first = opened.first().ok_or_else(|| Error::request("no input"))?;
        let schema = TableSchema::Ntuple {
            name: first.name.clone(),
            title: first.description.clone(),
            schema: Arc::clone(&first.schema),
        };
        let chain = NtupleChain::new(opened, &paths)?;
        Ok(Self {
            inputs,
            paths,
            path: path.to_owned(),
            uuids: uuids(tables),
            columns: chain.plans().iter().cloned().map(TableColumn::Field).collect(),
            files: tables.iter().map(|(_, file, _)| Arc::clone(file.source())).collect(),
            input_entries: chain.entries(),
            bounds: chain.bounds(),
            metadata: chain.memory(),
            sources: Sources::Ntuple { columns: (0..schema.len()).map(|_| OnceLock::new()).collect(), chain },
            schema,
            given: Mutex::default(),
            friends: OnceLock::new(),
        })
    }
}

fn uuids(tables: &[(usize, Arc<RootFile>, Key)]) -> Vec<String> {
    tables.iter().map(|(_, file, _)| file.header().uuid_text()).collect()
}

/// Path and key of a tree or RNTuple: the named one, or the only one. The only tree goes before RNTuples beside it.
pub(crate) fn find_table(file: &RootFile, wanted: Option<&str>) -> Result<(String, Key)> {
    let (wanted, cycle) = match wanted.and_then(|w| w.rsplit_once(';')) {
        Some((path, cycle)) => (Some(path), cycle.parse::<i16>().ok()),
        None => (wanted, None),
    };
    let walk = file.walk();
    let mut tables: Vec<(String, &Key)> = Vec::new();
    for directory in &walk.directories {
        for key in directory.keys.iter().filter(|key| is_table_class(file, &key.class)) {
            let path = directory.path_of(&key.name);
            // The newest cycle of a name comes first.
            if cycle.is_none_or(|c| c == key.cycle) && tables.iter().all(|(known, _)| *known != path) {
                tables.push((path, key));
            }
        }
    }
    let found = match wanted {
        Some(wanted) => tables.iter().find(|(path, _)| path == wanted.trim_matches('/')),
        None => {
            let mut trees = tables.iter().filter(|(_, key)| !is_ntuple(&key.class));
            let only_tree = trees.next().filter(|_| trees.next().is_none());
            only_tree.or_else(|| tables.first().filter(|_| tables.len() == 1))
        }
    };
    if let Some((path, key)) = found {
        return Ok((path.clone(), (*key).clone()));
    }
    let names = tables.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
    let error = Error::request(match (wanted, tables.is_empty()) {
        (_, true) => "has no tree and no RNTuple".to_owned(),
        (Some(wanted), _) => format!("has no tree {wanted}; it has {names}"),
        (None, _) => format!("has several trees; name one of {names}, as in FILE:TREE"),
    });
    Err(error.file(file.name()))
}
