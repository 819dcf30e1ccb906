//! The monitor against known figures: planted in a folder in the form of `/proc`, and of small jobs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use wait4::ResourceUsage;

use super::outputs::{Outputs, Seen};
use super::processes::{Memory, Pace, Processes, Totals};
use super::*;

/// A folder with processes.
struct Fake(TempDir);

impl Fake {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A process: its state, user and kernel CPU in ticks, of its own and of what it waited for, all scaled by `pid`.
    fn process(&self, pid: i32, parent: i32, state: char, cpu: [u64; 4]) {
        let folder = self.path().join(pid.to_string());
        fs::create_dir_all(folder.join("fd")).unwrap();
        let [user, system, waited_user, waited_system] = cpu;
        // proc(5): the name may hold blanks and brackets.
        let head = format!("{pid} (a (b) c) {state} {parent} 1 1 0 -1 4194560");
        let faults = "70 30 5 2";
        let times = format!("{user} {system} {waited_user} {waited_system}");
        let memory = "20 0 3 0 1000 8192000 500 18446744073709551615";
        fs::write(folder.join("stat"), format!("{head} {faults} {times} {memory}{}\n", " 0".repeat(27))).unwrap();
        let io =
            "rchar: 1000\nwchar: 200\nsyscr: 1\nsyscw: 1\nread_bytes: 30\nwrite_bytes: 9\ncancelled_write_bytes: 4\n";
        fs::write(folder.join("io"), io).unwrap();
    }

    /// The process has ended and was waited for.
    fn gone(&self, pid: i32) {
        let folder = self.path().join(pid.to_string());
        // What is open says nothing any more.
        fs::write(folder.join("stat"), "").unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}

fn ticks(totals: Totals) -> (u64, u64) {
    let ticks = |micros: u64| micros * procfs::ticks_per_second() / 1_000_000;
    (ticks(totals.user), ticks(totals.system))
}

#[test]
fn a_tree_is_summed_and_others_are_not() {
    let fake = Fake::new();
    fake.process(50, 1, 'S', [100, 10, 7, 3]);
    // A child with a smaller number than its parent, and its own child.
    fake.process(20, 50, 'R', [40, 4, 0, 0]);
    fake.process(21, 20, 'S', [2, 1, 0, 0]);
    fake.process(60, 1, 'R', [9999, 9999, 0, 0]);
    let mut tree = Processes::new(fake.path(), 50, false);
    let (memory, totals) = tree.look(true);
    let rss = 500 * procfs::page_size();
    assert_eq!(memory, Memory { processes: 3, threads: 9, vsize: 3 * 8_192_000, rss: 3 * rss });
    assert_eq!(ticks(totals), (149, 18));
    assert_eq!((totals.minor_faults, totals.major_faults), (300, 21));
    assert_eq!((totals.read, totals.written, totals.disk_read, totals.disk_written), (3000, 600, 90, 15));
    assert_eq!((tree.pss(), tree.peak()), (0, 0));
}

#[test]
fn a_reading_costs_what_it_computes_and_not_what_it_waits() {
    let mut pace = Pace::by_cpu();
    let begun = pace.due(false).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    pace.done(begun);
    // By the clock it would rest for 200 s.
    let until = std::time::Instant::now() + Duration::from_secs(100);
    while pace.due(false).is_none() {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn ended_processes_count_once() {
    let fake = Fake::new();
    fake.process(50, 1, 'S', [100, 0, 0, 0]);
    fake.process(51, 50, 'R', [40, 0, 0, 0]);
    fake.process(52, 51, 'R', [5, 0, 0, 0]);
    let mut tree = Processes::new(fake.path(), 50, false);
    assert_eq!(ticks(tree.look(true).1).0, 145);
    // Ended, not yet waited for: it has no memory, and its counts are there.
    fake.process(51, 50, 'Z', [41, 0, 0, 0]);
    let (memory, totals) = tree.look(true);
    assert_eq!((memory.processes, ticks(totals).0), (2, 146));
    // Waited for: its parent has its counts. Its child has a new parent, and stays.
    fake.gone(51);
    fake.process(50, 1, 'S', [100, 0, 41, 0]);
    fake.process(52, 1, 'R', [6, 0, 0, 0]);
    assert_eq!(ticks(tree.look(true).1).0, 147);
    // That one is waited for by nobody of the tree, and remembered.
    fake.gone(52);
    let (memory, totals) = tree.look(true);
    assert_eq!((memory.processes, ticks(totals).0), (1, 147));
    // The first is waited for: exact to the microsecond.
    let (utime, stime) = (Duration::from_micros(1_414_141), Duration::from_micros(17));
    tree.ended(50, ResourceUsage { utime, stime, maxrss: 4_000_000 });
    let six = 6 * 1_000_000 / procfs::ticks_per_second();
    let (memory, totals) = tree.look(true);
    assert_eq!((memory, totals.user, totals.system), (Memory::default(), 1_414_141 + six, 17));
    assert_eq!(tree.peak(), 4_000_000);
}

#[test]
fn sums_never_decrease_while_children_end() {
    let fake = Fake::new();
    fake.process(50, 1, 'S', [100, 0, 0, 0]);
    fake.process(51, 50, 'R', [40, 0, 0, 0]);
    let mut tree = Processes::new(fake.path(), 50, false);
    assert_eq!(ticks(tree.look(true).1).0, 140);
    fake.gone(51);
    assert_eq!(ticks(tree.look(true).1).0, 140);
    fake.process(50, 1, 'S', [100, 0, 45, 0]);
    assert_eq!(ticks(tree.look(true).1).0, 145);
}

#[test]
fn files_are_found_renamed_and_removed() {
    let fake = Fake::new();
    fake.process(50, 1, 'S', [0; 4]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("out.tmp"), [0; 100]).unwrap();
    fs::write(path("scratch"), [0; 30]).unwrap();
    let link = |fd: u32, target: &Path| {
        std::os::unix::fs::symlink(target, fake.path().join(format!("50/fd/{fd}"))).unwrap();
    };
    link(3, &path("out.tmp"));
    link(4, &path("scratch"));
    link(5, Path::new("/dev/null"));
    link(6, Path::new("pipe:[123]"));
    link(7, folder.path());
    // The same file twice.
    link(8, &path("out.tmp"));
    let named = [path("named")];
    // What is written of the job is not written by it.
    fs::write(path("samples"), [0; 50]).unwrap();
    link(9, &path("samples"));
    let mut outputs = Outputs::new(fake.path(), &named, true, Some(&path("samples")), None);
    let mut sizes = outputs.look([50].into_iter(), true, 1.0).sizes;
    sizes.sort_unstable();
    assert_eq!(sizes, [0, 30, 100]);
    fs::write(path("named"), [0; 7]).unwrap();
    fs::rename(path("out.tmp"), path("out.root")).unwrap();
    fs::write(path("out.root"), [0; 120]).unwrap();
    fs::remove_file(path("scratch")).unwrap();
    let mut found = outputs.list();
    found.sort_by_key(|file| file.bytes);
    let name = |name: &str| path(name).to_string_lossy().into_owned();
    assert!(found[0].removed && found[0].bytes == 0, "{found:?}");
    assert_eq!((&found[1].path, found[1].bytes, found[1].removed), (&name("named"), 7, false));
    assert_eq!((&found[2].path, found[2].bytes, found[2].removed), (&name("out.root"), 120, false));
    let none = Outputs::new(fake.path(), &[], false, None, None).look([50].into_iter(), true, 1.0);
    assert_eq!(none, Seen::default());
}

fn shell(script: &str, options: &Options) -> Ended {
    watch(Command::new("sh").args(["-c", script]), options, &Signaller::default(), |_| ()).unwrap()
}

#[test]
fn a_job_is_watched_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("written");
    let seen = folder.path().join("seen");
    // The written bytes are known exactly: 500,000 by a child, and the words. The child waits until it has been
    // sampled, with its file, for as long as that takes.
    let script = format!(
        "echo start > $BASKETRY_MONITOR; dd if=/dev/zero bs=1000 count=500 status=none | \
         (exec 3> {0}; cat >&3; sleep 0.3; until [ -e {1} ]; do sleep 0.02; done); echo events 5 > $BASKETRY_MONITOR; \
         echo events +2 > $BASKETRY_MONITOR; echo stop > $BASKETRY_MONITOR; exit 9",
        output.display(),
        seen.display()
    );
    let options = Options { every: Duration::from_millis(20), pss: true, ..Options::default() };
    let look = |sample: &Sample| {
        if sample.processes >= 2 && sample.pss > 0 && sample.outputs > 0 {
            fs::write(&seen, "").unwrap();
        }
    };
    let ended = watch(Command::new("sh").args(["-c", &script]), &options, &Signaller::default(), look).unwrap();
    assert_eq!(ended.code(), 9);
    let summary = &ended.watched.summary;
    let marks: Vec<&str> = summary.marks.iter().map(|mark| mark.mark.as_str()).collect();
    assert_eq!(marks, ["start", "stop", "end"]);
    let words: u64 = ["start", "events 5", "events +2", "stop"].iter().map(|word| word.len() as u64 + 1).sum();
    // Once into the pipe between the two, and once into the file.
    assert_eq!(summary.end.written, 2 * 500_000 + words);
    assert_eq!((summary.end.events, summary.job.exit_code), (7, 9));
    assert_eq!((summary.end.processes, summary.end.rss), (0, 0));
    let files: Vec<_> = summary.files.iter().map(|file| (file.path.as_str(), file.bytes)).collect();
    assert_eq!(files, [(output.to_str().unwrap(), 500_000)]);
    assert!(summary.most.processes >= 2 && summary.most.pss > 0, "{:?}", summary.most);
    assert!(summary.most.pss <= summary.most.rss, "{:?}", summary.most);
    assert!(summary.job.elapsed >= 0.3 && summary.samples >= 3, "{summary:?}");
}

#[test]
fn exit_codes_are_those_of_a_shell() {
    let options = Options::default();
    assert_eq!(shell("exit 0", &options).code(), 0);
    assert_eq!(shell("kill -TERM $$", &options).code(), 143);
    let none = watch(&mut Command::new("./no such command"), &options, &Signaller::default(), |_| ());
    assert!(none.unwrap_err().to_string().contains("no such command"));
}

#[test]
fn signals_reach_the_job_and_nobody_afterwards() {
    let signaller = Signaller::default();
    assert!(!signaller.send(15));
    let sender = signaller.clone();
    let options = Options { every: Duration::from_millis(10), ..Options::default() };
    let script = "trap 'echo heard > $BASKETRY_MONITOR; exit 4' TERM; echo ready > $BASKETRY_MONITOR; \
                  while :; do sleep 0.01; done";
    let seen = |sample: &Sample| {
        if sample.mark == "ready" {
            assert!(sender.send(15));
        }
    };
    let ended = watch(Command::new("sh").args(["-c", script]), &options, &signaller, seen).unwrap();
    assert_eq!(ended.code(), 4);
    assert!(ended.watched.summary.marks.iter().any(|mark| mark.mark == "heard"));
    assert!(!signaller.send(15));
}

#[test]
fn samples_are_lines_or_rows_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo 'a, \"b\"' > $BASKETRY_MONITOR";
    for name in ["s.csv", "s.jsonl", "s.root", "s.parquet"] {
        let output = Some(folder.path().join(name));
        let ended = shell(script, &Options { output: output.clone(), ..Options::default() });
        assert!(ended.watched.trouble.is_none(), "{name}: {:?}", ended.watched.trouble);
        let there = fs::read(output.clone().unwrap()).unwrap();
        let lines = there.iter().filter(|byte| **byte == b'\n').count() as u64;
        let text = String::from_utf8_lossy(&there);
        match name {
            "s.csv" => {
                assert!(text.starts_with("time,mark,events,"), "{text}");
                assert!(text.contains("\"a, \"\"b\"\"\""), "{text}");
                assert_eq!(lines, ended.watched.summary.samples + 1);
            }
            "s.jsonl" => {
                let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
                assert_eq!(last["mark"], "end");
                assert_eq!(lines, ended.watched.summary.samples);
            }
            _ => assert!(flow::convert::Format::of(&output.clone().unwrap()).is_ok()),
        }
        // It is there: the command is not run.
        let again = Options { output, ..Options::default() };
        assert!(watch(&mut Command::new("false"), &again, &Signaller::default(), |_| ()).is_err());
    }
    let output = Some(folder.path().join("s.txt"));
    let refused =
        watch(&mut Command::new("false"), &Options { output, ..Options::default() }, &Signaller::default(), |_| ());
    assert!(refused.unwrap_err().to_string().contains(".parquet"));
}

#[test]
fn an_in_process_monitor_samples_between_marks() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { every: Duration::from_millis(5), discover: false, ..Options::default() };
    let monitor = Monitor::begin(&options).unwrap();
    let mut block = vec![1_u8; 64 << 20];
    block.iter_mut().for_each(|byte| *byte = byte.wrapping_add(2));
    monitor.mark("filled");
    fs::write(folder.path().join("block"), &block).unwrap();
    monitor.events(3);
    monitor.events(4);
    let watched = monitor.end(0).unwrap();
    let marks = &watched.summary.marks;
    let names: Vec<&str> = marks.iter().map(|mark| mark.mark.as_str()).collect();
    assert_eq!(names, ["start", "filled", "end"]);
    // Other tests run in this process, too.
    assert!(marks[1].rss >= 64 << 20 && marks[1].peak_rss >= marks[1].rss / 2, "{:?}", marks[1]);
    assert!(marks[2].written >= 64 << 20, "{:?}", marks[2]);
    assert_eq!((marks[0].events, watched.summary.end.events), (0, 7));
    assert!(watched.trouble.is_none());
}
