//! Files of HTTP servers, by requests for ranges. Nothing but GET is needed: size and version of the file come with the first
//! reply.

mod body;
mod network;
mod request;
mod spool;
mod version;

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use rootfile::{Error, Result, Source, Traffic, range_len, read_as_range};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinSet;

use crate::coalesce::{deal, join};
use crate::counters::Counters;
use crate::endpoint::Endpoint;
use crate::multipart::{boundary, parts};
use crate::recent::{Fetched, HEAD, TAIL};
use crate::retry::{Failure, with_retries};
use crate::runtime::Engine;
use crate::settings::Limits;
use body::{Body, receive};
use request::{Asking, Reply, cut, request_one, send};
use spool::{Expected, Spool};
use version::{Several, Version};

/// Requests of one file at a time.
const IN_FLIGHT: usize = 8;
/// First bytes by which a reply with the whole file is known to be of the file.
const BEGIN: usize = 64;
/// Ranges in one request: a header of 2 kB, a quarter of what servers allow.
const MOST_RANGES: usize = 96;

/// A file on an HTTP server.
pub(crate) struct HttpFile {
    shared: Arc<Shared>,
    name: PathBuf,
}

/// What all requests for a file share.
struct Shared {
    asking: Arc<Asking>,
    size: u64,
    version: Version,
    /// The first bytes of the file.
    begin: Vec<u8>,
    several: Several,
    /// One for all requests: the first that is answered with the whole file receives it, and others wait for it.
    spool: OnceCell<Spool>,
    slots: Semaphore,
}

impl HttpFile {
    /// Opens a file: asks for its begin and its end at the same time. Also returns these bytes, with their offsets.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, refuses, or has no such file.
    pub fn open(endpoint: Endpoint, name: &str) -> Result<(Self, Vec<Fetched>)> {
        let engine = Engine::get()?;
        let limits = Limits::get();
        let asking = Arc::new(Asking { endpoint, counters: Counters::default(), limits });
        let spool = OnceCell::new();
        let (head, tail) = engine.wait_for(ends(&engine, &asking, &spool))?;
        let unsized_file = || Error::unsupported("the server does not say how large the file is");
        let mut blocks: Vec<Fetched> = Vec::new();
        let (size, version) = match head {
            Head::Whole(size, version) => (size, version),
            Head::Part(Reply::Part { start: 0, bytes, version }) => {
                blocks.push((0, bytes));
                (version.size.ok_or_else(unsized_file)?, version)
            }
            Head::Part(Reply::Part { start, .. }) => return Err(wrong_range(start)),
            Head::Part(Reply::Empty(None | Some(0)) | Reply::Whole(..)) => (0, Version::default()),
            Head::Part(Reply::Empty(Some(size))) => {
                return Err(Error::unsupported(format!(
                    "the server has no range of the {size} bytes that it says there are"
                )));
            }
        };
        // A server may refuse to count from the end: then the end is one more request.
        if let Some(Reply::Part { start, bytes, version: at_end }) = tail {
            if !version.fits(&at_end) {
                return Err(changed());
            }
            if start.checked_add(bytes.len() as u64) == Some(size) {
                blocks.push((start, bytes));
            }
        }
        let begin =
            blocks.first().and_then(|(_, bytes)| bytes.get(..bytes.len().min(BEGIN))).unwrap_or_default().to_vec();
        let shared = Shared {
            asking,
            size,
            version: version.of_size(size),
            begin,
            several: Several::default(),
            spool,
            slots: Semaphore::new(IN_FLIGHT),
        };
        Ok((Self { shared: Arc::new(shared), name: name.into() }, blocks))
    }
}

/// How opening a file begins.
enum Head {
    /// With its first bytes.
    Part(Reply),
    /// With the whole of it, of which only this is left to say.
    Whole(u64, Version),
}

/// Asks for begin and end of a file. One that comes whole is received into the spool.
async fn ends(engine: &Arc<Engine>, asking: &Arc<Asking>, spool: &OnceCell<Spool>) -> Result<(Head, Option<Reply>)> {
    let (engine_, asking_) = (Arc::clone(engine), Arc::clone(asking));
    let end = format!("bytes=-{TAIL}");
    let mut tail = JoinSet::new();
    tail.spawn(async move {
        let ask = || async {
            Ok(match request_one(&engine_, &asking_, &end, TAIL).await? {
                // The server does not count from the end. What it sends is left at once.
                Reply::Whole(..) => Reply::Empty(None),
                part => part,
            })
        };
        with_retries(&asking_.limits, &asking_.endpoint.host(), ask).await
    });
    let begin = format!("bytes=0-{}", HEAD - 1);
    let head = || async {
        Ok(match request_one(engine, asking, &begin, HEAD).await? {
            Reply::Whole(body, version) => {
                let unknown = Expected { size: None, begin: &[], most: asking.limits.most_unsized };
                let whole = spooled(spool, *body, &unknown, &asking.counters).await?;
                Head::Whole(whole.size, version)
            }
            part => Head::Part(part),
        })
    };
    let head = with_retries(&asking.limits, &asking.endpoint.host(), head).await?;
    let tail = match &head {
        Head::Part(Reply::Part { .. }) => tail.join_next().await.and_then(|tail| tail.ok()?.ok()),
        // Of a server that ignores ranges this is the whole file a second time: it is not awaited.
        _ => None,
    };
    Ok((head, tail))
}

/// The whole file, received by the first who comes with its reply.
async fn spooled<'s>(
    spool: &'s OnceCell<Spool>,
    body: Body,
    expected: &Expected<'_>,
    counters: &Counters,
) -> std::result::Result<&'s Spool, Failure> {
    let receive = || async {
        let started = Instant::now();
        let spool = Spool::receive(body, expected).await?;
        counters.received(spool.size, started.elapsed());
        Ok(spool)
    };
    spool.get_or_try_init(receive).await
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
        Some(self.shared.asking.counters.traffic())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.check_ranges(ranges)?;
        let shared = &self.shared;
        let several = !shared.several.is_refused();
        // Another range in a request costs little, another request a round trip, of which several share the time.
        let gap = if several { 512 } else { shared.asking.counters.bytes_of_a_round_trip() / IN_FLIGHT as u64 };
        let joined = join(ranges, gap, if several { 32 } else { 16 });
        let spans: Vec<Range<u64>> = joined.iter().map(|joined| joined.range.clone()).collect();
        let engine = Engine::get()?;
        let fetched = engine.wait_for(fetch(&engine, shared, &spans)).map_err(|e| e.file(&self.name))?;
        Ok(deal(ranges, &joined, fetched))
    }
}

/// Fetches ranges, at the same time.
async fn fetch(engine: &Arc<Engine>, shared: &Arc<Shared>, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
    let mut groups = ranges.chunks(MOST_RANGES);
    let mut fetched: Vec<Option<Vec<u8>>> = Vec::with_capacity(ranges.len());
    if !shared.several.is_known()
        && let Some(first) = groups.next()
    {
        // A server that does not know several ranges answers each group with the whole file: one is enough to learn that.
        fetched = fetch_group(engine, shared, first).await?;
    }
    let before = fetched.len();
    fetched.resize(ranges.len(), None);
    let mut tasks = JoinSet::new();
    for (number, group) in groups.enumerate() {
        let (shared, engine, group) = (Arc::clone(shared), Arc::clone(engine), group.to_vec());
        tasks.spawn(async move { (number, fetch_group(&engine, &shared, &group).await) });
    }
    while let Some(Ok((number, bytes))) = tasks.join_next().await {
        let slots = fetched.iter_mut().skip(before + number * MOST_RANGES);
        slots.zip(bytes?).for_each(|(slot, bytes)| *slot = bytes);
    }
    let mut tasks = JoinSet::new();
    for (number, range) in ranges.iter().enumerate().filter(|(i, _)| fetched.get(*i).is_some_and(Option::is_none)) {
        let (shared, engine, range) = (Arc::clone(shared), Arc::clone(engine), range.clone());
        tasks.spawn(async move { (number, fetch_one(&engine, &shared, range).await) });
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
async fn fetch_one(engine: &Engine, shared: &Shared, range: Range<u64>) -> Result<Vec<u8>> {
    let len = range_len(&range);
    let from_spool = |spool: &Spool| {
        let mut bytes = vec![0; len];
        spool.read(range.start, &mut bytes).map(|()| bytes)
    };
    if let Some(spool) = shared.spool.get() {
        return from_spool(spool);
    }
    let _slot = shared.slots.acquire().await;
    let asking = &shared.asking;
    let header = format!("bytes={}-{}", range.start, range.end - 1);
    let ask = || async {
        let (start, bytes, version) = match request_one(engine, asking, &header, range.end - range.start).await? {
            Reply::Part { start, bytes, version } => (start, bytes, version),
            Reply::Whole(body, version) => {
                shared.check(&version)?;
                let expected = Expected { size: Some(shared.size), begin: &shared.begin, most: shared.size };
                let spool = spooled(&shared.spool, *body, &expected, &asking.counters).await?;
                return from_spool(spool).map_err(Failure::lasting);
            }
            Reply::Empty(_) => return Err(Failure::lasting(changed())),
        };
        shared.check(&version)?;
        if start != range.start {
            return Err(Failure::lasting(wrong_range(start)));
        }
        match bytes.len() == len {
            true => Ok(bytes),
            // It said so: another request gets the same.
            false => Err(Failure::lasting(cut(bytes.len(), len as u64))),
        }
    };
    with_retries(&asking.limits, &asking.endpoint.host(), ask).await.map_err(|e| e.at(range.start))
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
async fn fetch_group(engine: &Engine, shared: &Shared, ranges: &[Range<u64>]) -> Result<Vec<Option<Vec<u8>>>> {
    let none = || vec![None; ranges.len()];
    if shared.spool.get().is_some() || ranges.len() < 2 || shared.several.is_refused() {
        return Ok(none());
    }
    let _slot = shared.slots.acquire().await;
    let asking = &shared.asking;
    let list: Vec<String> = ranges.iter().map(|range| format!("{}-{}", range.start, range.end - 1)).collect();
    let header = format!("bytes={}", list.join(","));
    let ask = || async {
        let reply = match send(engine, asking, &header).await {
            Ok(reply) => reply,
            // A server that knows several ranges has another reason.
            Err(failure) if failure.may_pass && shared.several.is_known() => return Err(failure),
            Err(_) => return Ok(None),
        };
        let kind = reply.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).and_then(boundary);
        let (StatusCode::PARTIAL_CONTENT, Some(boundary)) = (reply.status(), kind.map(str::to_owned)) else {
            return Ok(None);
        };
        shared.check(&Version::of(reply.headers(), None))?;
        let announced = reply.content_length();
        let wanted: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        // Each part has a header, for which 512 bytes are ample.
        let most = wanted + 512 * (ranges.len() as u64 + 2) + wanted / 4;
        let body = receive(reply, most, &asking.counters, &asking.limits).await?;
        if announced.is_some_and(|announced| (body.len() as u64) < announced.min(most)) {
            return Err(Failure::passing(cut(body.len(), announced.unwrap_or(0))));
        }
        // A server that cannot do it is asked for single ranges.
        let Some(found) = parts(&body, &boundary, ranges.len() * 2) else { return Ok(None) };
        if found.iter().any(|part| part.total.is_some_and(|total| total != shared.size)) {
            return Err(Failure::lasting(changed()));
        }
        let bytes_of = |range: &Range<u64>| {
            found.iter().find_map(|part| {
                let skipped = usize::try_from(range.start.checked_sub(part.of.start)?).ok()?;
                let start = part.at.start.checked_add(skipped)?;
                let end = start.checked_add(usize::try_from(range.end - range.start).ok()?)?;
                (range.end <= part.of.end).then(|| body.get(start..end).map(<[u8]>::to_vec))?
            })
        };
        Ok(Some(ranges.iter().map(bytes_of).collect::<Vec<_>>()))
    };
    let found = with_retries(&asking.limits, &asking.endpoint.host(), ask).await?;
    shared.several.set(found.is_some());
    Ok(found.unwrap_or_else(none))
}

fn wrong_range(start: u64) -> Error {
    Error::unsupported(format!("the server sent other bytes than requested, from byte {start} on"))
}

fn changed() -> Error {
    Error::corrupt("was changed on the server while it was being read")
}
