//! One run: in this process, where only its own memory is counted, or a program that does one and says what it took.

use std::process::Command;

use rootfile::{Error, Result};

use super::Run;

/// Runs a program whose last line is a [`Run`] in JSON.
pub fn measure(command: &mut Command) -> Result<Run> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|e| Error::from(e).file(&name))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let said = said.lines().last().unwrap_or_default().to_owned();
        return Err(Error::request(format!("{name} ended with {}: {said}", done.status)));
    }
    serde_json::from_str(last).map_err(|e| Error::request(format!("{name} said {last:?}: {e}")))
}

/// The most memory and address space that this process had, in bytes: `VmHWM` and `VmPeak` of proc(5).
pub fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    };
    (of("VmHWM"), of("VmPeak"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_taken_and_what_it_does_not_is_an_error() {
        let run = measure(Command::new("printf").arg("noise\\n{\"wall\": 1.5, \"bytes\": 7}\\n")).unwrap();
        assert_eq!((run.wall, run.bytes), (1.5, 7));
        assert!(measure(Command::new("printf").arg("nothing")).is_err());
        assert!(measure(&mut Command::new("false")).unwrap_err().to_string().contains("false ended"));
    }

    #[test]
    fn this_process_has_memory() {
        let (peak_rss, vsize) = memory();
        assert!(peak_rss > 100_000 && vsize >= peak_rss, "{peak_rss} {vsize}");
    }
}
