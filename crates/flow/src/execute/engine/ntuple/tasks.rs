//! Tasks in the order of the output: cluster by cluster, first the pages that are copied, then those that are made anew. Page lists
//! are read when their clusters are due, so one is in memory at a time.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use dataset::ntuple::element::Kind;
use dataset::ntuple::model::{Cluster, ColumnRange, PageList};
use dataset::ntuple::soundness::largest_proved;
use dataset::table::FileRange;
use rootfile::Result;

use super::job::PageJob;
use super::outline::{MovedPage, Running, SourceCluster};
use crate::execute::engine::tree::tasks::WINDOW;
use crate::execute::fetch::read_ahead::ReadAhead;
use crate::table::depth::Depth;
use crate::table::ntuple::pages::ClusterOutline;

/// Work on one cluster.
pub(crate) struct PageTask {
    /// The number of the input.
    pub input: usize,
    /// The number of the cluster in the input.
    pub cluster: usize,
    /// The cluster, the only one of the list, if it has to be proved before its first pages are moved.
    pub proof: Option<Box<PageList>>,
    /// What is done.
    pub work: ClusterWork,
}

/// What is done with a cluster, or with some of its pages.
pub(crate) enum ClusterWork {
    /// Pages are moved, all copied or all made anew.
    Move {
        /// The cluster, if these are its first pages.
        outline: Option<Box<ClusterOutline>>,
        /// The pages, in the order of the input.
        pages: Vec<MovedPage>,
    },
    /// Some of the entries are kept.
    Slice(Box<Slice>),
}

/// Some entries of a cluster.
pub(crate) struct Slice {
    /// The cluster, the only one of the list.
    pub list: PageList,
    /// The entries that are kept, counted from the first one of the cluster.
    pub kept: Vec<Range<u64>>,
    /// The first of them in the output.
    pub first_entry: u64,
    /// Whether a cluster group begins here.
    pub begins_group: bool,
}

/// Deals out the pages of a job.
pub(super) struct PageTasks<'a> {
    job: &'a PageJob,
    ahead: &'a ReadAhead,
    /// Numbers of the input, of the cluster group in it, and of the next cluster in its list.
    input: usize,
    group: usize,
    next: usize,
    list: Option<PageList>,
    /// Clusters of the input before the list.
    clusters_before: usize,
    begins_group: bool,
    running: Running,
    ready: VecDeque<PageTask>,
    moved: Vec<MovedPage>,
}

impl<'a> PageTasks<'a> {
    /// Deals out pages behind those that `running` knows of.
    pub fn new(job: &'a PageJob, ahead: &'a ReadAhead, running: Running) -> Self {
        Self {
            job,
            ahead,
            input: 0,
            group: 0,
            next: 0,
            list: None,
            clusters_before: 0,
            begins_group: false,
            running,
            ready: VecDeque::new(),
            moved: Vec::new(),
        }
    }

    /// What is known of all clusters, once no tasks are left. Inputs that follow count behind them.
    pub fn into_running(mut self) -> Running {
        self.running.end_input();
        self.running
    }

    /// The next task. None after the last.
    pub fn next(&mut self) -> Result<Option<PageTask>> {
        while self.ready.is_empty() || self.ahead.wants_more() {
            let Some(list) = self.next_list()? else { break };
            if self.next < list.clusters.len() {
                self.next += 1;
                self.fill(&list, self.next - 1)?;
            }
            self.list = Some(list);
        }
        Ok(self.ready.pop_front())
    }

    /// Makes the tasks of a cluster.
    fn fill(&mut self, list: &PageList, number: usize) -> Result<()> {
        let Some((input, cluster)) = self.job.inputs.get(self.input).zip(list.clusters.get(number)) else {
            return Ok(());
        };
        let cluster_number = self.clusters_before + number;
        let at = SourceCluster { input, number: self.input, list, cluster, cluster_number };
        if let Some(selected) = &self.job.selected {
            let first = input.first_entry + cluster.first_entry;
            match selected.count(&(first..first + cluster.entries)) {
                0 => return Ok(()),
                all if all == cluster.entries => {}
                some => {
                    let ranks = selected.rank(first)..selected.rank(first + cluster.entries);
                    let kept: Vec<_> = selected.runs(ranks).map(|run| run.start - first..run.end - first).collect();
                    let begins_group = std::mem::take(&mut self.begins_group);
                    if self.ahead.fetches() {
                        self.ahead.announce(places(&at, self.job.columns.len(), &kept)?);
                    }
                    let slice =
                        Slice { list: alone(list, cluster), kept, first_entry: self.running.entries, begins_group };
                    self.running.skip(self.job, some);
                    let work = ClusterWork::Slice(Box::new(slice));
                    let proof = None;
                    self.ready.push_back(PageTask { input: self.input, cluster: cluster_number, proof, work });
                    return Ok(());
                }
            }
        }
        self.moved.clear();
        let mut outline = self.running.outline(self.job, &at, &mut self.moved)?;
        outline.begins_group = std::mem::take(&mut self.begins_group);
        let offset = |page: &MovedPage| page.page.extent().map_or(u64::MAX, |(offset, _)| offset);
        self.moved.sort_by_key(|page| (page.depth != Depth::Copy, offset(page)));
        if self.ahead.fetches() {
            let number = u32::try_from(self.input).unwrap_or(u32::MAX);
            let place = |page: &MovedPage| {
                page.page.extent().ok().map(|(offset, size)| (number, offset..offset.saturating_add(size)))
            };
            self.ahead.announce(self.moved.iter().filter_map(place).collect());
        }
        let mut outline = Some(Box::new(outline));
        let proved = largest_proved(&input.plans, &input.ntuple.schema, (list, std::slice::from_ref(cluster)));
        let mut proof = (proved > 0).then(|| Box::new(alone(list, cluster)));
        let mut left = self.moved.as_slice();
        while let Some(first) = left.first() {
            let copies = first.depth == Depth::Copy;
            let mut bytes = 0;
            let fits = |page: &&MovedPage| {
                let len = if copies { page.page.stored_len().unwrap_or(0) } else { page.raw_len as u64 };
                bytes += len;
                (page.depth == Depth::Copy) == copies && bytes <= WINDOW as u64
            };
            // At least one, however large it is.
            let count = left.iter().take_while(fits).count().max(1);
            let (pages, rest) = left.split_at(count);
            let pages = pages.to_vec();
            let work = ClusterWork::Move { outline: outline.take(), pages };
            let proof = proof.take();
            self.ready.push_back(PageTask { input: self.input, cluster: cluster_number, proof, work });
            left = rest;
        }
        if outline.is_some() {
            let work = ClusterWork::Move { outline, pages: Vec::new() };
            self.ready.push_back(PageTask { input: self.input, cluster: cluster_number, proof, work });
        }
        Ok(())
    }

    /// The list with the next cluster, if there is one.
    fn next_list(&mut self) -> Result<Option<PageList>> {
        if let Some(list) = self.list.take() {
            if self.next < list.clusters.len() {
                return Ok(Some(list));
            }
            self.clusters_before += list.clusters.len();
            self.group += 1;
        }
        self.next = 0;
        while let Some(input) = self.job.inputs.get(self.input) {
            if self.group < input.ntuple.groups.len() {
                let list = input.page_list(self.group)?;
                self.running.shared.add(&list);
                self.begins_group |= self.job.keeps_groups;
                return Ok(Some(list));
            }
            self.running.shared.clear();
            self.input += 1;
            (self.group, self.clusters_before) = (0, 0);
        }
        Ok(None)
    }
}

/// The byte ranges that a slice of a cluster reads: all columns of ends and tags, which locate the elements of entries; of each column of
/// the output the pages from the first kept entry to the last.
fn places(at: &SourceCluster<'_>, columns: usize, kept: &[Range<u64>]) -> Result<Vec<FileRange>> {
    let schema = &at.input.ntuple.schema;
    let wanted: HashSet<usize> = (0..columns).filter_map(|id| at.source(id).column()).collect();
    let entries = kept.first().map_or(0, |run| run.start)..kept.last().map_or(0, |run| run.end);
    let file = u32::try_from(at.number).unwrap_or(u32::MAX);
    let leads = |column: &usize| {
        schema.encoding(*column).is_ok_and(|encoding| matches!(encoding.kind(), Kind::Index | Kind::Switch))
    };
    let (leading, others): (Vec<usize>, Vec<usize>) = (0..schema.columns.len()).partition(leads);
    let mut found = Vec::new();
    for column in leading {
        found.extend(at.cluster.page_ranges(at.list, column, &(0..at.cluster.entries))?);
    }
    for column in others.into_iter().filter(|column| wanted.contains(column)) {
        found.extend(at.cluster.page_ranges(at.list, column, &entries)?);
    }
    Ok(found.into_iter().map(|range| (file, range)).collect())
}

/// A page list with one cluster of another.
fn alone(list: &PageList, cluster: &Cluster) -> PageList {
    let mut pages = Vec::new();
    let mut columns = Vec::with_capacity(cluster.columns.len());
    for range in &cluster.columns {
        let start = pages.len();
        pages.extend_from_slice(list.pages.get(range.pages.clone()).unwrap_or_default());
        columns.push(ColumnRange { pages: start..pages.len(), ..range.clone() });
    }
    PageList { clusters: vec![Cluster { columns, ..cluster.clone() }], pages }
}
