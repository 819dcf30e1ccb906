//! Reads records: ROOT files, Parquet, CSV, lines of JSON, and the summary that `monitor --json` prints. What a file is, its first bytes
//! say. If the journal of a killed monitor is beside a record, its samples are taken, which are more.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

use super::rows::{row_object, rows};
use crate::monitor::{Job, Maxima, OutputFile, SAMPLES, SUMMARY_SCHEMA, Sample, Summary, each_of_csv, newest_beside};

/// The most bytes of a summary. One has a thousand marks at most, each with the sizes of 256 files.
const SUMMARY: u64 = 64 << 20;

/// What a record has beside its samples.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The job, if the record has it.
    pub job: Option<Job>,
    /// Its outputs.
    pub files: Vec<OutputFile>,
    /// The most that was seen, where the record has not all samples.
    pub most: Option<Maxima>,
    /// How many samples there were, where the record has not all.
    pub samples: Option<u64>,
    /// What is to be known.
    pub notes: Vec<String>,
}

/// Is given each sample.
type Each<'a> = dyn FnMut(&Sample) -> Result<()> + 'a;

/// The files that a record is read from.
pub(super) fn places(path: &Path) -> Vec<PathBuf> {
    std::iter::once(path.to_path_buf()).chain(newest_beside(path)).collect()
}

/// Reads a record, sample by sample.
pub(super) fn read(path: &Path, each: &mut Each<'_>) -> Result<Head> {
    let journal = newest_beside(path);
    if let (Some(journal), false) = (&journal, path.exists()) {
        csv(journal, each)?;
        return Ok(Head { notes: vec![of_journal(journal)], ..Head::default() });
    }
    let mut start = [0; 5];
    let file = File::open(path).map_err(|e| Error::from(e).file(path))?;
    let mut length = 0;
    while let Some(rest) = start.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match (&file).read(rest).map_err(|e| Error::from(e).file(path))? {
            0 => break,
            n => length += n,
        }
    }
    let unfinished = |tree| journal.filter(|_| !is_finished(path, tree));
    match &start {
        [b'r', b'o', b'o', b't', _] => root(path, unfinished(Some(SAMPLES)), each),
        [b'P', b'A', b'R', b'1', _] => match unfinished(None) {
            Some(journal) => {
                csv(&journal, each)?;
                Ok(Head { notes: vec![of_journal(&journal)], ..Head::default() })
            }
            None => samples(path, None, each).map(|()| Head::default()),
        },
        [b'{', ..] => json(path, each),
        _ => csv(path, each).map(|()| Head::default()),
    }
}

fn of_journal(journal: &Path) -> String {
    format!("the monitor was killed, or still runs: samples are those of {}", journal.display())
}

fn csv(path: &Path, each: &mut Each<'_>) -> Result<()> {
    let file = File::open(path).map_err(|e| Error::from(e).file(path))?;
    each_of_csv(path, file, each).map(drop)
}

fn json(path: &Path, each: &mut Each<'_>) -> Result<Head> {
    let open = || File::open(path).map_err(|e| Error::from(e).file(path));
    let strange = || Error::request("is no record of a monitor").file(path);
    let mut text = BufReader::new(open()?.take(SUMMARY));
    let mut line = String::new();
    text.read_line(&mut line).map_err(|e| Error::from(e).file(path))?;
    let first: Option<serde_json::Value> = serde_json::from_str(&line).ok();
    let is_sample = first.as_ref().is_some_and(|value| value.get("rss").is_some() && value.get("time").is_some());
    if !is_sample {
        // The summary, in one line or many.
        let whole: Summary = match first {
            Some(value) => serde_json::from_value(value),
            None => serde_json::from_reader(BufReader::new(open()?.take(SUMMARY))),
        }
        .map_err(|_| strange())?;
        match whole.schema {
            0 => return Err(strange()),
            1..=SUMMARY_SCHEMA => return of_summary(whole, each),
            newer => {
                let what =
                    format!("is a record of schema {newer}, which is newer than this program ({SUMMARY_SCHEMA})");
                return Err(Error::unsupported(what).file(path));
            }
        }
    }
    let mut lines = BufReader::new(open()?);
    loop {
        line.clear();
        lines.read_line(&mut line).map_err(|e| Error::from(e).file(path))?;
        // A line without an end is no sample yet.
        if !line.ends_with('\n') {
            return Ok(Head::default());
        }
        if !line.trim().is_empty() {
            each(&serde_json::from_str(&line).map_err(|_| strange())?)?;
        }
    }
}

fn of_summary(summary: Summary, each: &mut Each<'_>) -> Result<Head> {
    let Summary { job, most, marks, seen, files, samples, .. } = summary;
    let mut all: Vec<Sample> = marks;
    let more: Vec<Sample> = seen.into_iter().filter(|one| !all.iter().any(|other| other.time == one.time)).collect();
    all.extend(more);
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    // The job began with nothing.
    if all.first().is_some_and(|first| first.time > 0.0) {
        let zero =
            all.first().map(|first| Sample { time: 0.0, mark: String::new(), seen: String::new(), ..first.clone() });
        let zero = zero.map(|first| Sample {
            events: 0,
            user: 0.0,
            system: 0.0,
            read: 0,
            written: 0,
            disk_read: 0,
            disk_written: 0,
            ..first
        });
        each(&zero.unwrap_or_default())?;
    }
    all.iter().try_for_each(&mut *each)?;
    let notes = vec!["a summary has the samples at marks alone: means are of these; -o FILE records all".to_owned()];
    Ok(Head { job: Some(job), files, most: Some(most), samples: Some(samples), notes })
}

fn root(path: &Path, journal: Option<PathBuf>, each: &mut Each<'_>) -> Result<Head> {
    let mut head = Head::default();
    rows(path, Some("job"), &mut |batch, row| {
        head.job = serde_json::from_value(row_object(batch, row)).ok();
        Ok(())
    })?;
    rows(path, Some("files"), &mut |batch, row| {
        head.files.extend(serde_json::from_value::<OutputFile>(row_object(batch, row)));
        Ok(())
    })?;
    match journal {
        Some(journal) => {
            csv(&journal, each)?;
            head.notes.push(of_journal(&journal));
        }
        None => samples(path, Some(SAMPLES), each)?,
    }
    Ok(head)
}

/// Whether a record has the end of its job. A journal beside it is then of another job, whose monitor was killed.
fn is_finished(path: &Path, tree: Option<&str>) -> bool {
    let mut finished = false;
    let mut look = |sample: &Sample| {
        finished |= sample.mark == "end";
        Ok(())
    };
    samples(path, tree, &mut look).is_ok() && finished
}

/// The samples of a tree, or of a Parquet file.
fn samples(path: &Path, tree: Option<&str>, each: &mut Each<'_>) -> Result<()> {
    rows(path, tree, &mut |batch, row| each(&super::rows::sample(batch, row)))
}
