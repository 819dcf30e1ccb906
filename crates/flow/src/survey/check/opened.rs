//! An open file of a check: its report so far, and the parts that the deep check decompresses.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{Ntuple, PageList};
use dataset::tree::Tree;
use rootfile::{Key, RootFile, public_path};

use super::report::{CheckedFile, Problem};

/// Bytes on disk of a job.
const JOB_SIZE: u64 = 16 << 20;

/// An open file.
pub(super) struct Opened {
    /// Its number among the files.
    pub number: usize,
    pub file: RootFile,
    pub parts: Parts,
    report: Mutex<CheckedFile>,
    jobs_left: AtomicUsize,
}

/// The parts of a file that can be decompressed.
#[derive(Default)]
pub(super) struct Parts {
    /// Trees, with path and cycle as text.
    pub trees: Vec<(String, Tree)>,
    /// Baskets of all trees in the order of the file, each record once.
    pub baskets: Vec<BasketPlace>,
    /// RNTuples, with path and cycle as text, and the fields whose page lists hold no contradiction.
    pub ntuples: Vec<(String, Ntuple, Vec<FieldPlan>)>,
    /// Page lists of the RNTuples, each with the number of its RNTuple and of its first cluster.
    pub lists: Vec<(usize, usize, PageList)>,
    /// Other objects, with path and cycle as text.
    pub objects: Vec<(String, Key)>,
}

/// A basket of a tree of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BasketPlace {
    pub tree: usize,
    pub branch: usize,
    pub number: usize,
    pub seek: u64,
    pub nbytes: u32,
    pub entries: u64,
    /// Whether the branch says that its baskets have entry offsets.
    pub has_offsets: bool,
}

/// Part of the deep check of a file.
pub(super) struct Job {
    pub opened: Arc<Opened>,
    pub work: Work,
}

/// What a job decompresses.
pub(super) enum Work {
    /// Some of [`Parts::baskets`].
    Baskets(Range<usize>),
    /// A cluster of one of [`Parts::lists`].
    Cluster(usize, usize),
    /// Some of [`Parts::objects`].
    Objects(Range<usize>),
}

impl Parts {
    /// The name of a branch, with the branches above it.
    pub fn branch_name(&self, place: &BasketPlace) -> Option<String> {
        let (_, tree) = self.trees.get(place.tree)?;
        let mut names = tree.lineage(place.branch);
        names.reverse();
        Some(names.join("/"))
    }

    /// The problem of a basket.
    pub fn basket_problem(&self, place: &BasketPlace, error: &rootfile::Error) -> Problem {
        let tree = self.trees.get(place.tree).map_or("", |(name, _)| name);
        let reason = error.message(ToString::to_string);
        Problem {
            branch: self.branch_name(place),
            basket: Some(place.number as u64),
            offset: Some(place.seek),
            object: tree.to_owned(),
            reason,
            ..Problem::default()
        }
    }

    fn work(&self) -> Vec<Work> {
        let mut work = Vec::new();
        let sizes = self.baskets.iter().map(|basket| u64::from(basket.nbytes));
        work.extend(cut(sizes).map(Work::Baskets));
        for (list, (_, _, pages)) in self.lists.iter().enumerate() {
            work.extend((0..pages.clusters.len()).map(|cluster| Work::Cluster(list, cluster)));
        }
        let sizes = self.objects.iter().map(|(_, key)| u64::from(key.nbytes));
        work.extend(cut(sizes).map(Work::Objects));
        work
    }
}

/// Cuts things of these sizes into ranges of about [`JOB_SIZE`] bytes.
fn cut(sizes: impl Iterator<Item = u64>) -> impl Iterator<Item = Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut bytes = JOB_SIZE;
    for (i, size) in sizes.enumerate() {
        match ranges.last_mut() {
            Some(range) if bytes < JOB_SIZE => range.end = i + 1,
            _ => {
                ranges.push(i..i + 1);
                bytes = 0;
            }
        }
        bytes = bytes.saturating_add(size);
    }
    ranges.into_iter()
}

impl Opened {
    /// The jobs of an open file; its report if it has none.
    pub fn jobs(
        number: usize,
        file: RootFile,
        parts: Parts,
        report: CheckedFile,
    ) -> Result<Vec<Job>, Box<CheckedFile>> {
        let work = parts.work();
        if work.is_empty() {
            return Err(Box::new(report.finished()));
        }
        let jobs_left = AtomicUsize::new(work.len());
        let opened = Arc::new(Self { number, file, parts, report: Mutex::new(report), jobs_left });
        Ok(work.into_iter().map(|work| Job { opened: Arc::clone(&opened), work }).collect())
    }

    /// A job is done. Returns the report of the file after the last job.
    pub fn job_done(&self, bytes: u64, problems: Vec<Problem>, notes: Vec<String>) -> Option<CheckedFile> {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.bytes_decompressed = report.bytes_decompressed.saturating_add(bytes);
        report.problems.extend(problems);
        report.notes.extend(notes);
        let last = self.jobs_left.fetch_sub(1, Ordering::AcqRel) == 1;
        last.then(|| {
            report.notes.sort();
            std::mem::take(&mut *report).finished()
        })
    }
}

/// A path of an object with its cycle.
pub(super) fn with_cycle(path: &str, key: &Key) -> String {
    format!("{path};{}", key.cycle)
}

/// The start of a report.
pub(super) fn report_of(path: &Path, file: &RootFile) -> CheckedFile {
    let uuid = Some(file.header().uuid_text());
    CheckedFile { path: public_path(path).into_owned(), bytes: file.source().size(), uuid, ..CheckedFile::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_all_parts_once() {
        let cuts = |sizes: &[u64]| cut(sizes.iter().copied()).collect::<Vec<_>>();
        assert!(cuts(&[]).is_empty());
        assert_eq!(cuts(&[1, 2, 3]), std::slice::from_ref(&(0..3)));
        assert_eq!(cuts(&[JOB_SIZE, 1, 1]), [0..1, 1..3]);
        assert_eq!(cuts(&[1, JOB_SIZE - 1, 1, u64::MAX, 1]), [0..2, 2..4, 4..5]);
    }
}
