//! Any layout, by a few bytes, and what must be true of it: a rewrite is refused, or `verify` finds the same content, also after a second
//! rewrite from the first. It may be refused as a request, or as unsupported: an RNTuple cannot hold all that a tree can. Fuzzers use it, too.

use std::path::{Path, PathBuf};

use flow::{Budget, Options, VerifyOptions, rewrite, unwatched, verify};
use rootfile::{Error, ErrorKind};

/// Keys that change no value, each with values; sizes are those of small files.
const KEYS: [(&str, &[&str]); 13] = [
    ("container", &["\"ttree\"", "\"rntuple\""]),
    ("compression", &["\"none\"", "\"zlib:1\"", "\"lzma:1\"", "\"lz4:4\"", "\"zstd:5\""]),
    ("cluster", &["1", "3", "50", "1000", "\"300B\"", "\"4kB\"", "\"1MB\""]),
    ("basket", &["\"1B\"", "\"64B\"", "\"1kB\"", "\"1MB\""]),
    ("basket-memory", &["\"1kB\"", "\"100kB\""]),
    ("memory-ratio", &["1.0", "1.5"]),
    ("one-basket-per-cluster", &["true", "false"]),
    ("split-level", &["0", "1", "99"]),
    ("streaming", &["\"member-wise\"", "\"object-wise\""]),
    ("encoding", &["\"plain\"", "\"split\""]),
    ("page-checksums", &["true", "false"]),
    ("share-pages", &["true", "false"]),
    ("cluster-group", &["1", "2", "100"]),
];
/// Bytes that choose a layout.
pub const CHOICE: usize = KEYS.len();

/// The text of a layout: each byte chooses a value of a key, or, half of the time, none.
pub fn layout(choice: &[u8; CHOICE]) -> String {
    let chosen = KEYS.iter().zip(choice).filter_map(|((key, values), &byte)| {
        let byte = usize::from(byte);
        (byte % 2 == 1).then(|| format!("{key} = {}\n", values[byte / 2 % values.len()]))
    });
    chosen.collect()
}

/// Rewrites a file in one layout after the other, each from the output of the last. Gives the number of rewrites that were not refused.
pub fn judge(input: &Path, layouts: &[String], folder: &Path) -> Result<usize, String> {
    let budget = Budget::new(64 << 20, 2);
    let mut last = input.to_path_buf();
    let mut written = 0;
    for (number, text) in layouts.iter().enumerate() {
        let said = |what: &str, e: &Error| format!("{what} in layouts {:?}: {e}", &layouts[..=number]);
        let output: PathBuf = folder.join(format!("{number}.root"));
        let layout = text.parse().map_err(|e| said("reading", &e))?;
        let options = Options { layout, budget, overwrite: true, ..Options::default() };
        match rewrite(std::slice::from_ref(&last), &output, &options, &unwatched) {
            Ok(_) => written += 1,
            Err(e) if matches!(e.kind(), ErrorKind::Request(_) | ErrorKind::Unsupported(_)) => continue,
            Err(e) => return Err(said("writing", &e)),
        }
        let options = VerifyOptions { budget, ..VerifyOptions::default() };
        let verdict =
            verify(&[input.to_path_buf()], &output, &options, &unwatched).map_err(|e| said("comparing", &e))?;
        if !verdict.equal {
            return Err(format!("layouts {:?} differ: {:?}", &layouts[..=number], verdict.differences));
        }
        last = output;
    }
    Ok(written)
}
