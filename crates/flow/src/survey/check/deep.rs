//! The threads of a check: each opens files, and decompresses baskets, pages and objects of open files.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::codecs::Codecs;
use dataset::ntuple::cluster_reader::ClusterSource;
use dataset::ntuple::soundness::{Proofs, largest_proved};
use rootfile::codec::check_sizes;
use rootfile::{Error, ErrorKind, FilePool, RangeBuffer, RangeReader, Result};

use super::opened::{Job, Opened, Parts};
use super::queue::{Next, Queue};
use super::report::{CheckedFile, Problem};
use super::shallow::{self, field_problem, page_problem};
use crate::execute::fetch::tree::sound_basket::{BasketRecord, MemoryLimit, check_basket};
use crate::execute::progress::{Progress, tell};

/// The work of all threads.
pub(super) struct Work<'a> {
    pub paths: &'a [PathBuf],
    pub deep: bool,
    pub pool: Arc<FilePool>,
    pub limit: MemoryLimit,
    pub queue: Queue<Job>,
    pub progress: Progress<'a>,
}

/// What a thread keeps, and what a job finds.
#[derive(Default)]
pub(super) struct Scratch {
    ranges: RangeBuffer,
    codecs: Codecs,
    page: Vec<u8>,
    problems: Vec<Problem>,
    notes: Vec<String>,
    bytes: u64,
}

impl Work<'_> {
    /// Does what is next.
    pub fn perform(&self, next: Next<Job>, scratch: &mut Scratch) -> Result<()> {
        match next {
            Next::Open(number) => self.open(number),
            Next::Job(job) => self.work(&job, scratch),
        }
    }

    /// Opens a file, checks its metadata, and queues the rest.
    fn open(&self, number: usize) -> Result<()> {
        let jobs = match self.paths.get(number) {
            Some(path) => self.jobs(number, path),
            None => Vec::new(),
        };
        self.queue.opened(jobs);
        tell(self.progress, 0)
    }

    fn jobs(&self, number: usize, path: &std::path::Path) -> Vec<Job> {
        let file = match self.pool.open(path) {
            Ok(file) => file,
            Err(e) => {
                let bytes = self.pool.source(path).map_or(0, |source| source.size());
                self.queue.done(number, CheckedFile::unreadable(path, bytes, &e));
                return Vec::new();
            }
        };
        let (report, parts) = shallow::check(path, &file);
        let parts = if self.deep { parts } else { Parts::default() };
        Opened::jobs(number, file, parts, report).unwrap_or_else(|report| {
            self.queue.done(number, *report);
            Vec::new()
        })
    }

    /// Does a job.
    fn work(&self, job: &Job, scratch: &mut Scratch) -> Result<()> {
        let opened = &*job.opened;
        match &job.work {
            super::opened::Work::Baskets(range) => {
                for place in opened.parts.baskets.get(range.clone()).unwrap_or_default() {
                    let (seek, nbytes, entries) = (place.seek, place.nbytes, Some(place.entries));
                    let record = BasketRecord { seek, nbytes, entries };
                    let source = &**opened.file.source();
                    let checked = check_basket(source, record, &self.limit, &mut scratch.codecs.decompressor);
                    let checked = checked.and_then(|sound| sound?.check_form(place.has_offsets));
                    scratch.bytes += u64::from(nbytes);
                    self.took(checked, scratch, |e| opened.parts.basket_problem(place, e))?;
                }
            }
            super::opened::Work::Cluster(list, cluster) => self.cluster(opened, *list, *cluster, scratch)?,
            super::opened::Work::Objects(range) => {
                for (name, key) in opened.parts.objects.get(range.clone()).unwrap_or_default() {
                    let checked = self.object(opened, key);
                    scratch.bytes += u64::from(key.nbytes);
                    self.took(checked, scratch, |e| Problem::of(name, Some(key.seek_key), e))?;
                }
            }
        }
        let bytes = std::mem::take(&mut scratch.bytes);
        let found = (std::mem::take(&mut scratch.problems), std::mem::take(&mut scratch.notes));
        if let Some(report) = opened.job_done(bytes, found.0, found.1) {
            self.queue.done(opened.number, report);
        }
        tell(self.progress, bytes)
    }

    /// Notes a failure. A budget that is too small and an interruption end the work.
    fn took(&self, checked: Result<()>, scratch: &mut Scratch, problem: impl Fn(&Error) -> Problem) -> Result<()> {
        let Err(e) = checked else { return Ok(()) };
        match e.kind() {
            ErrorKind::Request(_) | ErrorKind::Differs(_) | ErrorKind::Memory(_) | ErrorKind::Interrupted => {
                return Err(e);
            }
            ErrorKind::Unsupported(_) => scratch.notes.push(format!("not checked: {}", problem(&e))),
            _ => scratch.problems.push(problem(&e)),
        }
        Ok(())
    }

    fn object(&self, opened: &Opened, key: &rootfile::Key) -> Result<()> {
        let held = self.limit.reserve(key.nbytes.into())?;
        let raw = opened.file.raw_payload(key)?;
        check_sizes(&raw, key.objlen as usize)?;
        drop((held, raw));
        let _held = self.limit.reserve(u64::from(key.nbytes) + u64::from(key.objlen))?;
        opened.file.payload(key).map(drop)
    }

    fn cluster(&self, opened: &Opened, list: usize, cluster: usize, scratch: &mut Scratch) -> Result<()> {
        let Some((ntuple, first, list)) = opened.parts.lists.get(list) else { return Ok(()) };
        let Some((name, ntuple, plans)) = opened.parts.ntuples.get(*ntuple) else { return Ok(()) };
        let Some(found) = list.clusters.get(cluster) else { return Ok(()) };
        let mut bad = HashSet::new();
        for column in 0..found.columns.len() {
            for (n, page) in found.pages(list, column).unwrap_or_default().iter().enumerate() {
                let len = page.stored_len().unwrap_or_default();
                if page.extent_in(opened.file.source().size()).is_err_and(|e| matches!(e.kind(), ErrorKind::Corrupt(_)))
                    && ntuple.anchor.max_key_size.wrapping_sub(1) >= len
                {
                    // The shallow check has listed the page.
                    bad.insert(column);
                    continue;
                }
                let checked = self.page(opened, (ntuple, column), page, scratch);
                scratch.bytes += len;
                if checked.is_err() {
                    bad.insert(column);
                }
                let problem = |e: &Error| page_problem((name, ntuple), column, first + cluster, n, e);
                self.took(checked, scratch, problem)?;
            }
        }
        let (source, schema, max_key_size) = (&**opened.file.source(), &*ntuple.schema, ntuple.anchor.max_key_size);
        let at = ClusterSource { file: 0, schema, max_key_size, list, cluster: found, number: first + cluster };
        let mut proofs = Proofs::default();
        // A page that cannot be read is reported already.
        for plan in plans.iter().filter(|plan| !plan.columns().iter().any(|column| bad.contains(column))) {
            let of_plan = std::slice::from_ref(plan);
            let _held = self.limit.reserve(largest_proved(of_plan, schema, (list, std::slice::from_ref(found))))?;
            let mut bytes = RangeReader::of(source, &mut scratch.ranges);
            let proved = proofs.prove(plan, at, (&mut bytes, &mut scratch.codecs));
            self.took(proved, scratch, |e| field_problem((name, ntuple), plan.id(), first + cluster, e))?;
        }
        Ok(())
    }

    fn page(
        &self,
        opened: &Opened,
        (ntuple, column): (&dataset::ntuple::model::Ntuple, usize),
        page: &dataset::ntuple::model::Page,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (_, len) = page.extent()?;
        let held = self.limit.reserve(len.min(opened.file.source().size()))?;
        // Its memory is given back with the reservation.
        let record = page.read(&**opened.file.source(), ntuple.anchor.max_key_size)?;
        let encoding = match ntuple.schema.encoding(column) {
            Ok(encoding) => encoding,
            // A column type of a later version: only the checksum can be compared.
            Err(e) => return page.check_sum(&record).and(Err(e)),
        };
        page.check(&encoding, &record)?;
        let raw = page.raw_len(&encoding)?;
        let packed = record.len() - if page.has_checksum { dataset::ntuple::page::CHECKSUM as usize } else { 0 };
        check_sizes(record.get(..packed).unwrap_or_default(), raw)?;
        drop(held);
        let _held = self.limit.reserve(len + raw as u64)?;
        scratch.page.clear();
        page.open(&encoding, &record, &mut scratch.codecs.decompressor, &mut scratch.page).map(drop)
    }
}
