//! Files at URLs that only fsspec knows (`github://`, `simplecache::http://`, `abfs://` ...): read through Python's package, if it is
//! installed. All other URLs are opened without Python.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::types::{PyAnyMethods, PyDict, PyDictMethods};
use pyo3::{Bound, Py, PyAny, PyErr, PyResult, Python};
use rootfile::{Credentials, Error, Result, Source, range_len, read_as_range};

/// Opens a URL, with fsspec if nothing else can. fsspec finds credentials by itself, so it opens nothing that must go without.
pub fn open(url: &str, credentials: Credentials) -> Result<Arc<dyn Source>> {
    if remote::knows(url) {
        return remote::open(url, credentials);
    }
    if credentials == Credentials::None {
        return Err(Error::unsupported(format!(
            "fsspec would open it with the credentials that it finds, and an address from inside a file gets none; {} \
             can be opened without",
            remote::SCHEMES
        )));
    }
    Python::attach(|py| {
        let Ok(fsspec) = py.import("fsspec.core") else {
            // The error names what can be read.
            return remote::open(url, credentials);
        };
        FsspecFile::open(&fsspec, url).map_err(|e| failed_at(py, url, &e)).and_then(remote::with_ends)
    })
}

/// The names of all that is in the folder at a URL.
pub fn list(folder: &str) -> Result<Vec<String>> {
    if remote::knows(folder) {
        return remote::list(folder);
    }
    let listed = |py: Python<'_>| -> PyResult<Vec<String>> {
        let (filesystem, path) = resolve(&py.import("fsspec.core")?.into_any(), folder)?;
        let names: Vec<String> = filesystem.call_method1("ls", (path, false))?.extract()?;
        Ok(names.iter().filter_map(|name| Some(name.trim_end_matches('/').rsplit('/').next()?.to_owned())).collect())
    };
    Python::attach(|py| listed(py).map_err(|e| failed_at(py, folder, &e)))
}

/// A file of an fsspec file system.
struct FsspecFile {
    filesystem: Py<PyAny>,
    path: String,
    size: u64,
    name: PathBuf,
}

impl FsspecFile {
    fn open(fsspec: &Bound<'_, PyAny>, url: &str) -> PyResult<Self> {
        let (filesystem, path) = resolve(fsspec, url)?;
        let size = filesystem.call_method1("size", (&path,))?.extract()?;
        Ok(Self { filesystem: filesystem.unbind(), path, size, name: url.into() })
    }

    fn named(&self, py: Python<'_>, e: &PyErr) -> Error {
        failed(py, e).file(&self.name)
    }
}

impl Source for FsspecFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        read_as_range(self, offset, buf)
    }

    fn name(&self) -> &Path {
        &self.name
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.check_ranges(ranges)?;
        let read = |py: Python<'_>| -> PyResult<Vec<Vec<u8>>> {
            let paths = vec![self.path.as_str(); ranges.len()];
            let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
            let ends: Vec<u64> = ranges.iter().map(|range| range.end).collect();
            let options = PyDict::new(py);
            options.set_item("on_error", "raise")?;
            self.filesystem.bind(py).call_method("cat_ranges", (paths, starts, ends), Some(&options))?.extract()
        };
        let fetched = Python::attach(|py| read(py).map_err(|e| self.named(py, &e)))?;
        let is_whole = |(bytes, range): (&Vec<u8>, &Range<u64>)| bytes.len() == range_len(range);
        match fetched.len() == ranges.len() && fetched.iter().zip(ranges).all(is_whole) {
            true => Ok(fetched),
            false => Err(Error::from(io::Error::from(io::ErrorKind::UnexpectedEof)).file(&self.name)),
        }
    }
}

/// The file system of a URL, and the path there. Paths may have brought options.
fn resolve<'py>(fsspec: &Bound<'py, PyAny>, url: &str) -> PyResult<(Bound<'py, PyAny>, String)> {
    let places = fsspec.py().import("basketry._shared.places")?;
    let options: Bound<'py, PyDict> = places.call_method1("storage_options", (url,))?.extract()?;
    fsspec.call_method("url_to_fs", (url,), Some(&options))?.extract()
}

/// The exception of opening a URL as an error. Where fsspec lacks the protocol, it says which there are.
fn failed_at(py: Python<'_>, url: &str, e: &PyErr) -> Error {
    if e.is_instance_of::<PyValueError>(py) && e.value(py).to_string().starts_with("Protocol not known") {
        return remote::unsupported(url);
    }
    if e.is_instance_of::<PyImportError>(py) {
        return Error::unsupported(format!("fsspec: {}; {} need no package", e.value(py), remote::SCHEMES));
    }
    failed(py, e)
}

/// An exception of Python as an error.
fn failed(py: Python<'_>, e: &PyErr) -> Error {
    let kind = match () {
        () if e.is_instance_of::<pyo3::exceptions::PyFileNotFoundError>(py) => io::ErrorKind::NotFound,
        () if e.is_instance_of::<pyo3::exceptions::PyPermissionError>(py) => io::ErrorKind::PermissionDenied,
        () => io::ErrorKind::Other,
    };
    Error::from(io::Error::new(kind, format!("fsspec: {e}")))
}
