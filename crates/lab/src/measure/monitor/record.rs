//! The file of samples: a ROOT file with trees, a Parquet file, CSV or lines of JSON, by its extension. Samples go into the
//! `journal` as they come, so a job of days takes no memory here; the file is made of them at the end.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dataset::tree::make::{NewKind, NewLeaf};
use flow::convert::{Conversion, ParquetCodec, ToParquet, to_parquet};
use flow::inputs::Input;
use flow::write::{ParallelWriter, Rows, TableId, TreeColumn, TreeSpec, WriteOptions, WritePool};
use flow::{Budget, Entries};
use rootfile::{Error, Follow, Result, ScratchFolder, check_output};

use super::journal::Journal;
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

/// A file of samples in the making.
pub(crate) struct Recorder {
    output: PathBuf,
    overwrite: bool,
    kind: Kind,
    journal: Journal,
}

#[derive(Clone, Copy)]
enum Kind {
    Root,
    Parquet,
    Csv,
    Json,
}

impl Recorder {
    /// The file of the options, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or is there and may not be replaced.
    pub fn for_options(options: &Options) -> Result<Option<Self>> {
        options.output.as_deref().map(|path| Self::create(path, options.overwrite)).transpose()
    }

    /// Begins the file. It appears under its name when it is whole; until then its journal is beside it.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or is there and may not be replaced.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        check_output(path, overwrite, std::iter::empty::<&Path>())?;
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let kind = match extension.as_str() {
            "root" => Kind::Root,
            "parquet" | "parq" | "pq" => Kind::Parquet,
            "csv" => Kind::Csv,
            "json" | "jsonl" | "ndjson" => Kind::Json,
            _ => {
                let how = "has no known extension: use .root, .parquet, .csv or .jsonl";
                return Err(Error::request(how).file(path));
            }
        };
        // Written at the end; that it cannot be is better known now.
        drop(rootfile::OutputFile::create(path, overwrite)?);
        Ok(Self { output: path.to_path_buf(), overwrite, kind, journal: Journal::beside(path)? })
    }

    /// Where its bytes are until it is whole: no output of the job, though it may be this process that is watched.
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

    /// Ends the file. If it cannot be made, the journal stays.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(self, job: &Job, files: &[OutputFile]) -> Result<()> {
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
        let Self { output, overwrite, kind, journal } = self;
        let overwrite = *overwrite;
        match kind {
            Kind::Root => Root::create(output, overwrite)?.finish(journal, job, files),
            Kind::Parquet => {
                let folder = ScratchFolder::new()?;
                let before = folder.path().join(BEFORE_PARQUET);
                Root::create(&before, true)?.finish(journal, job, files)?;
                let inputs = [Input { path: before, tree: Some(SAMPLES.to_owned()) }];
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
                to_parquet(&ToParquet { inputs: &inputs, output, codec, row_group: None }, &how).map(|_| ())
            }
            Kind::Csv => {
                let mut file = rootfile::OutputFile::create(output, overwrite)?;
                io::copy(&mut journal.lines()?, &mut file)?;
                file.finish().map(|_| ())
            }
            Kind::Json => {
                let mut file = BufWriter::new(rootfile::OutputFile::create(output, overwrite)?);
                journal.each(|sample| {
                    serde_json::to_writer(&mut file, sample).map_err(io::Error::from)?;
                    Ok(file.write_all(b"\n")?)
                })?;
                let file = file.into_inner().map_err(|e| Error::from(e.into_error()))?;
                file.finish().map(|_| ())
            }
        }
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
        let files = [("path", None), ("bytes", Some('L')), ("removed", Some('O'))];
        let files = writer.tree(&spec("files", "what the job wrote, as output_bytes counts it", &files))?;
        let job = writer.tree(&spec("job", "what was watched, and what it used in all", &Job::COLUMNS))?;
        let samples = Rows::new(writer.fill_context(samples)?)?;
        Ok(Self { writer, samples, files, job })
    }

    fn finish(mut self, journal: &Journal, job: &Job, files: &[OutputFile]) -> Result<()> {
        journal.each(|sample| self.samples.fill(sample))?;
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
