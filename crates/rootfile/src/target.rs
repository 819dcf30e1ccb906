//! The rule for every output path: never an input file, never an existing file unless the caller asks to overwrite it,
//! and only a place where a file can be. [`crate::temporary`] guarantees that an output is complete or absent.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::hint::Taken;
use crate::url::url;
use crate::{Error, Result};

/// Checks that a path may be written: it is not a file in `inputs` (under any name, links included), not an existing
/// file unless `overwrite`, not a device, a folder or an object in a file, and its folder exists.
///
/// Callers check before they begin. The writer checks again when it renames the file.
///
/// # Errors
///
/// [`ErrorKind::Request`](crate::ErrorKind::Request) for an input, otherwise [`ErrorKind::Io`](crate::ErrorKind::Io) with
/// the kind that the system would give (`NotFound` for the folder, `AlreadyExists`, `InvalidInput`).
pub fn check_output<P: AsRef<Path>>(path: &Path, overwrite: bool, inputs: impl IntoIterator<Item = P>) -> Result<()> {
    if url(path).is_some() {
        return Err(
            Error::request("outputs are written on this machine: name a path, and copy the file afterwards").file(path)
        );
    }
    if inputs.into_iter().any(|input| is_same_file(path, input.as_ref())) {
        return Err(Error::request("is an input as well; choose another output").file(path));
    }
    if let Some(file) = holder_of(path) {
        let why = format!("would be an object in {file}, but an output is a whole file: name {file} alone");
        return Err(Error::request(why).file(path));
    }
    check_place(path, overwrite).map_err(|e| Error::from(e).file(path))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            let why = format!("the folder {} does not exist; make it first", folder.display());
            Err(Error::from(io::Error::new(io::ErrorKind::NotFound, why)).file(path))
        }
        _ => Ok(()),
    }
}

/// Whether two paths are the same file: the same device and inode, so links count.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether two paths are the same file, or will be once written: the same name in the same folder.
pub fn is_same_place(a: &Path, b: &Path) -> bool {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.canonicalize().ok()
    };
    is_same_file(a, b) || (a.file_name() == b.file_name() && folder(a) == folder(b))
}

/// The file whose object a path names, as inputs do (`FILE:OBJECT`): a file that is there, or by its name a ROOT file.
fn holder_of(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let folder_is_there = path.parent().is_some_and(Path::is_dir);
    let holds = |(at, _): (usize, &str)| {
        let (file, object) = (text.get(..at)?, text.get(at + 1..)?);
        let is_file = Path::new(file).is_file() || file.ends_with(".root");
        (is_file && !(object.contains('/') && folder_is_there)).then_some(file)
    };
    if path.symlink_metadata().is_ok() { None } else { text.match_indices(':').find_map(holds) }
}

/// Checks that a file can be created at a path; unless `overwrite`, that there is none.
pub(crate) fn check_place(path: &Path, overwrite: bool) -> io::Result<()> {
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        let why = "is not a regular file and cannot be replaced; name another output";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    match path.symlink_metadata() {
        Ok(there) if !overwrite && there.is_symlink() && !path.exists() => {
            let why = "is a link that leads to no file: remove it, or make that file";
            Err(io::Error::new(io::ErrorKind::AlreadyExists, why))
        }
        Ok(_) if !overwrite => Err(exists()),
        _ => Ok(()),
    }
}

/// The error for a file that must not be replaced.
pub(crate) fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, Taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_an_input_is_an_output() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in"), "input").unwrap();
        std::fs::hard_link(at("in"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("in"), at("soft")).unwrap();
        std::fs::write(at("other"), "").unwrap();
        for name in ["in", "./in", "hard", "soft"] {
            let why = check_output(&at(name), true, [at("other"), at("in")]).unwrap_err().to_string();
            assert!(why.contains("is an input as well"), "{name}: {why}");
        }
        assert!(check_output(&at("other"), true, [at("in")]).is_ok());
        let same = |a: &str, b: &str| is_same_place(&at(a), &at(b));
        assert!(same("new", "./new") && same("in", "hard") && !same("new", "newer") && !same("new", "no/new"));
        assert!(check_output(&at("other"), false, [at("in")]).unwrap_err().to_string().contains("--force"));
        assert!(check_output(&at("new"), false, [at("in"), at("absent")]).is_ok());
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        let none: [&Path; 0] = [];
        let why = check_output(&at("dangling"), false, none).unwrap_err().to_string();
        assert!(why.contains("leads to no file") && !why.contains("--force"), "{why}");
        assert!(check_output(&at("no/such/folder"), true, none).unwrap_err().to_string().contains("does not exist"));
        for there in ["/dev/null", "/tmp"] {
            assert!(check_output(Path::new(there), true, none).is_err(), "{there}");
        }
    }
    #[test]
    fn objects_in_files_are_no_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("data"), "").unwrap();
        std::fs::write(at("there.root:t"), "").unwrap();
        std::fs::create_dir(at("runs.root:1")).unwrap();
        let none: [&Path; 0] = [];
        for (object, file) in [("data:t", "data"), ("new.root:dir/t", "new.root"), ("new.root:a::b", "new.root")] {
            let why = check_output(&at(object), true, none).unwrap_err().to_string();
            assert!(why.ends_with(&format!("name {} alone", at(file).display())), "{object}: {why}");
        }
        for file in ["a:b.root", "there.root:t", "runs.root:1/new.root"] {
            assert!(check_output(&at(file), true, none).is_ok(), "{file}");
        }
    }
}
