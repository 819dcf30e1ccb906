//! Who hears of files that were not closed: their lists of keys may lack what was written last, and whoever answers for them must say
//! so. It does not find them.

use std::path::Path;
use std::sync::OnceLock;

use crate::redact::public_path;

/// Hears a sentence about a file.
type Hearer = fn(&str);

static HEARER: OnceLock<Hearer> = OnceLock::new();

/// Lets a function hear of each file without a list of keys that this process opens, in a sentence that names the file. The first
/// registration stays.
pub fn hear_of_unclosed(hearer: fn(&str)) {
    let _ = HEARER.set(hearer);
}

/// Tells it of a file.
pub(super) fn tell(file: &Path, message: &str) {
    if let Some(hear) = HEARER.get() {
        hear(&format!("{}: {message}", public_path(file).display()));
    }
}
