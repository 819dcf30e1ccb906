//! The body of a reply, piece by piece, from a server that may send it as slowly, or as much of it, as it likes.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::Response;
use rootfile::Error;

use super::network::network;
use crate::counters::Counters;
use crate::retry::Failure;
use crate::settings::{LOWEST_SPEED, Limits};
use crate::waiting::waiting;

/// A body that is being received.
pub(crate) struct Body {
    reply: Response,
    host: String,
    limits: Limits,
    /// Bytes and time of waiting since the speed was measured last. What is done between two pieces is not the server's time.
    bytes: u64,
    waited: Duration,
}

impl Body {
    pub fn new(reply: Response, limits: Limits) -> Self {
        let host = reply.url().host_str().unwrap_or_default().to_owned();
        Self { reply, host, limits, bytes: 0, waited: Duration::ZERO }
    }

    /// How many bytes the server announces.
    pub fn announced(&self) -> Option<u64> {
        self.reply.content_length()
    }

    /// The next piece; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let left = self.limits.timeout.saturating_sub(self.waited);
            let began = Instant::now();
            let piece = tokio::time::timeout(left, waiting(&self.host, self.limits.timeout, self.reply.chunk())).await;
            self.waited += began.elapsed();
            let piece = match piece {
                Ok(piece) => Some(piece.map_err(|e| network(&e))?),
                Err(_) => None,
            };
            if let Some(Some(piece)) = &piece {
                self.bytes += piece.len() as u64;
            }
            match piece {
                Some(None) => return Ok(None),
                _ if self.waited >= self.limits.timeout => self.measure()?,
                _ => {}
            }
            if let Some(piece) = piece {
                return Ok(piece);
            }
        }
    }

    /// Fails if too few bytes came in the time-out; begins a new measurement.
    fn measure(&mut self) -> Result<(), Failure> {
        let (bytes, waited) = (self.bytes, self.waited.as_secs_f64());
        (self.bytes, self.waited) = (0, Duration::ZERO);
        let few = || format!("only {bytes} bytes in {waited:.0} s, and {LOWEST_SPEED} is {}", self.limits.lowest_speed);
        let why = match bytes {
            0 => "no answer in time".to_owned(),
            bytes if bytes < self.limits.least_in_time() => format!("no answer in time: {}", few()),
            _ => return Ok(()),
        };
        Err(Failure::passing(Error::from(io::Error::new(io::ErrorKind::TimedOut, why))))
    }
}

/// Receives at most `most` bytes of a reply that began just now. What comes behind them is not read.
pub(crate) async fn receive(
    reply: Response,
    most: u64,
    counters: &Counters,
    limits: &Limits,
) -> Result<Vec<u8>, Failure> {
    let started = Instant::now();
    let mut body = Body::new(reply, *limits);
    let expected = body.announced().unwrap_or(0).min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    while let Some(piece) = body.next().await? {
        let left = usize::try_from(most - bytes.len() as u64).unwrap_or(usize::MAX);
        bytes.extend_from_slice(piece.get(..left).unwrap_or(&piece));
        if bytes.len() as u64 == most {
            break;
        }
    }
    counters.received(bytes.len() as u64, started.elapsed());
    Ok(bytes)
}
