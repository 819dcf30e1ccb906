//! Messages in hadd's form, without the secrets of URLs.

use rootfile::public_text;

use crate::{output, unclosed};

/// An error, in a line of hadd's form.
pub(super) fn error(text: &str) {
    eprintln!("Error in <hadd>: {}", output::line(&public_text(text)));
}

/// A warning, in a line of hadd's form.
pub(super) fn warn(text: &str) {
    unclosed::is_told(text);
    eprintln!("Warning in <hadd>: {}", output::line(&public_text(text)));
}

/// What is done, in a line of hadd's form.
pub(super) fn info(text: &str) {
    eprintln!("Info in <hadd>: {}", output::line(&public_text(text)));
}

/// A line on standard output. A closed output does not stop the merge.
pub(super) fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(output::whole_lines(), "{}", output::line(&public_text(text)));
}
