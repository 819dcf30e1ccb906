//! `basketry hadd`: merging with the flags of ROOT's hadd, and their meaning.
//!
//! hadd's flags are words behind a single dash (`-f505`, `-Ltype`, `-j16`), some with an argument that may be
//! missing; they are taken apart here, as hadd 6.40 does (`main/src/hadd.cxx`), and not by clap.

use std::collections::HashSet;
use std::path::PathBuf;

use dataset::layout::{ByteSize, Layout, TreeLayout};
use flow::{Budget, DEFAULT_MEMORY, Listed, Options, Pack, Summary};
use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::making::{execute, print_summary};
use crate::options::Talk;
use crate::output::{self, Answer};
use flow::inputs::inputs;

/// What hadd compresses with where nothing else is said: zlib, level 1.
const DEFAULT_COMPRESSION: i32 = 101;
/// ROOT's default for fAutoFlush, and for what its baskets share (`-O`).
const DEFAULT_CLUSTER: u64 = 30_000_000;
/// hadd's own verbosity where none is given.
const VERBOSITY: u32 = 99;

/// Merge files, with the flags of ROOT's hadd.
///
/// A drop-in for scripts that call hadd: basketry hadd [FLAGS] TARGET SOURCES. See also `merge`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Flags, the target, and the sources, as hadd takes them; `basketry hadd -h` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<String>,
}

const HELP: &str = "\
Merge files, with the flags of ROOT's hadd: trees one after the other, histograms added, directories joined.

Usage: basketry hadd [FLAGS] TARGET SOURCES...

SOURCES are files, @lists of files, or patterns in quotes ('run*.root').

  -f                  Overwrite the target if it is there
  -f[0-509]           As -f, and compress with ROOT's setting of this number (101 zlib, 207 lzma, 404 lz4, 505 zstd);
                      without a number, 101
  -ff                 As -f, and compress as the first source is
  -fk                 As -f, and leave baskets as they are; a number behind is for everything else (-fk505)
  -a                  Append to the target
  -k                  Skip sources that cannot be read
  -L FILE             Names of objects or directories, one a line, to be merged or skipped
  -Ltype TYPE         What -L means: SkipListed or OnlyListed
  -O                  Choose cluster and basket sizes anew, as ROOT's OptimizeBaskets does
  -T                  Leave out trees
  -j [N]              Use N threads, or all cores
  -n N                Open at most N files at once
  -v [LEVEL]          0: print nothing; 1: one line at the end; more, and without -v: a table
  -cachesize SIZE, -d DIR, -dbg, -experimental-io-features NAMES
                      Accepted for the sake of scripts; they change nothing
  --memory SIZE       Memory that the work may take ({memory})
  --json              Print one JSON object, for machines
  -h, --help          This text

Exit code 0: done; 1: not.
";

/// hadd's flags, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
struct Flags {
    append: bool,
    force: bool,
    skip_bad: bool,
    reoptimise: bool,
    no_trees: bool,
    keep_baskets: bool,
    as_first: bool,
    compression: Option<u32>,
    threads: Option<usize>,
    open_files: usize,
    verbosity: Option<u32>,
    list: Option<PathBuf>,
    list_type: Option<String>,
    memory: Option<String>,
    json: bool,
    /// Flags that change nothing here.
    ignored: Vec<String>,
    unknown: Vec<String>,
    target: Option<PathBuf>,
    sources: Vec<String>,
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.words.is_empty() || matches!(args.words.first().map(String::as_str), Some("-h" | "--help")) {
        use std::io::Write;
        let mut out = output::stdout();
        out.write_all(HELP.replace("{memory}", &ByteSize(DEFAULT_MEMORY).to_string()).as_bytes())?;
        out.flush()?;
        return Ok(if args.words.is_empty() { Answer::No } else { Answer::Yes });
    }
    merge(&args.words)
}

fn merge(words: &[String]) -> Result<Answer> {
    let flags = parse(words)?;
    let target = flags.target.clone().ok_or_else(|| Error::request("missing output file"))?;
    if flags.sources.is_empty() {
        return Err(Error::request("missing input file"));
    }
    for unknown in &flags.unknown {
        eprintln!("basketry: warning: unknown flag: {unknown}");
    }
    if flags.verbosity.is_some_and(|v| v > 0) {
        for ignored in &flags.ignored {
            eprintln!("basketry: {ignored} changes nothing here");
        }
    }
    let append = flags.append && target.exists();
    if target.exists() && !append && !flags.force {
        return Err(Error::request("exists already; pass -f to overwrite it").file(&target));
    }
    let mut paths: Vec<PathBuf> = if append { vec![target.clone()] } else { Vec::new() };
    paths.extend(inputs(&flags.sources)?.into_iter().map(|input| input.path));
    let options = options(&flags, append)?;
    let verbosity = flags.verbosity.unwrap_or(VERBOSITY);
    let talk = Talk { quiet: verbosity < 2, json: flags.json };
    let summary = execute(&paths, &target, &options, &talk)?;
    let merged = paths.len() - summary.skipped.len();
    report(&summary, &talk, verbosity, &format!("merged {merged} files into {}", target.display()))?;
    let recompresses = flags.compression.is_none() && options.layout.common.compression.is_some();
    let opened = summary.tables.iter().any(|t| t.depths.recompress + t.depths.regroup + t.depths.recode > 0);
    if recompresses && opened && verbosity > 1 && !flags.json {
        eprintln!(
            "basketry: baskets were compressed anew with zlib:1, hadd's default; -ff or -fk keeps the compression"
        );
    }
    Ok(Answer::Yes)
}

fn report(summary: &Summary, talk: &Talk, verbosity: u32, line: &str) -> Result<()> {
    // Sources that are missing from the output are never passed over in silence.
    for skipped in summary.skipped.iter().filter(|_| !talk.json && verbosity < 2) {
        eprintln!("basketry: skipped: {}", skipped.reason);
    }
    match verbosity {
        _ if talk.json => output::json(summary),
        0 => Ok(()),
        1 => {
            println!("{line}");
            Ok(())
        }
        _ => print_summary(summary),
    }
}

fn options(flags: &Flags, append: bool) -> Result<Options> {
    let given = flags.compression.map(setting).transpose()?;
    let mut layout = Layout::default();
    let mut metadata = None;
    if flags.keep_baskets && !flags.reoptimise {
        metadata = given;
    } else if given.is_some() {
        layout.common.compression = given;
    } else if !flags.as_first && !flags.keep_baskets && !append {
        layout.common.compression = Compression::from_root_setting(DEFAULT_COMPRESSION);
    }
    if flags.reoptimise {
        let bytes = ByteSize(DEFAULT_CLUSTER);
        layout.common.overlay(&TreeLayout {
            cluster: Some(dataset::layout::ClusterSize::Bytes(DEFAULT_CLUSTER)),
            basket_memory: Some(bytes),
            ..TreeLayout::default()
        });
    }
    let memory = match &flags.memory {
        Some(text) => text.parse::<ByteSize>()?.bytes(),
        None => DEFAULT_MEMORY,
    };
    Ok(Options {
        layout,
        pack: if flags.keep_baskets { Pack::No } else { Pack::Auto },
        budget: Budget::new(memory, flags.threads.unwrap_or(1)),
        overwrite: flags.force,
        append,
        skip_bad: flags.skip_bad,
        as_first: flags.as_first || append || (flags.keep_baskets && flags.reoptimise),
        metadata,
        no_trees: flags.no_trees,
        listed: listed(flags)?,
        open_files: flags.open_files,
        ..Options::default()
    })
}

/// ROOT's setting, 1 to 9 standing for 101 to 109.
fn setting(n: u32) -> Result<Compression> {
    let unsupported = || Error::request(format!("{n} is not a supported compression setting"));
    if !(n < 10 || (100..510).contains(&n) && (n / 10).is_multiple_of(10)) {
        return Err(unsupported());
    }
    let full = if (1..10).contains(&n) { n + 100 } else { n };
    i32::try_from(full).ok().and_then(Compression::from_root_setting).ok_or_else(unsupported)
}

fn listed(flags: &Flags) -> Result<Option<Listed>> {
    let (path, kind) = match (&flags.list, flags.list_type.as_deref()) {
        (None, None) => return Ok(None),
        (Some(path), Some(kind)) => (path, kind),
        _ => return Err(Error::request("-L must always be passed along with -Ltype")),
    };
    let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
    let words = text.lines().filter_map(|line| line.split_whitespace().next());
    let names: HashSet<String> = words.filter(|word| !word.starts_with('#')).map(str::to_owned).collect();
    match kind {
        "SkipListed" => Ok(Some(Listed::Skip(names))),
        "OnlyListed" => Ok(Some(Listed::Only(names))),
        _ => Err(Error::request(format!("-Ltype {kind} is neither SkipListed nor OnlyListed"))),
    }
}

fn parse(words: &[String]) -> Result<Flags> {
    let mut flags = Flags::default();
    let mut words = words.iter().map(String::as_str).peekable();
    let mut only_names = false;
    // Target and sources must stand together: a flag behind them ends them.
    let (mut names_begun, mut names_ended) = (false, false);
    while let Some(word) = words.next() {
        let flag = word.strip_prefix('-').filter(|rest| !rest.is_empty() && !only_names);
        let Some(flag) = flag else {
            if names_ended {
                return Err(Error::request(format!(
                    "{word:?} stands behind a flag that stands behind the target; put target and sources together"
                )));
            }
            names_begun = true;
            match flags.target {
                None => flags.target = Some(word.into()),
                Some(_) => flags.sources.push(word.to_owned()),
            }
            continue;
        };
        if flag == "-" {
            only_names = true;
            continue;
        }
        names_ended |= names_begun;
        parse_flag(&mut flags, flag, &mut words)?;
    }
    Ok(flags)
}

fn parse_flag<'a>(
    flags: &mut Flags,
    flag: &str,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<()> {
    match flag {
        "T" => flags.no_trees = true,
        "a" => flags.append = true,
        "k" => flags.skip_bad = true,
        "O" => flags.reoptimise = true,
        "dbg" => flags.ignored.push("-dbg".to_owned()),
        "-json" => flags.json = true,
        _ => {
            if let Some(argument) = argument("-memory", flag, words)? {
                flags.memory = Some(argument);
            } else if let Some(argument) = argument("d", flag, words)? {
                flags.ignored.push(format!("-d {argument}"));
            } else if let Some(n) = number("j", flag, words)? {
                flags.threads = Some(n.unwrap_or(0));
            } else if let Some(argument) = argument("Ltype", flag, words)? {
                flags.list_type = Some(argument);
            } else if let Some(argument) = argument("L", flag, words)? {
                flags.list = Some(argument.into());
            } else if let Some(argument) = argument("cachesize", flag, words)? {
                flags.ignored.push(format!("-cachesize {argument}"));
            } else if let Some(argument) = argument("experimental-io-features", flag, words)? {
                flags.ignored.push(format!("-experimental-io-features {argument}"));
            } else if let Some(n) = number("n", flag, words)? {
                flags.open_files = n.ok_or_else(|| missing("n"))?;
            } else if let Some(level) = number("v", flag, words)? {
                let level = level.and_then(|n| u32::try_from(n).ok());
                flags.verbosity = Some(level.unwrap_or(VERBOSITY));
            } else if let Some(rest) = flag.strip_prefix('f') {
                parse_force(flags, rest)?;
            } else {
                flags.unknown.push(format!("-{flag}"));
            }
        }
    }
    Ok(())
}

/// What may stand behind `-f`: `f`, `k`, and a number at the end.
fn parse_force(flags: &mut Flags, rest: &str) -> Result<()> {
    flags.force = true;
    let digits = rest.trim_start_matches(['f', 'k']);
    for letter in rest.chars().take(rest.len() - digits.len()) {
        match letter {
            'f' => flags.as_first = true,
            _ => flags.keep_baskets = true,
        }
    }
    if !digits.is_empty() {
        let n = digits.parse().map_err(|_| Error::request(format!("invalid flag: -f{rest}")))?;
        setting(n)?;
        if flags.compression.replace(n).is_some() {
            return Err(Error::request("-f with a compression setting is given twice"));
        }
    }
    if flags.as_first && flags.compression.is_some() {
        return Err(Error::request("-ff and -f with a compression setting exclude each other"));
    }
    Ok(())
}

fn missing(name: &str) -> Error {
    Error::request(format!("expected an argument after -{name}"))
}

/// The argument of a flag: behind it in the same word, perhaps after an equals sign, or the next word.
fn argument<'a>(name: &str, flag: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<Option<String>> {
    match flag.strip_prefix(name) {
        None => Ok(None),
        Some("") => words.next().map(|word| Some(word.to_owned())).ok_or_else(|| missing(name)),
        Some(rest) => Ok(Some(rest.strip_prefix('=').unwrap_or(rest).to_owned())),
    }
}

/// A number that may be missing where it would be a word of its own.
fn number<'a>(
    name: &str,
    flag: &str,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<Option<Option<usize>>> {
    let text = match flag.strip_prefix(name) {
        None => return Ok(None),
        Some("") => match words.next_if(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
            Some(word) => word,
            None => return Ok(Some(None)),
        },
        Some(rest) => rest.strip_prefix('=').unwrap_or(rest),
    };
    let n = text.parse().map_err(|_| Error::request(format!("the argument of -{name} is no number: {text}")))?;
    Ok(Some(Some(n)))
}

/// hadd's exit codes: 0 if all went well, 1 if not.
pub fn exit_code(result: Result<Answer>) -> u8 {
    output::exit_code(result).min(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Result<Flags> {
        parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn threads_in_all_three_forms() {
        for text in ["-j16 o a", "-j=16 o a", "-j 16 o a"] {
            let flags = flags(text).unwrap();
            assert_eq!((flags.threads, flags.target), (Some(16), Some("o".into())), "{text}");
        }
        assert_eq!(flags("-j o a").unwrap().threads, Some(0));
        assert!(flags("-jx o a").is_err());
    }

    #[test]
    fn force_and_compression() {
        let read = |text| flags(text).map(|f| (f.force, f.as_first, f.keep_baskets, f.compression));
        assert_eq!(read("-f o a").unwrap(), (true, false, false, None));
        assert_eq!(read("-f505 o a").unwrap(), (true, false, false, Some(505)));
        assert_eq!(read("-fk209 o a").unwrap(), (true, false, true, Some(209)));
        assert_eq!(read("-ff o a").unwrap(), (true, true, false, None));
        assert_eq!(read("-f0 o a").unwrap(), (true, false, false, Some(0)));
        for wrong in ["-f777 o a", "-f110 o a", "-ff101 o a", "-fx o a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        // A number of its own is the target.
        assert_eq!(flags("-f 200 a").unwrap().target, Some("200".into()));
    }

    #[test]
    fn optional_and_long_arguments() {
        let found = flags("-v -T -k -n 5 -L names -Ltype=OnlyListed -cachesize 30M -d /tmp -dbg o a b").unwrap();
        assert_eq!(found.verbosity, Some(99));
        assert_eq!((found.no_trees, found.skip_bad, found.open_files), (true, true, 5));
        assert_eq!((found.list, found.list_type.as_deref()), (Some("names".into()), Some("OnlyListed")));
        assert_eq!(found.ignored, ["-cachesize 30M", "-d /tmp", "-dbg"]);
        assert_eq!(found.sources, ["a", "b"]);
        assert_eq!(flags("-v 0 o a").unwrap().verbosity, Some(0));
        assert_eq!(flags("o a -f").unwrap().sources, ["a"]);
        assert!(flags("o a -f b").is_err());
        assert_eq!(flags("-- -o -a").unwrap().sources, ["-a"]);
        assert_eq!(flags("-q o a").unwrap().unknown, ["-q"]);
    }
}
