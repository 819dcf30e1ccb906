//! What the library's error numbers mean. It has a number of the system for each error of the protocol, also for those that
//! the system has no word for.

use std::io;

use rootfile::Error;

/// What the library says of credentials that the server does not take: `EBADE`, which only Linux has; elsewhere the nearest.
#[cfg(target_os = "linux")]
const NOT_KNOWN: i32 = libc::EBADE;
#[cfg(not(target_os = "linux"))]
const NOT_KNOWN: i32 = libc::EAUTH;

/// The error with what is wrong in words, and the way out.
pub(super) fn explained(error: &io::Error) -> Error {
    use io::ErrorKind::{ConnectionReset, NotFound, Other, PermissionDenied, TimedOut};
    let (kind, message) = match error.raw_os_error() {
        Some(libc::ENOENT) => (NotFound, "the server has no such file"),
        Some(libc::EISDIR | libc::ENOTBLK) => (Other, "is a folder, not a file"),
        Some(libc::ENOTDIR) => (Other, "is a file, not a folder"),
        Some(libc::EACCES | libc::EPERM) => (
            PermissionDenied,
            "the server permits no access: it may need a token (BEARER_TOKEN, BEARER_TOKEN_FILE), a proxy certificate \
             (X509_USER_PROXY) or a Kerberos ticket",
        ),
        // The library's own errors of authentication.
        Some(NOT_KNOWN | libc::ECONNABORTED) => (
            PermissionDenied,
            "the server knows none of the credentials: it may need a token (BEARER_TOKEN, BEARER_TOKEN_FILE), a proxy \
             certificate (X509_USER_PROXY) or a Kerberos ticket",
        ),
        Some(libc::EPROTOTYPE) => (PermissionDenied, "the server wants an encrypted connection: roots://"),
        Some(libc::ENETRESET) => {
            (Other, "TLS fails: the server's certificate may be unknown (X509_CERT_DIR), or it has none")
        }
        Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH) => {
            (Other, "no connection to the server: is it running, and are host and port right?")
        }
        Some(libc::ETIMEDOUT | libc::ETIME) => (
            TimedOut,
            "no answer in time (XRD_CONNECTIONWINDOW, XRD_STREAMTIMEOUT and XRD_REQUESTTIMEOUT set it, in seconds)",
        ),
        Some(libc::ECONNRESET | libc::ENOTCONN | libc::ENOTSOCK | libc::EPIPE) => {
            (ConnectionReset, "the connection to the server was lost")
        }
        Some(libc::EADDRNOTAVAIL | libc::ENOSR | libc::EIDRM) => (NotFound, "no server has the file any more"),
        Some(libc::EUSERS) => (Other, "the server is overloaded"),
        Some(libc::EFAULT | libc::ENODEV | libc::EIO) => {
            (Other, "the server cannot read the file: an error on its side")
        }
        Some(libc::EMFILE) => (Other, "too many remote files are open"),
        Some(libc::ENOMSG) | None => {
            (Other, "the request failed, and XRootD's library does not say why (XRD_LOGLEVEL=Debug does)")
        }
        Some(_) => return Error::from(io::Error::new(error.kind(), error.to_string())),
    };
    Error::from(io::Error::new(kind, message))
}
