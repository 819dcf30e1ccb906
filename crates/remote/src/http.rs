//! Files of HTTP servers, by requests for ranges. Nothing but GET is needed: size and version of the file come with the first
//! reply.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED, RANGE, RETRY_AFTER,
};
use reqwest::{Response, StatusCode};
use rootfile::{Error, Result, Source, Traffic, range_len, read_as_range};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::coalesce::{deal, join};
use crate::counters::Counters;
use crate::endpoint::{Destination, Endpoint, Origin};
use crate::multipart::{boundary, content_range, parts};
use crate::recent::{Fetched, HEAD, TAIL};
use crate::retry::{Failure, may_pass, with_retries};
use crate::runtime::Engine;
use crate::settings::retries;
use crate::spool::Spool;

/// Requests of one file at a time.
const IN_FLIGHT: usize = 8;
/// Ranges in one request: a header of 2 kB, a quarter of what servers allow.
const MOST_RANGES: usize = 96;

/// A file on an HTTP server.
pub(crate) struct HttpFile {
    shared: Arc<Shared>,
    name: PathBuf,
}

/// What all requests for a file share.
struct Shared {
    endpoint: Arc<Endpoint>,
    size: u64,
    version: Version,
    several: Several,
    spool: OnceLock<Spool>,
    counters: Arc<Counters>,
    slots: Semaphore,
    retries: u32,
}

/// What identifies the content of a file, as far as the server says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Version {
    etag: Option<String>,
    modified: Option<String>,
    size: Option<u64>,
}

impl Version {
    fn of(headers: &HeaderMap, size: Option<u64>) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self { etag: text(ETAG), modified: text(LAST_MODIFIED), size }
    }

    /// Whether both may be of the same content. What one of them does not know says nothing.
    fn fits(&self, other: &Self) -> bool {
        fn fits<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        let by_etag = self.etag.is_some() && other.etag.is_some();
        fits(self.size.as_ref(), other.size.as_ref())
            && fits(self.etag.as_ref(), other.etag.as_ref())
            // Servers behind one name may disagree about the time.
            && (by_etag || fits(self.modified.as_ref(), other.modified.as_ref()))
    }
}

/// Whether the server sends several ranges in one reply.
#[derive(Default)]
struct Several(AtomicU8);

impl Several {
    const YES: u8 = 1;
    const NO: u8 = 2;

    fn is_refused(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::NO
    }

    fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::YES
    }

    fn set(&self, works: bool) {
        self.0.store(if works { Self::YES } else { Self::NO }, Ordering::Relaxed);
    }
}

/// A reply to a request for one range.
enum Reply {
    /// The bytes from here on, and the size of the file.
    Part { start: u64, bytes: Vec<u8>, version: Version },
    /// The whole file: the server ignores ranges.
    Whole(Spool, Version),
    /// There are no bytes in the range: the file has this size, if the server says so.
    Empty(Option<u64>),
}

impl HttpFile {
    /// Opens a file: asks for its begin and its end at the same time. Also returns these bytes, with their offsets.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, refuses, or has no such file.
    pub fn open(origin: Origin, name: &str) -> Result<(Self, Vec<Fetched>)> {
        let engine = Engine::get()?;
        let endpoint = Arc::new(Endpoint::new(origin));
        let counters = Arc::new(Counters::default());
        let ask = |range: String, most: u64, whole: bool| {
            let (endpoint, counters, client) = (Arc::clone(&endpoint), Arc::clone(&counters), engine.client.clone());
            async move {
                let ask = || request_one(&client, &endpoint, &counters, &range, (most, whole));
                with_retries(retries(), ask).await
            }
        };
        let both = async {
            let mut tail = JoinSet::new();
            // A server that does not count from the end sends the whole file: its reply is left.
            tail.spawn(ask(format!("bytes=-{TAIL}"), TAIL, false));
            let head = ask(format!("bytes=0-{}", HEAD - 1), HEAD, true).await?;
            // Of a server that ignores ranges this is the whole file a second time: it is not awaited.
            let tail = match &head {
                Reply::Part { .. } => tail.join_next().await.and_then(std::result::Result::ok),
                Reply::Whole(..) | Reply::Empty(_) => None,
            };
            Ok::<_, Error>((head, tail))
        };
        let (head, tail) = engine.wait_for(both)?;
        let unsized_file = || Error::unsupported("the server does not say how large the file is");
        let mut blocks: Vec<Fetched> = Vec::new();
        let spool = OnceLock::new();
        let (size, version) = match head {
            Reply::Whole(whole, version) => {
                let size = whole.size;
                let _ = spool.set(whole);
                (size, version)
            }
            Reply::Empty(size) => (size.unwrap_or(0), Version::default()),
            Reply::Part { start: 0, bytes, version } => {
                blocks.push((0, bytes));
                (version.size.ok_or_else(unsized_file)?, version)
            }
            Reply::Part { start, .. } => return Err(wrong_range(start)),
        };
        // A server may refuse to count from the end: then the end is one more request.
        if let Some(Ok(Reply::Part { start, bytes, version: at_end })) = tail {
            if !version.fits(&at_end) {
                return Err(changed());
            }
            if start.checked_add(bytes.len() as u64) == Some(size) {
                blocks.push((start, bytes));
            }
        }
        let shared = Shared {
            endpoint,
            size,
            version: Version { size: Some(size), ..version },
            several: Several::default(),
            spool,
            counters,
            slots: Semaphore::new(IN_FLIGHT),
            retries: retries(),
        };
        Ok((Self { shared: Arc::new(shared), name: name.into() }, blocks))
    }
}

impl Source for HttpFile {
    fn size(&self) -> u64 {
        self.shared.size
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

    fn traffic(&self) -> Option<Traffic> {
        Some(self.shared.counters.traffic())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.check_ranges(ranges)?;
        let shared = &self.shared;
        let several = !shared.several.is_refused();
        // Another range in a request costs little, another request a round trip, of which several share the time.
        let gap = if several { 512 } else { shared.counters.bytes_of_a_round_trip() / IN_FLIGHT as u64 };
        let joined = join(ranges, gap, if several { 32 } else { 16 });
        let spans: Vec<Range<u64>> = joined.iter().map(|joined| joined.range.clone()).collect();
        let engine = Engine::get()?;
        let fetched = engine.wait_for(fetch(&engine, shared, &spans)).map_err(|e| e.file(&self.name))?;
        Ok(deal(ranges, &joined, fetched))
    }
}

/// Fetches ranges, at the same time.
async fn fetch(engine: &Engine, shared: &Arc<Shared>, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
    let mut groups = ranges.chunks(MOST_RANGES);
    let mut fetched: Vec<Option<Vec<u8>>> = Vec::with_capacity(ranges.len());
    if !shared.several.is_known()
        && let Some(first) = groups.next()
    {
        // A server that does not know several ranges answers each group with the whole file: one is enough to learn that.
        fetched = fetch_group(&engine.client, shared, first).await?;
    }
    let before = fetched.len();
    fetched.resize(ranges.len(), None);
    let mut tasks = JoinSet::new();
    for (number, group) in groups.enumerate() {
        let (shared, client, group) = (Arc::clone(shared), engine.client.clone(), group.to_vec());
        tasks.spawn(async move { (number, fetch_group(&client, &shared, &group).await) });
    }
    while let Some(Ok((number, bytes))) = tasks.join_next().await {
        let slots = fetched.iter_mut().skip(before + number * MOST_RANGES);
        slots.zip(bytes?).for_each(|(slot, bytes)| *slot = bytes);
    }
    let mut tasks = JoinSet::new();
    for (number, range) in ranges.iter().enumerate().filter(|(i, _)| fetched.get(*i).is_some_and(Option::is_none)) {
        let (shared, client, range) = (Arc::clone(shared), engine.client.clone(), range.clone());
        tasks.spawn(async move { (number, fetch_one(&client, &shared, range).await) });
    }
    while let Some(Ok((number, bytes))) = tasks.join_next().await {
        if let Some(slot) = fetched.get_mut(number) {
            *slot = Some(bytes?);
        }
    }
    let lost = || Error::from(io::Error::other("a request was lost"));
    fetched.into_iter().map(|bytes| bytes.ok_or_else(lost)).collect()
}

/// Fetches one range.
async fn fetch_one(client: &reqwest::Client, shared: &Shared, range: Range<u64>) -> Result<Vec<u8>> {
    let len = range_len(&range);
    let from_spool = |spool: &Spool| {
        let mut bytes = vec![0; len];
        spool.read(range.start, &mut bytes).map(|()| bytes)
    };
    if let Some(spool) = shared.spool.get() {
        return from_spool(spool);
    }
    let _slot = shared.slots.acquire().await;
    let header = format!("bytes={}-{}", range.start, range.end - 1);
    let ask = || async {
        let most = range.end - range.start;
        let reply = request_one(client, &shared.endpoint, &shared.counters, &header, (most, true)).await?;
        let (start, bytes, version) = match reply {
            Reply::Part { start, bytes, version } => (start, bytes, version),
            Reply::Whole(spool, version) => {
                shared.check(&version)?;
                return from_spool(shared.spool.get_or_init(|| spool)).map_err(Failure::lasting);
            }
            Reply::Empty(_) => return Err(Failure::lasting(changed())),
        };
        shared.check(&version)?;
        if start != range.start {
            return Err(Failure::lasting(wrong_range(start)));
        }
        match bytes.len() == len {
            true => Ok(bytes),
            false => Err(Failure::passing(cut(bytes.len(), len))),
        }
    };
    with_retries(shared.retries, ask).await.map_err(|e| e.at(range.start))
}

impl Shared {
    /// Fails if a reply is not of the file that was opened.
    fn check(&self, version: &Version) -> std::result::Result<(), Failure> {
        match self.version.fits(version) {
            true => Ok(()),
            false => Err(Failure::lasting(changed())),
        }
    }
}

/// Fetches several ranges by one request. Those that the server did not send are `None`.
async fn fetch_group(client: &reqwest::Client, shared: &Shared, ranges: &[Range<u64>]) -> Result<Vec<Option<Vec<u8>>>> {
    let none = || vec![None; ranges.len()];
    if shared.spool.get().is_some() || ranges.len() < 2 || shared.several.is_refused() {
        return Ok(none());
    }
    let _slot = shared.slots.acquire().await;
    let list: Vec<String> = ranges.iter().map(|range| format!("{}-{}", range.start, range.end - 1)).collect();
    let header = format!("bytes={}", list.join(","));
    let ask = || async {
        let (reply, started) = match send(client, &shared.endpoint, &shared.counters, &header).await {
            Ok(replied) => replied,
            // A server that knows several ranges has another reason.
            Err(failure) if failure.may_pass && shared.several.is_known() => return Err(failure),
            Err(_) => return Ok(None),
        };
        let kind = reply.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).and_then(boundary);
        let (StatusCode::PARTIAL_CONTENT, Some(boundary)) = (reply.status(), kind.map(str::to_owned)) else {
            return Ok(None);
        };
        shared.check(&Version::of(reply.headers(), None))?;
        let wanted: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        // Each part has a header, for which 512 bytes are ample.
        let most = wanted + 512 * (ranges.len() as u64 + 2) + wanted / 4;
        let body = receive(reply, most, &shared.counters, started).await?;
        let found = parts(&body, &boundary).ok_or_else(|| Failure::passing(cut(body.len(), 0)))?;
        let part = |range: &Range<u64>| {
            found.iter().find_map(|(of, at)| {
                let skipped = usize::try_from(range.start.checked_sub(of.start)?).ok()?;
                let start = at.start.checked_add(skipped)?;
                let end = start.checked_add(usize::try_from(range.end - range.start).ok()?)?;
                (range.end <= of.end).then(|| body.get(start..end).map(<[u8]>::to_vec))?
            })
        };
        Ok(Some(ranges.iter().map(part).collect::<Vec<_>>()))
    };
    let found = with_retries(shared.retries, ask).await?;
    shared.several.set(found.is_some());
    Ok(found.unwrap_or_else(none))
}

/// Sends a request for one range and receives the reply, also one with the whole file if that is wanted.
async fn request_one(
    client: &reqwest::Client,
    endpoint: &Endpoint,
    counters: &Counters,
    range: &str,
    (most, whole): (u64, bool),
) -> std::result::Result<Reply, Failure> {
    let (reply, started) = send(client, endpoint, counters, range).await?;
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
            let bytes = receive(reply, most, counters, started).await?;
            let expected = (sent.end - sent.start).min(most);
            if bytes.len() as u64 != expected {
                return Err(Failure::passing(cut(bytes.len(), usize::try_from(expected).unwrap_or(usize::MAX))));
            }
            Ok(Reply::Part { start: sent.start, bytes, version: Version::of(&headers, size) })
        }
        _ if !whole => Ok(Reply::Empty(None)),
        _ => {
            let spool = Spool::receive(reply).await.map_err(|e| Failure::passing(network(&*e)))?;
            counters.received(spool.size, started.elapsed());
            let version = Version::of(&headers, Some(spool.size));
            Ok(Reply::Whole(spool, version))
        }
    }
}

/// Sends a request for ranges. Returns a reply with status 200, 206 or 416, and the time when it began.
async fn send(
    client: &reqwest::Client,
    endpoint: &Endpoint,
    counters: &Counters,
    ranges: &str,
) -> std::result::Result<(Response, Instant), Failure> {
    let asked = endpoint.destination().await.map_err(Failure::lasting)?;
    let mut request = client.get(asked.url.clone()).header(RANGE, ranges).header(ACCEPT_ENCODING, "identity");
    if let Some(token) = &asked.token {
        request = request.bearer_auth(token);
    }
    let started = Instant::now();
    let reply = request.send().await.map_err(|e| {
        endpoint.failed();
        Failure::passing(network(&e))
    })?;
    counters.answered(started.elapsed());
    match reply.status() {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
            endpoint.answered_by(&asked, reply.url());
            Ok((reply, Instant::now()))
        }
        status => {
            endpoint.failed();
            Err(refused(status, &reply, &asked))
        }
    }
}

/// Receives at most `most` bytes of a reply. What comes behind them is not read.
async fn receive(
    mut reply: Response,
    most: u64,
    counters: &Counters,
    started: Instant,
) -> std::result::Result<Vec<u8>, Failure> {
    let expected = reply.content_length().unwrap_or(0).min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    while let Some(chunk) = reply.chunk().await.map_err(|e| Failure::passing(network(&e)))? {
        let left = usize::try_from(most - bytes.len() as u64).unwrap_or(usize::MAX);
        bytes.extend_from_slice(chunk.get(..left).unwrap_or(&chunk));
        if bytes.len() as u64 == most {
            break;
        }
    }
    counters.received(bytes.len() as u64, started.elapsed());
    Ok(bytes)
}

/// The failure for a status that is none of those with bytes.
fn refused(status: StatusCode, reply: &Response, asked: &Destination) -> Failure {
    let kind = match status.as_u16() {
        401 | 403 => io::ErrorKind::PermissionDenied,
        404 | 410 => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    let hint = match (kind, &asked.token) {
        (io::ErrorKind::PermissionDenied, None) => {
            "; no token was sent (BEARER_TOKEN and BEARER_TOKEN_FILE are looked at, and for s3:// the AWS_ variables)"
        }
        (io::ErrorKind::PermissionDenied, Some(_)) => {
            "; the token that was found may have expired, or is for another server"
        }
        _ => "",
    };
    let error = Error::from(io::Error::new(kind, format!("the server replies {status}{hint}")));
    let wait = reply.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
    // A place that was redirected to may be gone while the origin knows another.
    Failure { error, may_pass: may_pass(status) || asked.is_shortcut, wait: wait.map(std::time::Duration::from_secs) }
}

/// An error of the network, with its causes but without the URL: it may have secrets.
fn network(e: &(dyn std::error::Error + 'static)) -> Error {
    let mut causes = Vec::new();
    let mut next = Some(e);
    while let Some(cause) = next {
        next = cause.source();
        let text = match cause.downcast_ref::<reqwest::Error>() {
            Some(e) if e.is_timeout() => "no answer in time".to_owned(),
            Some(e) if e.is_connect() => "cannot connect".to_owned(),
            Some(_) if next.is_some() => continue,
            _ => cause.to_string(),
        };
        if causes.last() != Some(&text) {
            causes.push(text);
        }
    }
    Error::from(io::Error::new(io::ErrorKind::ConnectionAborted, causes.join(": ")))
}

fn cut(got: usize, expected: usize) -> Error {
    let message = format!("the reply was cut: {got} of {expected} bytes");
    Error::from(io::Error::new(io::ErrorKind::UnexpectedEof, message))
}

fn wrong_range(start: u64) -> Error {
    Error::unsupported(format!("the server sent other bytes than requested, from byte {start} on"))
}

fn changed() -> Error {
    Error::corrupt("was changed on the server while it was being read")
}
