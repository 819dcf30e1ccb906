//! The numbers of the entries whose values are given.

/// The numbers of the entries whose values are given.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    first: u64,
    numbers: Option<&'a [u64]>,
    /// What is added to each number.
    before: u64,
}

impl From<u64> for Entries<'_> {
    /// Entries from this one on.
    fn from(first: u64) -> Self {
        Self { first, numbers: None, before: 0 }
    }
}

impl<'a> From<&'a [u64]> for Entries<'a> {
    /// The entries with these numbers.
    fn from(numbers: &'a [u64]) -> Self {
        Self { first: 0, numbers: Some(numbers), before: 0 }
    }
}

impl<'a> Entries<'a> {
    /// The same entries behind so many of other tables.
    #[must_use]
    pub fn behind(self, before: u64) -> Self {
        Self { before, ..self }
    }

    /// Those from a place on.
    pub(crate) fn starting_at(self, at: usize) -> Self {
        match self.numbers {
            Some(numbers) => Self { numbers: Some(numbers.get(at..).unwrap_or_default()), ..self },
            None => Self { first: self.first + at as u64, ..self },
        }
    }

    /// The number of the entry at a place.
    pub(crate) fn number(self, at: usize) -> u64 {
        self.before
            + match self.numbers {
                Some(numbers) => numbers.get(at).copied().unwrap_or(0),
                None => self.first + at as u64,
            }
    }
}
