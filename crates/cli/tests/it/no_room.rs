//! A disk that is full and a job that is killed: nothing under the output's name, the input untouched, and for the
//! full disk a message that says how much was missing and nothing left behind.
//!
//! A limit on the size of files (`ulimit -f`) stands in for the full disk, since anybody may set it; where a small
//! file system can be mounted, that is tried as well.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const CONTAINERS: [&str; 2] = ["ttree", "rntuple"];

/// A folder with one list that names the same small file many times, to make some megabytes of it.
struct Place {
    folder: tempfile::TempDir,
    source: PathBuf,
    before: Vec<u8>,
}

impl Place {
    fn new(times: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../flow/tests/corrupt/fixtures/plain_zlib.root");
        let source = folder.path().join("in.root");
        std::fs::copy(fixture, &source).unwrap();
        let list = format!("{}\n", source.display()).repeat(times);
        std::fs::write(folder.path().join("list.txt"), list).unwrap();
        let before = std::fs::read(&source).unwrap();
        Self { folder, source, before }
    }

    fn rewrite(&self, output: &Path, container: &str) -> Vec<String> {
        let list = format!("@{}", self.folder.path().join("list.txt").display());
        let to = output.display().to_string();
        let arguments = ["rewrite", &list, "-o", &to, "--container", container, "--compression", "none", "-j2", "-q"];
        arguments.map(str::to_owned).to_vec()
    }

    /// What is written of one file and what is made of nothing, by several threads, as trees and as RNTuples.
    fn jobs(&self, output: &Path) -> Vec<Vec<String>> {
        let to = output.display().to_string();
        let of = |container: &str| {
            let made = ["generate", "multi", "--size", "4MB", "-o", &to, "--container", container];
            let how = ["--compression", "none", "-j4", "-q"];
            let generate = made.into_iter().chain(how).map(str::to_owned).collect();
            [self.rewrite(output, container), generate]
        };
        CONTAINERS.into_iter().flat_map(of).collect()
    }

    fn untouched(&self) -> bool {
        std::fs::read(&self.source).unwrap() == self.before
    }
}

/// The command behind a shell that sets things up first.
fn in_shell(setup: &str, arguments: &[String]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("{setup}\nexec \"$@\""), "sh", env!("CARGO_BIN_EXE_basketry")])
        .args(arguments)
        .output()
        .unwrap()
}

fn refused_for_room(place: &Place, output: &Path, done: &Output) {
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    assert!(said.contains("no space left") && said.contains("missing"), "{said}");
    let folder = output.parent().unwrap();
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "in.root" || name == "list.txt"), "{left:?}");
    assert!(place.untouched());
}

#[test]
fn a_limit_on_file_size_is_told_and_leaves_nothing() {
    let place = Place::new(400);
    let output = place.folder.path().join("out.root");
    // The system tells by a signal first, which is ignored here: then the write fails as it does on a full disk.
    for job in place.jobs(&output) {
        let done = in_shell("trap '' XFSZ\nulimit -f 1500", &job);
        refused_for_room(&place, &output, &done);
        let whole = in_shell("", &job);
        assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
        assert!(std::fs::metadata(&output).unwrap().len() > 2_000_000, "too small for the limit to mean anything");
        std::fs::remove_file(&output).unwrap();
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let place = Place::new(400);
    let disk = tempfile::tempdir().unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(disk.path()).output();
    if !mount.is_ok_and(|m| m.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let output = disk.path().join("out.root");
    let checked = std::panic::catch_unwind(|| {
        for job in place.jobs(&output) {
            refused_for_room(&place, &output, &in_shell("", &job));
        }
    });
    assert!(Command::new("umount").arg(disk.path()).status().unwrap().success());
    if let Err(failed) = checked {
        std::panic::resume_unwind(failed);
    }
}

#[test]
fn a_killed_job_leaves_nothing_under_the_name() {
    for container in CONTAINERS {
        kill_rewrites(container);
    }
}

fn kill_rewrites(container: &str) {
    let place = Place::new(200);
    let output = place.folder.path().join("out.root");
    let start = Instant::now();
    let whole = in_shell("", &place.rewrite(&output, container));
    let took = start.elapsed();
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let expected = std::fs::read(&output).unwrap();
    let mut killed = 0;
    for k in 0..10 {
        std::fs::remove_file(&output).ok();
        let mut child =
            Command::new(env!("CARGO_BIN_EXE_basketry")).args(place.rewrite(&output, container)).spawn().unwrap();
        std::thread::sleep(took.min(Duration::from_secs(5)) * k / 10);
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        assert!(!output.exists() || std::fs::read(&output).unwrap() == expected);
    }
    assert!(killed >= 3, "only {killed} of 10 were killed in time");
    assert!(place.untouched());
}
