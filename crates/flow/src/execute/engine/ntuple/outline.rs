//! The outline of one cluster of the output: which pages each column has, and which of them are moved from the input.

use dataset::ntuple::MAX_KEY_SIZE;
use dataset::ntuple::cluster_reader::ClusterSource;
use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::{Cluster, ColumnRange, Locator, Page, PageList};
use dataset::ntuple::page::Place;
use rootfile::codec::Compression;
use rootfile::{Error, Result, public_path};

use super::job::{ColumnSource, PageInput, PageJob, TargetColumn, USUAL_COMPRESSION};
use super::shared::{SharedPages, Sharing};
use crate::table::depth::{Depth, Depths};
use crate::table::ntuple::pages::{ClusterOutline, OutlinePage, PageBytes};

/// A page to be moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedPage {
    /// Its number among the stored pages of the cluster.
    pub number: u32,
    /// The number by which later pages share it.
    pub shared: Option<u32>,
    /// The column of the output.
    pub target: usize,
    /// The column of the input.
    pub column: usize,
    /// Its number in the column.
    pub index: usize,
    /// The page in the input.
    pub page: Page,
    /// How its elements are encoded, if not as in the output.
    pub from: Option<Encoding>,
    /// Bytes before compression in the output. For types of later versions those on disk.
    pub raw_len: usize,
    /// What is done with it.
    pub depth: Depth,
    /// Its compression in the output.
    pub compression: Compression,
}

/// A cluster of an input.
pub(super) struct SourceCluster<'a> {
    pub input: &'a PageInput,
    /// The number of the input.
    pub number: usize,
    pub list: &'a PageList,
    pub cluster: &'a Cluster,
    /// The number of the cluster in the input.
    pub cluster_number: usize,
}

impl SourceCluster<'_> {
    /// How many elements a column of the input stores.
    pub fn elements(&self, column: usize) -> u64 {
        let pages = self.cluster.pages(self.list, column).unwrap_or_default();
        pages.iter().map(|page| u64::from(page.elements)).sum()
    }

    /// What is needed to open its pages, as those of file 0.
    pub fn cluster_source(&self) -> ClusterSource<'_> {
        ClusterSource {
            file: 0,
            schema: &self.input.ntuple.schema,
            max_key_size: self.input.ntuple.anchor.max_key_size,
            list: self.list,
            cluster: self.cluster,
            number: self.cluster_number,
        }
    }

    /// The elements in the cluster of a column of the input, whatever their representation.
    pub fn counted(&self, column: usize) -> u64 {
        let schema = &self.input.ntuple.schema;
        let Some(first) = schema.columns.get(column) else { return 0 };
        let all = schema.columns_of(first.field);
        let width = all.iter().filter(|id| schema.columns.get(**id).is_some_and(|c| c.representation == 0)).count();
        all.iter().step_by(width.max(1)).map(|&column| self.elements(column)).sum()
    }

    /// Where the input has the elements of a column of the output.
    pub fn source(&self, id: usize) -> ColumnSource {
        self.input.columns.get(id).copied().unwrap_or(ColumnSource::Missing)
    }

    /// Names a page of the cluster in an error.
    pub fn blame(&self, error: Error, column: usize, page: usize) -> Error {
        blame(self.input, (column, self.cluster_number, page), error)
    }
}

/// Names a page in an error: column, cluster, page.
pub(super) fn blame(input: &PageInput, (column, cluster, page): (usize, usize, usize), error: Error) -> Error {
    Place { field: &input.path_of(column), column, cluster, page }.blame(error).file(input.source.name())
}

/// What outlines need to know of the clusters before.
#[derive(Default)]
pub(crate) struct Running {
    /// The entries so far.
    pub entries: u64,
    /// For each column the elements so far, where their number varies from entry to entry.
    elements: Vec<u64>,
    pub shared: SharedPages,
    next_shared: u32,
    /// The compression of the last column with pages.
    usual: u32,
    pub depths: Depths,
    /// Whether there are inputs before those of the job.
    follows: bool,
}

/// What becomes of a column in a cluster.
pub(super) enum Fate<'a> {
    /// The column does not exist yet.
    Absent,
    /// Another representation has the elements.
    Suppressed,
    /// The elements of a range, behind a number of zeroes.
    Elements { zeros: u64, range: Option<(usize, &'a ColumnRange)> },
}

impl Running {
    pub fn new(columns: usize) -> Self {
        Self { elements: vec![0; columns], usual: USUAL_COMPRESSION, ..Self::default() }
    }

    /// Forgets what only the inputs so far need.
    pub fn end_input(&mut self) {
        self.shared.clear();
        self.follows = true;
    }

    /// Outlines a cluster. The pages to move are added to `moved`.
    pub(super) fn outline(
        &mut self,
        job: &PageJob,
        at: &SourceCluster<'_>,
        moved: &mut Vec<MovedPage>,
    ) -> Result<ClusterOutline> {
        let SourceCluster { cluster, .. } = at;
        let mut outline = ClusterOutline {
            first_entry: self.entries,
            entries: cluster.entries,
            columns: Vec::with_capacity(job.columns.len()),
            pages: Vec::new(),
            stored: 0,
            raw_bytes: 0,
            begins_group: false,
        };
        let mut present = 0;
        // The first input keeps its numbers: they count elements that the format does not store.
        let verbatim = at.number == 0 && !self.follows && job.selected.is_none();
        for (id, target) in job.columns.iter().enumerate() {
            let mut first_element = match target.per_entry {
                Some(number) => self.entries.saturating_mul(number),
                None => self.elements.get(target.primary).copied().unwrap_or(0),
            };
            let start = outline.pages.len();
            let fate = fate(job, at, cluster.entries, (id, target))?;
            let mut compression = None;
            match fate {
                Fate::Absent => compression = Some(job.compression_of_zeros(target, self.usual)),
                Fate::Suppressed => present = id + 1,
                Fate::Elements { zeros, range } => {
                    present = id + 1;
                    if let (true, Some((_, range))) = (verbatim, range) {
                        first_element = range.first_element;
                    }
                    let own = range.and_then(|(_, range)| range.compression);
                    let depth = own.map(|setting| target.depth(setting, at.source(id), at.input));
                    let setting = match (depth, own) {
                        (Some((Depth::Copy, _)), Some(own)) => own,
                        (Some((_, compression)), _) => compression.to_root_setting().unsigned_abs(),
                        _ => job.compression_of_zeros(target, self.usual),
                    };
                    compression = Some(setting);
                    add_zeros(&mut outline, target, zeros).map_err(|e| in_column(e, at, id))?;
                    if let (Some((column, range)), Some((depth, _))) = (range, depth) {
                        self.usual = setting;
                        let pages = at.list.pages.get(range.pages.clone()).unwrap_or_default();
                        if !pages.is_empty() {
                            self.depths.count(depth);
                        }
                        self.add_pages(
                            &mut outline,
                            (at, target),
                            (id, column),
                            pages,
                            depth_of(depth, setting),
                            moved,
                        )?;
                    }
                    let count = outline.pages.get(start..).unwrap_or_default();
                    let count: u64 = count.iter().map(|page| u64::from(page.elements)).sum();
                    if let (None, Some(elements)) = (target.per_entry, self.elements.get_mut(target.primary)) {
                        *elements = first_element.saturating_add(count);
                    }
                }
            }
            outline.columns.push(ColumnRange { first_element, compression, pages: start..outline.pages.len() });
        }
        // Columns that do not exist yet are left out at the end of the list, as in ROOT.
        outline.columns.truncate(present);
        self.entries += cluster.entries;
        Ok(outline)
    }

    /// Counts a cluster of which so many entries are kept.
    pub fn skip(&mut self, job: &PageJob, entries: u64) {
        self.entries += entries;
        job.columns.iter().for_each(|_| self.depths.count(Depth::Regroup));
    }

    fn add_pages(
        &mut self,
        outline: &mut ClusterOutline,
        (at, target): (&SourceCluster<'_>, &TargetColumn),
        (id, column): (usize, usize),
        pages: &[Page],
        (depth, compression): (Depth, Compression),
        moved: &mut Vec<MovedPage>,
    ) -> Result<()> {
        let from = match at.source(id) {
            ColumnSource::Recoded(column) => at.input.column(column).and_then(|column| column.encoding().ok()),
            _ => None,
        };
        for (index, page) in pages.iter().enumerate() {
            let blame = |e| at.blame(e, column, index);
            let stored = match page.locator {
                Locator::File { size, .. } => size,
                Locator::Unknown { kind } => {
                    let what = format!("is not in the file, but in storage of type {kind:#04x}");
                    return Err(blame(Error::unsupported(what)));
                }
            };
            if stored > MAX_KEY_SIZE - 8 {
                return Err(blame(Error::unsupported(format!("a page of {stored} bytes does not fit into a key"))));
            }
            let raw_len = match &target.encoding {
                Some(encoding) => page.raw_len(encoding).map_err(blame)?,
                None => usize::try_from(stored).unwrap_or(usize::MAX),
            };
            let sharing = match depth {
                Depth::Recode => Sharing::Alone,
                _ => self.shared.find(page, (raw_len, compression.to_root_setting()), &mut self.next_shared),
            };
            let shared = match sharing {
                Sharing::Again(number) => {
                    outline.pages.push(OutlinePage { elements: page.elements, bytes: PageBytes::Shared(number) });
                    continue;
                }
                Sharing::First(number) => Some(number),
                Sharing::Alone => None,
            };
            let number = outline.stored;
            outline.stored += 1;
            outline.raw_bytes += raw_len as u64;
            outline.pages.push(OutlinePage { elements: page.elements, bytes: PageBytes::Stored(number) });
            let page = *page;
            moved.push(MovedPage {
                number,
                shared,
                target: id,
                column,
                index,
                page,
                from,
                raw_len,
                depth,
                compression,
            });
        }
        Ok(())
    }
}

fn depth_of(depth: Depth, setting: u32) -> (Depth, Compression) {
    let compression = i32::try_from(setting).ok().and_then(Compression::from_root_setting);
    (depth, compression.unwrap_or(Compression::NONE))
}

/// Decides what becomes of a column in a cluster, of which so many entries are kept.
pub(super) fn fate<'a>(
    job: &PageJob,
    at: &SourceCluster<'a>,
    entries: u64,
    (id, target): (usize, &TargetColumn),
) -> Result<Fate<'a>> {
    let source = at.source(id);
    let is_first = target.primary == id;
    let of = |entries: u64| target.per_entry.map(|number| number.saturating_mul(entries));
    let all_zeros = || Fate::Elements { zeros: of(entries).unwrap_or(0), range: None };
    let column = match source {
        ColumnSource::OtherRepresentation => return Ok(Fate::Suppressed),
        ColumnSource::Missing if at.number < target.origin => return Ok(Fate::Absent),
        ColumnSource::Missing if is_first => return Ok(all_zeros()),
        ColumnSource::Counted { column, each, missing } if is_first => {
            let zeros = at.counted(column) / each.max(1);
            return Ok(Fate::Elements { zeros: zeros.saturating_mul(missing), range: None });
        }
        ColumnSource::Missing | ColumnSource::Counted { .. } => return Ok(Fate::Suppressed),
        ColumnSource::Column(column) | ColumnSource::Recoded(column) => column,
    };
    let range = match at.cluster.columns.get(column) {
        Some(range) if range.compression.is_none() => return Ok(Fate::Suppressed),
        Some(range) => range,
        None if at.number == target.origin => return Ok(Fate::Absent),
        // The input added the column later. One representation has the zeroes before it.
        None if has_elements(job, at, target.primary) => return Ok(Fate::Suppressed),
        None if is_first => return Ok(all_zeros()),
        None => return Ok(Fate::Suppressed),
    };
    let is_deferred = at.input.column(column).is_some_and(|column| column.first_element.is_some());
    let mut zeros = 0;
    if let (true, Some(expected)) = (is_deferred && at.number != target.origin, of(at.cluster.entries)) {
        let stored = at.elements(column);
        let too_many = || Error::corrupt(format!("a column has {stored} elements for {expected} values"));
        zeros = expected.checked_sub(stored).ok_or_else(|| at.blame(too_many(), column, 0))?;
    }
    Ok(Fate::Elements { zeros, range: Some((column, range)) })
}

/// Whether a representation of a column has the elements of the cluster.
fn has_elements(job: &PageJob, at: &SourceCluster<'_>, primary: usize) -> bool {
    let mut at_column = Some(primary);
    while let Some(id) = at_column {
        if let Some(column) = at.source(id).column()
            && at.cluster.columns.get(column).is_some_and(|range| range.compression.is_some())
        {
            return true;
        }
        at_column = job.columns.get(id).and_then(|target| target.next);
    }
    false
}

fn in_column(error: Error, at: &SourceCluster<'_>, id: usize) -> Error {
    error.object(format!("column {id}, which {} lacks", public_path(at.input.source.name()).display()))
}

/// Adds pages of zeroes.
pub(super) fn add_zeros(outline: &mut ClusterOutline, target: &TargetColumn, zeros: u64) -> Result<()> {
    if zeros == 0 {
        return Ok(());
    }
    let unknown = || Error::unsupported("zeroes of a column type of a later version of the format");
    outline.add_zeros(&target.encoding.ok_or_else(unknown)?, zeros)
}
