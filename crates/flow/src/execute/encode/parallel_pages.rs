//! Encodes the entries of one caller on several threads, as pages: first all fields in parallel, then all full pages. The pages and
//! their order are the same as with one thread.

use std::ops::Range;
use std::time::Instant;

use arrow_array::ArrayRef;
use dataset::ntuple::encode::FieldEncoder;
use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::Result;

use super::clocks::add;
use super::page_fill::{FieldFill, PageToMake};
use super::scratch::EncodeScratchPool;
use crate::table::made_pages::ColumnPages;

/// Adds entries to all fields, and makes the pages that they fill.
pub(crate) fn fill(
    team: &ThreadPool,
    fields: &mut [FieldFill],
    encoders: &[FieldEncoder],
    (arrays, rows): (&[Option<ArrayRef>], Range<usize>),
    scratches: &EncodeScratchPool,
) -> Result<()> {
    team.install(|| {
        let encoded = fields.par_iter_mut().zip(encoders).map(|(fill, encoder)| {
            let started = Instant::now();
            let pages = fill.encode(encoder, arrays, rows.clone())?;
            add(&scratches.clocks.encoding, started.elapsed());
            Ok(pages)
        });
        let waiting = encoded.collect::<Result<Vec<_>>>()?;
        make(fields, &waiting, scratches)
    })
}

/// Makes the last pages of a cluster.
pub(crate) fn finish_pages(team: &ThreadPool, fields: &mut [FieldFill], scratches: &EncodeScratchPool) -> Result<()> {
    team.install(|| {
        let waiting: Vec<Vec<PageToMake>> = fields.iter().map(FieldFill::last_pages).collect();
        make(fields, &waiting, scratches)
    })
}

/// Makes the pages of all fields in parallel: some fields have many and others none.
fn make(fields: &mut [FieldFill], waiting: &[Vec<PageToMake>], scratches: &EncodeScratchPool) -> Result<()> {
    let pages: Vec<(usize, &PageToMake)> =
        waiting.iter().enumerate().flat_map(|(field, pages)| pages.iter().map(move |page| (field, page))).collect();
    let filled: &[FieldFill] = fields;
    let made = pages.into_par_iter().map(|(field, page)| {
        let Some(fill) = filled.get(field) else { return Ok(None) };
        Ok(Some((field, page, scratches.with(|scratch| fill.make(page, scratch))?)))
    });
    let made: Vec<Option<(usize, &PageToMake, ColumnPages)>> = made.collect::<Result<_>>()?;
    for (field, page, pages) in made.into_iter().flatten() {
        if let Some(fill) = fields.get_mut(field) {
            fill.add(page, &pages);
        }
    }
    fields.iter_mut().zip(waiting).for_each(|(fill, pages)| fill.forget(pages));
    Ok(())
}
