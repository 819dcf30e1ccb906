//! Makes directories in files, and files without objects.

use objects::contents::TOP;
use rootfile::{Error, Hint, Result};

use super::desk::{Desk, OpenFile, Writing};
use super::place::{EditPlace, check_new};
use super::report::{Change, ChangeKind, Edited};
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::plan::inputs::Input;

/// Makes directories. With `parents` also those above them, and files that are not there; directories that are there are no error then.
/// A file without a path is made without objects.
///
/// # Errors
///
/// A name is taken, a directory above or a file is not there, or a file cannot be read or written.
pub fn make_directories(targets: &[Input], parents: bool, budget: Budget, progress: Progress<'_>) -> Result<Edited> {
    let (mut desk, mut report) = (Desk::new(), Edited::default());
    for target in targets {
        let place = EditPlace::of(target)?;
        let number = match desk.known(&place.file) {
            Some(known) => known,
            None if place.file.exists() => desk.open_to_edit(&place.file)?,
            None if place.path.is_empty() => {
                report.changes.push(made(&place, "", "TFile"));
                desk.create(&place.file, false)?
            }
            None if parents => desk.create(&place.file, false)?,
            None => {
                let parents = Hint::switch("parents");
                let why = format!("there is no such file; {parents} makes it as well");
                return Err(Error::request(why).hint(parents).file(&place.file));
            }
        };
        let file = desk.files.get_mut(number).ok_or_else(|| Error::request("an edit of other files"))?;
        match place.path.is_empty() {
            true if file.is_edited || parents => {}
            true => return Err(Error::request("is there already").file(&place.file)),
            false => make(file, &place, parents, &mut report)?,
        }
    }
    let how = Writing { budget, ..Writing::default() };
    for number in 0..desk.files.len() {
        desk.write(number, how, progress, &mut report)?;
    }
    Ok(report)
}

/// Makes the directory of a place.
fn make(file: &mut OpenFile, place: &EditPlace, parents: bool, report: &mut Edited) -> Result<()> {
    let refused = |e: Error| e.file(&place.file);
    check_new(&place.path).map_err(refused)?;
    let parts: Vec<&str> = place.path.split('/').collect();
    let mut folder = TOP;
    for (number, part) in parts.iter().enumerate() {
        let path = parts.get(..=number).unwrap_or_default().join("/");
        let is_last = number + 1 == parts.len();
        if let Some(there) = file.contents.folder(folder, part) {
            if is_last && !parents {
                return Err(refused(Error::request("a directory of this name is there already").object(path)));
            }
            folder = there;
            continue;
        }
        if !is_last && !parents && file.contents.objects(folder, part).is_none() {
            let parents = Hint::switch("parents");
            let why = format!("there is no such directory; {parents} makes it as well");
            return Err(refused(Error::request(why).object(path).hint(parents)));
        }
        folder = file.contents.make_folder(folder, part, "").map_err(|e| refused(e.object(&path)))?;
        file.is_edited = true;
        report.changes.push(made(place, &path, "TDirectory"));
    }
    Ok(())
}

fn made(place: &EditPlace, path: &str, class: &str) -> Change {
    Change {
        kind: ChangeKind::Made,
        file: place.file.clone(),
        object: path.to_owned(),
        class: class.to_owned(),
        cycles: Vec::new(),
        from_file: None,
        from_object: None,
    }
}
