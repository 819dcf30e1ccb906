//! How the entries of trees lie in a file: the one plain value for it, and ROOT's rules that follow from it.
//!
//! [`Layout`] is what users write, `inspect` recovers and writers are given. The other half are pure functions that
//! say what ROOT's own writer does under a layout: where it closes baskets ([`BasketCutter`]), how its buffers grow
//! and shrink ([`BasketBuffer`]), how it shares out memory ([`optimize_baskets`]). Nothing here reads or writes files.

mod baskets;
mod buffer;
mod cluster;
pub mod defaults;
mod keys;
mod optimize;
mod rules;
mod serial;
mod size;
mod value;

pub use baskets::{BasketCutter, EntryOffsetLen};
pub use buffer::BasketBuffer;
pub use cluster::ClusterSize;
pub use keys::{ColumnLayout, Container, Streaming, TreeLayout};
pub use optimize::{BasketPlan, BranchFigures, optimize_baskets, smallest_basket};
pub use rootfile::codec::Compression;
pub use rules::TreeRules;
pub use size::ByteSize;
pub use value::Layout;
