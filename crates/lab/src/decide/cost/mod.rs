//! What columns cost: size, and time to compress, decompress and decode, by codec and basket size. This module decides
//! nothing.
//!
//! `clusters` says how many clusters are enough, `codec_speeds` has numbers for what is decided before anything is measured, `nominal` plans by them. `statistics` lists columns from metadata (`page_columns` those of RNTuples), `forms` their other forms, `sample` reads some
//! baskets, `page_sample` some pages, `measure` tries
//! codecs on them within a budget, `kept` holds what was read of a file on another machine, `confirm` tries the chosen codecs on other baskets, and `model` computes the cost of a
//! layout. `trial` writes a layout into a temporary file, `replay` reads files as a workload would. Times are CPU seconds
//! of one thread.

mod allowance;
mod bench;
mod calibrate;
pub(crate) mod clusters;
pub(crate) mod codec_speeds;
pub(crate) mod column;
pub(crate) mod column_costs;
pub(crate) mod confirm;
mod curve;
mod decoding;
pub(crate) mod forms;
mod full_read;
mod kept;
mod kind;
mod line;
pub(crate) mod measure;
pub(crate) mod measured;
pub(crate) mod model;
pub(crate) mod nominal;
mod packing;
mod page_columns;
pub(crate) mod page_counts;
mod page_sample;
mod piece;
pub(crate) mod replay;
mod sample;
pub(crate) mod statistics;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod trial;
mod utility;
mod views;
mod workload;

pub(crate) use allowance::Allowance;
pub(crate) use bench::{CodecBench, Codecs};
pub use calibrate::Access;
pub(crate) use calibrate::calibrate;
pub(crate) use decoding::Decode;
pub(crate) use full_read::FullRead;
pub use kind::Kind;
pub(crate) use line::Line;
pub(crate) use packing::Packing;
pub use replay::Reading;
pub(crate) use replay::replay;
pub use utility::Goal;
pub(crate) use utility::{Utility, Weights};
pub use workload::Workload;
pub(crate) use workload::{Demand, Term};
