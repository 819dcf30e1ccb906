//! What happens when the command is told to stop: unfinished outputs are removed, and it ends with a word.

use std::io::{IsTerminal, Write, stderr};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a shell adds to the number of the signal that ended a command: Ctrl-C is 130.
const SIGNALLED: i32 = 128;

/// From here on Ctrl-C and `kill` end the command within moments, whatever it is doing, and leave nothing behind.
pub fn watch() -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // The work is not asked to stop: it may be in the middle of a long call into a codec.
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            stop(signal)
        }
    })?;
    Ok(())
}

fn stop(signal: i32) -> ! {
    let what = if rootfile::abandon_outputs() > 0 { "; the unfinished output was removed" } else { "" };
    let mut err = stderr().lock();
    // On a terminal the line may hold a progress bar.
    let _ = writeln!(err, "{}basketry: interrupted{what}", if err.is_terminal() { "\n" } else { "" });
    std::process::exit(SIGNALLED + signal)
}
