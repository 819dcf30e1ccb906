//! Samples on disk while a job runs: lines of CSV in a file beside the output, `perf.root.partial.csv`. The lines outlive a kill of
//! the monitor, and a full disk stops them and takes none back. At the end `record` makes the output of them; a journal whose
//! output could not be made stays, for whoever needs the samples.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

use super::sample::Sample;

/// Most journals beside one output, of monitors that were killed or run at the same time.
const MOST: u32 = 1000;

/// A file that samples are added to.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    whole: u64,
    samples: u64,
}

impl Journal {
    /// Begins the journal of an output. Those of earlier monitors stay.
    pub fn beside(output: &Path) -> Result<Self> {
        let name = |number: u32| {
            let mut name = output.as_os_str().to_owned();
            name.push(if number == 1 { ".partial.csv".to_owned() } else { format!(".partial-{number}.csv") });
            PathBuf::from(name)
        };
        for path in (1..=MOST).map(name) {
            match File::options().read(true).write(true).create_new(true).open(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Error::from(e).file(path)),
                Ok(file) => {
                    let mut journal = Self { path, file, whole: 0, samples: 0 };
                    journal.write(Sample::COLUMNS.map(|(name, _)| name.to_owned()))?;
                    return Ok(journal);
                }
            }
        }
        Err(Error::request("has too many journals of earlier monitors beside it; remove them").file(output))
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
        self.write(row(sample))?;
        self.samples += 1;
        Ok(())
    }

    fn write(&mut self, row: Row) -> Result<()> {
        let mut line = csv::Writer::from_writer(Vec::new());
        line.write_record(row).map_err(of_csv)?;
        let line = line.into_inner().map_err(|e| Error::from(e.into_error()))?;
        if let Err(e) = self.file.write_all(&line) {
            // What is cut off is less than a sample.
            let _ = self.file.set_len(self.whole);
            return Err(Error::from(e).file(&self.path));
        }
        self.whole += line.len() as u64;
        Ok(())
    }

    /// Its lines, with the names of the columns first.
    pub fn lines(&self) -> Result<impl Read> {
        let file = File::open(&self.path).map_err(|e| Error::from(e).file(&self.path))?;
        Ok(file.take(self.whole))
    }

    /// Does something with each sample.
    pub fn each(&self, mut with: impl FnMut(&Sample) -> Result<()>) -> Result<()> {
        for row in csv::Reader::from_reader(self.lines()?).records() {
            let sample = sample(&row.map_err(of_csv)?);
            with(&sample.ok_or_else(|| Error::request("was changed by another program").file(&self.path))?)?;
        }
        Ok(())
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

fn of_csv(error: csv::Error) -> Error {
    Error::from(std::io::Error::from(error))
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

/// The sample of a line.
fn sample(row: &csv::StringRecord) -> Option<Sample> {
    let mut fields = row.iter();
    let mut next = || fields.next();
    macro_rules! number {
        () => {
            next()?.parse().ok()?
        };
    }
    Some(Sample {
        time: number!(),
        mark: next()?.to_owned(),
        events: number!(),
        processes: number!(),
        threads: number!(),
        vsize: number!(),
        rss: number!(),
        pss: number!(),
        peak_rss: number!(),
        user: number!(),
        system: number!(),
        read: number!(),
        written: number!(),
        disk_read: number!(),
        disk_written: number!(),
        minor_faults: number!(),
        major_faults: number!(),
        output: number!(),
        outputs: number!(),
        output_bytes: next()?.split_whitespace().map(|size| size.parse().ok()).collect::<Option<_>>()?,
    })
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
            Sample { user: 1e-300, outputs: 2, output_bytes: vec![5, 7], ..Sample::default() },
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
        drop(second);
        // The one without samples is gone.
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}
