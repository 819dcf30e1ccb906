//! Errors of the HTTP client as ours: in words, without URLs, and whether the same request may succeed later.

use std::error::Error as StdError;
use std::io;

use rootfile::Error;

use crate::retry::Failure;

/// The failure for an error of the network. One of the protocol, of a certificate or of an address stays.
pub(crate) fn network(e: &(dyn StdError + 'static)) -> Failure {
    let error = Error::from(io::Error::new(io::ErrorKind::ConnectionAborted, causes(e).join(": ")));
    Failure { error, may_pass: !is_lasting(e), wait: None }
}

/// All causes, the outermost first.
fn chain<'e>(e: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(e), |e| {
        let e: &'e (dyn StdError + 'static) = *e;
        match e.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            // What an error of the system holds is no source of it.
            Some(held) => Some(held),
            None => e.source(),
        }
    })
}

/// Whether the same request would fail in the same way.
fn is_lasting(e: &(dyn StdError + 'static)) -> bool {
    chain(e).any(|cause| {
        let of_client = || cause.downcast_ref::<reqwest::Error>().is_some_and(|e| e.is_builder() || e.is_redirect());
        let of_protocol = || cause.downcast_ref::<hyper::Error>().is_some_and(|e| e.is_parse());
        let of_certificate = || {
            let tls = cause.downcast_ref::<rustls::Error>();
            tls.is_some_and(|e| !matches!(e, rustls::Error::AlertReceived(_) | rustls::Error::General(_)))
        };
        of_client() || of_protocol() || of_certificate()
    })
}

/// The causes in words, but without the URL: it may have secrets.
fn causes(e: &(dyn StdError + 'static)) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    let mut causes_left = chain(e).peekable();
    while let Some(cause) = causes_left.next() {
        let text = match cause.downcast_ref::<reqwest::Error>() {
            Some(e) if e.is_timeout() => "no answer in time".to_owned(),
            Some(e) if e.is_connect() => "cannot connect".to_owned(),
            Some(_) if causes_left.peek().is_some() => continue,
            _ => cause.to_string(),
        };
        if causes.last() != Some(&text) {
            causes.push(text);
        }
    }
    causes
}
