//! The keys of a file, and parsing of file arguments and sizes.

use std::ffi::OsString;
use std::path::PathBuf;

use dataset::layout::ByteSize;
use dataset::table::catalog::container_of;
use flow::inputs::inputs;
use pyo3::{PyResult, Python, pyfunction};
use rootfile::RootFile;

use crate::errors::exception;
use crate::interrupt::listening;

/// A key: path, cycle, class, title, whether it is a tree or an RNTuple, and the offset of its record.
type KeyLine = (String, i16, String, String, bool, u64);

/// All keys of a file, directories included, each directory's before those below it.
#[pyfunction]
pub fn keys(py: Python<'_>, path: PathBuf) -> PyResult<Vec<KeyLine>> {
    listening(py, move |_| {
        let file = RootFile::open(&path)?;
        let walk = file.walk();
        let lines = walk.directories.iter().flat_map(|directory| {
            directory.keys.iter().map(|key| {
                let is_table = container_of(&file, &key.class).is_some();
                (directory.path_of(&key.name), key.cycle, key.class.clone(), key.title.clone(), is_table, key.seek_key)
            })
        });
        Ok(lines.collect())
    })
}

/// UUID, compression setting and ROOT version of a file.
#[pyfunction]
pub fn header(py: Python<'_>, path: PathBuf) -> PyResult<(String, i32, i32)> {
    listening(py, move |_| {
        let file = RootFile::open(&path)?;
        let header = file.header();
        Ok((header.uuid_text(), header.compress, header.version))
    })
}

/// The files and trees of arguments: `FILE`, `FILE:TREE`, patterns, `@list.txt`. Files are texts: a `pathlib.Path` would make
/// `http:/` of `http://`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python hands over")]
pub fn expand(words: Vec<OsString>) -> PyResult<Vec<(OsString, Option<String>)>> {
    let found = inputs(&words).map_err(exception)?;
    Ok(found.into_iter().map(|input| (input.path.into_os_string(), input.tree)).collect())
}

/// Consecutive bins of inputs, of at most `target` each, by their sizes: the first of each bin and the end.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python hands over")]
pub fn bins(sizes: Vec<u64>, target: u64) -> Vec<(usize, usize)> {
    lab::jobs::bins(&sizes, target).into_iter().map(|bin| (bin.start, bin.end)).collect()
}

/// The places of at most `most` of so many items, at even distances from the first to the last.
#[pyfunction]
pub fn evenly_spaced(items: usize, most: usize) -> Vec<usize> {
    lab::math::evenly_spaced(items, most).collect()
}

/// What may be shown of a path: a URL without user, password and parameters.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python hands over")]
pub fn public_path(path: PathBuf) -> String {
    rootfile::public_path(&path).display().to_string()
}

/// What may be shown of a sentence or a name in which URLs and their parameters may stand.
#[pyfunction]
pub fn public_text(text: &str) -> String {
    rootfile::public_text(text).into_owned()
}

/// Text for one line of a terminal: characters that control it, hide, or reverse text are shown as codes, as the command shows them.
#[pyfunction]
pub fn printable(text: &str) -> String {
    rootfile::text::printable(text).into_owned()
}

/// A text of at most so many characters, cut in the middle.
#[pyfunction]
pub fn shortened(text: &str, most: usize) -> String {
    rootfile::text::shortened(text, most).into_owned()
}

/// The bytes of a size such as "100 MB".
#[pyfunction]
pub fn size(text: &str) -> PyResult<u64> {
    Ok(text.parse::<ByteSize>().map_err(exception)?.bytes())
}
