//! The fileset of a data set: for each file its table, entries, UUID, and the steps in which jobs read it. This is the format that
//! coffea's `preprocess` makes. Only metadata are read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::near::no_such_table;
use dataset::ntuple::{is_ntuple, read_ntuple, read_page_list};
use dataset::table::catalog;
use dataset::tree::clusters::common_boundaries;
use dataset::tree::read_tree;
use rootfile::{Error, FilePool, Key, OPEN_FILES, Result, RootFile, public_path};

use crate::Budget;
use crate::execute::progress::{Progress, tell};
use crate::execute::workers::Workers;

/// Entries of a step, unless others are requested: the chunk size of coffea's Runner.
pub const STEP_SIZE: u64 = 100_000;
/// The table of a file with several, if none is named.
const USUAL: &str = "Events";

/// A file of a data set.
#[derive(Clone, Debug)]
pub struct FilesetInput {
    /// The name of the data set.
    pub dataset: String,
    /// The file.
    pub path: PathBuf,
    /// The path of its tree or RNTuple. None: the only one, or `Events`.
    pub tree: Option<String>,
}

/// Options of a fileset.
#[derive(Clone, Copy, Debug)]
pub struct FilesetOptions {
    /// The fewest entries of a step, all but the last of a file.
    pub step_size: u64,
    /// Whether steps may end within clusters. They then have nearly the same size.
    pub split_clusters: bool,
    /// Whether files that cannot be read are left out.
    pub skip_bad: bool,
    /// Memory and threads.
    pub budget: Budget,
}

impl Default for FilesetOptions {
    fn default() -> Self {
        Self { step_size: STEP_SIZE, split_clusters: false, skip_bad: false, budget: Budget::default() }
    }
}

/// Data sets by name.
pub type Fileset = BTreeMap<String, FilesetDataset>;

/// A data set, in coffea's format.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct FilesetDataset {
    /// Its files by path.
    pub files: BTreeMap<String, FilesetFile>,
    /// The form of its arrays. Always none: readers find it.
    pub form: Option<String>,
    /// Free for users.
    pub metadata: Option<BTreeMap<String, String>>,
}

/// A file of a data set.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FilesetFile {
    /// The path of the tree or RNTuple.
    pub object_path: String,
    /// First entry and end of each step.
    pub steps: Vec<[u64; 2]>,
    /// Entries.
    pub num_entries: u64,
    /// UUID of the file.
    pub uuid: String,
}

/// A file that was left out.
#[derive(Clone, Debug, serde::Serialize)]
pub struct LeftOut {
    /// The name of its data set.
    pub dataset: String,
    /// The file.
    pub path: PathBuf,
    /// Why it cannot be read.
    pub reason: String,
}

/// A fileset, and the files that are not in it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FilesetReport {
    /// Version of the report.
    pub schema: u32,
    /// The data sets in coffea's format.
    pub fileset: Fileset,
    /// Files in it.
    pub files: u64,
    /// Their entries.
    pub entries: u64,
    /// Their steps.
    pub steps: u64,
    /// Files that cannot be read.
    pub skipped: Vec<LeftOut>,
}

/// Makes the fileset of some files. `progress` counts them.
///
/// # Errors
///
/// A file cannot be read, unless such files are skipped, or the work was ended by `progress`.
pub fn fileset(inputs: &[FilesetInput], options: &FilesetOptions, progress: Progress<'_>) -> Result<FilesetReport> {
    let pool = FilePool::new(OPEN_FILES);
    let look = |number: usize| -> Result<Option<Result<FilesetFile>>> {
        let found = inputs.get(number).map(|input| look_at(&pool, input, options));
        tell(progress, 1)?;
        Ok(found)
    };
    let workers = Workers::new("the fileset", options.budget.threads, progress).in_order();
    let found = workers.results(inputs.len(), look)?;
    let mut report =
        FilesetReport { schema: 1, fileset: Fileset::new(), files: 0, entries: 0, steps: 0, skipped: Vec::new() };
    for (input, found) in inputs.iter().zip(found.into_iter().flatten()) {
        let FilesetInput { dataset, path, .. } = input;
        let files = &mut report.fileset.entry(dataset.clone()).or_default().files;
        match found {
            Ok(file) => {
                if files.insert(path.to_string_lossy().into_owned(), file).is_some() {
                    return Err(Error::request(format!("is twice in data set {dataset}")).file(path));
                }
            }
            Err(e) if options.skip_bad => {
                let (dataset, path) = (dataset.clone(), public_path(path).into_owned());
                let reason = e.message(ToString::to_string);
                report.skipped.push(LeftOut { dataset, path, reason });
            }
            Err(e) => return Err(e.file(path)),
        }
    }
    for file in report.fileset.values().flat_map(|dataset| dataset.files.values()) {
        report.files += 1;
        report.entries = report.entries.saturating_add(file.num_entries);
        report.steps += file.steps.len() as u64;
    }
    Ok(report)
}

fn look_at(pool: &Arc<FilePool>, input: &FilesetInput, options: &FilesetOptions) -> Result<FilesetFile> {
    let file = pool.open(&input.path)?;
    file.check_closed()?;
    let (object_path, key) = table(&file, input.tree.as_deref()).map_err(|e| e.file(&input.path))?;
    let (num_entries, starts) = if is_ntuple(&key.class) { ntuple(&file, &key)? } else { tree(&file, &key)? };
    let steps = match options.split_clusters {
        true => even_steps(num_entries, options.step_size),
        false => steps(num_entries, &starts, options.step_size),
    };
    Ok(FilesetFile { object_path, steps, num_entries, uuid: file.header().uuid_text() })
}

/// The table of a file: the named one, the only one, or the usual one.
fn table(file: &RootFile, named: Option<&str>) -> Result<(String, Key)> {
    let tables = catalog::tables(file);
    let mut named_ones = catalog::by_path(&tables);
    let found = match (named, named_ones.as_slice()) {
        (Some(name), _) => catalog::find(&tables, name),
        (None, [only]) => Some(*only),
        (None, _) => catalog::find(&tables, USUAL),
    };
    if let Some(found) = found {
        return Ok((found.path.clone(), found.key.clone()));
    }
    named_ones.sort_by_key(|table| &table.path);
    let names: Vec<&str> = named_ones.iter().map(|table| table.path.as_str()).collect();
    Err(no_such_table(named, &names))
}

/// Entries of a tree, and the entries at which all its branches start a basket.
fn tree(file: &RootFile, key: &Key) -> Result<(u64, Vec<u64>)> {
    let tree = read_tree(file, key)?;
    tree.check_entries()?;
    Ok((tree.entries, common_boundaries(&tree).starts))
}

/// Entries of an RNTuple, and the first entries of its clusters.
fn ntuple(file: &RootFile, key: &Key) -> Result<(u64, Vec<u64>)> {
    let ntuple = read_ntuple(file, key)?;
    let mut starts = Vec::new();
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(&**file.source(), &ntuple, group)?;
        starts.extend(list.clusters.iter().map(|cluster| cluster.first_entry));
    }
    starts.sort_unstable();
    Ok((ntuple.entries(), starts))
}

/// Steps of at least `size` entries that end where clusters end. The last one may be shorter, and an empty table has one
/// empty step, as in coffea.
fn steps(entries: u64, starts: &[u64], size: u64) -> Vec<[u64; 2]> {
    if entries == 0 {
        return vec![[0, 0]];
    }
    let mut steps = Vec::new();
    let mut from = 0;
    for at in starts.iter().copied().filter(|at| *at < entries).chain([entries]) {
        if at > from && (at - from >= size || at == entries) {
            steps.push([from, at]);
            from = at;
        }
    }
    steps
}

/// Steps of nearly the same number of entries, close to `size`, as coffea makes without clusters.
fn even_steps(entries: u64, size: u64) -> Vec<[u64; 2]> {
    if entries == 0 {
        return vec![[0, 0]];
    }
    let size = size.max(1);
    // Half a step more rounds up; coffea rounds halves to even, which differs only there.
    let count = (entries.saturating_add(size / 2) / size).max(1);
    let step = entries.div_ceil(count).max(1);
    let starts = (0..entries.div_ceil(step)).map(|n| n * step);
    starts.map(|from| [from, entries.min(from + step)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_with_clusters() {
        assert_eq!(steps(100, &[0, 30, 60, 90], 1), [[0, 30], [30, 60], [60, 90], [90, 100]]);
        assert_eq!(steps(100, &[0, 30, 60, 90], 50), [[0, 60], [60, 100]]);
        assert_eq!(steps(100, &[0, 30, 60, 90], 90), [[0, 90], [90, 100]]);
        assert_eq!(steps(100, &[0, 30, 60, 90], 1000), [[0, 100]]);
        // Without a common boundary the file is one step.
        assert_eq!(steps(100, &[0], 10), [[0, 100]]);
        assert_eq!(steps(0, &[], 10), [[0, 0]]);
    }

    #[test]
    fn even_steps_have_nearly_the_requested_size() {
        assert_eq!(even_steps(100, 40), [[0, 34], [34, 68], [68, 100]]);
        assert_eq!(even_steps(100, 60), [[0, 50], [50, 100]]);
        assert_eq!(even_steps(10, 100), [[0, 10]]);
        assert_eq!(even_steps(0, 100), [[0, 0]]);
        assert_eq!(even_steps(3, 0), [[0, 1], [1, 2], [2, 3]]);
    }
}
