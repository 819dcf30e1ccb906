//! Files that were not closed, of which people are warned once, whichever verb reads them: here the command keeps what it hears of such
//! files until the verb ends. Reports that tell of them by themselves are not repeated. It says nothing of files that verbs refuse.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rootfile::{Error, Result, hear_of_unclosed};

/// A sentence for each file that was opened, and of which nobody was told.
static UNTOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn untold() -> MutexGuard<'static, Vec<String>> {
    // The list is consistent after every call, so a panic elsewhere does not matter.
    UNTOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears of the files that this process opens.
pub fn listen() {
    hear_of_unclosed(|sentence| {
        let mut untold = untold();
        if !untold.iter().any(|known| known == sentence) {
            untold.push(sentence.to_owned());
        }
    });
}

/// This text was printed.
pub fn is_told(text: &str) {
    untold().retain(|sentence| !text.contains(sentence));
}

/// The same of JSON that was printed. It is made again where a file was not closed.
pub fn is_told_as_json(text: impl FnOnce() -> Result<String>) {
    if untold().is_empty() {
        return;
    }
    let Ok(text) = text() else { return };
    untold().retain(|sentence| {
        let escaped = serde_json::to_string(sentence).unwrap_or_default();
        !text.contains(escaped.trim_matches('"'))
    });
}

/// The verb tells of such files in its own words, or is there for them.
pub fn all_told() {
    untold().clear();
}

/// The others, at the end of a verb. The error in which it ends may be about such a file.
pub fn take_untold(error: Option<&Error>) -> Vec<String> {
    let untold = std::mem::take(&mut *untold());
    let said = error.map(ToString::to_string).unwrap_or_default();
    let is_said = ["the file was not closed", "the file is cut short"].iter().any(|words| said.contains(words));
    if is_said { Vec::new() } else { untold }
}
