//! Damaged input gives an error or the right answer: never a panic, a hang, or excessive memory.
//!
//! Every file is truncated and its bytes are changed, by a seed. Each damaged file is inspected, its trees are read, and it is
//! rewritten in two layouts (copied; regrouped and recompressed) and recovered. A rewrite that succeeds must have the
//! content of the damaged input. The same is done with the file rewritten without compression first, since the checksums of
//! codecs catch most changes before the code behind them. Files come from the corpus (beside the checkout or at
//! `BASKETRY_CORPUS`) and from `fixtures/`. `BASKETRY_CORRUPT=all` tries all cases, `BASKETRY_CORRUPT_ONLY` picks files by a
//! part of their name. The default is a few cases of each file.
//!
//! A child process tries each file. If it runs out of memory or time and dies, the case is reported, and another process
//! continues with the next case.
#![allow(clippy::cast_possible_truncation, clippy::unwrap_used, reason = "a test")]

#[path = "../resealed/chance.rs"]
mod chance;
mod content;
mod memory;
mod mutate;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dataset::layout::Layout;
use flow::recover::{RecoverOptions, recover};
use flow::{Budget, Options, rewrite, unwatched};
use mutate::Damage;
use rootfile::{MemoryFile, RootFile};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// Memory limit of a case, in addition to four times the size of the file.
const MEMORY_FLOOR: usize = 64 << 20;
const MEMORY_FACTOR: usize = 4;
/// The memory budget of rewrites.
const BUDGET: u64 = 48_000_000;
/// Time limit of a case, on a busy machine.
const SECONDS: u64 = 20;

/// Environment variable with the file of a child process.
const CHILD: &str = "BASKETRY_CORRUPT_CHILD";
/// Environment variable with the first case of a child process.
const FROM: &str = "BASKETRY_CORRUPT_FROM";

fn everything() -> bool {
    std::env::var("BASKETRY_CORRUPT").is_ok_and(|v| v == "all")
}

fn files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = std::env::var_os("BASKETRY_CORPUS").map_or_else(|| here.join("../../../shared/corpus"), PathBuf::from);
    let folders = [here.join("tests/corrupt/fixtures"), corpus.join("files")];
    if !folders[1].is_dir() {
        eprintln!("no corpus beside the checkout, and BASKETRY_CORPUS is not set: only the fixtures are damaged");
    }
    let only = std::env::var("BASKETRY_CORRUPT_ONLY").unwrap_or_default();
    let mut files: Vec<PathBuf> = (folders.iter())
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "root") && path.to_string_lossy().contains(&only))
        .collect();
    // Small files first.
    files.sort_by_key(|path| std::fs::metadata(path).map_or(0, |m| m.len()));
    files
}

/// One damaged file.
struct Case {
    title: String,
    stored: bool,
    damage: Option<Damage>,
}

/// The cases of a file, given its size and its size without compression, if there is such a file.
fn cases(name: &str, len: usize, stored_len: Option<usize>) -> Vec<Case> {
    let (cuts, flips) = if everything() { (20, 200) } else { (2, 3) };
    let mut cases = vec![Case { title: "as it is".to_owned(), stored: false, damage: None }];
    let mut add = |stored: bool, damages: Vec<Damage>| {
        let prefix = if stored { "stored, " } else { "" };
        cases.extend(damages.into_iter().map(|damage| Case {
            title: format!("{prefix}{damage:x?}"),
            stored,
            damage: Some(damage),
        }));
    };
    add(false, mutate::damages(name, len, cuts, flips, false));
    if let Some(len) = stored_len {
        add(true, mutate::damages(&format!("stored {name}"), len, 0, flips, true));
    }
    cases
}

fn options(layout: &str) -> Options {
    Options {
        layout: Layout::from_toml(layout).unwrap(),
        budget: Budget::new(BUDGET, 2),
        overwrite: true,
        ..Options::default()
    }
}

const LAYOUTS: [&str; 2] = ["", "cluster = \"1000\"\nbasket = \"2kB\"\ncompression = \"zstd:1\""];

/// Deadline of the current case in milliseconds since the start. 0 for none.
static DEADLINE: AtomicU64 = AtomicU64::new(0);

fn watch(start: Instant) {
    let _ = std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let deadline = DEADLINE.load(Ordering::Relaxed);
            if deadline > 0 && start.elapsed().as_millis() as u64 > deadline {
                eprintln!("time limit: {SECONDS} s");
                std::process::abort();
            }
        }
    });
}

/// Inspects a damaged file and rewrites it. Returns an error if the result is wrong.
fn try_case(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let (input, output) = (folder.join("in.root"), folder.join("out.root"));
    std::fs::write(&input, bytes).unwrap();
    let opened = RootFile::from_source(Arc::new(MemoryFile(bytes.to_vec())));
    let said = opened.as_ref().ok().map(|file| {
        content::look_through(file);
        content::read(file)
    });
    let mut problems = Vec::new();
    for layout in LAYOUTS {
        let _ = std::fs::remove_file(&output);
        let done = rewrite(std::slice::from_ref(&input), &output, &options(layout), &unwatched);
        let left = std::fs::read_dir(folder).unwrap().count();
        match done {
            Err(_) if left != 1 => problems.push("a failed rewrite left something behind".to_owned()),
            Err(_) => {}
            Ok(_) => {
                let Some(said) = &said else {
                    problems.push("rewritten, though it cannot be opened".to_owned());
                    continue;
                };
                match RootFile::open(&output) {
                    Ok(file) => problems.extend(content::difference(said, &content::read(&file))),
                    Err(e) => problems.push(format!("the output cannot be opened: {e}")),
                }
            }
        }
    }
    let _ = std::fs::remove_file(&output);
    let options = RecoverOptions { budget: Budget::new(BUDGET, 2), overwrite: true };
    // A recovery takes what it finds, so only its output can be checked.
    match recover(&input, None, &output, &options, &unwatched) {
        Err(_) if std::fs::read_dir(folder).unwrap().count() != 1 => {
            problems.push("a failed recovery left something behind".to_owned());
        }
        Err(_) => {}
        Ok(_) => {
            if let Err(e) = RootFile::open(&output) {
                problems.push(format!("the recovered file cannot be opened: {e}"));
            }
        }
    }
    if std::fs::read(&input).unwrap() != bytes {
        problems.push("the input was touched".to_owned());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

/// The work of a child process: one file.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let from: usize = std::env::var(FROM).unwrap().parse().unwrap();
    let name = Path::new(&path).file_name().unwrap().to_string_lossy().into_owned();
    let original = std::fs::read(&path).unwrap();
    let shm = Path::new("/dev/shm");
    let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
    let plain = folder.path().join("out.root");
    let bare = options("compression = \"none\"");
    let stored =
        rewrite(&[PathBuf::from(&path)], &plain, &bare, &unwatched).ok().map(|_| std::fs::read(&plain).unwrap());
    let _ = std::fs::remove_file(&plain);
    let start = Instant::now();
    watch(start);
    for (number, case) in cases(&name, original.len(), stored.as_ref().map(Vec::len)).iter().enumerate().skip(from) {
        println!("case {number} {}", case.title);
        std::io::stdout().flush().unwrap();
        let base = stored.as_ref().filter(|_| case.stored).unwrap_or(&original);
        let bytes = case.damage.as_ref().map_or_else(|| base.clone(), |damage| damage.apply(base));
        DEADLINE.store(start.elapsed().as_millis() as u64 + SECONDS * 1000, Ordering::Relaxed);
        // The two copies of the damaged file belong to the test.
        memory::allow(MEMORY_FLOOR + (MEMORY_FACTOR + 2) * base.len());
        let tried = catch_unwind(AssertUnwindSafe(|| try_case(&bytes, folder.path())));
        memory::allow(usize::MAX);
        DEADLINE.store(0, Ordering::Relaxed);
        match tried {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => println!("problem {problem}"),
            Err(_) => println!("problem a panic"),
        }
    }
    println!("done");
}

/// The failures of one file, and the number of cases tried.
fn run_file(path: &Path) -> (Vec<String>, usize) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut problems = Vec::new();
    let mut from = 0;
    loop {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(CHILD, path)
            .env(FROM, from.to_string())
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
        let mut last = None;
        let mut done = false;
        for line in out.lines() {
            // The harness writes the test's name before the first line.
            if let Some((_, rest)) = line.split_once("case ").filter(|(before, _)| !before.contains("problem")) {
                let (number, title) = rest.split_once(' ').unwrap();
                from = number.parse::<usize>().unwrap() + 1;
                last = Some(title.to_owned());
            } else if let Some(problem) = line.strip_prefix("problem ") {
                let said = if problem == "a panic" { notable(&err) } else { String::new() };
                problems.push(format!("{name}: {}: {problem}{said}", last.clone().unwrap_or_default()));
            } else if line.contains("done") {
                done = true;
            }
        }
        if done {
            return (problems, from);
        }
        let Some(last) = last else {
            problems.push(format!("{name}: {}", notable(&err)));
            return (problems, from);
        };
        problems.push(format!("{name}: {last}: died{}", notable(&err)));
    }
}

/// The message of a dying process without its usual parts.
fn notable(err: &str) -> String {
    let said = |line: &&str| {
        line.contains("panicked at")
            || line.contains("limit:")
            || line.contains("overflow")
            || line.contains("at ./src/")
            || line.contains("crates/")
    };
    let lines: Vec<&str> = err.lines().filter(said).map(str::trim).collect();
    format!("\n      {}", lines.iter().rev().take(30).rev().copied().collect::<Vec<_>>().join("\n      "))
}

#[test]
fn damaged_files() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let files = files();
    assert!(!files.is_empty(), "no files");
    let (next, found, tried) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (problems, cases) = run_file(path);
                    for problem in &problems {
                        eprintln!("{problem}");
                    }
                    found.lock().unwrap().extend(problems);
                    let so_far = tried.fetch_add(cases, Ordering::Relaxed) + cases;
                    if everything() {
                        eprintln!("{so_far} cases with {}", path.display());
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    eprintln!("{} files, {} cases, {} problems", files.len(), tried.into_inner(), found.len());
    assert!(found.is_empty(), "{} problems", found.len());
}
