//! Several threads fill what one gives: branches are encoded side by side, and then all baskets that this filled are
//! compressed side by side. What is made, and in which order it lies, is the same as with one thread.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow_array::ArrayRef;
use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::codec::Compressor;
use rootfile::{Error, Result};

use super::baskets::{Bench, BranchFill, Made};
use super::context::largest;
use super::metrics::{Clocks, add};
use super::plan::{BranchPlan, TreePlan};
use crate::sink::Chunk;

/// The benches of a context: one for each thread that works for it now.
pub(super) struct Benches {
    free: Mutex<Vec<Bench>>,
    pub clocks: Arc<Clocks>,
}

impl Benches {
    pub fn new(compressors: Vec<Compressor>, clocks: Arc<Clocks>) -> Self {
        let free = compressors.into_iter().map(|compressor| Bench::new(compressor, Arc::clone(&clocks))).collect();
        Self { free: Mutex::new(free), clocks }
    }

    /// Does something with one of them, or with a new one if all are in use.
    pub fn with<T>(&self, work: impl FnOnce(&mut Bench) -> T) -> T {
        let lock = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut bench = free.unwrap_or_else(|| Bench::new(Compressor::new(), Arc::clone(&self.clocks)));
        let done = work(&mut bench);
        lock().push(bench);
        done
    }

    /// Bytes that they take.
    pub fn memory(&self) -> u64 {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.iter().map(|bench| bench.payload.capacity() as u64).sum()
    }

    /// What another context may use after this one.
    pub fn compressors(&self) -> Vec<Compressor> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.drain(..).map(|bench| bench.compressor).collect()
    }
}

fn of_branch(plan: &BranchPlan) -> impl Fn(Error) -> Error {
    move |error| error.object(format!("branch {}", plan.name))
}

/// Takes entries, and makes the baskets that they fill.
pub(super) fn fill(
    team: &ThreadPool,
    branches: &mut [BranchFill],
    plan: &TreePlan,
    (arrays, rows): (&[ArrayRef], Range<usize>),
    (maxima, benches): (&mut [u64], &Benches),
) -> Result<()> {
    team.install(|| {
        let given = plan.branches.par_iter().zip(arrays).zip(maxima);
        let encoded =
            branches.par_iter_mut().enumerate().zip(given).map(|((index, fill), ((plan, array), maximum))| {
                if plan.counts {
                    *maximum = (*maximum).max(largest(&array.slice(rows.start, rows.len())));
                }
                encode(fill, (index, plan), (array, rows.clone()), benches).map_err(of_branch(plan))
            });
        // Some branches fill many and others none: only all together are they shared out well.
        let waiting = encoded.collect::<Result<Vec<Vec<Range<usize>>>>>()?;
        let mut baskets = Vec::new();
        for (index, ranges) in waiting.iter().enumerate() {
            baskets.extend(ranges.iter().map(|range| (index, range.clone())));
        }
        let filled: &[BranchFill] = branches;
        let made = baskets.into_par_iter().map(|(index, basket)| {
            let (Some(fill), Some(plan)) = (filled.get(index), plan.branches.get(index)) else { return Ok(None) };
            let mut chunk = Chunk::default();
            let made = benches.with(|bench| fill.make((index, plan), basket, bench, &mut chunk));
            Ok(Some((index, chunk, made.map_err(of_branch(plan))?)))
        });
        let made: Vec<Option<(usize, Chunk, Made)>> = made.collect::<Result<_>>()?;
        for (index, chunk, made) in made.into_iter().flatten() {
            if let Some(fill) = branches.get_mut(index) {
                fill.add(&chunk, &made);
            }
        }
        branches.iter_mut().zip(&waiting).for_each(|(fill, baskets)| fill.forget(baskets));
        Ok(())
    })
}

/// Takes a branch's entries. Makes the baskets that they fill, or says which these are where they are to be compressed.
fn encode(
    fill: &mut BranchFill,
    (index, plan): (usize, &BranchPlan),
    (array, rows): (&ArrayRef, Range<usize>),
    benches: &Benches,
) -> Result<Vec<Range<usize>>> {
    let begun = Instant::now();
    let baskets = fill.encode(array, rows)?;
    add(&benches.clocks.encoding, begun.elapsed());
    if plan.compression.algorithm().is_some() {
        return Ok(baskets);
    }
    for basket in &baskets {
        benches.with(|bench| fill.put((index, plan), basket.clone(), bench))?;
    }
    fill.forget(&baskets);
    Ok(Vec::new())
}

/// Ends the last basket of each branch of a cluster.
pub(super) fn finish_baskets(
    team: &ThreadPool,
    branches: &mut [BranchFill],
    plan: &TreePlan,
    benches: &Benches,
) -> Result<()> {
    team.install(|| {
        let pairs = branches.par_iter_mut().zip(&plan.branches).enumerate();
        pairs.try_for_each(|(index, (fill, plan))| {
            benches.with(|bench| fill.finish_basket((index, plan), bench)).map_err(of_branch(plan))
        })
    })
}
