//! Samples on disk while a job runs, a line each, written when they are taken. The lines outlive a kill of the monitor, and a
//! full disk stops them and takes none back. Of a `.csv` or `.jsonl` record the journal is the output itself; that of a `.root` or
//! `.parquet` lies beside it, as `perf.root.partial.csv`, until `record` has made the whole output of it.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

use super::sample::Sample;

/// Most journals beside one output, of monitors that were killed or run at the same time.
const MOST: u32 = 1000;

/// The form of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// CSV, with the names of the columns first.
    Csv,
    /// An object of JSON in each line.
    Json,
}

/// A file that samples are added to.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    form: Form,
    /// Bytes of whole lines.
    whole: u64,
    samples: u64,
    /// The output that it replaces with its first sample: the job has begun.
    replaces: Option<PathBuf>,
}

impl Journal {
    /// Begins the journal of an output, as CSV. Those of earlier monitors stay.
    pub fn beside(output: &Path) -> Result<Self> {
        let (path, file) = new_beside(output, ".partial.csv")?;
        Self::begin(path, file, Form::Csv, None)
    }

    /// Begins a journal that is the output. An output that is there is replaced when the first sample comes.
    pub fn as_output(output: &Path, overwrite: bool, form: Form) -> Result<Self> {
        match create_new(output) {
            Ok(file) => Self::begin(output.to_path_buf(), file, form, None),
            Err(e) if e.kind() == ErrorKind::AlreadyExists && overwrite => {
                let (path, file) = new_beside(output, ".partial")?;
                Self::begin(path, file, form, Some(output.to_path_buf()))
            }
            Err(e) => Err(Error::from(e).file(output)),
        }
    }

    fn begin(path: PathBuf, file: File, form: Form, replaces: Option<PathBuf>) -> Result<Self> {
        let mut journal = Self { path, file, form, whole: 0, samples: 0, replaces };
        if form == Form::Csv {
            journal.write(&csv_line(Sample::COLUMNS.map(|(name, _)| name.to_owned()))?)?;
        }
        Ok(journal)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Samples that it has.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Adds a sample. If that fails the samples before it are still there, and no part of this one.
    pub fn add(&mut self, sample: &Sample) -> Result<()> {
        let line = match self.form {
            Form::Csv => csv_line(row(sample))?,
            Form::Json => {
                let mut line = serde_json::to_vec(sample).map_err(std::io::Error::from)?;
                line.push(b'\n');
                line
            }
        };
        self.write(&line)?;
        self.samples += 1;
        if let Some(output) = self.replaces.take() {
            std::fs::rename(&self.path, &output).map_err(|e| Error::from(e).file(&output))?;
            self.path = output;
        }
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> Result<()> {
        if let Err(e) = self.file.write_all(line) {
            // What is cut off is less than a sample.
            let _ = self.file.set_len(self.whole);
            return Err(Error::from(e).file(&self.path));
        }
        self.whole += line.len() as u64;
        Ok(())
    }

    /// Does something with each sample.
    pub fn each(&self, with: impl FnMut(&Sample) -> Result<()>) -> Result<()> {
        let file = File::open(&self.path).map_err(|e| Error::from(e).file(&self.path))?;
        each_of_csv(&self.path, file.take(self.whole), with).map(drop)
    }

    /// Its end: all lines are on the disk.
    pub fn finish(self) -> Result<()> {
        self.file.sync_all().map_err(|e| Error::from(e).file(&self.path))
    }

    /// Removes it.
    pub fn remove(mut self) {
        self.samples = 0;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.samples == 0 {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn create_new(path: &Path) -> std::io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// A new file beside an output.
fn new_beside(output: &Path, ending: &str) -> Result<(PathBuf, File)> {
    for path in (1..=MOST).map(|number| beside(output, ending, number)) {
        match create_new(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Error::from(e).file(path)),
            Ok(file) => return Ok((path, file)),
        }
    }
    Err(Error::request("has too many journals of earlier monitors beside it; remove them").file(output))
}

/// A name beside an output: `perf.root.partial.csv`, `perf.root.partial-2.csv`.
fn beside(output: &Path, ending: &str, number: u32) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    match (number, ending.strip_prefix(".partial")) {
        (2.., Some(rest)) => name.push(format!(".partial-{number}{rest}")),
        _ => name.push(ending),
    }
    PathBuf::from(name)
}

/// The newest journal beside an output, if there is one: the monitor was killed, or still runs.
pub(crate) fn newest_beside(output: &Path) -> Option<PathBuf> {
    // Of two that are as old the one with the higher number began later.
    let there = (1..=MOST).filter_map(|number| {
        let path = beside(output, ".partial.csv", number);
        let changed = path.metadata().and_then(|about| about.modified()).ok()?;
        Some((changed, number, path))
    });
    there.max().map(|(_, _, path)| path)
}

/// Does something with each sample of CSV, of this version or an older one, and returns their number. A last line without an end is no
/// sample: it is still being written, or the monitor was killed.
pub(crate) fn each_of_csv(path: &Path, text: impl Read, mut with: impl FnMut(&Sample) -> Result<()>) -> Result<u64> {
    let mut rows = csv::Reader::from_reader(Whole { inner: BufReader::new(text), line: Vec::new(), at: 0 });
    let names: Vec<String> = rows.headers().map_err(of_csv)?.iter().map(str::to_owned).collect();
    let strange = || Error::request("is no record of a monitor, or was changed by another program").file(path);
    if !["time", "mark", "rss"].iter().all(|name| names.iter().any(|there| there == name)) {
        return Err(strange());
    }
    let (mut row, mut count) = (csv::StringRecord::new(), 0);
    while rows.read_record(&mut row).map_err(|e| of_csv(e).file(path))? {
        let mut sample = Sample::default();
        let set = names.iter().zip(row.iter()).all(|(name, text)| sample.set_text(name, text));
        with(set.then_some(&sample).ok_or_else(strange)?)?;
        count += 1;
    }
    Ok(count)
}

/// The lines of a text that have an end.
struct Whole<R> {
    inner: R,
    line: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at >= self.line.len() {
            self.line.clear();
            self.at = 0;
            self.inner.read_until(b'\n', &mut self.line)?;
            if !self.line.ends_with(b"\n") {
                return Ok(0);
            }
        }
        let rest = self.line.get(self.at..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(from);
        }
        self.at += length;
        Ok(length)
    }
}

fn of_csv(error: csv::Error) -> Error {
    Error::from(std::io::Error::from(error))
}

fn csv_line(row: Row) -> Result<Vec<u8>> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(row).map_err(of_csv)?;
    line.into_inner().map_err(|e| Error::from(e.into_error()))
}

/// A sample as a line: one text for each of [`Sample::COLUMNS`].
type Row = [String; Sample::COLUMNS.len()];

/// A sample as a line of CSV, which has no lists.
fn row(s: &Sample) -> Row {
    let counts = [s.events, s.processes, s.threads, s.vsize, s.rss, s.pss, s.peak_rss].map(|n| n.to_string());
    let bytes = [s.read, s.written, s.disk_read, s.disk_written].map(|n| n.to_string());
    let [events, processes, threads, vsize, rss, pss, peak_rss] = counts;
    let [read, written, disk_read, disk_written] = bytes;
    let [minor, major, output, outputs] = [s.minor_faults, s.major_faults, s.output, s.outputs].map(|n| n.to_string());
    let [time, user, system] = [s.time, s.user, s.system].map(|n| n.to_string());
    let sizes: Vec<String> = s.output_bytes.iter().map(u64::to_string).collect();
    let (mark, sizes, seen) = (s.mark.clone(), sizes.join(" "), s.seen.clone());
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
        seen,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_to_the_last_digit_and_earlier_journals_stay() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("perf.root");
        let samples = [
            Sample { time: 0.1 + 0.2, mark: "a, \"b\"\n".to_owned(), pss: u64::MAX, ..Sample::default() },
            Sample {
                user: 1e-300,
                outputs: 2,
                output_bytes: vec![5, 7],
                seen: "open a; b".to_owned(),
                ..Sample::default()
            },
        ];
        let mut journal = Journal::beside(&output).unwrap();
        samples.iter().for_each(|sample| journal.add(sample).unwrap());
        let mut seen = Vec::new();
        let keep = |sample: &Sample| {
            seen.push(sample.clone());
            Ok(())
        };
        journal.each(keep).unwrap();
        assert_eq!(seen, samples);
        drop(journal);
        let second = Journal::beside(&output).unwrap();
        assert_eq!(second.path(), folder.path().join("perf.root.partial-2.csv"));
        assert_eq!(newest_beside(&output).unwrap(), second.path());
        drop(second);
        // The one without samples is gone.
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(newest_beside(&output).unwrap(), folder.path().join("perf.root.partial.csv"));
    }

    #[test]
    fn an_output_is_replaced_by_the_first_sample() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("perf.csv");
        std::fs::write(&output, "old").unwrap();
        assert!(Journal::as_output(&output, false, Form::Csv).is_err());
        drop(Journal::as_output(&output, true, Form::Csv).unwrap());
        assert_eq!(std::fs::read_to_string(&output).unwrap(), "old");
        let mut journal = Journal::as_output(&output, true, Form::Csv).unwrap();
        journal.add(&Sample::default()).unwrap();
        // A kill now loses nothing.
        assert_eq!(std::fs::read_to_string(&output).unwrap().lines().count(), 2);
        journal.finish().unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn records_of_older_versions_and_half_lines_are_read() {
        let text = "time,mark,rss,unknown\n0.5,a,7,x\n1,,8,y\n1.5,,9";
        let mut rss = Vec::new();
        let keep = |sample: &Sample| {
            rss.push((sample.time, sample.rss, sample.vsize));
            Ok(())
        };
        assert_eq!(each_of_csv(Path::new("a.csv"), text.as_bytes(), keep).unwrap(), 2);
        assert_eq!(rss, [(0.5, 7, 0), (1.0, 8, 0)]);
        for strange in ["a,b\n1,2\n", "time,mark,rss\n1,,many\n"] {
            assert!(each_of_csv(Path::new("a.csv"), strange.as_bytes(), |_| Ok(())).is_err());
        }
    }
}
