//! What is said of parts, each once: a thousand parts that are alike say the same.

use std::collections::HashSet;

/// Most notes.
const MOST: usize = 100;

/// Notes, each once.
#[derive(Default)]
pub(super) struct Told {
    known: HashSet<String>,
    /// In order.
    pub notes: Vec<String>,
}

impl Told {
    /// Adds notes.
    pub fn add(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            if self.notes.len() < MOST && self.known.insert(note.clone()) {
                self.notes.push(note);
            }
        }
    }
}
