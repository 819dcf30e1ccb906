//! Reads ranges of a remote file: `fetch URL` prints the size in bytes, then, for each line `OFFSET LEN OFFSET LEN ...` of its
//! input, the bytes of all ranges of this line, fetched by one call. `fetch --at-once URL` fetches each line in a thread of its
//! own. `fetch --list URL` prints the names in a folder. Requests and bytes are printed at the end, to standard error.

use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::process::ExitCode;

use rootfile::{Credentials, Error, Result, Source};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--list", folder] => remote::list(folder).map(|names| names.iter().for_each(|name| println!("{name}"))),
        ["--at-once", url] => fetch(url, at_once),
        [url] => fetch(url, in_turn),
        _ => {
            eprintln!("usage: fetch [--at-once | --list] URL");
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fetch(url: &str, lines: fn(&dyn Source) -> Result<()>) -> Result<()> {
    let file = remote::open(url, Credentials::Users)?;
    println!("{}", file.size());
    lines(&*file)?;
    if let Some(traffic) = file.traffic() {
        eprintln!("{} requests, {} bytes", traffic.requests, traffic.bytes);
    }
    Ok(())
}

fn in_turn(file: &dyn Source) -> Result<()> {
    io::stdin().lock().lines().try_for_each(|line| print(&file.read_ranges(&ranges(&line?))?))
}

fn at_once(file: &dyn Source) -> Result<()> {
    let lines = io::stdin().lock().lines().collect::<io::Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        let reads: Vec<_> = lines.iter().map(|line| scope.spawn(|| file.read_ranges(&ranges(line)))).collect();
        let lost = |_| Error::request("a thread panicked");
        reads.into_iter().try_for_each(|read| print(&read.join().map_err(lost)??))
    })
}

fn print(parts: &[Vec<u8>]) -> Result<()> {
    let mut out = io::stdout().lock();
    parts.iter().try_for_each(|bytes| out.write_all(bytes))?;
    Ok(out.flush()?)
}

/// The ranges that a line names.
fn ranges(line: &str) -> Vec<Range<u64>> {
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.chunks_exact(2).filter_map(|pair| Some(*pair.first()?..pair.first()? + pair.last()?)).collect()
}
