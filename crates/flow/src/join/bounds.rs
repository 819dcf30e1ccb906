//! Ranges of keys: the part of a join that one of several jobs does, and where the keys of the left table are cut into such parts.

use std::path::Path;

use rootfile::{Error, Follow, Hint, Result};

use super::key::JoinKey;
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};
use crate::keys::Sorter;
use crate::keys::files::{KeyFiles, refuse_cycles};
use crate::keys::key_type::KeyType;
use crate::plan::inputs::Input;

/// The option that gives the first key, and that for the key behind the last.
const FROM: &str = "from-key";
const BEFORE: &str = "before-key";

/// Some keys that follow one another, as texts with colons between the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyRange<'a> {
    /// The first key. Fewer values than the key has mean the first key that begins with them.
    pub from: Option<&'a str>,
    /// The key behind the last one.
    pub before: Option<&'a str>,
}

/// The same as numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedRange {
    from: u128,
    before: Option<u128>,
}

impl PackedRange {
    pub fn of(range: KeyRange<'_>, of: &KeyType) -> Result<Self> {
        let from = range.from.map(|text| packed(text, of, FROM)).transpose()?.unwrap_or(0);
        let before = range.before.map(|text| packed(text, of, BEFORE)).transpose()?;
        if let (Some(first), Some(last), true) = (range.from, range.before, before.is_some_and(|before| before <= from))
        {
            let (first, last) = (Hint::text(FROM, first), Hint::text(BEFORE, last));
            return Err(Error::request(format!("no key lies between {first} and {last}")).hint(first).hint(last));
        }
        Ok(Self { from, before })
    }

    pub fn has(&self, key: u128) -> bool {
        self.from <= key && self.before.is_none_or(|before| key < before)
    }
}

fn packed(text: &str, of: &KeyType, option: &'static str) -> Result<u128> {
    let values: Vec<&str> = text.split(':').map(str::trim).collect();
    let hint = Hint::named(option);
    let refused = |why: &str| Error::request(format!("{hint} {text}: {why}")).hint(hint.clone());
    let found = of.range_of(&values, &values).map_err(|e| refused(&e.to_string()))?;
    found.map(|(first, _)| first).ok_or_else(|| refused("no entry can have this key"))
}

/// The keys that cut those of some files on the left into ranges with so many entries, or more where they have one key: the first key of each
/// range but the first.
///
/// # Errors
///
/// A file cannot be read, or lacks a column of the key.
pub fn key_bounds(
    inputs: &[Input],
    key: &JoinKey,
    entries: u64,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Vec<String>> {
    refuse_cycles(inputs)?;
    let files = KeyFiles::new(inputs, key.left(), budget, Follow::default())?;
    let of = files.key_type(&[], progress)?;
    let sorter = Sorter::new(budget, files.threads(), None::<&Path>)?;
    files.sort_into(&sorter, 0, &of, progress)?;
    let (mut bounds, mut count, mut last) = (Vec::new(), 0, None);
    sorter.finish()?.each_block(|rows| {
        for row in rows {
            if count >= entries.max(1) && last != Some(row.key()) {
                bounds.push(of.texts(row.key()).join(":"));
                count = 0;
            }
            count += 1;
            last = Some(row.key());
        }
        tell(progress, 0)
    })?;
    Ok(bounds)
}
