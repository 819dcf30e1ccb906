//! Entries with the key of another, as text for people: `check` and `merge` print it.

use std::io::Write;

use flow::keys::{Duplicate, DuplicateKeys, EntryOfKey};
use rootfile::Result;

use crate::output;

/// Duplicates that are printed; --json has more.
const SHOWN: usize = 10;

/// Prints the first of them, and how many there are. `done` says what became of them.
pub(super) fn print(out: &mut impl Write, found: &DuplicateKeys, done: &str) -> Result<()> {
    for Duplicate { key, entry, first } in found.listed.iter().take(SHOWN) {
        let at = |EntryOfKey { file, entry }: &EntryOfKey| {
            format!("entry {} of {}", output::count(*entry), output::line(&file.display().to_string()))
        };
        writeln!(out, "{}: {} has the key of {}", output::line(&key.join(":")), at(entry), at(first))?;
    }
    if let Some(more @ 1..) = found.duplicates.checked_sub(SHOWN as u64) {
        writeln!(out, "and {} more", output::count(more))?;
    }
    let of_table = if found.path.is_empty() { String::new() } else { format!("{}: ", output::line(&found.path)) };
    if found.duplicates == 0 {
        let all = output::plural(found.entries, "entry", "entries");
        writeln!(out, "{of_table}each key ({}) is there once, in {all}", output::line(&found.key.join(",")))?;
        return Ok(());
    }
    let (count, all) = (output::count(found.duplicates), output::plural(found.entries, "entry", "entries"));
    let key = output::line(&found.key.join(","));
    writeln!(out, "{of_table}{count} of {all} have the key ({key}) of an earlier one{done}")?;
    Ok(())
}
