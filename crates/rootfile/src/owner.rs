//! What belongs to the process that made it: files in work, locks, servers, processes. A forked process has a copy of everything in
//! memory, but not the threads, and what is outside is still the first one's: it can neither use nor undo it.

use crate::{Error, Result};

/// The process that made something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// This process.
    pub fn this() -> Self {
        Self(std::process::id())
    }

    /// A process that is not this one.
    #[cfg(test)]
    pub(crate) fn other() -> Self {
        Self(0)
    }

    /// Whether it is the process that runs now, and not one from which it was forked.
    pub fn is_this(self) -> bool {
        self == Self::this()
    }

    /// Fails in any other process, whose user should do what `way_out` says.
    ///
    /// # Errors
    ///
    /// A request, in a process that was forked after `what` was made.
    pub fn check(self, what: &str, way_out: &str) -> Result<()> {
        match self.is_this() {
            true => Ok(()),
            false => {
                Err(Error::request(format!("{what} belongs to process {}, which forked this one; {way_out}", self.0)))
            }
        }
    }
}

/// A value that only the process uses and drops that made it. In a forked process its threads are not there and its locks may be held
/// for ever, so that its memory is left alone.
#[derive(Debug)]
pub struct Owned<T> {
    /// None only while it is dropped.
    value: Option<T>,
    owner: Owner,
}

impl<T> Owned<T> {
    /// A value of this process.
    pub fn new(value: T) -> Self {
        Self { value: Some(value), owner: Owner::this() }
    }

    /// The process that made it.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The value, in the process that made it.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.owner.is_this())
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if !self.owner.is_this() {
            std::mem::forget(self.value.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_uses_and_drops() {
        let dropped = std::rc::Rc::new(());
        let (own, mut other) = (Owned::new(dropped.clone()), Owned::new(dropped.clone()));
        other.owner = Owner::other();
        assert!(own.get().is_some() && own.owner().is_this() && own.owner().check("it", "").is_ok());
        assert!(other.get().is_none());
        let why = other.owner().check("the file", "make another").unwrap_err().to_string();
        assert_eq!(why, "the file belongs to process 0, which forked this one; make another");
        drop((own, other));
        // The one of another process is still there.
        assert_eq!(std::rc::Rc::strong_count(&dropped), 2);
    }
}
