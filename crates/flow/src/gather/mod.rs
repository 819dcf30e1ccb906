//! An open output that gathers whole ROOT files: parts in memory are added one after the other, from any thread, and the output is what
//! a merge of all of them would be. Frameworks whose threads fill files in memory (`TMemFile`) write so, as with ROOT's `TBufferMerger`.
//!
//! `merge` is the interface, with the order of parts; `pool` limits their memory; `output` decides what becomes of a part: its baskets
//! and pages move into the open file at once (`streaming`, a `growing` table for each tree and RNTuple), or, where the parts are not
//! alike, it waits in a file for the end (`store`), and an ordinary merge follows.

mod buffer;
mod growing;
mod merge;
mod ntuple;
mod options;
mod output;
mod part;
mod pool;
mod store;
mod streaming;
mod told;
mod tree;

pub use buffer::PartBuffer;
pub use merge::GrowingMerge;
pub use options::GatherOptions;
pub use pool::{GatherPool, PoolUse};
