//! Branches whose baskets are in another file than their tree (`TBranch::SetFile`): how that file is found, here or on another
//! machine, and a placeholder for a file that is absent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::tree::Tree;
use rootfile::{Error, Hint, Result, Source, beside, open_source, public_path, url};

use super::schema;
use crate::table::text_list::listed;

/// A branch whose baskets are in an absent file.
pub(crate) struct AbsentBranch {
    /// Its index.
    pub branch: usize,
    /// Its path.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// Placeholder for a file that cannot be opened. Reading from it fails.
struct AbsentFile {
    path: PathBuf,
    why: String,
}

impl Source for AbsentFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> u64 {
        0
    }

    fn read_exact_at(&self, _offset: u64, _buf: &mut [u8]) -> Result<()> {
        Err(Error::request(self.why.clone()))
    }

    fn read(&self, _offset: u64, _len: usize) -> Result<Vec<u8>> {
        Err(Error::request(self.why.clone()))
    }
}

/// The file with a branch's baskets, or a placeholder that fails when it is read.
pub(crate) fn open(own: &Path, external: &str) -> Arc<dyn Source> {
    match find(own, external) {
        Ok(file) => file,
        Err(e) => Arc::new(AbsentFile { path: PathBuf::from(external), why: why(external, &e) }),
    }
}

/// Whether a source is a placeholder for an absent file. A file with baskets is not empty.
pub(crate) fn is_absent(source: &dyn Source) -> bool {
    source.size() == 0
}

/// Opens the file by its recorded name. A relative name counts from the folder of the tree's file (`TBranch::GetFile`), which may
/// be a URL. If it is not there, a file of that name beside the tree's file is used, for files that were moved together.
///
/// # Errors
///
/// Neither file can be opened.
pub fn find(own: &Path, external: &str) -> Result<Arc<dyn Source>> {
    let path = Path::new(external);
    let whole = path.is_absolute() || url(path).is_some();
    let named = if whole { path.to_path_buf() } else { beside(own, path) };
    let moved = beside(own, Path::new(path.file_name().unwrap_or_default()));
    open_source(&named).or_else(|e| if moved == named { Err(e) } else { open_source(&moved).map_err(|_| e) })
}

fn why(external: &str, error: &Error) -> String {
    let external = public_path(Path::new(external));
    format!("its baskets are in another file, {}, which cannot be opened ({error})", external.display())
}

/// The branches of a tree whose baskets are in absent files.
pub(crate) fn absent(tree: &Tree, own: &Path) -> Vec<AbsentBranch> {
    let mut known: Vec<(&str, Option<String>)> = Vec::new();
    let mut found = Vec::new();
    let mut names = Vec::new();
    for (i, branch) in tree.branches.iter().enumerate() {
        // A branch without baskets of its own needs no file.
        if branch.file_name.is_empty() || branch.baskets.iter().all(|basket| basket.seek == 0) {
            continue;
        }
        let external = branch.file_name.as_str();
        if !known.iter().any(|(name, _)| *name == external) {
            known.push((external, find(own, external).err().map(|e| why(external, &e))));
        }
        let Some((_, Some(why))) = known.iter().find(|(name, _)| *name == external) else { continue };
        if names.is_empty() {
            names = schema::paths(tree);
        }
        let name = names.get(i).map(schema::path_text).unwrap_or_default();
        found.push(AbsentBranch { branch: i, name, why: why.clone() });
    }
    found
}

/// The error that names the absent branches, and what to do.
pub(crate) fn refuse(absent: &[AbsentBranch]) -> Error {
    let names: Vec<&str> = absent.iter().map(|branch| branch.name.as_str()).collect();
    let why = absent.first().map_or("", |branch| branch.why.as_str());
    let of = if names.len() == 1 { String::new() } else { format!(" (the same for {})", listed(&names)) };
    let first = names.first().copied().unwrap_or_default();
    Error::request(format!(
        "branch {first}: {why}{of}; put that file beside this one, or leave the branches out with `rewrite --skip-absent`"
    ))
    .hint(Hint::switch("skip-absent"))
}
