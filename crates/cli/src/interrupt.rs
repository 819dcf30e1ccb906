//! What happens when the command is told to stop: unfinished outputs are removed, and it ends with a word.

use std::io::{IsTerminal, Write, stderr};

use lab::monitor::{Signaller, ignored};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Signals, SignalsInfo};
use signal_hook::low_level::siginfo::{Cause, Origin};

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

/// From here on signals are for a job that is watched: whoever sends them means it. What a terminal sends, as on Ctrl-C,
/// has reached the job already. What is ignored stays so, of which the job knows, too.
pub fn pass_on(job: Signaller) -> std::io::Result<()> {
    let heeded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2].into_iter().filter(|signal| !ignored(*signal));
    let mut signals = SignalsInfo::<WithOrigin>::new(heeded)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for Origin { signal, cause, .. } in signals.forever() {
            if cause != Cause::Kernel {
                job.send(signal);
            }
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
