//! The ROOT file container.
#![warn(missing_docs)]

pub mod codec;
mod error;

pub use error::{Error, ErrorKind, Result};
