//! The numbers of the entries whose values are given.

/// The numbers of the entries whose values are given.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    first: u64,
    numbers: Option<&'a [u64]>,
}

impl From<u64> for Entries<'_> {
    /// Entries from this one on.
    fn from(first: u64) -> Self {
        Self { first, numbers: None }
    }
}

impl<'a> From<&'a [u64]> for Entries<'a> {
    /// The entries with these numbers.
    fn from(numbers: &'a [u64]) -> Self {
        Self { first: 0, numbers: Some(numbers) }
    }
}

impl<'a> Entries<'a> {
    /// Those from a place on.
    pub(crate) fn starting_at(self, at: usize) -> Self {
        match self.numbers {
            Some(numbers) => Self { first: 0, numbers: Some(numbers.get(at..).unwrap_or_default()) },
            None => Self { first: self.first + at as u64, numbers: None },
        }
    }

    /// The number of the entry at a place.
    pub(crate) fn number(self, at: usize) -> u64 {
        match self.numbers {
            Some(numbers) => numbers.get(at).copied().unwrap_or(0),
            None => self.first + at as u64,
        }
    }
}
