//! `basketry hadd`: merges with the flags and the output lines of ROOT's hadd.
//!
//! [`flags`] parses the arguments, not clap. Sources, directories and faults are printed in the form of hadd 6.40, because
//! scripts search for these lines.

mod flags;
mod messages;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dataset::layout::{ByteSize, Layout, TreeLayout};
use flow::inputs::{inputs, lists};
use flow::{
    Budget, CompressionOptions, ContentOptions, DEFAULT_MEMORY, InputOptions, Listed, Options, Pack, PlanOptions,
    Summary,
};
use rootfile::codec::Compression;
use rootfile::{Error, Result, RootFile, check_output, public_path, url};

use self::flags::{Flags, Unusable, setting};
use self::messages::{error, say, warn};
use crate::options::{follow, schema};
use crate::output::{self, Answer};
use crate::verb_command::{Commands, VerbCommand, Watch, ended};

/// hadd's default compression: zlib, level 1.
const DEFAULT_COMPRESSION: i32 = 101;
/// ROOT's default for fAutoFlush, and for the memory that baskets share (`-O`).
const DEFAULT_CLUSTER: u64 = 30_000_000;

/// Merge files, with the flags of ROOT's hadd.
///
/// A drop-in for scripts that call hadd: basketry hadd [FLAGS] TARGET SOURCES. See also `merge`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
#[command(after_help = "Examples:
  basketry hadd all.root run1.root run2.root
  basketry hadd -f505 -j 8 all.root 'run*.root'")]
pub struct Args {
    /// Flags, the target, and the sources, as hadd takes them; `basketry hadd -h` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<String>,
}

const USAGE: &str = "usage: hadd [FLAGS] TARGET SOURCES...";

const HELP: &str = "
Merge files, with the flags of ROOT's hadd: trees one after the other, histograms added, directories joined.

SOURCES are files, @lists of files, or patterns in quotes ('run*.root'). Flags are before TARGET or after SOURCES.

  -f                  Overwrite an existing target
  -f[0-509]           As -f, and compress with this ROOT setting (101 zlib, 207 lzma, 404 lz4, 505 zstd); default: 101
  -ff                 As -f, with the compression of the first source
  -fk                 As -f, and keep baskets as they are; a number applies to all else (-fk505)
  -a                  Append to the target
  -k                  Skip damaged or unreadable sources; of a single source, skip damaged objects and exit with 1
  -L FILE             Names of objects or directories to merge or skip, one a line
  -Ltype TYPE         Meaning of -L: SkipListed or OnlyListed
  -O                  Choose new cluster and basket sizes, as ROOT's OptimizeBaskets does
  -T                  Leave out trees
  -j [N]              Use N threads, or all cores
  -n N                Open at most N files at once
  -v [LEVEL]          0: print only errors and objects that are not merged; 1: also warnings; 2 (default): also sources and
                      directories; 3 or more: also the number of files
  -cachesize SIZE, -d DIR, -dbg, -experimental-io-features NAMES
                      Accepted for compatibility; without effect
  --common            Keep only branches that all sources have
  --fill              Keep the branches of all sources, with zeros, empty arrays and empty strings where a source has
                      no such branch
  --widen             Join numbers of other types (Int_t with Short_t, Float_t with Double_t) in the smallest type that
                      holds all of them without a loss
  --drop-index        Leave out the index (BuildIndex) of a tree where not all sources have one, instead of making it for
                      the others
  --strict            Exit with 1 if an object is not merged, which standard error lists, or if -k skips a source
  --follow-urls       Also read branches from other machines where sources name URLs; credentials go only to the server
                      of the source itself
  --check             Also decompress copied baskets, to check that they can be read
  --memory SIZE       Maximum memory of the work ({memory})
  --json              Print one JSON object
  -h, -help, --help   This text

Exit code 0: success; 1: failure.
";

impl VerbCommand for Args {
    type Report = ();

    fn work(&self, _: &Watch<'_>) -> Result<()> {
        Err(Error::request("hadd is only for the command line; use merge"))
    }

    fn run(&self, _: Commands) -> Result<Answer> {
        if flags::wants_help(&self.words) {
            use std::io::Write;
            let mut out = output::whole_lines();
            let help = HELP.replace("{memory}", &ByteSize(DEFAULT_MEMORY).to_string());
            write!(out, "{USAGE}\n{help}")?;
            out.flush()?;
            return Ok(Answer::Yes);
        }
        let flags = match flags::parse(&self.words) {
            Ok(flags) => flags,
            Err(Unusable::Wrong(error)) => return Err(error),
            Err(Unusable::Missing(what)) => {
                error(what);
                eprintln!("{USAGE}");
                return Ok(Answer::No);
            }
        };
        flags.warnings.iter().for_each(|warning| warn(warning));
        Merge::new(&flags).run()
    }

    fn has_option(name: &str) -> bool {
        HELP.split_whitespace().any(|word| word.strip_prefix("--") == Some(name))
    }

    fn exit_code(&self, commands: Commands) -> u8 {
        exit_code(ended::<Self>(self.run(commands)))
    }
}

/// One merge by hadd.
struct Merge<'a> {
    flags: &'a Flags,
    /// Verbosity in hadd's levels; only warnings where standard output has JSON.
    verbosity: u32,
    /// The target exists and stays, as the first source.
    append: bool,
}

impl<'a> Merge<'a> {
    fn new(flags: &'a Flags) -> Self {
        let verbosity = if flags.json { flags.verbosity.min(1) } else { flags.verbosity };
        Self { flags, verbosity, append: flags.append && flags.target.exists() }
    }

    fn info(&self, level: u32, text: &str) {
        if self.verbosity >= level {
            messages::info(text);
        }
    }

    fn run(&self) -> Result<Answer> {
        let (flags, target) = (self.flags, &self.flags.target);
        if let Some(threads) = flags.threads {
            let threads = Budget::new(0, threads).threads;
            self.info(2, &format!("parallelizing with {threads} thread{}.", if threads == 1 { "" } else { "s" }));
        }
        self.info(2, &format!("target file: {}", target.display()));
        for ignored in &flags.ignored {
            self.info(2, &format!("{ignored} changes nothing here"));
        }
        let (sources, absent) = self.sources()?;
        if sources.iter().any(|source| same_file(source, target)) {
            let message = format!("file {} cannot be both the target and an input!", target.display());
            return Err(Error::request(message));
        }
        let first = if self.append { Some(target) } else { sources.first() };
        let mut options = self.options()?;
        options.compression.header = Some(self.setting(first));
        flow::allocator::ours(&options.budget);
        if self.verbosity > 1 {
            let what = if flags.keep_baskets && !flags.reoptimise { "meta data" } else { "all output" };
            self.info(
                2,
                &format!("compression setting for {what}: {}", options.compression.header.unwrap_or_default()),
            );
        }
        if let (Some(Listed::Only(names) | Listed::Skip(names)), Some(list)) = (&options.content.listed, &flags.list) {
            let (n, list) = (names.len(), list.display());
            self.info(2, &format!("added {n} object{} from filter file '{list}'", if n == 1 { "" } else { "s" }));
        }
        let read = lists(&flags.sources).chain(flags.list.as_deref());
        if let Err(fault) = check_output(target, flags.force || self.append, read) {
            error(&format!("error opening target file (does {} exist?).", target.display()));
            match target.is_file() && !flags.force {
                true => eprintln!("pass \"-f\" argument to force re-creation of output file."),
                false => eprintln!("{}", output::line(&fault.to_string())),
            }
            return Ok(Answer::No);
        }
        if self.verbosity > 1 {
            for (i, source) in sources.iter().enumerate() {
                say(&format!("hadd Source file {}: {}", i + 1, public_path(source).display()));
            }
        }
        let mut paths: Vec<PathBuf> = if self.append { vec![target.clone()] } else { Vec::new() };
        let count = sources.len();
        paths.extend(sources);
        let bar = output::progress(output::bytes_of(&paths), "written", self.verbosity < 2 || flags.json);
        let summary = flow::rewrite(&paths, target, &options, &|bytes| output::advance(&bar, bytes));
        bar.finish_and_clear();
        let summary = summary.inspect_err(|fault| {
            if let Some(culprit) = fault.path().filter(|path| paths.iter().any(|source| source == path)) {
                error(&format!("exiting due to error in {}", public_path(culprit).display()));
            }
        })?;
        self.report(&summary, count, absent)
    }

    /// The existing sources, and the number of skipped arguments (`-k`).
    fn sources(&self) -> Result<(Vec<PathBuf>, usize)> {
        let invalid = |word: &str| format!("could not validate argument \"{word}\" as input file");
        let mut found = Vec::new();
        let mut absent = 0;
        for word in &self.flags.sources {
            let list = word.strip_prefix('@');
            let message = match inputs(std::slice::from_ref(word)) {
                _ if list.is_some_and(|list| !Path::new(list).is_file()) => {
                    format!("could not open indirect file {}", list.unwrap_or_default())
                }
                Ok(inputs) => {
                    // Whole files are merged: FILE:TREE is no file.
                    let paths = inputs.into_iter().map(|input| match input.tree {
                        Some(tree) => PathBuf::from(format!("{}:{tree}", input.path.display())),
                        None => input.path,
                    });
                    let (there, not): (Vec<_>, Vec<_>) = paths.partition(|path| url(path).is_some() || path.exists());
                    found.extend(there);
                    let Some(problem) = not.first() else { continue };
                    match list {
                        Some(list) => {
                            let problem = problem.to_string_lossy();
                            format!("could not validate the file name \"{problem}\" within indirect file {list}")
                        }
                        None => invalid(word),
                    }
                }
                Err(fault) if list.is_some() => fault.to_string(),
                Err(_) => invalid(word),
            };
            if !self.flags.skip_bad {
                return Err(Error::request(message));
            }
            error(&message);
            absent += 1;
        }
        if found.is_empty() {
            return Err(Error::request("could not find any valid input file"));
        }
        Ok((found, absent))
    }

    /// The number of ROOT's that says how the output is compressed.
    fn setting(&self, first: Option<&PathBuf>) -> i32 {
        let given = self.flags.compression.and_then(|n| i32::try_from(n).ok());
        let as_first = self.flags.as_first || self.flags.keep_baskets || self.append;
        let of_first = || RootFile::open(first?).ok().map(|file| file.header().compress);
        given.or_else(|| if as_first { of_first() } else { None }).unwrap_or(DEFAULT_COMPRESSION)
    }

    fn report(&self, summary: &Summary, sources: usize, absent: usize) -> Result<Answer> {
        let target = self.flags.target.display();
        if summary.compressions_differ && !self.flags.keep_baskets && self.verbosity > 0 {
            warn("Sources and Target have different compression settings");
            eprintln!("hadd merging will be slower");
        }
        if self.verbosity > 1 {
            for directory in &summary.directories {
                say(&format!("hadd Target path: {target}:/{directory}"));
            }
        }
        // Sources and objects that are missing from the output are never passed over in silence.
        for skipped in &summary.skipped {
            warn(&format!("skipping file with error: {}", skipped.reason));
        }
        for damaged in &summary.damaged {
            warn(&format!("left out: {damaged}"));
        }
        for note in &summary.notes {
            if self.verbosity > 0 || summary.unmerged.contains(note) {
                warn(note);
            }
        }
        let merged = sources.saturating_sub(summary.skipped.len());
        self.info(3, &format!("merged {merged} ({merged}) input (partial) files into {target}"));
        let printed = if self.flags.json { output::json(summary) } else { Ok(()) };
        let missing = !summary.unmerged.is_empty() || !summary.skipped.is_empty() || absent > 0;
        let is_no = self.flags.strict && missing || !summary.damaged.is_empty();
        output::answered(printed, if is_no { Answer::No } else { Answer::Yes })
    }

    fn options(&self) -> Result<Options> {
        let (flags, append) = (self.flags, self.append);
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
            content: ContentOptions { listed: listed(flags)?, no_trees: flags.no_trees, ..ContentOptions::default() },
            plan: PlanOptions {
                schema: schema(flags.common, flags.fill),
                widen: flags.widen,
                pack: if flags.keep_baskets || append { Pack::No } else { Pack::Auto },
                ..PlanOptions::default()
            },
            inputs: InputOptions {
                append,
                skip_bad: flags.skip_bad,
                open_files: flags.open_files,
                follow: follow(flags.follow_urls),
            },
            compression: CompressionOptions {
                as_first: flags.as_first || (flags.keep_baskets && flags.reoptimise),
                metadata,
                header: None,
            },
            budget: Budget::new(memory, flags.threads.unwrap_or(1)),
            overwrite: flags.force,
            // Its own --strict sets the exit code.
            strict: false,
            check: flags.check,
            drop_index: flags.drop_index,
            build_index: None,
        })
    }
}

fn listed(flags: &Flags) -> Result<Option<Listed>> {
    let (Some(path), Some(only)) = (&flags.list, flags.only_listed) else { return Ok(None) };
    let cannot = |e: &std::io::Error| Error::request(format!("error opening filter file '{}': {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| cannot(&e))?;
    let words = text.lines().filter_map(|line| line.split_whitespace().next());
    let names: HashSet<String> = words.filter(|word| !word.starts_with('#')).map(str::to_owned).collect();
    Ok(Some(if only { Listed::Only(names) } else { Listed::Skip(names) }))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// hadd's exit codes: 0 for success, 1 otherwise. An error is printed in hadd's form.
fn exit_code(result: Result<Answer>) -> u8 {
    match result {
        Err(e) if !matches!(e.kind(), rootfile::ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::BrokenPipe) => {
            error(&e.to_string());
            1
        }
        result => output::exit_code(result),
    }
}
