//! How the monitor says what a job did and how it ended.

use lab::monitor::Job;

/// How a job ended.
pub fn ending(job: &Job) -> String {
    match job.exit_code {
        ..0 => "no exit code known".to_owned(),
        code => format!("exit code {code}"),
    }
}

/// A mark, and what was seen: files by their own names.
pub fn moment(mark: &str, seen: &str) -> String {
    let own = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let short = |event: &str| match event.split_once(' ') {
        Some((what @ "rename", names)) => {
            format!("{what} {}", names.split(" > ").map(own).collect::<Vec<_>>().join(" > "))
        }
        Some((what, rest)) => format!("{what} {}", own(rest)),
        None => event.to_owned(),
    };
    let seen: Vec<String> = seen.split("; ").filter(|event| !event.is_empty()).map(short).collect();
    match (mark.is_empty(), seen.is_empty()) {
        (_, true) => mark.to_owned(),
        (true, false) => seen.join(", "),
        (false, false) => format!("{mark} ({})", seen.join(", ")),
    }
}
