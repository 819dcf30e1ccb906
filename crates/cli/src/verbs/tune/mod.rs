//! `basketry tune`: measure, decide, explain, and with an output rewrite and prove.

mod calibrate;
mod print;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use dataset::glob::NameFilter;
use flow::Progress;
use lab::tune::{Limit, Options, Reader, Subject, Tuned, Workload, prove, tune};
use rootfile::{Error, OutputFile, Result, check_output, is_same_place};

use crate::itself::Itself;
use crate::options::{Resources, Talk};
use crate::output::{self, Answer};
use flow::inputs::{inputs, lists, one_tree};

/// Find the layout that a workload wants: measure candidates on samples, choose codec, basket and cluster sizes for
/// each column under limits, and say why. With an output the file is rewritten, measured and proven equal.
///
/// Reading time is the CPU time of one thread: fetching baskets (from the page cache), decompressing them, and
/// decoding the entries that the workload asks for into columns. Within the limits the choice makes the reading time
/// of the workload as small as possible; a second of compression counts as 5 ms of reading, and one per cent of size
/// as 0.05 per cent of reading time.
///
/// The output is delivered only if it holds: its content equals the input's, its measured size is within --max-size
/// (today's size if nothing is said), and its measured reading time is not above today's by more than the noise of
/// repeated readings. Else the next choice is tried, three in all. If none holds, or today's layout is the best, no
/// output is written, an existing file stays as it is, and the exit code is 1. Without an output the exit code is 0
/// and the figures are expectations that no rewrite has proven.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'. Several inputs are files of a kind and
    /// get one layout: files spread over the list, 256 MiB together, are merged into a temporary file and measured.
    #[arg(value_name = "FILE", required_unless_present = "calibrate")]
    inputs: Vec<String>,
    /// Rewrite the input into this file, in the chosen layout. For several inputs there is --layout-out.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep only the branches that match a glob or /regex/, in the measured file and in the output.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Drop the branches that match a glob or /regex/.
    #[arg(long, value_name = "PATTERN")]
    drop: Vec<String>,
    /// Replace the output if it is there.
    #[arg(short, long)]
    force: bool,
    /// Write the chosen layout to this file, for `rewrite --layout`.
    #[arg(long, value_name = "FILE")]
    layout_out: Option<PathBuf>,
    /// What the file will be read for: full, sparse:1%, columns:GLOB,..., or a mix such as
    /// full=0.3,columns:Muon_*=0.7.
    #[arg(long, value_name = "WORKLOAD", default_value = "full")]
    workload: Workload,
    /// The most bytes the file may have: a size, or a multiple of today's such as 1.05x. If nothing is said: 1x.
    #[arg(long, value_name = "LIMIT")]
    max_size: Option<Limit>,
    /// The most memory that a reader of all columns may need: its largest baskets and one cluster. If nothing is
    /// said: 256MB, or 1.5x today's if that is more.
    #[arg(long, value_name = "LIMIT")]
    max_read_memory: Option<Limit>,
    /// The most CPU time that compression may take: 90s, 5min, or a multiple of today's codec's such as 2x.
    #[arg(long, value_name = "LIMIT", value_parser = Limit::time)]
    max_write_time: Option<Limit>,
    /// Who will read the file: basketry, root, uproot, or a profile (FILE.toml) that says what reading costs another
    /// program. Expected times are that reader's, and where it is installed it reads input and output in the proof.
    #[arg(long, value_name = "READER", default_value = "basketry")]
    reader: String,
    /// Measure what reading costs root or uproot on this machine, in some minutes, and keep the profile for
    /// --reader, in ~/.config/basketry/readers or in the output. Takes no FILE.
    #[arg(long, value_name = "READER", value_parser = ["root", "uproot"], conflicts_with_all = ["inputs", "reader", "layout_out"])]
    calibrate: Option<String>,
    /// Calibrate with so little data that it shows no more than that it works.
    #[arg(long, hide = true, requires = "calibrate")]
    quick_calibration: bool,
    /// Try columns of objects split (level 99) and unsplit (member-wise), too. Without it their branches stay as they
    /// are: who reads members by their branches' names finds them only where they are split.
    #[arg(long)]
    recode: bool,
    /// Seed of the samples: the same seed takes the same baskets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    talk: Talk,
}

impl Args {
    /// What it may use.
    pub fn budget(&self) -> flow::Budget {
        self.resources.budget()
    }
}

/// Measures, decides, and where there is an output rewrites and proves. Before it measures `announce` is told how many
/// CPU seconds that may take.
pub fn work(args: &Args, progress: Progress<'_>, announce: &dyn Fn(f64)) -> Result<Tuned> {
    let inputs = inputs(&args.inputs)?;
    let tree = one_tree(&inputs)?;
    let paths: Vec<PathBuf> = inputs.into_iter().map(|input| input.path).collect();
    for written in [&args.output, &args.layout_out].into_iter().flatten() {
        check_output(written, args.force, paths.iter().map(PathBuf::as_path).chain(lists(&args.inputs)))?;
    }
    if let (Some(path), Some(other)) = (&args.output, &args.layout_out)
        && is_same_place(path, other)
    {
        return Err(Error::request("-o and --layout-out name the same file").file(path));
    }
    if args.output.is_some() && paths.len() > 1 {
        let instead = "write the layout with --layout-out and give it to `basketry merge --layout`";
        return Err(Error::request(format!("-o takes one input; of several, {instead}")));
    }
    let filter = NameFilter::new(&args.keep, &args.drop)?;
    let options = Options {
        workload: args.workload.clone(),
        max_size: args.max_size,
        max_read_memory: args.max_read_memory,
        max_write_time: args.max_write_time,
        memory: args.resources.memory.bytes(),
        seed: args.seed,
        tree,
        recode: args.recode,
        reader: Reader::named(&args.reader, python()?)?,
    };
    if paths.len() > 1 && matches!(args.max_size, Some(Limit::Absolute(_))) {
        let instead = "give a multiple of today's size, such as 1.05x";
        return Err(Error::request(format!("--max-size in bytes needs one input; of several, {instead}")));
    }
    let folder = args.output.as_ref().and_then(|path| path.parent()).filter(|path| !path.as_os_str().is_empty());
    let folder = match &args.output {
        Some(_) => folder.unwrap_or(Path::new(".")).to_path_buf(),
        None => std::env::temp_dir(),
    };
    let budget = args.resources.budget();
    let subject = Subject::new(&paths, options.tree.as_deref(), (&filter, &folder), budget, progress)?;
    let mut tuned = tune(subject.path(), &options, announce)?;
    subject.name().clone_into(&mut tuned.report.input);
    (tuned.report.files, tuned.report.measured_files) = subject.files();
    if let (Some(out), Some(_)) = (&args.output, &tuned.layout) {
        prove(&mut tuned, (subject.path(), out), &options, (budget, args.force), progress)?;
    }
    let delivered = tuned.report.delivered.unwrap_or(true);
    if let (Some(path), Some(layout), true) = (&args.layout_out, &tuned.report.layout, delivered) {
        let mut file = OutputFile::create(path, args.force)?;
        file.write_all(layout.as_bytes())?;
        file.finish()?;
    }
    Ok(tuned)
}

/// The interpreter that other readers are modules of: the one that runs this, or else the first on the path.
fn python() -> Result<OsString> {
    let Itself { program, arguments, .. } = Itself::get()?;
    Ok(if arguments.is_empty() { "python3".into() } else { program.into_os_string() })
}

/// Does it.
pub fn run(args: &Args) -> Result<Answer> {
    if let Some(name) = &args.calibrate {
        return calibrate::run(args, name, &python()?);
    }
    let paths: Vec<PathBuf> = args.inputs.iter().map(PathBuf::from).collect();
    let bar = args.talk.progress(&paths, "written");
    let announce = |seconds: f64| {
        if !args.talk.quiet {
            bar.suspend(|| eprintln!("measuring takes up to about {seconds:.1} s of CPU time"));
        }
    };
    let tuned = work(args, &|bytes| output::advance(&bar, bytes), &announce)?;
    bar.finish_and_clear();
    if args.talk.json {
        output::json(&tuned.report)?;
    } else if !args.talk.quiet || tuned.layout.is_none() {
        print::report(&tuned.report)?;
    } else if tuned.report.delivered == Some(false) {
        print::verdict(&tuned.report)?;
    }
    let delivered = tuned.report.delivered.unwrap_or(true);
    Ok(if tuned.layout.is_some() && delivered { Answer::Yes } else { Answer::No })
}
