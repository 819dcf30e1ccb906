//! What columns cost, measured: bytes, compression, decompression and decoding time of samples, by codec and basket size.
//!
//! [`facts`] lists columns from a file's metadata, [`forms`] other forms that they may have, [`sample`] reads some of their baskets, [`measure`] tries codecs
//! on them within a budget, [`confirm`] looks at other baskets for what was chosen, and [`model`] says from the measured lines what a layout costs. Times are CPU times of
//! one thread. [`replay`] reads a whole file to see whether the model was right. Nothing here decides.

mod allowance;
mod bench;
mod calibrate;
pub(crate) mod clock;
pub(crate) mod confirm;
mod decoding;
pub(crate) mod facts;
pub(crate) mod forms;
mod in_place;
mod kind;
mod line;
pub(crate) mod measure;
pub(crate) mod model;
pub(crate) mod replay;
mod sample;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod trial;
mod workload;
mod worth;

pub(crate) use allowance::Allowance;
pub(crate) use bench::{Bench, Codecs};
pub use calibrate::Access;
pub(crate) use calibrate::calibrate;
pub(crate) use clock::process_seconds;
pub(crate) use decoding::Decode;
pub(crate) use in_place::InPlace;
pub use kind::Kind;
pub(crate) use line::Line;
pub use replay::Reading;
pub(crate) use replay::replay;
pub use workload::Workload;
pub(crate) use workload::{Demand, Term};
pub(crate) use worth::Worth;
