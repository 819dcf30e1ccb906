//! Tells the command which commit it is built from, where that is known: what is measured is kept with it, and `--version` says it.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit = commit();
    let version = env!("CARGO_PKG_VERSION");
    let long = commit.as_ref().map_or_else(|| version.to_owned(), |commit| format!("{version} (commit {commit})"));
    println!("cargo:rustc-env=BASKETRY_VERSION={long}");
    if let Some(commit) = commit {
        println!("cargo:rustc-env=BASKETRY_COMMIT={commit}");
    }
}

/// The commit, if this is the repository of the command.
fn commit() -> Option<String> {
    // Elsewhere, as in a source archive, the repository around it would be another one.
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some("crates/cli/") {
        return None;
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// What git says, if it has something to say.
fn git(arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").args(arguments).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}
