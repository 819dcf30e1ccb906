//! Files on other machines as [`rootfile::Source`]s: `http://`, `https://`, `s3://`, `root://` and `roots://`. It fetches
//! byte ranges. It knows nothing of ROOT's format, and it writes nothing.
//!
//! [`register`] lets everything that opens a path open URLs as well, and patterns be found where the protocol can list. Credentials go
//! only where `endpoint` and `token` say.

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
mod token;
mod waiting;
mod xrootd;

use std::sync::Arc;

use rootfile::{Credentials, Error, Result, Source};

use endpoint::{Endpoint, Origin};
use http::HttpFile;
use recent::Recent;
pub use recent::with_ends;
pub use waiting::{Say, say_waiting};

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
    /// The protocol of a URL, if it is one of these.
    fn of(url: &str) -> Option<Self> {
        match scheme(url).as_str() {
            "http" | "https" => Some(Self::Http),
            "s3" => Some(Self::S3),
            "root" | "roots" | "xroot" | "xroots" => Some(Self::Xrootd),
            _ => None,
        }
    }
}

/// Opens the file at a URL, with the user's credentials or with none. What the URL itself has is sent in any case.
///
/// # Errors
///
/// If the scheme is none of those above, if the server cannot be reached or refuses, or if there is no such file.
pub fn open(url: &str, credentials: Credentials) -> Result<Arc<dyn Source>> {
    let origin = match Protocol::of(url).ok_or_else(|| unsupported(url))? {
        Protocol::Http => Origin::Url(endpoint::parse(url)?),
        Protocol::S3 => Origin::Bucket(Box::new(s3::Bucket::of(url, credentials)?)),
        Protocol::Xrootd => return xrootd::open(url, credentials),
    };
    let (file, blocks) = HttpFile::open(Endpoint::new(origin, credentials), url)?;
    Ok(Arc::new(Recent::new(file, blocks)))
}

/// Whether this crate knows how to open a URL.
pub fn knows(url: &str) -> bool {
    Protocol::of(url).is_some()
}

/// The names of all that is in the folder at a URL, sorted.
///
/// # Errors
///
/// The protocol has no listing (HTTP), or the server refuses.
pub fn list(folder: &str) -> Result<Vec<String>> {
    match Protocol::of(folder).ok_or_else(|| unsupported(folder))? {
        Protocol::Http => {
            Err(Error::unsupported("HTTP servers cannot list their files: name each, or give a list as @files.txt"))
        }
        Protocol::S3 => s3::list(folder),
        Protocol::Xrootd => xrootd::list(folder),
    }
}

/// The schemes that are supported, for messages.
pub const SCHEMES: &str = "http, https, s3, root and roots";

/// The error for a URL of another scheme.
pub fn unsupported(url: &str) -> Error {
    let scheme = scheme(url);
    Error::unsupported(format!(
        "{scheme}:// is not supported; {SCHEMES} are (mount other file systems, or copy the file)"
    ))
}

/// What a URL begins with. Schemes are the same in capitals.
fn scheme(url: &str) -> String {
    url.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase()
}
