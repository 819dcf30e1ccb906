//! Signals that stop the command: unfinished outputs are removed, a message is printed, and the process exits.

use std::io::{IsTerminal, Write, stderr};

use lab::monitor::{Signaller, ignored};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Signals, SignalsInfo};
use signal_hook::low_level::siginfo::{Cause, Origin};
use signal_hook::low_level::signal_name;

/// Shells add this to the number of the signal that ended a command: Ctrl-C is 130.
const SIGNALLED: i32 = 128;

/// The effect of a signal once every output has its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AfterNaming {
    /// The outputs are all the work that there is: the command finishes its report, and exits as if not told.
    IsDone,
    /// There may be more work: the command ends.
    Ends,
}

/// From here on Ctrl-C, a hang-up, `kill` and a batch system's time limit end the command within moments, and leave
/// nothing behind. A signal that is ignored stays so: nohup(1) ignores hang-ups.
pub fn watch(named: AfterNaming) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXCPU].into_iter().filter(|signal| !ignored(*signal)))?;
    // The work is not asked to stop, since it may be in a long call into a codec.
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            match named {
                AfterNaming::Ends => stop(signal, rootfile::abandon_outputs()),
                AfterNaming::IsDone => match rootfile::abandon_unless_named() {
                    Some(removed) => stop(signal, removed),
                    None => continue,
                },
            }
        }
    })?;
    Ok(())
}

/// From here on a file that grows beyond the process's limit is an error like a full disk, and no end of the process with
/// its outputs left. Started programs have the default again.
pub fn outlive_file_limits() -> std::io::Result<()> {
    if !ignored(SIGXFSZ) {
        signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default())?;
    }
    Ok(())
}

/// Passes signals on to a watched job. A signal of the terminal, such as Ctrl-C,
/// has reached the job already. Ignored signals stay ignored, also by the job.
pub fn pass_on(job: Signaller) -> std::io::Result<()> {
    heed(move |signal, sent| {
        job.heard(signal_name(signal).unwrap_or("signal"));
        if sent {
            job.send(signal);
        }
    })
}

/// Calls `each` for every signal that is not ignored, and whether a process sent it: those of the terminal come from the kernel.
pub fn heed(each: impl Fn(i32, bool) + Send + 'static) -> std::io::Result<()> {
    let heeded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2].into_iter().filter(|signal| !ignored(*signal));
    let mut signals = SignalsInfo::<WithOrigin>::new(heeded)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for Origin { signal, cause, .. } in signals.forever() {
            each(signal, cause != Cause::Kernel);
        }
    })?;
    Ok(())
}

/// From here on a signal that would end the command ends the watching of a job that another program started, with its record
/// whole.
pub fn end_watching(job: Signaller) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXCPU].into_iter().filter(|signal| !ignored(*signal)))?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            job.end();
        }
    })?;
    Ok(())
}

/// Waits for the end of the process, if it was told to end: the work that was stopped has nothing to say.
pub fn wait_if_ending() {
    while rootfile::outputs_abandoned() {
        std::thread::park();
    }
}

fn stop(signal: i32, removed: usize) -> ! {
    let what = if removed > 0 { "; the unfinished output was removed" } else { "" };
    let mut err = stderr().lock();
    // On a terminal the line may hold a progress bar.
    let _ = writeln!(err, "{}basketry: interrupted{what}", if err.is_terminal() { "\n" } else { "" });
    std::process::exit(SIGNALLED + signal)
}
