//! What becomes of parts: they move into the open output as they come, or they wait in a file until the end, where an ordinary merge
//! joins them. What was written until then is its first input.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::layout::ClusterSize;
use dataset::layout::defaults;
use rootfile::{Error, FilePool, FileWriter, Follow, OPEN_FILES, Result, RootFile, Source, check_output};

use super::options::GatherOptions;
use super::part::{PartBytes, PartInMemory, PartOfFile};
use super::store::{PartStore, StoredPart};
use super::streaming::Streaming;
use crate::arrow::write::AutoSave;
use crate::commit::date::date;
use crate::execute::budget::DEFAULT_MEMORY;
use crate::execute::progress::unwatched;
use crate::plan::options::Pack;
use crate::rewrite::execute::write;
use crate::rewrite::options::Options;
use crate::rewrite::prepare::prepare_open;
use crate::rewrite::prepared::Prepared;
use crate::rewrite::summary::Summary;

/// Parts whose clusters are joined or cut are taken together, about so many clusters of the output at once.
const CLUSTERS: u64 = 4;
/// Bytes of parts that are taken together to pack their clusters.
const PACKED: u64 = 64 << 20;

/// The output of parts.
pub(super) struct GatherOutput {
    path: PathBuf,
    options: Options,
    auto_save: Option<AutoSave>,
    /// Bytes of parts that are taken together.
    batch: u64,
    pending: Vec<Arc<RootFile>>,
    pending_bytes: u64,
    pool: Arc<FilePool>,
    state: State,
    store: PartStore,
}

enum State {
    /// There were no parts.
    Empty,
    Streaming(Box<Streaming>),
    /// Parts wait. The first of them may be all that was written before.
    Waiting {
        written: Option<Arc<RootFile>>,
        parts: Vec<StoredPart>,
    },
    /// The output was given up.
    GivenUp,
}

impl GatherOutput {
    /// An output of this path. Parts are at most `limit` bytes at a time.
    pub fn new(path: &Path, options: &GatherOptions, limit: u64) -> Result<Self> {
        check_output(path, options.overwrite, std::iter::empty::<&Path>())?;
        let rewrite = options.rewrite(limit);
        Ok(Self {
            path: path.to_path_buf(),
            auto_save: options.auto_save,
            batch: batch(&rewrite).min(limit / 4),
            pending: Vec::new(),
            pending_bytes: 0,
            pool: FilePool::following(OPEN_FILES, Follow::Paths),
            state: if waits(&rewrite) { State::Waiting { written: None, parts: Vec::new() } } else { State::Empty },
            store: PartStore::beside(path),
            options: rewrite,
        })
    }

    /// Adds a part. Its memory goes back as soon as it is not needed.
    pub fn add(&mut self, name: PathBuf, bytes: PartBytes) -> Result<()> {
        let (len, source) = (bytes.len(), PartInMemory::new(name, bytes));
        if let State::Waiting { parts, .. } = &mut self.state {
            parts.push(self.store.put_source(&source)?);
            return Ok(());
        }
        self.pending.push(self.open(source)?);
        self.pending_bytes += len;
        if self.pending_bytes >= self.batch {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the parts that are taken together. Returns whether there were any.
    pub fn flush(&mut self) -> Result<bool> {
        let files = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        if files.is_empty() {
            return Ok(false);
        }
        let prepared = prepare_open(files.clone(), &self.options);
        let open = match &self.state {
            State::Streaming(open) => Some(&**open),
            State::GivenUp => return Err(Error::request("the output was given up after an earlier error")),
            State::Empty | State::Waiting { .. } => None,
        };
        match prepared {
            Ok(prepared) if Streaming::can_take(open, &prepared) => {
                if matches!(self.state, State::Empty) {
                    let begun = Streaming::begin(&self.path, &prepared, &self.options, self.auto_save)?;
                    self.state = State::Streaming(Box::new(begun));
                }
                if let State::Streaming(open) = &mut self.state {
                    // Only the plan has the parts now: their bytes go as soon as they are written.
                    drop(files);
                    open.add(prepared)?;
                }
            }
            Ok(_) => self.let_wait(&files)?,
            Err(e) => return Err(e),
        }
        Ok(true)
    }

    fn open(&self, source: impl Source + 'static) -> Result<Arc<RootFile>> {
        Ok(Arc::new(self.pool.open_source(Arc::new(source))?))
    }

    /// Lets these parts and all that follow wait for the end. What is written becomes the first input of the merge.
    fn let_wait(&mut self, files: &[Arc<RootFile>]) -> Result<()> {
        let written = match std::mem::replace(&mut self.state, State::GivenUp) {
            State::Streaming(open) => {
                let (_, staged) = open.finish()?;
                let file = File::open(staged.path()).map_err(|e| Error::from(e).file(staged.path()))?;
                let all = PartOfFile::new(PathBuf::from("the parts so far"), Arc::new(file), &(0..staged.len()));
                // The name goes, the file stays as long as it is open.
                drop(staged);
                Some(self.open(all)?)
            }
            State::Waiting { written, .. } => written,
            State::Empty | State::GivenUp => None,
        };
        // Parts that cannot be joined are refused here, and not at the end.
        let all: Vec<_> = written.iter().chain(files).cloned().collect();
        prepare_open(all, &self.options)?;
        let mut parts = Vec::new();
        for file in files {
            parts.push(self.store.put_source(&**file.source())?);
        }
        self.state = State::Waiting { written, parts };
        Ok(())
    }

    /// Prepares the merge of all parts. After hours of filling it does not fail for a little memory.
    fn prepare_all(&mut self, files: Vec<Arc<RootFile>>) -> Result<Prepared> {
        prepare_open(files.clone(), &self.options).or_else(|_| {
            self.options.budget.memory = self.options.budget.memory.max(DEFAULT_MEMORY);
            prepare_open(files, &self.options)
        })
    }

    /// Ends the output, which gets its name.
    pub fn close(mut self) -> Result<Summary> {
        self.flush()?;
        let (summary, staged) = match std::mem::replace(&mut self.state, State::GivenUp) {
            State::Streaming(open) => open.finish()?,
            State::Waiting { written, parts } if written.is_some() || !parts.is_empty() => {
                let mut files: Vec<_> = written.into_iter().collect();
                for part in &parts {
                    files.push(self.open(self.store.open(part)?)?);
                }
                write(self.prepare_all(files)?, &self.path, &self.options, &unwatched)?
            }
            State::GivenUp => return Err(Error::request("the output was given up after an earlier error")),
            State::Empty | State::Waiting { .. } => {
                let asked = self.options.compression.metadata.or(self.options.layout.common.compression);
                let setting = asked.unwrap_or(defaults::COMPRESSION).to_root_setting();
                let empty = FileWriter::create(&self.path, self.options.may_replace(), setting, date(None), "")?;
                (Summary::default(), empty.stage()?)
            }
        };
        self.store.clear();
        let bytes_written = staged.deliver()?;
        Ok(Summary { bytes_written, ..summary })
    }
}

/// Whether the layout asks for what only all parts together can give: clusters of a number of entries.
fn waits(options: &Options) -> bool {
    let layouts = options.layout.trees().iter().map(|(_, tree)| tree.cluster);
    let mut sizes = layouts.chain([options.layout.common.cluster]);
    sizes.any(|size| matches!(size, Some(ClusterSize::Entries(_))))
}

/// Bytes of parts that are taken together.
fn batch(options: &Options) -> u64 {
    let layouts = options.layout.trees().iter().map(|(_, tree)| tree.cluster);
    let sizes = layouts.chain([options.layout.common.cluster]).flatten().filter_map(|size| match size {
        ClusterSize::Bytes(bytes) => Some(bytes),
        ClusterSize::Entries(_) => None,
    });
    let packed = match options.plan.pack {
        Pack::No => None,
        Pack::Auto => Some(PACKED),
        Pack::Bytes(bytes) => Some(bytes.saturating_mul(CLUSTERS)),
    };
    sizes.map(|bytes| bytes.saturating_mul(CLUSTERS)).chain(packed).max().unwrap_or(0)
}
