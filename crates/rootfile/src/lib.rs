//! The ROOT file container.
#![warn(missing_docs)]

mod error;

pub use error::{Error, ErrorKind, Result};
