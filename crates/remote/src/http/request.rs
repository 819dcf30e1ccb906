//! Requests for ranges of a file and their replies: redirects are followed here, under the rules of [`Endpoint`], and a reply that
//! cannot be what was asked for is a failure that stays.

use std::io;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, LOCATION, RANGE, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use rootfile::Error;

use super::body::{Body, receive};
use super::network::network;
use super::version::Version;
use crate::counters::Counters;
use crate::endpoint::{Destination, Endpoint};
use crate::multipart::content_range;
use crate::retry::{Failure, may_pass};
use crate::runtime::Engine;
use crate::settings::Limits;
use crate::token::{HOSTS, NoToken};
use crate::waiting::waiting;

/// What the requests for a file have in common.
pub(crate) struct Asking {
    pub endpoint: Endpoint,
    pub counters: Counters,
    pub limits: Limits,
}

/// A reply to a request for one range.
pub(crate) enum Reply {
    /// The bytes from here on, and the size of the file.
    Part { start: u64, bytes: Vec<u8>, version: Version },
    /// The whole file begins: the server ignores ranges.
    Whole(Box<Body>, Version),
    /// There are no bytes in the range: the file has this size, if the server says so.
    Empty(Option<u64>),
}

/// Sends a request for one range of at most `most` bytes and receives the reply, unless it is the whole file.
pub(crate) async fn request_one(engine: &Engine, asking: &Asking, range: &str, most: u64) -> Result<Reply, Failure> {
    let reply = send(engine, asking, range).await?;
    let header = reply.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let headers = reply.headers().clone();
    match reply.status() {
        StatusCode::RANGE_NOT_SATISFIABLE => {
            let size = header.and_then(|header| header.rsplit_once('/')?.1.trim().parse().ok());
            Ok(Reply::Empty(size))
        }
        StatusCode::PARTIAL_CONTENT => {
            let unclear = || Failure::lasting(Error::unsupported("the server does not say which bytes it sent"));
            let (sent, size) = header.as_deref().and_then(content_range).ok_or_else(unclear)?;
            if size.is_some_and(|size| i64::try_from(size).is_err()) {
                let message = "the server says that the file has more bytes than any file can have";
                return Err(Failure::lasting(Error::unsupported(message)));
            }
            let bytes = receive(reply, most, &asking.counters, &asking.limits).await?;
            let expected = (sent.end - sent.start).min(most);
            if bytes.len() as u64 != expected {
                return Err(Failure::passing(cut(bytes.len(), expected)));
            }
            Ok(Reply::Part { start: sent.start, bytes, version: Version::of(&headers, size) })
        }
        _ => {
            let body = Box::new(Body::new(reply, asking.limits));
            let version = Version::of(&headers, body.announced());
            Ok(Reply::Whole(body, version))
        }
    }
}

/// Sends a request for ranges, and follows where it is sent. Returns a reply with status 200, 206 or 416, as it begins.
pub(crate) async fn send(engine: &Engine, asking: &Asking, ranges: &str) -> Result<Response, Failure> {
    let Asking { endpoint, counters, limits } = asking;
    let mut asked = endpoint.destination().await.map_err(Failure::lasting)?;
    loop {
        let client = if asked.must_be_direct() { &engine.direct } else { &engine.client };
        let request = client.get(asked.url().clone()).header(RANGE, ranges).header(ACCEPT_ENCODING, "identity");
        let request = match &asked.token {
            Ok(token) => request.bearer_auth(token),
            Err(_) => request,
        };
        let host = asked.url().host_str().unwrap_or_default();
        let started = Instant::now();
        // The reply begins behind all headers, however slowly they come, and however many interim replies come before.
        let head = tokio::time::timeout(limits.timeout, waiting(host, limits.timeout, request.send())).await;
        let reply = match head {
            Ok(reply) => reply.map_err(|e| network(&e)),
            Err(_) => Err(Failure::passing(Error::from(io::Error::new(io::ErrorKind::TimedOut, "no answer in time")))),
        };
        let reply = reply.inspect_err(|_| endpoint.failed())?;
        counters.answered(started.elapsed());
        let status = reply.status();
        match status.as_u16() {
            200 | 206 | 416 => {
                endpoint.answered_by(&asked);
                return is_plain(&reply).map(|()| reply);
            }
            301 | 302 | 303 | 307 | 308 => {
                let nowhere =
                    || Failure::lasting(Error::unsupported(format!("the server replies {status}, without a place")));
                let location =
                    reply.headers().get(LOCATION).and_then(|place| place.to_str().ok()).ok_or_else(nowhere)?;
                asked = endpoint.redirected(&asked, location).map_err(Failure::lasting)?;
            }
            _ => {
                endpoint.failed();
                return Err(refused(status, &reply, &asked));
            }
        }
    }
}

/// Fails if a reply is compressed, though none was asked for that: its bytes are not those of the file.
fn is_plain(reply: &Response) -> Result<(), Failure> {
    let encoding = reply.headers().get(CONTENT_ENCODING).map(|encoding| encoding.as_bytes());
    match encoding.is_none_or(|encoding| encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity")) {
        true => Ok(()),
        false => {
            let message = "the server compresses its replies (Content-Encoding), though it was asked not to";
            Err(Failure::lasting(Error::unsupported(message)))
        }
    }
}

/// The failure for a status that is none of those with bytes.
fn refused(status: StatusCode, reply: &Response, asked: &Destination) -> Failure {
    let kind = match status.as_u16() {
        401 | 403 => io::ErrorKind::PermissionDenied,
        404 | 410 => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    let hint = match (kind, &asked.token) {
        (io::ErrorKind::PermissionDenied, Ok(_)) => {
            "; the token that was found may have expired, or is for another server".to_owned()
        }
        (io::ErrorKind::PermissionDenied, Err(NoToken::Plain)) => {
            "; no token is sent without encryption (https)".to_owned()
        }
        (io::ErrorKind::PermissionDenied, Err(NoToken::Foreign)) => {
            format!("; no token is sent to another server than the one of the URL, unless {HOSTS} has it")
        }
        (io::ErrorKind::PermissionDenied, Err(_)) => {
            "; no token was sent (BEARER_TOKEN and BEARER_TOKEN_FILE are looked at, and for s3:// the AWS_ variables)"
                .to_owned()
        }
        _ => String::new(),
    };
    let error = Error::from(io::Error::new(kind, format!("the server replies {status}{hint}")));
    let wait = reply.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
    // A place that was redirected to may be gone while the origin knows another.
    Failure { error, may_pass: may_pass(status) || asked.is_shortcut, wait: wait.map(Duration::from_secs) }
}

/// The error for a reply that ended early.
pub(crate) fn cut(got: usize, expected: u64) -> Error {
    let message = format!("the reply was cut: {got} of {expected} bytes");
    Error::from(io::Error::new(io::ErrorKind::UnexpectedEof, message))
}
