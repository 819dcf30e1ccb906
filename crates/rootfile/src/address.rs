//! Where a file is: a path, or the URL of a file on another machine. This crate opens paths only; who can fetch from
//! elsewhere registers an opener for URLs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::descriptors::PooledFile;
use crate::source::Source;
use crate::url::url;
use crate::{Error, Result};

/// Whose credentials requests for a file carry: tokens, keys, certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Credentials {
    /// Those of the user, who named the file.
    #[default]
    Users,
    /// None: the address comes from inside another file, so whoever wrote that file chose the server.
    None,
}

/// Opens the file at a URL, with or without the user's credentials.
pub type UrlOpener = fn(&str, Credentials) -> Result<Arc<dyn Source>>;

/// The names of all that is in the folder at a URL.
pub type UrlLister = fn(&str) -> Result<Vec<String>>;

static CALLS: OnceLock<(UrlOpener, UrlLister)> = OnceLock::new();

/// Open files on other machines that the next to open their URLs takes over.
static HANDED_OVER: Mutex<Vec<(String, Arc<dyn Source>)>> = Mutex::new(Vec::new());

fn handed_over() -> MutexGuard<'static, Vec<(String, Arc<dyn Source>)>> {
    // The list is consistent after every call, so a panic elsewhere does not matter.
    HANDED_OVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves an open file on another machine to the next that opens its URL with the user's credentials, so that a look before the work
/// costs no second opening. A file on this machine is not kept.
pub fn hand_over(path: &Path, source: Arc<dyn Source>) {
    if let Some(url) = url(path) {
        handed_over().push((url.to_owned(), source));
    }
}

/// Closes files that nobody has taken over.
pub fn forget_handed_over() {
    handed_over().clear();
}

/// Lets every function that opens a path open URLs too. The first registration stays.
pub fn register_urls(opener: UrlOpener, lister: UrlLister) {
    let _ = CALLS.set((opener, lister));
}

/// The path that `file:///path` or `file://localhost/path` names. Any other path is itself.
pub(crate) fn local(path: &Path) -> Cow<'_, Path> {
    let rest = path.to_str().and_then(|text| text.split_once("://"));
    let rest = rest.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file")).map(|(_, rest)| rest);
    match rest.map(|rest| rest.strip_prefix("localhost").unwrap_or(rest)) {
        Some(rest) if rest.starts_with('/') => Cow::Owned(PathBuf::from(rest)),
        _ => Cow::Borrowed(path),
    }
}

/// Opens a path or URL. A local file is closed where the process has too many open, and opened again when it is read.
///
/// # Errors
///
/// There is no such file, it cannot be read, or nothing is registered that opens URLs.
pub fn open_source(path: &Path) -> Result<Arc<dyn Source>> {
    match url(path) {
        Some(url) => open_url(url, Credentials::Users),
        None => Ok(Arc::new(PooledFile::alone(&local(path))?)),
    }
}

/// Opens a URL.
pub(crate) fn open_url(url: &str, credentials: Credentials) -> Result<Arc<dyn Source>> {
    if credentials == Credentials::Users {
        let mut handed = handed_over();
        if let Some(place) = handed.iter().position(|(known, _)| known == url) {
            return Ok(handed.swap_remove(place).1);
        }
    }
    let calls = CALLS.get().ok_or_else(local_only);
    calls.and_then(|(open, _)| open(url, credentials)).map_err(|e| e.file(url))
}

/// The names of all that is in the folder at a URL.
///
/// # Errors
///
/// The server cannot list, or refuses, or nothing is registered for URLs.
pub fn list_url(folder: &str) -> Result<Vec<String>> {
    let calls = CALLS.get().ok_or_else(local_only);
    calls.and_then(|(_, list)| list(folder))
}

fn local_only() -> Error {
    Error::unsupported("is on another machine, and this build reads local files only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_urls_are_paths() {
        assert_eq!(local(Path::new("file:///a/b")), Path::new("/a/b"));
        assert_eq!(local(Path::new("file://localhost/a")), Path::new("/a"));
        assert_eq!(local(Path::new("FILE:///a")), Path::new("/a"));
        assert_eq!(local(Path::new("file")), Path::new("file"));
    }
}
