//! A part of a table: its entries; and how many parts there may be.

use dataset::EntrySet;
use rootfile::{Error, Hint, Result};

/// The entries of a part.
pub(super) struct Part {
    /// The value of all of them.
    pub value: Option<String>,
    pub entries: EntrySet,
}

/// Refuses more parts than wanted.
pub(super) fn refuse_many(parts: u64, most: usize) -> Result<()> {
    if parts <= most as u64 {
        return Ok(());
    }
    let hint = Hint::number("max-files", parts);
    Err(Error::request(format!("would make {parts} files, and {most} are the most; {hint} allows them")).hint(hint))
}
