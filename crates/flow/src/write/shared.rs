//! Where finished clusters come in from all fill contexts. They go into the file as they arrive or in the order of their
//! tasks, by one thread at a time, while the others go on. An error here or in a context gives the output up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dataset::tree::Tree;
use rayon::ThreadPool;
use rootfile::{Error, FileWriter, Result};

use super::conform::Casting;
use super::context::Kit;
use super::gate::{Gate, Turn, stopped};
use super::line::{Line, Place};
use super::metrics::{Clocks, Metrics};
use super::output::Output;
use super::plan::TreePlan;
use super::pool::WritePool;
use super::spares::Spares;
use super::writer::{Order, WriteOptions, Written};
use crate::sink::Chunk;

/// A cluster that is ready to be written.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    /// The task that made it, and its number among that one's.
    pub made: (u64, u64),
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
    spares: Arc<Spares>,
    /// Threads that help whoever fills.
    pub team: Option<Arc<ThreadPool>>,
    pub order: Order,
    pub casting: Casting,
    state: Mutex<State>,
    /// The file, if it was not given up. Its lock may be taken inside the state's, never the other way round.
    output: Mutex<Option<Output>>,
    stopped: AtomicBool,
}

struct State {
    trees: Vec<Queue>,
    /// What went wrong first.
    error: Option<String>,
    clocks: Vec<Arc<Clocks>>,
    /// Contexts that are not finished.
    open: usize,
    /// Whether a thread writes what has come in.
    appending: bool,
    reached: Reached,
}

/// One tree's clusters on their way.
struct Queue {
    plan: Arc<TreePlan>,
    line: Line<Cluster>,
    /// What the largest cluster took.
    largest: u64,
    /// What finished contexts left.
    kits: Vec<Kit>,
}

/// How far the file is.
#[derive(Default)]
struct Reached {
    entries: u64,
    clusters: u64,
    bytes: u64,
    /// Bytes of clusters that wait.
    queued: u64,
    appending: Duration,
}

/// What a context is given.
pub(super) struct Begun {
    pub plan: Arc<TreePlan>,
    pub clocks: Arc<Clocks>,
    pub place: Place,
}

impl State {
    /// The next cluster of any tree that waits for nothing any more.
    fn next(&mut self) -> Option<(usize, Arc<TreePlan>, Cluster)> {
        let mut queues = self.trees.iter_mut().enumerate();
        let (tree, plan, cluster) =
            queues.find_map(|(tree, queue)| Some((tree, Arc::clone(&queue.plan), queue.line.next()?)))?;
        self.reached.queued = self.reached.queued.saturating_sub(cluster.held);
        Some((tree, plan, cluster))
    }

    fn check(&self) -> Result<()> {
        match &self.error {
            Some(why) => Err(Error::request(format!("the output was given up: {why}"))),
            None => Ok(()),
        }
    }
}

impl Shared {
    pub fn new(file: FileWriter, pool: &WritePool, options: &WriteOptions) -> Self {
        let reached = Reached { bytes: file.position(), ..Reached::default() };
        let state = State { trees: Vec::new(), error: None, clocks: Vec::new(), open: 0, appending: false, reached };
        Self {
            gate: pool.gate(),
            spares: pool.spares(),
            team: pool.team(),
            order: options.order,
            casting: options.casting,
            state: Mutex::new(state),
            output: Mutex::new(Some(Output::new(file, options.auto_save))),
            stopped: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn output(&self) -> MutexGuard<'_, Option<Output>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the file. What goes wrong gives it up.
    fn with_output<T>(&self, act: impl FnOnce(&mut Output) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        state.check()?;
        let done = self.output().as_mut().ok_or_else(stopped).and_then(act);
        done.inspect_err(|e| self.give_up(&mut state, e))
    }

    /// Adds a tree.
    pub fn add_tree(&self, path: &str, plan: TreePlan, tree: Tree) -> Result<usize> {
        let mut state = self.lock();
        let plan = Arc::new(plan);
        self.output().as_mut().ok_or_else(stopped)?.add_tree(path, Arc::clone(&plan), tree)?;
        state.trees.push(Queue { plan, line: Line::new(self.order), largest: 0, kits: Vec::new() });
        Ok(state.trees.len() - 1)
    }

    /// Makes a directory, and those that it lies in.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        self.lock().check()?;
        self.output().as_mut().ok_or_else(stopped)?.mkdir(path).map(drop)
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
        let fits = self.gate.grow(more, || self.turn(place, most));
        self.spares.trim(self.gate.free());
        fits
    }

    /// Buffers of a cluster that was written, for one that was let in. Those that are too many now go.
    pub fn spare(&self, plan: &Arc<TreePlan>) -> Option<Vec<Chunk>> {
        let spare = self.spares.take(plan);
        self.spares.trim(self.gate.free());
        spare
    }

    /// Takes the buffers of a cluster that was written. Where baskets are made at its end, nothing needs them until then.
    fn put_spare(&self, plan: &Arc<TreePlan>, chunks: Vec<Chunk>) {
        if !plan.one_per_cluster() {
            self.spares.put(plan, chunks);
        }
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
            Some(queue) => queue.kits.push(kit),
            None => self.gate.release(kit.kept),
        }
    }

    /// Gives the memory back that was left behind.
    pub fn drop_kits(&self) {
        let kits: Vec<Kit> = self.lock().trees.iter_mut().flat_map(|tree| std::mem::take(&mut tree.kits)).collect();
        self.gate.release(kits.iter().map(|kit| kit.kept).sum());
    }

    /// Memory that a cluster of this tree is thought to take.
    pub fn guess(&self, tree: usize, first: u64) -> u64 {
        let largest = self.lock().trees.get(tree).map_or(0, |tree| tree.largest);
        if largest == 0 { first } else { largest + largest / 16 }
    }

    /// Takes a task's cluster: it goes into the file when its turn has come.
    pub fn hand_over(&self, tree: usize, cluster: Cluster) -> Result<()> {
        let mut state = self.lock();
        let queue = state.check().and_then(|()| state.trees.get_mut(tree).ok_or_else(stopped));
        let queue = queue.inspect_err(|_| self.gate.release(cluster.held))?;
        queue.largest = queue.largest.max(cluster.taken);
        let held = cluster.held;
        queue.line.put(cluster.made, cluster);
        state.reached.queued += held;
        self.advance(state)
    }

    /// Says that a task has handed over all its clusters.
    pub fn done(&self, tree: usize, task: u64) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        if let Some(queue) = state.trees.get_mut(tree) {
            queue.line.done(task);
        }
        let done = self.advance(state);
        // Not before: while a context is open somebody may be writing.
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        self.gate.look_again();
        done
    }

    /// Writes what waits for no other task any more, unless somebody does so already: that one finds it.
    fn advance<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<()> {
        if state.appending {
            return Ok(());
        }
        state.appending = true;
        let mut done = Ok(());
        while let (Ok(()), Some((tree, plan, mut cluster))) = (&done, state.next()) {
            // The others come and go while this one writes.
            drop(state);
            let begun = Instant::now();
            let written = self.append(tree, &mut cluster);
            // In this order: who is let in may take them at once.
            self.put_spare(&plan, std::mem::take(&mut cluster.chunks));
            self.gate.release(cluster.held);
            state = self.lock();
            state.reached.appending += begun.elapsed();
            done = written.map(|bytes| {
                state.reached.bytes = bytes;
                state.reached.entries += cluster.entries;
                state.reached.clusters += u64::from(cluster.entries > 0);
            });
        }
        state.appending = false;
        done.inspect_err(|e| self.give_up(&mut state, e))
    }

    /// Puts a cluster into the file; says how large that is now.
    fn append(&self, tree: usize, cluster: &mut Cluster) -> Result<u64> {
        let mut output = self.output();
        let output = output.as_mut().ok_or_else(stopped)?;
        output.append(tree, cluster)?;
        Ok(output.bytes())
    }

    /// Saves the metadata of all trees.
    pub fn save(&self) -> Result<()> {
        self.with_output(Output::save)
    }

    /// Waits until the disk has all there is.
    pub fn sync(&self) -> Result<()> {
        self.with_output(Output::sync)
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
        *self.output() = None;
        for tree in &mut state.trees {
            for kit in std::mem::take(&mut tree.kits) {
                self.gate.release(kit.kept);
            }
            tree.line.give_up().for_each(|cluster| self.gate.release(cluster.held));
            self.spares.forget(&tree.plan);
        }
        self.stopped.store(true, Ordering::Release);
        self.gate.look_again();
    }

    /// Ends the file.
    pub fn close(&self) -> Result<Written> {
        let mut state = self.lock();
        state.check()?;
        if state.open > 0 {
            let error = Error::request(format!("{} fill contexts are not finished, which goes first", state.open));
            self.give_up(&mut state, &error);
            return Err(error);
        }
        // A task that was never begun is not waited for any more.
        state.trees.iter_mut().for_each(|tree| tree.line.close());
        let plans: Vec<_> = state.trees.iter().map(|tree| Arc::clone(&tree.plan)).collect();
        self.advance(state)?;
        plans.iter().for_each(|plan| self.spares.forget(plan));
        self.drop_kits();
        self.output().take().ok_or_else(stopped)?.close()
    }

    /// A look at the work.
    pub fn metrics(&self) -> Metrics {
        let held = self.gate.held();
        let state = self.lock();
        let reached = &state.reached;
        Metrics {
            entries: reached.entries,
            clusters: reached.clusters,
            file_bytes: reached.bytes,
            queue_bytes: reached.queued,
            held_bytes: held.now,
            peak_held_bytes: held.peak,
            waiting: held.waiting,
            appending_ns: u64::try_from(reached.appending.as_nanos()).unwrap_or(u64::MAX),
            contexts: state.clocks.iter().map(|clocks| clocks.seen()).collect(),
        }
    }
}
