//! The file of samples: a ROOT file with trees, a Parquet file, CSV or lines of JSON, by its extension. Samples go into the
//! `journal` as they come, so a job of days takes no memory here. Lines are the record themselves. Another file is made of them
//! at the end. It is also made while the job runs, from time to time, so that a record has its name if all is killed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dataset::tree::make::{NewKind, NewLeaf};
use flow::convert::{Conversion, ParquetCodec, ToParquet, to_parquet};
use flow::inputs::Input;
use flow::write::{ParallelWriter, Rows, TableId, TreeColumn, TreeSpec, WriteOptions, WritePool};
use flow::{Budget, Choice};
use rootfile::{Error, ErrorKind, Follow, Result, ScratchFolder, check_output};
use serde::Serialize;

use super::journal::{Form, Journal};
use super::options::Options;
use super::outputs::OutputFile;
use super::processes::{Begun, Pace};
use super::sample::Sample;
use super::summary::Job;

/// Memory of the writer, which has one small cluster.
const MEMORY: u64 = 32 << 20;
/// Shortest time between two savings of an unfinished record.
const SAVES_APART: Duration = Duration::from_secs(1);
/// While memory grows, the pause is this many times as long as a saving.
const WHEN_GROWING: u32 = 20;
/// The file in which samples wait to become a Parquet file.
const BEFORE_PARQUET: &str = "samples.root";
/// The tree of samples.
pub const SAMPLES: &str = "samples";

/// The file of samples, as it was begun.
pub(crate) struct Record {
    /// The file, if one is wanted.
    pub recorder: Option<Recorder>,
    /// Why there is none, although it is wanted.
    pub trouble: Option<Error>,
}

/// A file of samples in the making.
pub(crate) struct Recorder {
    output: PathBuf,
    overwrite: bool,
    kind: Kind,
    journal: Journal,
    saves: Saves,
}

#[derive(Clone, Copy)]
enum Kind {
    Root,
    Parquet,
    /// The journal is the output.
    Lines,
}

/// When an unfinished record is saved under its name.
struct Saves {
    pace: Pace,
    /// None before the first.
    last: Option<Instant>,
    /// How long the last one took, and the resident memory then.
    cost: Duration,
    rss: u64,
    /// Whether the file under the name is ours.
    ours: bool,
}

impl Recorder {
    /// The file of the options, if there is one. A disk that is full is no reason not to do the job.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or is there and may not be replaced.
    pub fn for_options(options: &Options) -> Result<Record> {
        let Some(path) = &options.output else { return Ok(Record { recorder: None, trouble: None }) };
        match Self::create(path, options.overwrite) {
            Ok(recorder) => Ok(Record { recorder: Some(recorder), trouble: None }),
            Err(e) if is_full(&e) => {
                Ok(Record { recorder: None, trouble: Some(Error::request(format!("nothing is recorded: {e}"))) })
            }
            Err(e) => Err(e),
        }
    }

    /// Begins the file. Lines have its name from the first sample on; another file is saved under its name while the job
    /// runs, and its journal is beside it until it is whole.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or is there and may not be replaced.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        check_output(path, overwrite, std::iter::empty::<&Path>())?;
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (kind, form) = match extension.as_str() {
            "root" => (Kind::Root, None),
            "parquet" | "parq" | "pq" => (Kind::Parquet, None),
            "csv" => (Kind::Lines, Some(Form::Csv)),
            "json" | "jsonl" | "ndjson" => (Kind::Lines, Some(Form::Json)),
            _ => {
                let how = "has no known extension: use .root, .parquet, .csv or .jsonl";
                return Err(Error::request(how).file(path));
            }
        };
        let journal = match form {
            Some(form) => Journal::as_output(path, overwrite, form)?,
            None => {
                // Written later; that it cannot be is better known now.
                drop(rootfile::OutputFile::create(path, overwrite)?);
                Journal::beside(path)?
            }
        };
        let saves = Saves { pace: Pace::default(), last: None, cost: Duration::ZERO, rss: 0, ours: false };
        Ok(Self { output: path.to_path_buf(), overwrite, kind, journal, saves })
    }

    /// Where its lines are: no output of the job, though it may be this process that is watched.
    pub fn at(&self) -> &Path {
        self.journal.path()
    }

    /// Adds a sample. After a failure nothing can be added, and what is there stays.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn add(&mut self, sample: &Sample) -> Result<()> {
        self.journal.add(sample).map_err(|e| {
            let (kept, time) = (self.journal.samples(), sample.time);
            Error::request(format!("recording stopped at {time:.1} s: {e}; the {kept} samples before are kept"))
                .file(&self.output)
        })
    }

    /// Whether it is time to save the samples so far under the record's name, so that there is a record if job and monitor are
    /// killed. A job whose memory grows may be killed for it soon.
    pub fn is_due(&self, rss: u64) -> bool {
        let Saves { pace, last, cost, rss: saved, .. } = &self.saves;
        let past = last.map_or(Duration::MAX, |last| last.elapsed());
        let grows = past >= cost.saturating_mul(WHEN_GROWING) && rss > saved.saturating_add(saved / 10);
        !matches!(self.kind, Kind::Lines) && past >= SAVES_APART && (grows || pace.due(false).is_some())
    }

    /// Saves what there is. What goes wrong is known at the end.
    pub fn save(&mut self, job: &Job, files: &[OutputFile], rss: u64) {
        let (started, begun) = (Instant::now(), Begun::now());
        self.saves.ours |= self.make(job, files).is_ok();
        self.saves.pace.done(begun);
        (self.saves.last, self.saves.cost, self.saves.rss) = (Some(Instant::now()), started.elapsed(), rss);
    }

    /// Ends the file. If it cannot be made, the journal stays.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(self, job: &Job, files: &[OutputFile]) -> Result<()> {
        if let Kind::Lines = self.kind {
            return self.journal.finish();
        }
        match self.make(job, files) {
            Ok(()) => {
                self.journal.remove();
                Ok(())
            }
            Err(e) => {
                let place = self.journal.path().display();
                Err(Error::request(format!("{e}; the samples, {} of them, are in {place}", self.journal.samples())))
            }
        }
    }

    fn make(&self, job: &Job, files: &[OutputFile]) -> Result<()> {
        let Self { output, kind, journal, .. } = self;
        let overwrite = self.overwrite || self.saves.ours;
        match kind {
            Kind::Root => Root::create(output, overwrite)?.finish(journal, job, files),
            Kind::Parquet => {
                let folder = ScratchFolder::new()?;
                let before = folder.path().join(BEFORE_PARQUET);
                Root::create(&before, true)?.finish(journal, job, files)?;
                let inputs = [Input { path: before, tree: Some(SAMPLES.to_owned()) }];
                let how = Conversion {
                    filter: dataset::glob::NameFilter::default(),
                    entries: Choice::default(),
                    follow: Follow::Paths,
                    budget: Budget::new(MEMORY, 1),
                    overwrite,
                    progress: &flow::unwatched,
                };
                let codec = ParquetCodec::default();
                to_parquet(&ToParquet { inputs: &inputs, output, codec, row_group: None }, &how).map(|_| ())
            }
            Kind::Lines => Ok(()),
        }
    }
}

/// A record that is made of another one.
pub(crate) struct Rewriter(Recorder);

impl Rewriter {
    /// Begins the output, which is none of the `inputs`.
    ///
    /// # Errors
    ///
    /// The file cannot be created, is there and may not be replaced, or is an input.
    pub fn create(path: &Path, overwrite: bool, inputs: &[PathBuf]) -> Result<Self> {
        check_output(path, overwrite, inputs)?;
        Recorder::create(path, overwrite).map(Self)
    }

    /// Adds a sample.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn add(&mut self, sample: &Sample) -> Result<()> {
        self.0.add(sample)
    }

    /// Ends the output.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn finish(self, job: &Job, files: &[OutputFile]) -> Result<()> {
        self.0.finish(job, files)
    }
}

/// Whether an error is that of a disk, a quota or a limit of file sizes.
fn is_full(error: &Error) -> bool {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
    matches!(error.kind(), ErrorKind::Io(io) if full.contains(&io.kind()))
}

/// A file of the tree `files`.
#[derive(Serialize)]
struct FileRow<'a> {
    path: &'a str,
    bytes: u64,
    removed: bool,
    opened: f64,
    closed: f64,
}

impl<'a> FileRow<'a> {
    /// Trees have no number that is not there.
    fn of(file: &'a OutputFile) -> Self {
        let [opened, closed] = [file.opened, file.closed].map(|time| time.unwrap_or(f64::NAN));
        Self { path: &file.path, bytes: file.bytes, removed: file.removed, opened, closed }
    }
}

/// A ROOT file with the trees `samples`, `files` and `job`.
pub(crate) struct Root {
    writer: ParallelWriter,
    samples: Rows<Sample>,
    files: TableId,
    job: TableId,
}

impl Root {
    fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let options =
            WriteOptions { overwrite, title: "a job watched by basketry".to_owned(), ..WriteOptions::default() };
        let mut writer = ParallelWriter::create(path, &options, &WritePool::new(Budget::new(MEMORY, 1)))?;
        let samples = writer.tree(&spec(SAMPLES, "what the job had and used, over time", &Sample::COLUMNS))?;
        let files = [
            ("path", None),
            ("bytes", Some('L')),
            ("removed", Some('O')),
            ("opened", Some('D')),
            ("closed", Some('D')),
        ];
        let files = writer.tree(&spec("files", "what the job wrote, as output_bytes counts it", &files))?;
        let job = writer.tree(&spec("job", "what was watched, and what it used in all", &Job::COLUMNS))?;
        let samples = Rows::new(writer.fill_context(samples)?)?;
        Ok(Self { writer, samples, files, job })
    }

    fn finish(mut self, journal: &Journal, job: &Job, files: &[OutputFile]) -> Result<()> {
        journal.each(|sample| self.samples.fill(sample))?;
        self.samples.finish()?;
        let mut rows = Rows::new(self.writer.fill_context(self.files)?)?;
        files.iter().try_for_each(|file| rows.fill(&FileRow::of(file)))?;
        rows.finish()?;
        let mut rows = Rows::new(self.writer.fill_context(self.job)?)?;
        rows.fill(job)?;
        rows.finish()?;
        self.writer.finish().map(|_| ())
    }
}

fn spec(path: &str, title: &str, columns: &[(&str, Option<char>)]) -> TreeSpec {
    let column = |&(name, letter): &(&str, Option<char>)| {
        let name = name.to_owned();
        let counter = (name == "output_bytes").then(|| "outputs".to_owned());
        let kind = match letter {
            Some(letter) => {
                NewKind::Leaves(vec![NewLeaf { name: name.clone(), letter, counter, ..NewLeaf::default() }])
            }
            None => NewKind::Class { type_name: "string".to_owned(), clones: None },
        };
        TreeColumn { name, kind }
    };
    let columns = columns.iter().map(column).collect();
    TreeSpec { path: path.to_owned(), title: title.to_owned(), columns, ..TreeSpec::default() }
}
