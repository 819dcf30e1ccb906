//! Encodes the entries of one caller on several threads: first all branches in parallel, then all full baskets are compressed
//! in parallel. The baskets and their order are the same as with one thread.

use std::ops::Range;
use std::time::Instant;

use arrow_array::ArrayRef;
use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::{Error, Result};

use super::branch_fill::{BranchFill, MadeBasket};
use super::branch_plan::BranchPlan;
use super::clocks::add;
use super::maximum::largest_value;
use super::scratch::EncodeScratchPool;
use crate::table::chunk::Chunk;

fn of_branch(plan: &BranchPlan) -> impl Fn(Error) -> Error {
    move |error| error.object(format!("branch {}", plan.name))
}

/// Adds entries to all branches, and makes the baskets that they fill.
pub(crate) fn fill(
    team: &ThreadPool,
    branches: &mut [BranchFill],
    plans: &[BranchPlan],
    (arrays, rows): (&[ArrayRef], Range<usize>),
    (maxima, scratches): (&mut [u64], &EncodeScratchPool),
) -> Result<()> {
    team.install(|| {
        let given = plans.par_iter().zip(arrays).zip(maxima);
        let encoded = branches.par_iter_mut().zip(given).map(|(fill, ((plan, array), maximum))| {
            if plan.counts {
                *maximum = (*maximum).max(largest_value(&array.slice(rows.start, rows.len())));
            }
            let started = Instant::now();
            let baskets = fill.encode(plan, array, rows.clone()).map_err(of_branch(plan))?;
            add(&scratches.clocks.encoding, started.elapsed());
            Ok(baskets)
        });
        // Some branches fill many baskets and others none, so the baskets of all branches are distributed together.
        let waiting = encoded.collect::<Result<Vec<Vec<Range<usize>>>>>()?;
        let mut baskets = Vec::new();
        for (index, ranges) in waiting.iter().enumerate() {
            baskets.extend(ranges.iter().map(|range| (index, range.clone())));
        }
        let filled: &[BranchFill] = branches;
        let made = baskets.into_par_iter().map(|(index, basket)| {
            let (Some(fill), Some(plan)) = (filled.get(index), plans.get(index)) else { return Ok(None) };
            let mut chunk = Chunk::default();
            let made = scratches.with(|scratch| fill.make(plan, basket, scratch, &mut chunk));
            Ok(Some((index, chunk, made.map_err(of_branch(plan))?)))
        });
        let made: Vec<Option<(usize, Chunk, MadeBasket)>> = made.collect::<Result<_>>()?;
        for (index, chunk, made) in made.into_iter().flatten() {
            if let Some(fill) = branches.get_mut(index) {
                fill.add(&chunk, &made);
            }
        }
        branches.iter_mut().zip(&waiting).for_each(|(fill, baskets)| fill.forget(baskets));
        Ok(())
    })
}

/// Ends the last basket of each branch of a cluster.
pub(crate) fn finish_baskets(
    team: &ThreadPool,
    branches: &mut [BranchFill],
    plans: &[BranchPlan],
    scratches: &EncodeScratchPool,
) -> Result<()> {
    team.install(|| {
        branches.par_iter_mut().zip(plans).try_for_each(|(fill, plan)| {
            scratches.with(|scratch| fill.finish_basket(plan, scratch)).map_err(of_branch(plan))
        })
    })
}
