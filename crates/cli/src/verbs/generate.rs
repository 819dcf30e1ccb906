//! `basketry generate`: writes the data sets of published benchmarks.

use std::io::Write;
use std::time::Instant;

use dataset::layout::{ByteSize, Layout};
use flow::survey::wanted::Wanted;
use flow::write::{AutoSave, Order, WriteOptions, WritePlace};
use lab::synthetic::generate::{Job, Ran, TREE, generate, numbered};
use lab::synthetic::models::{Model, ModelOptions, NAMES};
use rootfile::{Error, Result, check_output};

use crate::container_words::words;
use crate::layout_args::LayoutArgs;
use crate::options::{Matching, Resources, Target, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Write a data set of the published benchmarks, from a seed, of any size, in any layout.
///
/// single: a branch of random doubles. multi: branches of vector<Event>; an Event has three vectors, three doubles and
/// three ints. nano: flat and jagged columns, as in a NanoAOD. lhcb: many small objects. aod: products of very variable
/// size. esd: unsplit containers, and two huge split ones.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry generate nano -o nano.root --size 100MB
  basketry generate multi -o multi.root --branches 50 --container rntuple")]
pub struct Args {
    /// The data set.
    #[arg(value_parser = NAMES)]
    kind: String,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    pub set: DataSetArgs,
    /// Number of files to write at once, each with the whole data set: OUT, OUT-1, OUT-2 and so on. They share memory and threads.
    #[arg(long, value_name = "N", default_value_t = 1)]
    outputs: usize,
    /// Make at most SIZE of payload a second, like a job that computes its events: for files to watch and to read while they grow.
    #[arg(long, value_name = "SIZE")]
    rate: Option<ByteSize>,
    #[command(flatten)]
    pub how: WriteArgs,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Parameters of a data set.
#[derive(clap::Args, Clone, Debug)]
pub struct DataSetArgs {
    /// Bytes of payload.
    #[arg(long, value_name = "SIZE", default_value = "100MB")]
    pub size: ByteSize,
    /// Seed of the numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Branches of `multi`.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub branches: u32,
    /// Events in an entry of each branch of `multi`.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub events: u32,
}

/// Options of writing besides the layout.
#[derive(clap::Args, Clone, Debug)]
pub struct WriteArgs {
    /// End a cluster after this share of the entries (1%). For sizes and numbers of entries see --cluster.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub autoflush: Option<f64>,
    /// Save the metadata of the trees after each SIZE: bytes (300MB), entries (1000) or a share of the entries (10%).
    #[arg(long, value_name = "SIZE", value_parser = Every::parse)]
    pub autosave: Option<Every>,
    /// Write clusters in the order in which they are finished. The order of entries then depends on timing.
    #[arg(long)]
    pub arrival: bool,
    /// Make the output, but do not write it.
    #[arg(long)]
    pub no_write: bool,
    /// Make the numbers, but do not fill them.
    #[arg(long)]
    pub no_fill: bool,
}

/// A size, a number of entries, or a share of them.
#[derive(Clone, Copy, Debug)]
pub enum Every {
    Bytes(u64),
    Entries(u64),
    Share(f64),
}

impl Every {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        if text.ends_with('%') {
            return percent(text).map(Self::Share);
        }
        match text.parse() {
            Ok(entries) => Ok(Self::Entries(entries)),
            Err(_) => text.parse().map(|size: ByteSize| Self::Bytes(size.bytes())).map_err(|e| e.to_string()),
        }
    }

    fn auto_save(self, entries: u64) -> AutoSave {
        match self {
            Self::Bytes(bytes) => AutoSave::Bytes(bytes),
            Self::Entries(entries) => AutoSave::Entries(entries.max(1)),
            Self::Share(share) => AutoSave::Entries(share_of(entries, share)),
        }
    }
}

impl std::fmt::Display for Every {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
            Self::Entries(entries) => write!(f, "{entries}"),
            Self::Share(share) => write!(f, "{}%", share * 100.0),
        }
    }
}

/// A share in percent.
fn percent(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= 100.0);
    number.map(|share| share / 100.0).ok_or_else(|| format!("{text:?} is not a percentage, such as 1%"))
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
fn share_of(entries: u64, share: f64) -> u64 {
    ((entries as f64 * share) as u64).max(1)
}

impl DataSetArgs {
    /// The data set of that name.
    pub fn model(&self, kind: &str) -> Result<Model> {
        let Self { size, seed, branches, events } = *self;
        Model::named(kind, &ModelOptions { size: size.bytes(), seed, branches, events })
    }
}

impl WriteArgs {
    /// The write options, for this number of entries.
    pub fn options(&self, mut layout: Layout, entries: u64, overwrite: bool) -> WriteOptions {
        if let Some(share) = self.autoflush {
            layout.common.cluster = Some(dataset::layout::ClusterSize::Entries(share_of(entries, share)));
        }
        WriteOptions {
            layout,
            overwrite,
            order: if self.arrival { Order::Arrival } else { Order::Tasks },
            auto_save: self.autosave.map(|every| every.auto_save(entries)),
            place: if self.no_write { WritePlace::Nowhere } else { WritePlace::File },
            ..WriteOptions::default()
        }
    }
}

impl VerbCommand for Args {
    type Report = Ran;
    const DONE: &'static str = "entries";
    const FILLS: bool = true;

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Ran> {
        let model = self.set.model(&self.kind)?;
        if !self.matching.allow_no_match {
            self.layout.wanted(Wanted::default())?.check_columns(TREE, model.names())?;
        }
        let outputs = numbered(&self.target.output, self.outputs);
        if !self.how.no_write && !self.how.no_fill {
            outputs.iter().try_for_each(|path| check_output(path, self.target.force, self.layout.file()))?;
        }
        if let Some(bar) = watch.bar {
            bar.set_length(model.entries());
        }
        let job = Job {
            model: &model,
            outputs,
            options: self.how.options(self.layout.layout()?, model.entries(), self.target.force),
            budget: self.resources.budget(),
            fill: !self.how.no_fill,
            rate: self.rate.map(|rate| rate.bytes()),
            timeline: false,
        };
        generate(&job, watch.progress)
    }

    fn print(&self, ran: &Ran, _: Instant) -> Result<()> {
        if self.verbosity.quiet { Ok(()) } else { print(self, ran) }
    }
}

fn print(args: &Args, ran: &Ran) -> Result<()> {
    let mut out = output::stdout();
    for (path, written) in numbered(&args.target.output, args.outputs).iter().zip(&ran.written) {
        let path = path.display();
        for table in &written.trees {
            let words = words(table.container);
            writeln!(
                out,
                "{path}: {} in {} and {}, {} ({} before compression)",
                output::plural(table.entries, "entry", "entries"),
                output::plural(table.clusters, "cluster", "clusters"),
                output::plural(table.baskets, words.piece, words.pieces),
                output::bytes(written.bytes),
                output::bytes(table.tot_bytes - table.key_bytes)
            )?;
        }
    }
    let waited: u64 = ran.metrics.iter().flat_map(|m| &m.contexts).map(|context| context.waiting_ns).sum();
    let most = ran.metrics.iter().map(|m| m.peak_held_bytes).max().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "seconds")]
    let waited = waited as f64 * 1e-9;
    writeln!(
        out,
        "{:.2} s ({:.2} s of CPU, {waited:.2} s waiting for memory), {:.2} s to get it on disk; {} of memory for clusters",
        ran.wall,
        ran.cpu,
        ran.sync,
        output::bytes(most)
    )?;
    out.flush().map_err(Error::from)?;
    Ok(())
}
