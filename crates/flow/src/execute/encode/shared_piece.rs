//! A basket or page that was cut out of its stream, and is made by whichever thread takes it.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rootfile::Result;

use super::clocks::{Clocks, add};
use super::compressors::Compressors;
use super::scratch::EncodeScratchPool;
use super::stream_fill::StreamFill;
use crate::execute::shared_work::Slot;
use crate::execute::workers::guarded;

/// A piece that is made apart from its stream.
pub(crate) struct SharedPiece<S: StreamFill> {
    cut: Mutex<Option<S::Cut>>,
    made: Slot<Result<S::Made>>,
    compressors: Arc<Compressors>,
    clocks: Arc<Clocks>,
}

impl<S: StreamFill> SharedPiece<S> {
    /// A piece of the context with these compressors and clocks.
    pub fn new(cut: S::Cut, scratches: &EncodeScratchPool) -> Arc<Self> {
        let (compressors, clocks) = (Arc::clone(&scratches.compressors), Arc::clone(&scratches.clocks));
        Arc::new(Self { cut: Mutex::new(Some(cut)), made: Slot::new(), compressors, clocks })
    }

    /// Makes it on the thread that cut it.
    pub fn make(&self) {
        self.make_and_count(&self.clocks.compressing);
    }

    /// Makes it, whichever thread this is.
    pub fn help(&self) {
        self.make_and_count(&self.clocks.helped);
    }

    /// Where it is when it is made.
    pub fn made(&self) -> &Slot<Result<S::Made>> {
        &self.made
    }

    /// A panic is an error: who waits for the piece gets it.
    fn make_and_count(&self, time: &AtomicU64) {
        let cut = self.cut.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(cut) = cut else { return };
        let made = guarded(
            || "the making of a basket or page".to_owned(),
            || {
                let mut lent = self.compressors.lend();
                let started = Instant::now();
                let made = S::make(cut, &mut lent.compressor);
                add(time, started.elapsed());
                made
            },
        );
        self.made.put(made);
    }
}
