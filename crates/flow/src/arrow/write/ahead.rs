//! What a thread that fills will need soon, made by a thread that has nothing else to do, if there is one.

use std::sync::Arc;

use rootfile::Result;

use crate::execute::encode::scratch::Crew;
use crate::execute::shared_work::{Needs, Slot};
use crate::execute::workers::guarded;

/// Something that is made ahead: see [`FillContext::ahead`](super::FillContext::ahead).
pub struct Ahead<T>(State<T>);

enum State<T> {
    /// Nobody has time for it.
    Later(Box<dyn FnOnce() -> Result<T> + Send>),
    /// It was left to others.
    Left(Arc<Slot<Result<T>>>, Crew),
}

impl<T: Send + 'static> Ahead<T> {
    /// Leaves it to others, if they lack work. It is as much work as compressing so many bytes.
    pub(super) fn new(crew: Option<&Crew>, bytes: u64, make: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        let Some(crew) = crew.filter(|crew| crew.wants_work()) else { return Self(State::Later(Box::new(make))) };
        let slot = Arc::new(Slot::new());
        let made = Arc::clone(&slot);
        crew.share(bytes, Needs::Thread, Box::new(move || made.put(guarded(|| "what is made ahead".to_owned(), make))));
        Self(State::Left(slot, crew.clone()))
    }

    /// Takes it, once it is made.
    ///
    /// # Errors
    ///
    /// That of making it; a panic of it.
    pub fn take(self) -> Result<T> {
        match self.0 {
            State::Later(make) => make(),
            State::Left(slot, crew) => crew.take(&slot),
        }
    }
}
