//! Damage in a file's directories and keys: each key is compared with its record. A contradiction is refused, or the
//! object is left out and reported.

use std::collections::HashSet;

use rootfile::{Error, Mismatch, Result, RootFile, Walk, public_path};

use crate::problem::{Damaged, Problem};

/// The advice for a damaged file.
const HELP: &str = "-k leaves out what is damaged; `basketry recover` reads the records and no lists of keys";

/// Refuses a file with damage in it. Harmless contradictions become notes.
pub(super) fn refuse(file: &RootFile, walk: &mut Walk, notes: &mut Vec<Problem>) -> Result<Vec<Damaged>> {
    refuse_damage_in(file, walk, notes, |_| true)
}

/// Refuses a file with damage in an object or directory that `wanted` accepts by its path. The path of the file as a whole
/// is empty.
///
/// # Errors
///
/// The first damage.
pub fn refuse_damage_in(
    file: &RootFile,
    walk: &mut Walk,
    notes: &mut Vec<Problem>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Damaged>> {
    if let Some(problem) = std::mem::take(&mut walk.problems).into_iter().next() {
        return Err(problem);
    }
    let (harmless, damage): (Vec<Mismatch>, Vec<Mismatch>) = file.audit(walk).into_iter().partition(|m| m.harmless);
    notes.extend(unclosed(file));
    notes.extend(harmless.iter().map(note));
    let mut damage = damage.into_iter().filter(|mismatch| wanted(&mismatch.path));
    let Some(first) = damage.next() else { return Ok(Vec::new()) };
    let more = match damage.count() {
        0 => String::new(),
        1 => " (and 1 place more)".to_owned(),
        n => format!(" (and {n} places more)"),
    };
    let what = format!("{}{more}. {HELP}", first.contradiction);
    Err(Error::corrupt(what).object(first.object).at(first.offset).file(file.name()))
}

/// Removes damaged directories and keys from a file's listing, and returns them.
pub(super) fn leave_out(file: &RootFile, walk: &mut Walk, notes: &mut Vec<Problem>) -> Result<Vec<Damaged>> {
    let path = || public_path(file.name()).into_owned();
    let unreadable = std::mem::take(&mut walk.problems).into_iter();
    let mut damaged: Vec<Damaged> =
        unreadable.map(|e| Damaged { path: path(), object: "directory".to_owned(), reason: e.to_string() }).collect();
    let mut bad: HashSet<(usize, usize)> = HashSet::new();
    notes.extend(unclosed(file));
    for mismatch in file.audit(walk) {
        if mismatch.harmless {
            notes.push(note(&mismatch));
            continue;
        }
        bad.extend(mismatch.key);
        let reason = format!("at byte {}: {}", mismatch.offset, mismatch.contradiction);
        damaged.push(Damaged { path: path(), object: mismatch.object, reason });
    }
    // A directory goes with its damaged key, unless another key leads to it.
    let keys = walk
        .directories
        .iter()
        .enumerate()
        .flat_map(|(d, directory)| directory.keys.iter().enumerate().map(move |(k, key)| ((d, k), key.seek_key)));
    let sound: HashSet<u64> = keys.filter(|(at, _)| !bad.contains(at)).map(|(_, seek)| seek).collect();
    let mut gone: HashSet<u64> = HashSet::new();
    for (d, directory) in walk.directories.iter_mut().enumerate() {
        let lost = gone.contains(&directory.seek);
        let keys = std::mem::take(&mut directory.keys).into_iter().enumerate();
        let kept = keys.filter_map(|(k, key)| {
            let bad = bad.contains(&(d, k));
            if lost || bad && !sound.contains(&key.seek_key) {
                gone.insert(key.seek_key);
            }
            (!lost && !bad).then_some(key)
        });
        directory.keys = kept.collect();
    }
    walk.directories.retain(|directory| !gone.contains(&directory.seek));
    Ok(damaged)
}

fn note(mismatch: &Mismatch) -> Problem {
    Problem {
        path: mismatch.object.clone(),
        message: format!("at byte {}: {}", mismatch.offset, mismatch.contradiction),
    }
}

/// The note on a file whose keys were found by scanning.
fn unclosed(file: &RootFile) -> Option<Problem> {
    Some(Problem { path: public_path(file.name()).display().to_string(), message: file.unclosed()? })
}
