//! Reads ranges of a remote file: `fetch URL` prints the size in bytes, then, for each line `OFFSET LEN OFFSET LEN ...` of its
//! input, the bytes of all ranges of this line, fetched by one call. `fetch --list URL` prints the names in a folder.
//! Requests and bytes are printed at the end, to standard error.

use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--list", folder] => remote::list_xrootd(folder).map(|names| names.iter().for_each(|name| println!("{name}"))),
        [url] => fetch(url),
        _ => {
            eprintln!("usage: fetch URL, or fetch --list URL");
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

fn fetch(url: &str) -> rootfile::Result<()> {
    let file = remote::open(url)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", file.size())?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        for bytes in file.read_ranges(&ranges(&line?))? {
            out.write_all(&bytes)?;
        }
        out.flush()?;
    }
    if let Some(traffic) = file.traffic() {
        eprintln!("{} requests, {} bytes", traffic.requests, traffic.bytes);
    }
    Ok(())
}

/// The ranges that a line names.
fn ranges(line: &str) -> Vec<Range<u64>> {
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.chunks_exact(2).filter_map(|pair| Some(*pair.first()?..pair.first()? + pair.last()?)).collect()
}
