//! Records of the monitor after the job: read from any form, of any version and of unfinished runs (`read`), summarised by phases
//! (`digest`), compared (`compare`), drawn (`picture`), and saved in another form. What takes records is [`monitor`](crate::monitor).

mod compare;
mod digest;
mod picture;
mod read;
mod rows;
mod shown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rootfile::Result;

pub use digest::{Mean, Moment, Phase};
pub use picture::page;
pub use read::Head;
pub use shown::{Difference, Report, SCHEMA, Shown, Verdict};

use crate::monitor::Rewriter;
use digest::Digest;

/// Reads and summarises a record.
///
/// # Errors
///
/// The file cannot be read, or is no record.
pub fn show(path: &Path) -> Result<Shown> {
    let mut digest = Digest::default();
    let head = read::read(path, &mut |sample| {
        digest.add(sample);
        Ok(())
    })?;
    Ok(Shown::new(path, head, digest.end()))
}

/// Summarises records, and compares the first ones with the others.
///
/// # Errors
///
/// A file cannot be read, or is no record.
pub fn report(first: &[PathBuf], others: &[PathBuf]) -> Result<Report> {
    let records: Vec<Shown> = first.iter().chain(others).map(|path| show(path)).collect::<Result<_>>()?;
    let (a, b) = records.split_at(first.len().min(records.len()));
    let comparison = compare::compare(a, b);
    Ok(Report { schema: SCHEMA, first: first.len(), comparison, records })
}

/// Writes a record in another form, with all of its samples: also that of a monitor that was killed.
///
/// # Errors
///
/// The record cannot be read, or the output not written.
pub fn save(record: &Path, output: &Path, overwrite: bool) -> Result<u64> {
    let mut to = Rewriter::create(output, overwrite, &read::places(record))?;
    let mut count = 0;
    let head = read::read(record, &mut |sample| {
        count += 1;
        to.add(sample)
    })?;
    to.finish(&head.job.unwrap_or_default(), &head.files)?;
    Ok(count)
}
