//! Encodes the entries of one caller, on several threads if there are some: first all streams in parallel, then all full baskets or
//! pages. They and their order are the same as with one thread.

use std::ops::Range;
use std::time::Instant;

use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::Result;

use super::clocks::add;
use super::scratch::EncodeScratchPool;
use super::stream_fill::{Arrays, StreamFill};

/// Adds entries to all streams, and makes the pieces that they fill.
pub(crate) fn fill<S: StreamFill>(
    streams: &mut [S],
    plans: &[S::Plan],
    (arrays, rows): (&Arrays, Range<usize>),
    team: Option<&ThreadPool>,
    scratches: &EncodeScratchPool,
) -> Result<()> {
    let Some(team) = team else {
        let mut pairs = streams.iter_mut().zip(plans);
        return scratches.clocks.encode(|| {
            scratches
                .with(|scratch| pairs.try_for_each(|(stream, plan)| stream.fill(plan, (arrays, rows.clone()), scratch)))
        });
    };
    team.install(|| {
        let encoded = streams.par_iter_mut().zip(plans).map(|(stream, plan)| {
            let started = Instant::now();
            let pieces = stream.append(plan, arrays, rows.clone())?;
            add(&scratches.clocks.encoding, started.elapsed());
            Ok(pieces)
        });
        let waiting = encoded.collect::<Result<Vec<_>>>()?;
        make(streams, plans, &waiting, scratches)
    })
}

/// Makes the last pieces of a cluster.
pub(crate) fn finish<S: StreamFill>(
    streams: &mut [S],
    plans: &[S::Plan],
    team: Option<&ThreadPool>,
    scratches: &EncodeScratchPool,
) -> Result<()> {
    let Some(team) = team else {
        let mut pairs = streams.iter_mut().zip(plans);
        return scratches
            .clocks
            .encode(|| scratches.with(|scratch| pairs.try_for_each(|(stream, plan)| stream.finish(plan, scratch))));
    };
    team.install(|| {
        let ended = streams.par_iter_mut().zip(plans).map(|(stream, plan)| stream.finish_beside(plan, scratches));
        let waiting = ended.collect::<Result<Vec<_>>>()?;
        make(streams, plans, &waiting, scratches)
    })
}

/// Makes pieces of all streams in parallel: some streams have many and others none, so they are distributed together.
fn make<S: StreamFill>(
    streams: &mut [S],
    plans: &[S::Plan],
    waiting: &[Vec<S::Piece>],
    scratches: &EncodeScratchPool,
) -> Result<()> {
    let pieces: Vec<(usize, &S::Piece)> = waiting
        .iter()
        .enumerate()
        .flat_map(|(number, pieces)| pieces.iter().map(move |piece| (number, piece)))
        .collect();
    let filled: &[S] = streams;
    let made = pieces.into_par_iter().map(|(number, piece)| {
        let (Some(stream), Some(plan)) = (filled.get(number), plans.get(number)) else { return Ok(None) };
        Ok(Some((number, piece, scratches.with(|scratch| stream.make(plan, piece, scratch))?)))
    });
    let made = made.collect::<Result<Vec<_>>>()?;
    for (number, piece, made) in made.into_iter().flatten() {
        if let Some(stream) = streams.get_mut(number) {
            stream.add(piece, &made);
        }
    }
    streams.iter_mut().zip(waiting).for_each(|(stream, pieces)| stream.forget(pieces));
    Ok(())
}
