//! Files on other machines as [`rootfile::Source`]s: `http://`, `https://`, `s3://`, `root://` and `roots://`. It fetches
//! byte ranges. It knows nothing of ROOT's format, and it writes nothing.
//!
//! [`register`] lets everything that opens a path open URLs as well, and patterns be found where the protocol can list.

mod coalesce;
mod counters;
mod endpoint;
mod http;
mod multipart;
mod recent;
mod retry;
mod runtime;
mod s3;
mod settings;
mod spool;
mod token;
mod xrootd;

use std::sync::Arc;

use rootfile::{Error, Result, Source};

use endpoint::Origin;
use http::HttpFile;
use recent::Recent;

/// Lets every function of the process that opens a path open URLs as well.
pub fn register() {
    rootfile::register_urls(open, list);
}

/// Opens the file at a URL.
///
/// # Errors
///
/// If the scheme is none of those above, if the server cannot be reached or refuses, or if there is no such file.
pub fn open(url: &str) -> Result<Arc<dyn Source>> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        "http" | "https" => open_http(Origin::Url(endpoint::parse(url)?), url),
        "s3" => open_http(Origin::Bucket(Box::new(s3::Bucket::of(url)?)), url),
        "root" | "roots" | "xroot" | "xroots" => xrootd::open(url),
        _ => Err(Error::unsupported(format!(
            "{scheme}:// is not supported; http, https, s3, root and roots are (mount other file systems, or copy the file)"
        ))),
    }
}

/// Whether this crate knows how to open a URL.
pub fn knows(url: &str) -> bool {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    matches!(scheme, "http" | "https" | "s3" | "root" | "roots" | "xroot" | "xroots")
}

/// The names of all that is in the folder at a URL, sorted.
///
/// # Errors
///
/// The protocol has no listing (HTTP), or the server refuses.
pub fn list(folder: &str) -> Result<Vec<String>> {
    match folder.split_once("://").map_or("", |(scheme, _)| scheme) {
        "root" | "roots" | "xroot" | "xroots" => xrootd::list(folder),
        "s3" => s3::list(folder),
        _ => Err(Error::unsupported("HTTP servers cannot list their files: name each, or give a list as @files.txt")),
    }
}

fn open_http(origin: Origin, url: &str) -> Result<Arc<dyn Source>> {
    let (file, blocks) = HttpFile::open(origin, url)?;
    Ok(Arc::new(Recent::new(file, blocks)))
}
