//! Encodes the entries of one caller. Pieces, baskets or pages, are made by the calling thread, by those of its team, and by any thread
//! that has nothing else to do. They and their order are the same as with one thread: a piece that is made elsewhere is added to its
//! stream behind those before it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::Result;

use super::clocks::add;
use super::scratch::EncodeScratchPool;
use super::shared_piece::SharedPiece;
use super::stream_fill::{Arrays, StreamFill};
use crate::execute::shared_work::Needs;

/// How the last pieces of a cluster are made.
#[derive(Clone, Copy)]
pub(crate) struct Ending<'a> {
    /// The threads that make them, if the caller does not do it alone.
    pub team: Option<&'a ThreadPool>,
    /// Whether each stream frees what it needs no more before the next one's pieces are made.
    pub sheds: bool,
}

/// The pieces of one stream that were cut out and are not added yet, in order.
type Apart<S> = VecDeque<Arc<SharedPiece<S>>>;

/// The pieces of each stream that are made apart.
pub(crate) struct PiecesApart<S: StreamFill>(Vec<Apart<S>>);

impl<S: StreamFill> Default for PiecesApart<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: StreamFill> PiecesApart<S> {
    /// Adds entries to all streams, and makes the pieces that they fill. Some may be added later: see [`PiecesApart::settle`].
    pub fn fill(
        &mut self,
        streams: &mut [S],
        plans: &[S::Plan],
        (arrays, rows): (&Arrays, Range<usize>),
        team: Option<&ThreadPool>,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        let clocks = &scratches.clocks;
        if team.is_none() && scratches.crew().is_none() {
            let mut pairs = streams.iter_mut().zip(plans);
            return clocks.encode(|| {
                scratches.with(|scratch| {
                    pairs.try_for_each(|(stream, plan)| stream.fill(plan, (arrays, rows.clone()), scratch))
                })
            });
        }
        let fill = |stream: &mut S, plan: &S::Plan, apart: &mut Apart<S>| -> Result<()> {
            let started = team.map(|_| Instant::now());
            let pieces = stream.append(plan, arrays, rows.clone())?;
            started.inspect(|started| add(&clocks.encoding, started.elapsed()));
            make(stream, plan, &pieces, apart, scratches)?;
            stream.forget(&pieces);
            Ok(())
        };
        match team {
            None => clocks.encode(|| self.each(streams, plans, fill)),
            Some(team) => self.each_on(team, streams, plans, fill),
        }
    }

    /// Makes the last pieces of a cluster. All are added then.
    pub fn finish(
        &mut self,
        streams: &mut [S],
        plans: &[S::Plan],
        ending: Ending<'_>,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        let clocks = &scratches.clocks;
        let finish = |stream: &mut S, plan: &S::Plan, apart: &mut Apart<S>| -> Result<()> {
            if apart.is_empty() && scratches.idle_crew().is_none() {
                scratches.with(|scratch| stream.finish(plan, scratch))?;
            } else {
                let pieces = stream.last(plan)?;
                make(stream, plan, &pieces, apart, scratches)?;
                stream.forget_last(plan, &pieces);
            }
            if ending.sheds {
                stream.shed();
            }
            Ok(())
        };
        match ending.team {
            None => clocks.encode(|| self.each(streams, plans, finish))?,
            Some(team) => self.each_on(team, streams, plans, finish)?,
        }
        self.settle(streams, plans, scratches)?;
        streams.iter_mut().for_each(StreamFill::close);
        Ok(())
    }

    /// Adds all pieces that were cut out to their streams. Helps to make them, and those of others.
    pub fn settle(&mut self, streams: &mut [S], plans: &[S::Plan], scratches: &EncodeScratchPool) -> Result<()> {
        for ((stream, plan), apart) in streams.iter_mut().zip(plans).zip(&mut self.0) {
            while let Some(piece) = apart.pop_front() {
                let made = match scratches.crew() {
                    Some(crew) => crew.take(piece.made()),
                    None => piece.made().take(),
                };
                stream.add(&made.map_err(|error| S::blame(plan, error))?);
            }
        }
        Ok(())
    }

    /// Works on one stream after the other.
    fn each(
        &mut self,
        streams: &mut [S],
        plans: &[S::Plan],
        work: impl Fn(&mut S, &S::Plan, &mut Apart<S>) -> Result<()>,
    ) -> Result<()> {
        self.0.resize_with(streams.len(), VecDeque::new);
        let mut all = streams.iter_mut().zip(plans).zip(&mut self.0);
        all.try_for_each(|((stream, plan), apart)| work(stream, plan, apart))
    }

    /// Works on the streams in parallel.
    fn each_on(
        &mut self,
        team: &ThreadPool,
        streams: &mut [S],
        plans: &[S::Plan],
        work: impl Fn(&mut S, &S::Plan, &mut Apart<S>) -> Result<()> + Sync,
    ) -> Result<()> {
        self.0.resize_with(streams.len(), VecDeque::new);
        let all = streams.par_iter_mut().zip(plans).zip(&mut self.0);
        team.install(|| all.try_for_each(|((stream, plan), apart)| work(stream, plan, apart)))
    }
}

/// Makes pieces of a stream, or leaves them to helpers that lack work. A stream with pieces apart gets others only behind these.
fn make<S: StreamFill>(
    stream: &mut S,
    plan: &S::Plan,
    pieces: &[S::Piece],
    apart: &mut Apart<S>,
    scratches: &EncodeScratchPool,
) -> Result<()> {
    for piece in pieces {
        let crew = scratches.idle_crew().filter(|_| !stream.is_small(piece));
        let cut = if crew.is_some() || !apart.is_empty() { stream.cut(plan, piece)? } else { None };
        let Some((cut, bytes)) = cut else {
            scratches.with(|scratch| stream.put(plan, piece, scratch))?;
            continue;
        };
        let piece = SharedPiece::<S>::new(cut, scratches);
        apart.push_back(Arc::clone(&piece));
        match crew {
            Some(crew) => crew.share(bytes, Needs::Means, Box::new(move || piece.help())),
            None => piece.make(),
        }
    }
    while let Some(made) = apart.front().and_then(|piece| piece.made().try_take()) {
        apart.pop_front();
        stream.add(&made.map_err(|error| S::blame(plan, error))?);
    }
    Ok(())
}
