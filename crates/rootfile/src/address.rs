//! Where a file is: a path, or the URL of a file on another machine. This crate opens paths only; who can fetch from
//! elsewhere registers an opener for URLs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::source::{LocalFile, Source};
use crate::{Error, Result};

/// Opens the file at a URL.
pub type UrlOpener = fn(&str) -> Result<Arc<dyn Source>>;

static OPENER: OnceLock<UrlOpener> = OnceLock::new();

/// Lets every function that opens a path open URLs too. The first opener stays.
pub fn register_url_opener(opener: UrlOpener) {
    let _ = OPENER.set(opener);
}

/// Scheme and rest of a URL: `scheme://rest`. Paths are none, and neither is `file:///path`, which names a path.
pub fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let letters = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (letters && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme != "file").then_some(text)
}

/// The path that `file:///path` or `file://localhost/path` names. Any other path is itself.
pub(crate) fn local(path: &Path) -> Cow<'_, Path> {
    let rest = path.to_str().and_then(|text| text.strip_prefix("file://"));
    match rest.map(|rest| rest.strip_prefix("localhost").unwrap_or(rest)) {
        Some(rest) if rest.starts_with('/') => Cow::Owned(PathBuf::from(rest)),
        _ => Cow::Borrowed(path),
    }
}

/// Opens a path or URL.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn Source>> {
    match url(path) {
        Some(url) => open_url(url),
        None => Ok(Arc::new(LocalFile::open(local(path))?)),
    }
}

/// Opens a URL.
pub(crate) fn open_url(url: &str) -> Result<Arc<dyn Source>> {
    let without = || Error::unsupported("is on another machine, and this build reads local files only");
    let open = OPENER.get().ok_or_else(without);
    open.and_then(|open| open(url)).map_err(|e| e.file(url))
}

/// What messages may show of a path: URLs without user, password and parameters, which may be secrets.
pub(crate) fn public(path: &Path) -> Cow<'_, Path> {
    let Some(url) = url(path) else { return Cow::Borrowed(path) };
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let shown = url.get(..end).unwrap_or(url);
    let Some((scheme, rest)) = shown.split_once("://") else { return Cow::Borrowed(path) };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let user = rest.get(..host_end).and_then(|host| host.rfind('@')).map_or(0, |at| at + 1);
    Cow::Owned(PathBuf::from(format!("{scheme}://{}", rest.get(user..).unwrap_or(rest))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        for text in ["http://h/a.root", "https://h/a?authz=x", "root://h:1094//a", "s3://b/k"] {
            assert_eq!(url(Path::new(text)), Some(text));
        }
        for text in ["a.root", "/a/b", "a:b", "://x", "a b://c", "file:///a", "1://x"] {
            assert_eq!(url(Path::new(text)), None, "{text}");
        }
        assert_eq!(local(Path::new("file:///a/b")), Path::new("/a/b"));
        assert_eq!(local(Path::new("file://localhost/a")), Path::new("/a"));
        assert_eq!(local(Path::new("file")), Path::new("file"));
    }

    #[test]
    fn messages_do_not_show_secrets() {
        for (path, shown) in [
            ("https://h/a.root?authz=secret", "https://h/a.root"),
            ("https://me:secret@h:1/a@b", "https://h:1/a@b"),
            ("root://u@h//a", "root://h//a"),
            ("dir/a?b", "dir/a?b"),
        ] {
            assert_eq!(public(Path::new(path)).to_string_lossy(), shown);
        }
    }
}
