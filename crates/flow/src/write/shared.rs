//! The one place that appends: finished clusters come in from all fill contexts and go into the file, as they arrive or
//! in the order of their tasks. An error here or in a context gives the output up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dataset::tree::Tree;
use rayon::ThreadPool;
use rootfile::{DirId, Error, FileWriter, Result};

use super::close;
use super::conform::Casting;
use super::context::Kit;
use super::gate::{Gate, Turn, stopped};
use super::line::{Line, Place};
use super::metrics::{Clocks, Metrics};
use super::plan::TreePlan;
use super::pool::WritePool;
use super::writer::{AutoSave, Order, WriteOptions, Written};
use crate::closing;
use crate::sink::{Chunk, Sink};

/// A cluster that is ready to be written.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    pub entries: u64,
    /// Its baskets, whose entries count from its start.
    pub chunks: Vec<Chunk>,
    /// Largest value of each branch that counts others, by number of the branch plan.
    pub maxima: Vec<u64>,
    /// Bytes that it takes at the gate now, and that it took while it was filled.
    pub held: u64,
    pub taken: u64,
}

/// A writer's state, shared by its fill contexts.
pub(super) struct Shared {
    pub gate: Arc<Gate>,
    /// Threads that help whoever fills.
    pub team: Option<Arc<ThreadPool>>,
    pub order: Order,
    pub casting: Casting,
    state: Mutex<State>,
    stopped: AtomicBool,
}

struct State {
    file: Option<FileWriter>,
    trees: Vec<OpenTree>,
    /// What went wrong first.
    error: Option<String>,
    /// Directories made so far, by path.
    directories: HashMap<String, DirId>,
    clocks: Vec<Arc<Clocks>>,
    /// Contexts that are not finished.
    open: usize,
    appending: Duration,
    auto_save: Option<AutoSave>,
    /// Bytes of the file when it was last saved.
    saved_at: u64,
    queued: u64,
}

/// A tree that is being written.
pub(super) struct OpenTree {
    pub plan: Arc<TreePlan>,
    pub tree: Tree,
    pub directory: DirId,
    pub sink: Sink,
    /// First entry of each cluster, and last the number of entries.
    pub bounds: Vec<u64>,
    pub maxima: Vec<u64>,
    line: Line<Cluster>,
    /// What the largest cluster took.
    largest: u64,
    /// What finished contexts left.
    kits: Vec<Kit>,
}

/// What a context is given.
pub(super) struct Begun {
    pub plan: Arc<TreePlan>,
    pub clocks: Arc<Clocks>,
    pub place: Place,
}

impl State {
    fn check(&self) -> Result<()> {
        match &self.error {
            Some(why) => Err(Error::request(format!("the output was given up: {why}"))),
            None => Ok(()),
        }
    }
}

/// The directory of a path, made if it is not there, with those that it lies in.
fn directory(file: &mut FileWriter, known: &mut HashMap<String, DirId>, path: &str) -> Result<DirId> {
    let mut directory = file.top();
    let mut so_far = String::new();
    for folder in path.split('/').filter(|folder| !folder.is_empty()) {
        so_far = so_far + "/" + folder;
        directory = match known.get(&so_far) {
            Some(directory) => *directory,
            None => file.mkdir(directory, folder, "")?,
        };
        known.insert(so_far.clone(), directory);
    }
    Ok(directory)
}

impl Shared {
    pub fn new(file: FileWriter, pool: &WritePool, options: &WriteOptions) -> Self {
        let state = State {
            file: Some(file),
            trees: Vec::new(),
            error: None,
            directories: HashMap::new(),
            clocks: Vec::new(),
            open: 0,
            appending: Duration::ZERO,
            auto_save: options.auto_save,
            saved_at: 0,
            queued: 0,
        };
        Self {
            gate: pool.gate(),
            team: pool.team(),
            order: options.order,
            casting: options.casting,
            state: Mutex::new(state),
            stopped: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a tree.
    pub fn add_tree(&self, path: &str, plan: TreePlan, tree: Tree) -> Result<usize> {
        let mut state = self.lock();
        let state = &mut *state;
        let file = state.file.as_mut().ok_or_else(stopped)?;
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = directory(file, &mut state.directories, folders)?;
        for info in &plan.infos {
            file.infos_mut().add(Arc::clone(info));
        }
        closing::add_own_infos(file, &tree);
        let plan = Arc::new(plan);
        let written = plan.branches.iter().map(|_| crate::sink::Written::default()).collect();
        let open = OpenTree {
            sink: Sink { seek_pdir: file.seek_of(directory), written },
            tree,
            directory,
            bounds: vec![0],
            maxima: vec![0; plan.branches.len()],
            line: Line::new(self.order),
            largest: 0,
            kits: Vec::new(),
            plan,
        };
        state.trees.push(open);
        Ok(state.trees.len() - 1)
    }

    /// Makes a directory, and those that it lies in.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        let state = &mut *state;
        let file = state.file.as_mut().ok_or_else(stopped)?;
        directory(file, &mut state.directories, path).map(drop)
    }

    /// A context begins; its clocks are among the metrics from here on. Without a task it gets the next number.
    pub fn begin(&self, tree: usize, task: Option<u64>) -> Result<Begun> {
        let mut state = self.lock();
        state.check()?;
        let state = &mut *state;
        let open = state.trees.get_mut(tree).ok_or_else(|| Error::request("a tree of another writer"))?;
        let place = open.line.begin(task)?;
        let clocks = Arc::new(Clocks::default());
        state.clocks.push(Arc::clone(&clocks));
        state.open += 1;
        Ok(Begun { plan: Arc::clone(&open.plan), clocks, place })
    }

    /// Whether something went wrong.
    pub fn check(&self) -> Result<()> {
        if self.stopped.load(Ordering::Acquire) { self.lock().check() } else { Ok(()) }
    }

    /// Takes memory for a cluster of a task; waits until there is some. Says how much it got and how long that took.
    /// Whoever is ahead of its turn leaves room for the largest cluster there may be.
    pub fn enter(&self, bytes: u64, place: &Place) -> Result<(u64, Duration)> {
        let most = self.gate.most();
        self.gate.enter(bytes, || self.turn(place, most))
    }

    /// The same, if there is some now.
    pub fn try_enter(&self, bytes: u64, place: &Place) -> Result<Option<u64>> {
        if !self.gate.has(bytes) {
            self.drop_kits();
        }
        self.gate.try_enter(bytes, self.turn(place, self.gate.most()))
    }

    /// Takes more for a cluster that is being filled; false if it had better end.
    pub fn grow(&self, more: u64, place: &Place) -> Result<bool> {
        let most = self.gate.most();
        self.gate.grow(more, || self.turn(place, most))
    }

    fn turn(&self, place: &Place, largest: u64) -> Turn {
        if self.stopped.load(Ordering::Acquire) { Turn::Stopped } else { place.turn(largest) }
    }

    /// What a context of this tree left behind.
    pub fn kit(&self, tree: usize) -> Option<Kit> {
        self.lock().trees.get_mut(tree)?.kits.pop()
    }

    /// Takes what a context leaves behind.
    pub fn put_kit(&self, tree: usize, kit: Kit) {
        match self.lock().trees.get_mut(tree) {
            Some(open) => open.kits.push(kit),
            None => self.gate.release(kit.kept),
        }
    }

    /// Gives the memory back that was left behind.
    pub fn drop_kits(&self) {
        let kits: Vec<Kit> = self.lock().trees.iter_mut().flat_map(|open| std::mem::take(&mut open.kits)).collect();
        self.gate.release(kits.iter().map(|kit| kit.kept).sum());
    }

    /// Memory that a cluster of this tree is thought to take.
    pub fn guess(&self, tree: usize, first: u64) -> u64 {
        let largest = self.lock().trees.get(tree).map_or(0, |tree| tree.largest);
        if largest == 0 { first } else { largest + largest / 16 }
    }

    /// Takes a task's cluster of that number: it goes into the file when its turn has come. Gives it back if that was
    /// now: its bytes are still taken at the gate.
    pub fn hand_over(&self, tree: usize, task: u64, number: u64, mut cluster: Cluster) -> Result<Option<Cluster>> {
        let mut state = self.lock();
        state.check()?;
        let state = &mut *state;
        let Some(open) = state.trees.get_mut(tree) else { return Err(stopped()) };
        open.largest = open.largest.max(cluster.taken);
        if !open.line.is_next(task) {
            state.queued += cluster.held;
            open.line.put(task, number, cluster);
            return Ok(None);
        }
        self.append(state, tree, &mut cluster).inspect_err(|e| self.give_up(state, e))?;
        Ok(Some(cluster))
    }

    /// Says that a task has handed over all its clusters.
    pub fn done(&self, tree: usize, task: u64) -> Result<()> {
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        state.check()?;
        let state = &mut *state;
        if let Some(open) = state.trees.get_mut(tree) {
            open.line.done(task);
        }
        self.advance(state, tree).inspect_err(|e| self.give_up(state, e))?;
        self.gate.look_again();
        Ok(())
    }

    /// Writes what waits for no other task any more.
    fn advance(&self, state: &mut State, tree: usize) -> Result<()> {
        while let Some(mut cluster) = state.trees.get_mut(tree).and_then(|open| open.line.next()) {
            state.queued = state.queued.saturating_sub(cluster.held);
            self.append(state, tree, &mut cluster)?;
            self.gate.release(cluster.held);
        }
        Ok(())
    }

    fn append(&self, state: &mut State, tree: usize, cluster: &mut Cluster) -> Result<()> {
        let begun = Instant::now();
        let file = state.file.as_mut().ok_or_else(stopped)?;
        let Some(open) = state.trees.get_mut(tree) else { return Err(stopped()) };
        let base = open.bounds.last().copied().unwrap_or(0);
        for chunk in &mut cluster.chunks {
            open.sink.append(file, chunk, base)?;
        }
        if cluster.entries > 0 {
            open.bounds.push(base + cluster.entries);
        }
        for (mine, theirs) in open.maxima.iter_mut().zip(&cluster.maxima) {
            *mine = (*mine).max(*theirs);
        }
        state.appending += begun.elapsed();
        self.save_if_due(state)
    }

    fn save_if_due(&self, state: &mut State) -> Result<()> {
        let (Some(auto_save), Some(file)) = (state.auto_save, state.file.as_mut()) else { return Ok(()) };
        let entries = |tree: &OpenTree| tree.bounds.last().copied().unwrap_or(0);
        let due = match auto_save {
            AutoSave::Bytes(bytes) => file.position() >= state.saved_at + bytes,
            AutoSave::Entries(n) => state.trees.iter().map(entries).sum::<u64>() >= state.saved_at + n,
        };
        if due {
            close::save(file, &mut state.trees)?;
            state.saved_at = match auto_save {
                AutoSave::Bytes(_) => file.position(),
                AutoSave::Entries(_) => state.trees.iter().map(entries).sum(),
            };
        }
        Ok(())
    }

    /// Saves the metadata of all trees.
    pub fn save(&self) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        let state = &mut *state;
        let Some(file) = state.file.as_mut() else { return Ok(()) };
        close::save(file, &mut state.trees).inspect_err(|e| self.give_up(state, e))
    }

    /// Waits until the disk has all there is.
    pub fn sync(&self) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        let state = &mut *state;
        let Some(file) = state.file.as_mut() else { return Ok(()) };
        file.sync().inspect_err(|e| self.give_up(state, e))
    }

    /// Gives the output up: it will not appear.
    pub fn fail(&self, error: &Error) {
        let mut state = self.lock();
        self.give_up(&mut state, error);
    }

    /// The first error stays, for all who ask from here on.
    fn give_up(&self, state: &mut State, error: &Error) {
        state.error.get_or_insert_with(|| error.to_string());
        // Its temporary file goes with it.
        state.file = None;
        for tree in &mut state.trees {
            for kit in std::mem::take(&mut tree.kits) {
                self.gate.release(kit.kept);
            }
            tree.line.give_up().for_each(|cluster| self.gate.release(cluster.held));
        }
        self.stopped.store(true, Ordering::Release);
        self.gate.look_again();
    }

    /// Ends the file.
    pub fn close(&self) -> Result<Written> {
        let mut state = self.lock();
        state.check()?;
        let state = &mut *state;
        if state.open > 0 {
            let error = Error::request(format!("{} fill contexts are not finished, which goes first", state.open));
            self.give_up(state, &error);
            return Err(error);
        }
        // A task that was never begun is not waited for any more.
        for tree in 0..state.trees.len() {
            if let Some(open) = state.trees.get_mut(tree) {
                open.line.close();
            }
            self.advance(state, tree).inspect_err(|e| self.give_up(state, e))?;
        }
        let Some(mut file) = state.file.take() else { return Err(stopped()) };
        let mut trees = std::mem::take(&mut state.trees);
        let kept = trees.iter_mut().flat_map(|open| std::mem::take(&mut open.kits)).map(|kit| kit.kept).sum();
        self.gate.release(kept);
        let trees = close::finish(&mut file, trees)?;
        Ok(Written { bytes: file.finish()?, trees })
    }

    /// A look at the work.
    pub fn metrics(&self) -> Metrics {
        let held = self.gate.held();
        let state = self.lock();
        let last = |tree: &OpenTree| tree.bounds.last().copied().unwrap_or(0);
        Metrics {
            entries: state.trees.iter().map(last).sum(),
            clusters: state.trees.iter().map(|tree| tree.bounds.len() as u64 - 1).sum(),
            file_bytes: state.file.as_ref().map_or(0, FileWriter::position),
            queue_bytes: state.queued,
            held_bytes: held.now,
            peak_held_bytes: held.peak,
            waiting: held.waiting,
            appending_ns: u64::try_from(state.appending.as_nanos()).unwrap_or(u64::MAX),
            contexts: state.clocks.iter().map(|clocks| clocks.seen()).collect(),
        }
    }
}
