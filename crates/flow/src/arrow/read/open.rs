//! Opens data sets.

use std::sync::{Arc, Mutex, OnceLock};

use dataset::decode::{self, ColumnPlan};
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::ntuple::instead_of_tree;
use dataset::tree::is_tree_class;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, FilePool, Key, OPEN_FILES, Result, RootFile};

use super::dataset::Dataset;
use crate::execute::fetch::learn::learn;
use crate::plan::inputs::Input;
use crate::plan::options::{Absent, Pack, PlanOptions, Schema};
use crate::plan::{TableRequest, plan_table};

impl Dataset {
    /// Opens the trees of some inputs: the named trees, or the only tree of a file. All must have the same branches.
    pub fn open(inputs: &[Input]) -> Result<Self> {
        let pool = FilePool::new(OPEN_FILES);
        let mut trees = Vec::with_capacity(inputs.len());
        let mut path = String::new();
        for (number, input) in inputs.iter().enumerate() {
            let file = Arc::new(pool.open(&input.path)?);
            let (found, key) = find_tree(&file, input.tree.as_deref())?;
            if number == 0 {
                path = found;
            }
            trees.push((number, file, key));
        }
        Self::of(inputs.to_vec(), &trees, &path, (&NameFilter::default(), Schema::Strict))
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
        let source = |column: &ColumnPlan| plan.columns.get((*places.get(column.branch())?)?);
        let columns = decode::columns(&plan.tree, &infos)
            .into_iter()
            .map(|column| {
                let source = source(&column);
                learn(column, &plan.tree, &infos, &plan.files, source)
            })
            .collect::<Vec<_>>();
        let paths = inputs.iter().map(|i| i.path.clone()).collect();
        let (path, given, friends) = (path.to_owned(), Mutex::default(), OnceLock::new());
        let mut dataset = Self { inputs, paths, path, plan, columns, places, bytes: Vec::new(), given, friends };
        dataset.bytes =
            (0..dataset.columns.len()).map(|i| dataset.source(i).map_or(0, |c| c.source.tot_bytes)).collect();
        Ok(dataset)
    }
}

/// Path and key of a tree: the named one, or the only one.
pub(crate) fn find_tree(file: &RootFile, wanted: Option<&str>) -> Result<(String, Key)> {
    let (wanted, cycle) = match wanted.and_then(|w| w.rsplit_once(';')) {
        Some((path, cycle)) => (Some(path), cycle.parse::<i16>().ok()),
        None => (wanted, None),
    };
    let walk = file.walk();
    let mut trees: Vec<(String, &Key)> = Vec::new();
    for directory in &walk.directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(file, &key.class)) {
            let path = directory.path_of(&key.name);
            // The newest cycle of a name comes first.
            if cycle.is_none_or(|c| c == key.cycle) && trees.iter().all(|(known, _)| *known != path) {
                trees.push((path, key));
            }
        }
    }
    let named = |e: Error| e.file(file.name());
    let found = match wanted {
        Some(wanted) => trees.iter().find(|(path, _)| path == wanted.trim_matches('/')),
        None => trees.first().filter(|_| trees.len() == 1),
    };
    if let Some((path, key)) = found {
        return Ok((path.clone(), (*key).clone()));
    }
    let meant = |path: &str| wanted.is_none_or(|wanted| path == wanted.trim_matches('/'));
    if let Some(error) = instead_of_tree(file, meant).filter(|_| trees.is_empty() || wanted.is_some()) {
        return Err(error);
    }
    let names = trees.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
    Err(named(Error::request(match (wanted, trees.is_empty()) {
        (_, true) => "has no tree".to_owned(),
        (Some(wanted), _) => format!("has no tree {wanted}; it has {names}"),
        (None, _) => format!("has several trees; name one of {names}, as in FILE:TREE"),
    })))
}
