//! `basketry write-bench`: the published benchmark of parallel writing. Each run is a process of its own.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use dataset::layout::{Container, Layout, TreeLayout};
use flow::Budget;
use lab::synthetic::generate::{Job, generate};
use lab::system::subprocess::{Memory, end_with_parent, measure};
use lab::write_bench::{Grid, Line, Point, Report, Rivals, Run, Writer, bench};
use rootfile::{Error, Hint, Result, ScratchFolder};

use super::generate::{DataSetArgs, WriteArgs};
use crate::interrupt::AfterNaming;
use crate::options::Verbosity;
use crate::output::{self, Answer};
use crate::self_command::SelfCommand;
use crate::verb_command::{Commands, VerbCommand, Watch, ended};

/// basketry among the rivals.
const OURS: Writer = Writer { name: "basketry", containers: &[Container::Ttree, Container::Rntuple] };

/// Measure how fast a file is written, over containers, threads, codecs, branch counts and media.
///
/// Combinations take turns. Each run is a process of its own, and figures are medians; the spread is from the fastest to the
/// slowest run. MB/s are payload over real time, for all writers without the time to flush to disk: ROOT itself flushes files of trees
/// while it writes them, and this time is taken out. "to disk" is with the flush, for all writers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry write-bench multi --size 100MB --threads 1,2,4
  basketry write-bench single --container ttree,rntuple")]
pub struct Args {
    /// The data set.
    #[arg(value_parser = ["single", "multi"])]
    kind: String,
    #[command(flatten)]
    set: DataSetArgs,
    /// Numbers of branches and events in an entry: 1x100,10x10,50x2. Overrides --branches and --events.
    #[arg(long, value_name = "BxM,...", value_delimiter = ',', value_parser = shape)]
    shapes: Vec<(u32, u32)>,
    /// What to write: ttree, rntuple or both.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', default_value = "ttree")]
    container: Vec<Container>,
    /// Numbers of threads.
    #[arg(short = 'j', long, value_name = "N,...", value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Codecs, such as none,lz4:4,zstd:5.
    #[arg(long, value_name = "CODEC,...", value_delimiter = ',', default_value = "none,lz4:4")]
    compression: Vec<String>,
    /// A folder for each medium.
    #[arg(long, value_name = "DIR,...", value_delimiter = ',', default_value = ".")]
    media: Vec<PathBuf>,
    /// Maximum memory of each run for its clusters.
    #[arg(long, value_name = "SIZE", default_value = "128MB")]
    memory: dataset::layout::ByteSize,
    /// Number of files to write at once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    outputs: usize,
    /// Repeats of each combination.
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeat: usize,
    /// Also record what each of basketry's threads does, and when: `timeline` of each run of the report (--json).
    #[arg(long)]
    timeline: bool,
    #[command(flatten)]
    how: WriteArgs,
    /// Size of a cluster: compressed bytes (30MB) or entries (1000).
    #[arg(long, value_name = "SIZE")]
    cluster: Option<String>,
    /// Buffer size of a branch; in an RNTuple the largest size of a page.
    #[arg(long, visible_alias = "page-size", value_name = "SIZE")]
    basket: Option<String>,
    /// One basket for each branch in each cluster.
    #[arg(long)]
    one_basket_per_cluster: bool,
    /// Also run ROOT's writers of these containers: TTree and TBufferMerger; RNTuple (RNTupleWriter) and
    /// RNTupleParallelWriter. DIR is ROOT's installation, with include, lib and bin.
    #[arg(long, value_name = "DIR")]
    rivals: Option<Option<PathBuf>>,
    /// Run one combination in this process.
    #[arg(long, hide = true)]
    once: bool,
    #[command(flatten)]
    verbosity: Verbosity,
}

fn shape(text: &str) -> std::result::Result<(u32, u32), String> {
    let parts = text.split_once('x').and_then(|(b, m)| Some((b.parse().ok()?, m.parse().ok()?)));
    parts.ok_or_else(|| format!("{text:?} is not branches by events, such as 10x10"))
}

impl Args {
    fn grid(&self) -> Grid {
        let one = vec![(self.set.branches, self.set.events)];
        Grid {
            kind: self.kind.clone(),
            size: self.set.size.bytes(),
            shapes: if self.shapes.is_empty() { one } else { self.shapes.clone() },
            containers: self.container.clone(),
            compressions: self.compression.clone(),
            threads: self.threads.clone(),
            media: self.media.clone(),
            repeat: self.repeat,
            common: Vec::new(),
            outputs: self.outputs,
            no_write: self.how.no_write,
            no_fill: self.how.no_fill,
        }
    }

    /// basketry, and the rivals if they are asked for.
    fn writers(&self) -> Vec<Writer> {
        let rivals = self.rivals.iter().flat_map(|_| Rivals::writers());
        std::iter::once(OURS).chain(rivals).collect()
    }

    /// Options that the rivals have as well.
    fn common(&self) -> Vec<String> {
        let mut common = Vec::new();
        if let Some(share) = self.how.autoflush {
            common.extend(["--autoflush".to_owned(), format!("{}%", share * 100.0)]);
        }
        if self.how.no_write {
            common.push("--no-write".to_owned());
        }
        if self.how.no_fill {
            common.push("--no-fill".to_owned());
        }
        common
    }

    /// The command of one run of a combination.
    fn command(&self, point: &Point) -> Result<Command> {
        let mut command = SelfCommand::get()?.command();
        command.args(["write-bench", &self.kind, "--once", "--size", &self.set.size.bytes().to_string()]);
        command.args(["--seed", &self.set.seed.to_string(), "--memory", &self.memory.bytes().to_string()]);
        command.args(["--branches", &point.branches.to_string(), "--events", &point.events.to_string()]);
        command.args(["--container", &point.container]);
        command.args(["--threads", &point.threads.to_string(), "--compression", &point.compression]);
        command.arg("--media").arg(&point.medium).args(["--outputs", &self.outputs.to_string()]).args(self.common());
        for (name, value) in [("--cluster", &self.cluster), ("--basket", &self.basket)] {
            if let Some(value) = value {
                command.args([name, value]);
            }
        }
        if let Some(every) = &self.how.autosave {
            command.args(["--autosave", &every.to_string()]);
        }
        command.args(self.how.arrival.then_some("--arrival"));
        command.args(self.timeline.then_some("--timeline"));
        command.args(self.one_basket_per_cluster.then_some("--one-basket-per-cluster"));
        Ok(command)
    }

    /// One run, in this process.
    fn run_once(&self) -> Result<Run> {
        let model = self.set.model(&self.kind)?;
        let first = |what| Error::request(format!("one run needs one of the {what}"));
        let mut layout = Layout::default();
        layout.common = TreeLayout {
            container: Some(*self.container.first().ok_or_else(|| first("containers"))?),
            compression: Some(self.compression.first().ok_or_else(|| first("codecs"))?.parse()?),
            cluster: self.cluster.as_deref().map(str::parse).transpose()?,
            basket: self.basket.as_deref().map(str::parse).transpose()?,
            one_basket_per_cluster: self.one_basket_per_cluster.then_some(true),
            ..TreeLayout::default()
        };
        let medium = self.media.first().ok_or_else(|| first("media"))?;
        let folder = ScratchFolder::within(medium).map_err(|e| e.file(medium))?;
        let job = Job {
            model: &model,
            outputs: lab::synthetic::generate::numbered(&folder.path().join("out.root"), self.outputs),
            options: self.how.options(layout, model.entries(), true),
            budget: self.budget().ok_or_else(|| first("threads"))?,
            fill: !self.how.no_fill,
            rate: None,
            timeline: self.timeline,
        };
        let ran = generate(&job, &flow::unwatched)?;
        let Memory { rss: peak_rss, vsize } = Memory::peak();
        let waiting: u64 = ran.metrics.iter().flat_map(|m| &m.contexts).map(|context| context.waiting_ns).sum();
        Ok(Run {
            wall: ran.wall,
            cpu: ran.cpu,
            sync: ran.sync,
            peak_rss,
            vsize,
            bytes: ran.written.iter().map(|written| written.bytes).sum(),
            waiting: std::time::Duration::from_nanos(waiting).as_secs_f64(),
            timeline: ran.timeline,
        })
    }
}

/// Measures everything; calls `done` after each run.
fn measured(args: &Args, done: &dyn Fn()) -> Result<Report> {
    let grid = args.grid();
    let folder = ScratchFolder::new()?;
    let rivals = match &args.rivals {
        Some(home) => Some(Rivals::build(folder.path(), &home_of_root(home.as_deref())?)?),
        None => None,
    };
    let common = args.common();
    let run = |point: &Point| match &rivals {
        Some(rivals) if point.writer != OURS.name => rivals.run(&grid.kind, grid.size, point, &common),
        _ => measure(&mut args.command(point)?),
    };
    bench(&grid, &args.writers(), run, done)
}

/// The folder of ROOT: as given, or that of the `root` or `root-config` on the path.
pub(super) fn home_of_root(given: Option<&std::path::Path>) -> Result<PathBuf> {
    if let Some(home) = given {
        return Ok(home.to_path_buf());
    }
    if let Some(home) = std::env::var_os("ROOTSYS") {
        return Ok(PathBuf::from(home));
    }
    let code = "import importlib.util as u; print(u.find_spec('ROOT').submodule_search_locations[0])";
    let found = Command::new("python3").args(["-c", code]).output();
    let home =
        found.ok().filter(|done| done.status.success()).map(|done| String::from_utf8_lossy(&done.stdout).into_owned());
    home.map(|home| PathBuf::from(home.trim())).ok_or_else(|| {
        Error::request("ROOT was not found: use --rivals DIR, or set ROOTSYS").hint(Hint::named("rivals"))
    })
}

impl VerbCommand for Args {
    type Report = Report;
    const DONE: &'static str = "runs";
    const FILLS: bool = true;

    fn verbosity(&self) -> &Verbosity {
        &self.verbosity
    }

    /// That of the run that this process makes, if it makes one.
    fn budget(&self) -> Option<Budget> {
        let threads = self.threads.first().filter(|_| self.once)?;
        Some(Budget::new(self.memory.bytes(), *threads))
    }

    fn when_told_to_end(&self) -> Option<AfterNaming> {
        // It writes one file after the other.
        Some(AfterNaming::Ends)
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Report> {
        let Some(bar) = watch.bar else {
            return Err(Error::request("write-bench starts processes for its runs: use the command line"));
        };
        bar.set_length((self.grid().points(&self.writers()).len() * self.repeat.max(1)) as u64);
        // It cannot be stopped half-way but by the signal itself.
        measured(self, &|| bar.inc(1))
    }

    fn print(&self, report: &Report, _: Instant) -> Result<()> {
        print(report)
    }

    fn exit_code(&self, commands: Commands) -> u8 {
        let once = || {
            end_with_parent();
            output::json(&self.run_once()?)?;
            Ok(Answer::Yes)
        };
        output::exit_code(ended::<Self>(if self.once { once() } else { self.run(commands) }))
    }
}

fn print(report: &Report) -> Result<()> {
    let head = [
        "writer",
        "container",
        ">branches",
        ">events",
        "codec",
        ">threads",
        "medium",
        ">MB/s",
        ">to disk",
        ">speed-up",
        ">wall s",
        ">spread s",
        ">flush s",
        ">to disk s",
        ">cpu s",
        ">peak RSS",
        ">vsize",
        ">written",
    ];
    let mut table = output::table(&head);
    for line in &report.lines {
        let Line { point, wall, cpu, sync, peak_rss, vsize, bytes, mb_per_s, speed_up, spread, to_disk, .. } = line;
        table.add_row([
            point.writer.clone(),
            point.container.clone(),
            point.branches.to_string(),
            point.events.to_string(),
            point.compression.clone(),
            point.threads.to_string(),
            point.medium.display().to_string(),
            format!("{mb_per_s:.0}"),
            format!("{:.0}", line.mb_per_s_to_disk),
            speed_up.map_or_else(String::new, |times| format!("{times:.2}")),
            format!("{wall:.3}"),
            format!("{:.3}-{:.3}", spread.least, spread.most),
            format!("{sync:.3}"),
            format!("{:.3}", to_disk.median),
            format!("{cpu:.3}"),
            output::bytes(*peak_rss),
            output::bytes(*vsize),
            output::bytes(*bytes),
        ]);
    }
    let mut out = output::stdout();
    writeln!(out, "{table}")?;
    for line in bars(report) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(())
}

/// MB/s as bars, the longest for the fastest.
fn bars(report: &Report) -> Vec<String> {
    const WIDTH: f64 = 50.0;
    let most = report.lines.iter().map(|line| line.mb_per_s).fold(0.0, f64::max);
    let name = |line: &Line| {
        let Point { writer, container, branches, events, compression, threads, .. } = &line.point;
        format!("{writer} {container} {branches}x{events} {compression} -j{threads}")
    };
    let longest = report.lines.iter().map(|line| name(line).len()).max().unwrap_or(0);
    let bar = |line: &Line| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the width")]
        let length = (line.mb_per_s / most.max(f64::MIN_POSITIVE) * WIDTH).round() as usize;
        format!("{:longest$}  {} {:.0}", name(line), "█".repeat(length), line.mb_per_s)
    };
    report.lines.iter().map(bar).collect()
}
