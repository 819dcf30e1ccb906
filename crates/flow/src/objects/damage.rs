//! What of a file is sound: its keys are held against their records, and what contradicts itself is refused, or left
//! out and said.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

use rootfile::{Error, Mismatch, Result, RootFile, Walk};

use super::write::Problem;

/// Something damaged that was left out, or stands in a damaged place.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Damaged {
    /// The file.
    pub path: PathBuf,
    /// The object with its cycle, a directory, or what else is damaged.
    pub object: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.path.display(), self.object, self.reason)
    }
}

/// What can be done about a damaged file.
const HELP: &str = "-k leaves out what is damaged; `basketry recover` reads the records and no lists of keys";

/// Refuses a file with damage in it. Harmless contradictions become notes.
pub(crate) fn refuse(file: &RootFile, walk: &mut Walk, notes: &mut Vec<Problem>) -> Result<Vec<Damaged>> {
    refuse_where(file, walk, notes, |_| true)
}

/// Refuses a file with damage in what is `wanted`, by its path; the path of the file as a whole is empty.
pub(crate) fn refuse_where(
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
    let what = format!("{}{more}. {HELP}", first.what);
    Err(Error::corrupt(what).object(first.object).at(first.offset).file(file.name()))
}

/// Takes out of a file's directories what is damaged, and says what that is.
pub(crate) fn leave_out(file: &RootFile, walk: &mut Walk, notes: &mut Vec<Problem>) -> Result<Vec<Damaged>> {
    let path = || file.name().to_path_buf();
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
        let reason = format!("at byte {}: {}", mismatch.offset, mismatch.what);
        damaged.push(Damaged { path: path(), object: mismatch.object, reason });
    }
    // What is in a directory goes with its key, unless another key leads there.
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
    Problem { path: mismatch.object.clone(), message: format!("at byte {}: {}", mismatch.offset, mismatch.what) }
}

/// What is to be said of a file whose keys were found by scanning.
fn unclosed(file: &RootFile) -> Option<Problem> {
    let end = file.scanned_to()?;
    let size = file.source().size();
    let rest = match size.saturating_sub(end) {
        0 => String::new(),
        rest => format!("; its last {rest} bytes, from byte {end}, hold no whole record"),
    };
    let message = format!("the file was not closed: its keys were found by reading its records{rest}");
    Some(Problem { path: file.name().display().to_string(), message })
}
