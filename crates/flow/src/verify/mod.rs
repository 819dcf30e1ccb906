//! Says whether two sides have equal content, whatever their layout: schema and entry bytes of every tree, and
//! all other objects. Entries are compared as bytes, so branches of any class can be; only columns that are split or
//! streamed otherwise on the two sides are decoded, and compared by value.

mod columns;
pub(crate) mod cycles;
mod entries;
mod members;
mod objects;
mod older;
mod reshaped;
mod tasks;
mod trees;
mod values;
mod verdict;
mod wholes;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::ntuple::is_ntuple;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, FilePool, Key, Result, RootFile};

pub(crate) use crate::verify::columns::{Pair, equal_within};
pub use crate::verify::verdict::{Difference, TreeVerdict, Verdict};

use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::inner;
use crate::objects::damage::refuse_where;
use crate::objects::plan::plan_sound;
use crate::objects::{ObjectPlan, Part};
use crate::plan::options::{Absent, Pack, Schema};
use crate::plan::{TablePlan, TableRequest, plan_table};
use crate::select::choosing::Choosing;
use crate::select::condition::Table;
use crate::select::entries::EntryFilter;
use crate::table::entry_set::Selected;

/// What is to be compared.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Only this tree of the first side, by its path, and nothing else.
    pub tree: Option<String>,
    /// What that tree is called on the second side, if not the same.
    pub second_tree: Option<String>,
    /// Branches to compare, on both sides.
    pub filter: NameFilter,
    /// Entries of the first side, which must be all that the second side has.
    pub entries: EntryFilter,
    /// Only what both sides have is compared: the second was slimmed on purpose.
    pub common: bool,
    /// How the inputs of the first side were put together where their schemas differ.
    pub schema: Schema,
    /// Memory and threads.
    pub budget: Budget,
}

/// One side: a file, or several that are taken as one.
struct Side {
    files: Vec<Arc<RootFile>>,
    plan: ObjectPlan,
}

/// A tree of a side.
struct TreePlace<'a> {
    path: String,
    parts: &'a [Part],
    /// Older cycles, the second newest first.
    older: &'a [Vec<Part>],
}

impl Side {
    fn open(paths: &[PathBuf], tree: Option<&str>) -> Result<Self> {
        let pool = FilePool::new(rootfile::OPEN_FILES);
        let files = paths.iter().map(|path| open(&pool, path, tree.is_none())).collect::<Result<Vec<_>>>()?;
        // Damage elsewhere does not matter to who asks for one tree.
        let leads_to_it = |path: &str| {
            let below = |tree: &str| path.is_empty() || tree == path || tree.starts_with(&format!("{path}/"));
            tree.is_none_or(below)
        };
        let plan = plan_sound(&files, |file, walk, notes| refuse_where(file, walk, notes, leads_to_it))?;
        Ok(Self { files, plan })
    }

    /// The trees in it, or the only one asked for.
    fn trees(&self, only: Option<&str>) -> Result<Vec<TreePlace<'_>>> {
        let all = self.plan.trees().map(|(directory, entry, parts)| {
            let directory = self.plan.directories.get(directory).map_or("", |d| d.path.as_str());
            TreePlace { path: path_of(directory, &entry.name), parts, older: &entry.older }
        });
        let mut trees: Vec<_> = all.collect();
        let Some(only) = only else { return Ok(trees) };
        let all: Vec<String> = trees.iter().map(|tree| tree.path.clone()).collect();
        trees.retain(|tree| tree.path == only);
        match (trees.is_empty(), self.files.first()) {
            (true, Some(file)) => {
                Err(Error::request(format!("no tree {only}; there are: {}", all.join(", "))).file(file.name()))
            }
            _ => Ok(trees),
        }
    }

    /// The columns of a tree; `path` is its name where branches are chosen. Entries are chosen where that is asked.
    fn list(
        &self,
        tree: &TreePlace<'_>,
        path: &str,
        options: &VerifyOptions,
        choosing: Option<&mut Choosing<'_>>,
    ) -> Result<TablePlan> {
        let inputs = tree.parts.iter().map(|part| self.locate(*part)).collect::<Result<Vec<_>>>()?;
        let table = Table { inputs: &inputs, path, schema: options.schema, budget: options.budget };
        let wanted = choosing.map(|choosing| choosing.of(&table)).transpose()?.unwrap_or_default();
        let chosen = |all: u64| wanted.of(all);
        let planned = plan_table(&TableRequest {
            inputs: &inputs,
            path,
            layout: &Layout::default(),
            filter: &options.filter,
            entries: (!wanted.is_all()).then_some(&chosen as &dyn Fn(u64) -> Result<Selected>),
            pack: Pack::No,
            schema: options.schema,
            absent: Absent::LeaveOut,
        });
        let mut plan = planned.map_err(|e| e.object(tree.path.clone()))?;
        if let Some(source) = plan.files.first() {
            inner::by_content(&mut plan.tree.graph, &**source);
        }
        Ok(plan)
    }

    /// What describes the classes in a tree.
    fn infos(&self, tree: &TreePlace<'_>) -> StreamerInfos {
        let mut infos = StreamerInfos::new();
        let files = tree.parts.iter().filter_map(|part| self.files.get(part.file as usize));
        files.for_each(|file| infos.extend(file.infos()));
        infos
    }

    fn locate(&self, part: Part) -> Result<(usize, Arc<RootFile>, Key)> {
        let file = self.files.get(part.file as usize).ok_or_else(no_file)?;
        let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
        Ok((part.file as usize, Arc::clone(file), key))
    }
}

#[cold]
fn no_file() -> Error {
    Error::request("a file that is not there")
}

fn path_of(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Says which branches could not be compared, since their baskets lie in a file that is absent.
fn absent(path: &str, plans: [&TablePlan; 2], common: bool, verdict: &mut Verdict) {
    let mut told = HashSet::new();
    for (name, why) in plans.into_iter().flat_map(|plan| &plan.absent) {
        if !told.insert(name) {
            continue;
        }
        if common {
            verdict.notes.push(format!("tree {path}: branch {name} is not compared: {why}"));
            continue;
        }
        // What is only there on one side is known already, but not why.
        verdict.differences.retain(|d| d.branch.as_ref() != Some(name) || d.tree.as_deref() != Some(path));
        verdict.differences.push(Difference::of_branch(path, name, format!("cannot be compared: {why}")));
        if let Some(tree) = verdict.trees.iter_mut().find(|tree| tree.path == path) {
            tree.equal = false;
        }
    }
}

/// Opens a file that is whole, and has nothing in it that cannot be compared.
fn open(pool: &Arc<FilePool>, path: &Path, with_objects: bool) -> Result<Arc<RootFile>> {
    let file = pool.open(path)?;
    if file.recovered() && file.header().end > file.source().size() {
        return Err(Error::corrupt("the file is cut short").file(path));
    }
    let walk = file.walk();
    let mut keys = walk.directories.iter().flat_map(|d| d.keys.iter().map(move |key| (d, key)));
    match keys.find(|(_, key)| with_objects && is_ntuple(&key.class)) {
        // Its record only says where the content lies.
        Some((directory, key)) => {
            Err(Error::unsupported("is an RNTuple, which cannot be compared; trees can, one at a time, with --tree")
                .object(directory.path_of(&key.name))
                .file(path))
        }
        None => Ok(Arc::new(file)),
    }
}

/// Refuses a budget that is too small for any of these pairs of trees before one of them is read. What entries are chosen
/// is not known yet; where they are, each pair is judged when its turn comes.
fn weigh(sides: [&Side; 2], pairs: &[(&TreePlace<'_>, &TreePlace<'_>)], options: &VerifyOptions) -> Result<()> {
    if !options.entries.entries.is_empty() || !options.entries.conditions.is_empty() {
        return Ok(());
    }
    let mut least = 0;
    for (mine, other) in pairs {
        let [a, b] =
            [(sides[0], mine), (sides[1], other)].map(|(side, tree)| side.list(tree, &mine.path, options, None));
        let infos = [sides[0].infos(mine), sides[1].infos(other)];
        let job = trees::Context {
            path: &mine.path,
            options,
            whole: false,
            chosen: false,
            infos: &infos,
            progress: &crate::execute::progress::unwatched,
            only_weighed: true,
        };
        least = trees::compare(&a?, &b?, &job, &mut Verdict::default())?.max(least);
    }
    if least > options.budget.memory { Err(options.budget.too_small(least, "")) } else { Ok(()) }
}

/// Compares `inputs`, one after the other, with `output`. Differences are no error; what cannot be read is.
pub fn verify(inputs: &[PathBuf], output: &Path, options: &VerifyOptions, progress: Progress<'_>) -> Result<Verdict> {
    if inputs.is_empty() {
        return Err(Error::request("no input"));
    }
    let tree = options.tree.as_deref().or(options.second_tree.as_deref());
    let second_tree = options.second_tree.as_deref().or(tree);
    let first = Side::open(inputs, tree)?;
    let second = Side::open(&[output.to_path_buf()], second_tree)?;
    let (ours, theirs) = (first.trees(tree)?, second.trees(second_tree)?);
    let mut verdict = Verdict::default();
    verdict.notes.extend(first.plan.notes.iter().chain(&second.plan.notes).map(ToString::to_string));
    let mut choosing = Choosing::new(&options.entries);
    if tree.is_none() {
        objects::directories(&first, &second, options.common, &mut verdict);
    }
    let same = |mine: &TreePlace<'_>| theirs.iter().find(|t| tree.is_some() || t.path == mine.path);
    let pairs: Vec<_> = ours.iter().filter_map(|mine| Some((mine, same(mine)?))).collect();
    if let [_, _, ..] = pairs.as_slice() {
        weigh([&first, &second], &pairs, options)?;
    }
    for mine in &ours {
        let Some(other) = same(mine) else {
            if !options.common {
                verdict.differences.push(Difference::of_tree(&mine.path, "only the first side has this tree"));
                older::compare([Some((&first, mine)), None], options, &mut verdict, progress)?;
            }
            continue;
        };
        let a = first.list(mine, &mine.path, options, Some(&mut choosing))?;
        let b = second.list(other, &mine.path, options, None)?;
        let whole = mine.parts.len() == 1 && a.selected.is_none();
        let infos = [first.infos(mine), second.infos(other)];
        let chosen = a.selected.is_some();
        let only_weighed = false;
        let job = trees::Context { path: &mine.path, options, whole, chosen, infos: &infos, progress, only_weighed };
        trees::compare(&a, &b, &job, &mut verdict)?;
        absent(&mine.path, [&a, &b], options.common, &mut verdict);
        if tree.is_none() {
            older::compare([Some((&first, mine)), Some((&second, other))], options, &mut verdict, progress)?;
        }
    }
    choosing.finish()?;
    for other in theirs.iter().filter(|t| tree.is_none() && !options.common && !ours.iter().any(|o| o.path == t.path)) {
        verdict.differences.push(Difference::of_tree(&other.path, "only the second side has this tree"));
    }
    if tree.is_none() {
        objects::compare(&first, &second, options, &mut verdict)?;
    }
    verdict.equal = verdict.differences.is_empty();
    Ok(verdict)
}
