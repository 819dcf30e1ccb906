//! Layouts: all choices of how the entries of trees are stored in a file, and ROOT's rules that follow from them.
//!
//! Users write a [`Layout`], `inspect` recovers one from a file, and writers follow one. Pure functions compute what
//! ROOT's own writer does under a layout: where it closes baskets ([`BasketCutter`]), how its buffers grow and shrink
//! ([`BasketBuffer`]), how it distributes memory ([`optimize_baskets`]). Nothing here reads or writes files.

mod baskets;
mod buffer;
mod cluster;
pub mod defaults;
mod encoding;
mod keys;
mod optimize;
mod rules;
mod serial;
mod size;
mod value;

pub use baskets::{BasketCutter, EntryOffsetLen};
pub use buffer::BasketBuffer;
pub use cluster::ClusterSize;
pub use encoding::ColumnEncoding;
pub use keys::{ColumnLayout, Container, Key, Streaming, TreeLayout};
pub use optimize::{BasketPlan, BranchFigures, optimize_baskets, smallest_basket};
pub use rootfile::codec::Compression;
pub use rules::TreeRules;
pub use size::ByteSize;
pub use value::Layout;
