//! Parses the flags of hadd, their arguments, the target and the sources.
//!
//! The rules are those of hadd 6.40: an argument follows in the same word or as the next one, an unknown flag is a
//! warning, and target and sources stand together. Nothing here opens a file.

use std::path::{Path, PathBuf};

use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::messages::warn;

/// The default verbosity of hadd 6.40; its help claims 99.
const VERBOSITY: u32 = 2;
/// The features that `-experimental-io-features` knows.
const FEATURES: [&str; 1] = ["kGenerateOffsetMap"];

/// The parsed flags of hadd.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flags {
    pub append: bool,
    pub force: bool,
    pub skip_bad: bool,
    pub check: bool,
    pub reoptimise: bool,
    pub no_trees: bool,
    pub keep_baskets: bool,
    pub as_first: bool,
    pub common: bool,
    pub fill: bool,
    pub widen: bool,
    pub drop_index: bool,
    pub strict: bool,
    pub follow_urls: bool,
    pub json: bool,
    pub compression: Option<u32>,
    pub threads: Option<usize>,
    pub open_files: usize,
    pub verbosity: u32,
    pub list: Option<PathBuf>,
    /// Whether the names of the list are the only ones; if not, they are left out.
    pub only_listed: Option<bool>,
    pub memory: Option<String>,
    /// Flags that change nothing here.
    pub ignored: Vec<String>,
    /// Warnings about the flags.
    pub warnings: Vec<String>,
    pub target: PathBuf,
    pub sources: Vec<String>,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            append: false,
            force: false,
            skip_bad: false,
            check: false,
            reoptimise: false,
            no_trees: false,
            keep_baskets: false,
            as_first: false,
            common: false,
            fill: false,
            widen: false,
            drop_index: false,
            strict: false,
            follow_urls: false,
            json: false,
            compression: None,
            threads: None,
            open_files: 0,
            verbosity: VERBOSITY,
            list: None,
            only_listed: None,
            memory: None,
            ignored: Vec::new(),
            warnings: Vec::new(),
            target: PathBuf::new(),
            sources: Vec::new(),
        }
    }
}

/// Whether a flag asks for help. After `--` all arguments are names.
pub(super) fn wants_help(words: &[String]) -> bool {
    let flags = words.iter().take_while(|word| *word != "--");
    flags.into_iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help"))
}

/// Why the arguments cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// A name is missing, so the usage is to be shown.
    Missing(&'static str),
    /// Anything else.
    Wrong(Error),
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

/// Parses the arguments. On an error, the warnings about the flags before it are printed.
pub(super) fn parse(words: &[String]) -> std::result::Result<Flags, Unusable> {
    let mut flags = Flags::default();
    match read(words, &mut flags) {
        Ok(()) => Ok(flags),
        Err(unusable) => {
            flags.warnings.iter().for_each(|warning| warn(warning));
            Err(unusable)
        }
    }
}

fn read(words: &[String], flags: &mut Flags) -> std::result::Result<(), Unusable> {
    let mut words = words.iter().map(String::as_str).peekable();
    let mut only_names = false;
    let mut names: Vec<&str> = Vec::new();
    // Target and sources must be together: a flag after them ends them.
    let mut names_ended = false;
    while let Some(word) = words.next() {
        let flag = word.strip_prefix('-').filter(|rest| !rest.is_empty() && !only_names);
        let Some(flag) = flag else {
            if names_ended {
                let message = format!(
                    "seen a positional argument '{word}' after some flags. Put the target and all sources together"
                );
                return Err(Error::request(message).into());
            }
            names.push(word);
            continue;
        };
        if flag == "-" {
            if !names.is_empty() {
                return Err(Error::request("found `--` behind a name. Put all names behind it").into());
            }
            only_names = true;
            continue;
        }
        names_ended |= !names.is_empty();
        parse_flag(flags, flag, &mut words)?;
    }
    if flags.list.is_some() != flags.only_listed.is_some() {
        return Err(Error::request("-L must always be passed along with -Ltype.").into());
    }
    let mut names = names.into_iter();
    flags.target =
        names.next().filter(|name| !name.is_empty()).ok_or(Unusable::Missing("missing output file."))?.into();
    flags.sources = names.map(str::to_owned).collect();
    if flags.sources.is_empty() {
        return Err(Unusable::Missing("missing input file."));
    }
    Ok(())
}

fn parse_flag<'a>(
    flags: &mut Flags,
    flag: &str,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<()> {
    let toggle = match flag {
        "T" => Some(&mut flags.no_trees),
        "a" => Some(&mut flags.append),
        "k" => Some(&mut flags.skip_bad),
        "O" => Some(&mut flags.reoptimise),
        "-json" => Some(&mut flags.json),
        "-check" => Some(&mut flags.check),
        "-strict" => Some(&mut flags.strict),
        "-common" => Some(&mut flags.common),
        "-fill" => Some(&mut flags.fill),
        "-widen" => Some(&mut flags.widen),
        "-drop-index" => Some(&mut flags.drop_index),
        "-follow-urls" => Some(&mut flags.follow_urls),
        _ => None,
    };
    if let Some(toggle) = toggle {
        if std::mem::replace(toggle, true) {
            flags.warnings.push(format!("duplicate flag: -{flag}"));
        }
        if flags.common && flags.fill {
            return Err(Error::request("cannot specify both --common and --fill"));
        }
    } else if flag == "dbg" {
        flags.ignored.push("-dbg".to_owned());
    } else if let Some(argument) = argument("-memory", flag, words)? {
        flags.memory = Some(argument);
    } else if let Some(folder) = argument("d", flag, words)? {
        if !Path::new(&folder).is_dir() {
            return Err(Error::request(format!("could not access the directory specified: {folder}.")));
        }
        flags.ignored.push(format!("-d {folder}"));
    } else if let Some(n) = number("j", flag, words)? {
        flags.threads = Some(n.unwrap_or(0));
    } else if let Some(kind) = argument("Ltype", flag, words)? {
        flags.only_listed = Some(match kind.as_str() {
            "SkipListed" => false,
            "OnlyListed" => true,
            _ => {
                let expected = "Can only be 'SkipListed' or 'OnlyListed' (case matters).";
                return Err(Error::request(format!("invalid argument for -Ltype: '{kind}'. {expected}")));
            }
        });
    } else if let Some(argument) = argument("L", flag, words)? {
        flags.list = Some(argument.into());
    } else if let Some(size) = argument("cachesize", flag, words)? {
        if !is_size(&size) {
            return Err(Error::request(format!("could not parse the cache size passed after -cachesize: '{size}'")));
        }
        flags.ignored.push(format!("-cachesize {size}"));
    } else if let Some(features) = argument("experimental-io-features", flag, words)? {
        for feature in features.split(',') {
            flags.warnings.push(match FEATURES.contains(&feature) {
                true => format!("the feature {feature} of -experimental-io-features changes nothing here"),
                false => format!("ignoring unknown feature request: {feature}"),
            });
        }
    } else if flag == "n" {
        let word = words.next().ok_or_else(|| missing("n"))?;
        flags.open_files = whole("n", word)?;
    } else if let Some(n) = number("n", flag, words)? {
        flags.open_files = n.ok_or_else(|| missing("n"))?;
    } else if let Some(level) = number("v", flag, words)? {
        flags.verbosity = level.map_or(VERBOSITY, |n| u32::try_from(n).unwrap_or(u32::MAX));
    } else if let Some(rest) = flag.strip_prefix('f') {
        parse_force(flags, rest)?;
    } else {
        flags.warnings.push(format!("unknown flag: -{flag}"));
    }
    Ok(())
}

/// The letters after `-f`: `f`, `k`, and a number at the end.
fn parse_force(flags: &mut Flags, rest: &str) -> Result<()> {
    flags.force = true;
    let digits = rest.trim_start_matches(['f', 'k']);
    for letter in rest.chars().take(rest.len() - digits.len()) {
        let seen = if letter == 'f' { &mut flags.as_first } else { &mut flags.keep_baskets };
        if std::mem::replace(seen, true) {
            flags.warnings.push(format!("duplicate flag: -f{letter}"));
        }
    }
    if !digits.is_empty() {
        let invalid = || Error::request(format!("invalid flag: f{rest}"));
        let n = if digits.starts_with('+') { None } else { digits.parse().ok() }.ok_or_else(invalid)?;
        setting(n)?;
        if (1..10).contains(&n) {
            flags.warnings.push(format!("interpreting {n} as {}: write the whole setting", n + 100));
        }
        if flags.compression.replace(n).is_some() {
            return Err(Error::request("cannot specify -f[0-9] multiple times!"));
        }
    }
    if flags.as_first && flags.compression.is_some() {
        return Err(Error::request(
            "cannot specify both -ff and -f[0-9]. Either use the first input compression or specify it.",
        ));
    }
    Ok(())
}

/// ROOT's setting, 1 to 9 standing for 101 to 109.
pub(super) fn setting(n: u32) -> Result<Compression> {
    let unsupported = || Error::request(format!("{n} is not a supported compression setting"));
    if !(n < 10 || (100..510).contains(&n) && (n / 10).is_multiple_of(10)) {
        return Err(unsupported());
    }
    let full = if (1..10).contains(&n) { n + 100 } else { n };
    i32::try_from(full).ok().and_then(Compression::from_root_setting).ok_or_else(unsupported)
}

/// A number of bytes as hadd takes them: a decimal number, a unit of `k` to `g` with or without an `i`, and a `B`.
fn is_size(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = text.strip_suffix(unit).unwrap_or_default();
    let unit = unit.trim().trim_end_matches('b');
    number.parse::<f64>().is_ok() && matches!(unit.trim_end_matches('i'), "" | "k" | "m" | "g" | "t" | "p" | "e")
}

fn missing(name: &str) -> Error {
    Error::request(format!("expected argument after '-{name}' flag."))
}

/// The argument of a flag: the rest of the same word, perhaps after an equals sign, or the next word.
fn argument<'a>(name: &str, flag: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<Option<String>> {
    match flag.strip_prefix(name) {
        None => Ok(None),
        Some("") => words.next().map(|word| Some(word.to_owned())).ok_or_else(|| missing(name)),
        Some(rest) => Ok(Some(rest.strip_prefix('=').unwrap_or(rest).to_owned())),
    }
}

/// A number that may be missing if it would be the next word.
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
    whole(name, text).map(|n| Some(Some(n)))
}

fn whole(name: &str, text: &str) -> Result<usize> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Error::request(format!("the argument after '-{name}' flag was not of the expected type.")));
    }
    text.parse().map_err(|_| Error::request(format!("error parsing integer argument '{text}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> std::result::Result<Flags, Unusable> {
        parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn refusal(text: &str) -> String {
        match flags(text).unwrap_err() {
            Unusable::Missing(what) => what.to_owned(),
            Unusable::Wrong(error) => error.to_string(),
        }
    }

    #[test]
    fn threads_in_all_three_forms() {
        for text in ["-j16 o a", "-j=16 o a", "-j 16 o a"] {
            let flags = flags(text).unwrap();
            assert_eq!((flags.threads, flags.target), (Some(16), "o".into()), "{text}");
        }
        assert_eq!(flags("-j o a").unwrap().threads, Some(0));
        assert_eq!(refusal("-jx o a"), "the argument after '-j' flag was not of the expected type.");
        assert_eq!(refusal("-j 10a o a"), "error parsing integer argument '10a'");
        assert_eq!(refusal("-n o a"), "the argument after '-n' flag was not of the expected type.");
        assert_eq!(refusal("o a -n"), "expected argument after '-n' flag.");
    }

    #[test]
    fn force_and_compression() {
        let read = |text| flags(text).map(|f| (f.force, f.as_first, f.keep_baskets, f.compression));
        assert_eq!(read("-f o a").unwrap(), (true, false, false, None));
        assert_eq!(read("-f505 o a").unwrap(), (true, false, false, Some(505)));
        assert_eq!(read("-fk209 o a").unwrap(), (true, false, true, Some(209)));
        assert_eq!(read("-ff o a").unwrap(), (true, true, false, None));
        assert_eq!(read("-f0 o a").unwrap(), (true, false, false, Some(0)));
        for wrong in ["-f777 o a", "-f110 o a", "-ff101 o a", "-fx o a", "-f1 -f2 o a", "-f+1 o a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        // A number of its own is the target.
        assert_eq!(flags("-f 200 a").unwrap().target, PathBuf::from("200"));
        assert_eq!(flags("-ff -ff o a").unwrap().warnings, ["duplicate flag: -ff"]);
    }

    #[test]
    fn optional_and_long_arguments() {
        let found = flags("-v -T -k -n 5 -L names -Ltype=OnlyListed -cachesize 30M -d /tmp -dbg o a b").unwrap();
        assert_eq!(found.verbosity, VERBOSITY);
        assert_eq!((found.no_trees, found.skip_bad, found.open_files), (true, true, 5));
        assert_eq!((found.list, found.only_listed), (Some("names".into()), Some(true)));
        assert_eq!(found.ignored, ["-cachesize 30M", "-d /tmp", "-dbg"]);
        assert_eq!(found.sources, ["a", "b"]);
        assert_eq!(flags("-v 0 o a").unwrap().verbosity, 0);
        assert_eq!(flags("-v x a").unwrap().target, PathBuf::from("x"));
        assert_eq!(flags("o a -f").unwrap().sources, ["a"]);
        assert_eq!(flags("-- -o -a").unwrap().sources, ["-a"]);
        assert_eq!(flags("-q o a").unwrap().warnings, ["unknown flag: -q"]);
        assert!(flags("--fill --strict o a").is_ok_and(|f| f.fill && f.strict));
    }

    #[test]
    fn invalid_flags_are_refused() {
        assert_eq!(refusal(""), "missing output file.");
        assert_eq!(refusal("-f o"), "missing input file.");
        assert!(refusal("o a -f b").starts_with("seen a positional argument 'b' after some flags."));
        assert!(refusal("o a -L x -Ltype onlylisted").starts_with("invalid argument for -Ltype: 'onlylisted'."));
        assert_eq!(refusal("o a -L x"), "-L must always be passed along with -Ltype.");
        assert_eq!(refusal("-d /no/such o a"), "could not access the directory specified: /no/such.");
        assert!(refusal("-cachesize 10Q o a").ends_with("'10Q'"));
        assert!(refusal("--common --fill o a").contains("both"));
        assert!(refusal("o -- a").starts_with("found `--`"));
    }

    #[test]
    fn help_anywhere_before_the_names() {
        let wants = |text: &str| wants_help(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert!(wants("o a -h") && wants("-help") && wants("-n0 --help o a"));
        assert!(!wants("-- -h a") && !wants("o a"));
    }
}
