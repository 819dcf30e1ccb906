//! The file of samples: a ROOT file with trees, a Parquet file, CSV or lines of JSON, by its extension. Samples are written as
//! they come, so a job of days takes no memory here.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dataset::tree::make::{NewKind, NewLeaf};
use flow::convert::{Conversion, ParquetCodec, ToParquet, to_parquet};
use flow::inputs::Input;
use flow::write::{ParallelWriter, Rows, TableId, TreeColumn, TreeSpec, WriteOptions, WritePool};
use flow::{Budget, Entries};
use rootfile::{Error, Follow, Result, ScratchFolder, check_output, unfinished_output};

use super::options::Options;
use super::outputs::OutputFile;
use super::sample::Sample;
use super::summary::Job;

/// Memory of the writer, which has one small cluster.
const MEMORY: u64 = 32 << 20;
/// The file in which samples wait to become a Parquet file.
const BEFORE_PARQUET: &str = "samples.root";
/// The tree of samples.
pub const SAMPLES: &str = "samples";

/// A file that samples are added to.
pub(crate) struct Recorder {
    to: To,
    /// Where its bytes are until it is whole.
    at: PathBuf,
}

enum To {
    Root(Box<Root>),
    Parquet { root: Box<Root>, folder: ScratchFolder, output: PathBuf, overwrite: bool },
    Csv(Box<csv::Writer<rootfile::OutputFile>>),
    Json(rootfile::OutputFile),
}

impl Recorder {
    /// The file of the options, if there is one.
    pub fn for_options(options: &Options) -> Result<Option<Self>> {
        options.output.as_deref().map(|path| Self::create(path, options.overwrite)).transpose()
    }

    /// Begins the file. It appears under its name when it is whole.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        check_output(path, overwrite, std::iter::empty::<&Path>())?;
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let file = || rootfile::OutputFile::create(path, overwrite);
        let mut at = unfinished_output(path);
        let to = match extension.as_str() {
            "root" => To::Root(Box::new(Root::create(path, overwrite)?)),
            "parquet" | "parq" | "pq" => {
                // Written at the end; that it cannot be is better known now.
                drop(file()?);
                let folder = ScratchFolder::new()?;
                let samples = folder.path().join(BEFORE_PARQUET);
                at = unfinished_output(&samples);
                let root = Box::new(Root::create(&samples, true)?);
                To::Parquet { root, folder, output: path.to_path_buf(), overwrite }
            }
            "csv" => {
                let mut csv = csv::Writer::from_writer(file()?);
                csv.write_record(COLUMNS.iter().map(|(name, _)| name)).map_err(of_csv)?;
                To::Csv(Box::new(csv))
            }
            "json" | "jsonl" | "ndjson" => To::Json(file()?),
            _ => {
                let how = "has no known extension: use .root, .parquet, .csv or .jsonl";
                return Err(Error::request(how).file(path));
            }
        };
        Ok(Self { to, at })
    }

    /// Where its bytes are until it is whole: no output of the job, though it may be this process that is watched.
    pub fn at(&self) -> &Path {
        &self.at
    }

    pub fn add(&mut self, sample: &Sample) -> Result<()> {
        match &mut self.to {
            To::Root(root) | To::Parquet { root, .. } => root.samples.fill(sample),
            To::Csv(csv) => csv.write_record(row(sample)).map_err(of_csv),
            To::Json(file) => {
                serde_json::to_writer(&mut *file, sample).map_err(io::Error::from)?;
                Ok(file.write_all(b"\n")?)
            }
        }
    }

    /// Ends the file.
    pub fn finish(self, job: &Job, files: &[OutputFile]) -> Result<()> {
        match self.to {
            To::Root(root) => root.finish(job, files),
            To::Parquet { root, folder, output, overwrite } => {
                root.finish(job, files)?;
                let inputs = [Input { path: folder.path().join(BEFORE_PARQUET), tree: Some(SAMPLES.to_owned()) }];
                let how = Conversion {
                    filter: dataset::glob::NameFilter::default(),
                    entries: Entries::All,
                    seed: 0,
                    follow: Follow::Paths,
                    budget: Budget::new(MEMORY, 1),
                    overwrite,
                    progress: &flow::unwatched,
                };
                let codec = ParquetCodec::default();
                to_parquet(&ToParquet { inputs: &inputs, output: &output, codec, row_group: None }, &how).map(|_| ())
            }
            To::Csv(csv) => {
                let file = csv.into_inner().map_err(|e| Error::from(e.into_error()))?;
                file.finish().map(|_| ())
            }
            To::Json(file) => file.finish().map(|_| ()),
        }
    }
}

fn of_csv(error: csv::Error) -> Error {
    Error::from(io::Error::from(error))
}

/// Columns of the samples, with the letters of their leaves; none for text.
const COLUMNS: [(&str, Option<char>); 20] = [
    ("time", Some('D')),
    ("mark", None),
    ("events", Some('L')),
    ("processes", Some('L')),
    ("threads", Some('L')),
    ("vsize", Some('L')),
    ("rss", Some('L')),
    ("pss", Some('L')),
    ("peak_rss", Some('L')),
    ("user", Some('D')),
    ("system", Some('D')),
    ("read", Some('L')),
    ("written", Some('L')),
    ("disk_read", Some('L')),
    ("disk_written", Some('L')),
    ("minor_faults", Some('L')),
    ("major_faults", Some('L')),
    ("output", Some('L')),
    // The counter of the next column.
    ("outputs", Some('I')),
    ("output_bytes", Some('L')),
];

/// A sample as a line of CSV, which has no lists.
fn row(s: &Sample) -> [String; COLUMNS.len()] {
    let counts = [s.events, s.processes, s.threads, s.vsize, s.rss, s.pss, s.peak_rss].map(|n| n.to_string());
    let bytes = [s.read, s.written, s.disk_read, s.disk_written].map(|n| n.to_string());
    let [events, processes, threads, vsize, rss, pss, peak_rss] = counts;
    let [read, written, disk_read, disk_written] = bytes;
    let [minor, major, output, outputs] = [s.minor_faults, s.major_faults, s.output, s.outputs].map(|n| n.to_string());
    let [time, user, system] = [s.time, s.user, s.system].map(|n| n.to_string());
    let sizes: Vec<String> = s.output_bytes.iter().map(u64::to_string).collect();
    let (mark, sizes) = (s.mark.clone(), sizes.join(" "));
    [
        time,
        mark,
        events,
        processes,
        threads,
        vsize,
        rss,
        pss,
        peak_rss,
        user,
        system,
        read,
        written,
        disk_read,
        disk_written,
        minor,
        major,
        output,
        outputs,
        sizes,
    ]
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
        let samples = writer.tree(&spec(SAMPLES, "what the job had and used, over time", &COLUMNS))?;
        let files = [("path", None), ("bytes", Some('L')), ("removed", Some('O'))];
        let files = writer.tree(&spec("files", "what the job wrote, as output_bytes counts it", &files))?;
        let job = writer.tree(&spec("job", "what was watched, and what it used in all", &Job::COLUMNS))?;
        let samples = Rows::new(writer.fill_context(samples)?)?;
        Ok(Self { writer, samples, files, job })
    }

    fn finish(self, job: &Job, files: &[OutputFile]) -> Result<()> {
        self.samples.finish()?;
        let mut rows = Rows::new(self.writer.fill_context(self.files)?)?;
        files.iter().try_for_each(|file| rows.fill(file))?;
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
