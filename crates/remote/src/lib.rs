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
pub use recent::with_ends;

/// Lets every function of the process that opens a path open URLs as well.
pub fn register() {
    rootfile::register_urls(open, list);
}

/// The protocols that are spoken here.
enum Protocol {
    Http,
    S3,
    Xrootd,
}

impl Protocol {
    /// The protocol of a URL, or its scheme if it is none of these. Schemes are the same in capitals.
    fn of(url: &str) -> std::result::Result<Self, String> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        match scheme.as_str() {
            "http" | "https" => Ok(Self::Http),
            "s3" => Ok(Self::S3),
            "root" | "roots" | "xroot" | "xroots" => Ok(Self::Xrootd),
            _ => Err(scheme),
        }
    }
}

/// Opens the file at a URL.
///
/// # Errors
///
/// If the scheme is none of those above, if the server cannot be reached or refuses, or if there is no such file.
pub fn open(url: &str) -> Result<Arc<dyn Source>> {
    match Protocol::of(url).map_err(|scheme| unknown(&scheme))? {
        Protocol::Http => open_http(Origin::Url(endpoint::parse(url)?), url),
        Protocol::S3 => open_http(Origin::Bucket(Box::new(s3::Bucket::of(url)?)), url),
        Protocol::Xrootd => xrootd::open(url),
    }
}

/// Whether this crate knows how to open a URL.
pub fn knows(url: &str) -> bool {
    Protocol::of(url).is_ok()
}

/// The names of all that is in the folder at a URL, sorted.
///
/// # Errors
///
/// The protocol has no listing (HTTP), or the server refuses.
pub fn list(folder: &str) -> Result<Vec<String>> {
    match Protocol::of(folder).map_err(|scheme| unknown(&scheme))? {
        Protocol::Http => {
            Err(Error::unsupported("HTTP servers cannot list their files: name each, or give a list as @files.txt"))
        }
        Protocol::S3 => s3::list(folder),
        Protocol::Xrootd => xrootd::list(folder),
    }
}

fn unknown(scheme: &str) -> Error {
    Error::unsupported(format!(
        "{scheme}:// is not supported; http, https, s3, root and roots are (mount other file systems, or copy the file)"
    ))
}

fn open_http(origin: Origin, url: &str) -> Result<Arc<dyn Source>> {
    let (file, blocks) = HttpFile::open(origin, url)?;
    Ok(Arc::new(Recent::new(file, blocks)))
}
