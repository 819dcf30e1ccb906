//! Inputs that are left out: what is wrong with each, and how work on many files goes on without them.

use std::path::{Path, PathBuf};

use rootfile::{Error, ErrorKind, Result, public_path};

/// An input that was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

impl Skipped {
    fn of(path: &Path, error: &Error) -> Self {
        Self { path: public_path(path).into_owned(), reason: error.to_string() }
    }
}

/// What becomes of files that cannot be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BadFiles {
    /// Whether they are left out. Otherwise the first of them is an error.
    pub skip: bool,
}

impl BadFiles {
    /// What work on a file gave. The outer error ends all work: bad files are not left out, or it is no fault of the file.
    pub fn hold<T>(self, result: Result<T>) -> Result<Result<T>> {
        match result {
            Err(e) if !self.skip || !is_of_file(&e) => Err(e),
            result => Ok(result),
        }
    }

    /// What work on files gave, without bad ones, and these.
    ///
    /// # Errors
    ///
    /// All files are bad: the error of the first.
    pub fn sort_out<T>(found: Vec<Result<T>>, paths: &[&Path]) -> Result<(Vec<Option<T>>, Vec<Skipped>)> {
        let (mut good, mut skipped, mut first) = (Vec::with_capacity(found.len()), Vec::new(), None);
        for (number, result) in found.into_iter().enumerate() {
            let path = paths.get(number).copied().unwrap_or(Path::new(""));
            good.push(match result {
                Ok(one) => Some(one),
                Err(e) => {
                    skipped.push(Skipped::of(path, &e));
                    first = first.or(Some(e));
                    None
                }
            });
        }
        match first {
            Some(error) if skipped.len() == good.len() => Err(error),
            _ => Ok((good, skipped)),
        }
    }
}

/// Whether a file is at fault, or lacks what is asked for, and not the memory or the user who ends the work.
fn is_of_file(error: &Error) -> bool {
    let of_memory = error.hints().iter().any(|hint| hint.option() == "memory");
    !matches!(error.kind(), ErrorKind::Memory(_) | ErrorKind::Interrupted) && !of_memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_files_are_left_out_as_asked() {
        let damaged = || Err::<u8, _>(Error::corrupt("is cut"));
        assert!(BadFiles { skip: false }.hold(damaged()).is_err());
        assert!(BadFiles { skip: true }.hold::<u8>(Err(Error::interrupted())).is_err());
        let held = BadFiles { skip: true }.hold(damaged()).unwrap();
        let paths = [Path::new("a"), Path::new("b")];
        let (good, skipped) = BadFiles::sort_out(vec![Ok(1), held], &paths).unwrap();
        assert_eq!((good, skipped.len()), (vec![Some(1), None], 1));
        assert_eq!(skipped.first().map(|one| one.path.as_path()), Some(Path::new("b")));
        assert!(BadFiles::sort_out(vec![damaged(), damaged()], &paths).is_err());
    }
}
