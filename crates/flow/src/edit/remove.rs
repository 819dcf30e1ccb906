//! Removes objects and directories from files, or whole files.

use objects::contents::{Found, Which};
use rootfile::{Error, Hint, Result};

use super::Confirm;
use super::desk::{Desk, Writing};
use super::place::{EditPlace, shown};
use super::report::{Change, ChangeKind, Edited};
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::plan::inputs::Input;

/// How objects are removed.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemoveOptions {
    /// Whether directories are removed with all in them, and files that are named without a colon.
    pub recursive: bool,
    /// Whether what is not there is passed over.
    pub force: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Whether files are written anew, without gaps. Otherwise they are changed in place.
    pub compact: bool,
    /// Memory and threads.
    pub budget: Budget,
}

/// Removes objects: all cycles of a name, or the one that is named. Each object that `confirm` is asked about is removed if it says so.
///
/// # Errors
///
/// Nothing has such a name, it is a directory and those are not asked for, or a file cannot be read or written. What is refused before
/// the first file is written changes no file.
pub fn remove(
    targets: &[Input],
    options: &RemoveOptions,
    confirm: Confirm<'_>,
    progress: Progress<'_>,
) -> Result<Edited> {
    let (mut desk, mut report, mut whole) = (Desk::new(), Edited::default(), Vec::new());
    for target in targets {
        let place = EditPlace::of(target)?;
        if options.force && !place.file.exists() {
            continue;
        }
        let number = desk.open_to_edit(&place.file)?;
        if place.path.is_empty() {
            if !place.is_file {
                let why = "no object is named behind the colon; FILE:* are all objects, FILE alone is the file";
                return Err(Error::request(why).file(&place.file));
            }
            refuse_folder(options, &place.shown(), "is a file, which is removed with")?;
            if confirm(&format!("remove '{}'", place.file.display()))? {
                report.changes.push(removed(&place, "", "TFile", Vec::new()));
                whole.push(number);
            }
            continue;
        }
        let found = match desk.file(number)?.contents.find(&place.path, Which::All) {
            Err(_) if options.force => continue,
            found => found.map_err(|e| e.file(&place.file))?,
        };
        for one in found {
            if one.is_folder() {
                refuse_folder(options, &shown(&place.file, &one.path), "is a directory, which is removed with")?;
            }
            if confirm(&format!("remove '{}' from '{}'", one.path, place.file.display()))? {
                let Found { path, .. } = &one;
                report.changes.push(removed(&place, path, one.class(), one.cycles()));
                desk.edit(number)?.contents.remove(&one);
            }
        }
    }
    if options.dry_run {
        return Ok(report);
    }
    let how = Writing { budget: options.budget, compression: None, compact: options.compact };
    for number in 0..desk.files.len() {
        match whole.contains(&number) {
            true => report.files.push(desk.file(number)?.unlink()?),
            false => desk.write(number, how, progress, &mut report)?,
        }
    }
    Ok(report)
}

/// Refuses what only a recursive removal takes.
fn refuse_folder(options: &RemoveOptions, shown: &str, why: &str) -> Result<()> {
    if options.recursive {
        return Ok(());
    }
    let recursive = Hint::switch("recursive");
    Err(Error::request(format!("{shown} {why} {recursive}")).hint(recursive))
}

fn removed(place: &EditPlace, path: &str, class: &str, cycles: Vec<i16>) -> Change {
    Change {
        kind: ChangeKind::Removed,
        file: place.file.clone(),
        object: path.to_owned(),
        class: class.to_owned(),
        cycles,
        from_file: None,
        from_object: None,
    }
}
