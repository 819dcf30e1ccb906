//! The inputs that cannot be used, found while a rewrite is prepared. With `skip_bad` they are left out and reported;
//! otherwise the first of them is an error.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::{Error, ErrorKind, Result, RootFile, public_path};

use crate::plan::skipped::Skipped;

/// Collects bad inputs. At least one input is always kept, and its errors are returned.
pub(super) struct BadInputs {
    inputs: Vec<PathBuf>,
    /// Whether bad inputs are left out. Otherwise all errors are returned.
    skip: bool,
    /// For each input, whether it is bad.
    is_bad: Vec<bool>,
    /// The bad inputs, in the order in which they were found.
    found: Vec<Skipped>,
}

impl BadInputs {
    pub fn new(inputs: Vec<PathBuf>, skip: bool) -> Self {
        Self { is_bad: vec![false; inputs.len()], inputs, skip, found: Vec::new() }
    }

    pub fn of(files: &[Arc<RootFile>], skip: bool) -> Self {
        Self::new(files.iter().map(|file| file.name().to_path_buf()).collect(), skip)
    }

    /// The result of a step. `None` if an input is bad that may be left out.
    pub fn admit<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        let error = match result {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let others = self.inputs.len() - self.found.len() > 1;
        let Some(place) = self.place_of(error.path()).filter(|_| self.skip && others && is_unreadable(&error)) else {
            return Err(error);
        };
        if let Some(bad) = self.is_bad.get_mut(place) {
            *bad = true;
        }
        let path = self.inputs.get(place).map(|path| public_path(path).into_owned()).unwrap_or_default();
        self.found.push(Skipped { path, reason: error.to_string() });
        Ok(None)
    }

    /// The first input of this path that is not bad so far.
    fn place_of(&self, path: Option<&Path>) -> Option<usize> {
        self.inputs.iter().zip(&self.is_bad).position(|(input, bad)| !bad && Some(input.as_path()) == path)
    }

    pub fn is_bad(&self, input: usize) -> bool {
        self.is_bad.get(input).copied().unwrap_or(false)
    }

    pub fn any(&self) -> bool {
        !self.found.is_empty()
    }

    /// Drops the bad inputs from a list with one item for each input, and returns them.
    pub fn leave_out<T>(self, items: &mut Vec<T>) -> Vec<Skipped> {
        let mut bad = self.is_bad.into_iter();
        items.retain(|_| !bad.next().unwrap_or(false));
        self.found
    }
}

/// Whether the fault lies in the input, not in the request.
pub(super) fn is_unreadable(error: &Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::Request(_) | ErrorKind::Differs(_) | ErrorKind::Memory(_) | ErrorKind::Interrupted
    )
}
