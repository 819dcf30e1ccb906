//! The C interface: `libbasketry`, `basketry.h` and `basketry.hpp`.
//!
//! Each function of the interface is a thin layer over `flow`, `dataset` and `basketry_cli`: it checks what the caller gave, does the work,
//! and turns an error or a panic into an error object. Handles are boxes that the caller owns. `include/basketry.h` is made of this source by
//! cbindgen (a test compares), so the comments of exported items are the interface's reference. What `unsafe` there is stands in `foreign`,
//! `options`, `sink`, `pool`, `arrow`, `gather` and `events`; each block says what the caller has promised.
#![expect(unsafe_code, reason = "this crate is a C interface")]
#![expect(clippy::not_unsafe_ptr_arg_deref, reason = "callers are in C, where each function is what Rust calls unsafe")]
#![warn(clippy::undocumented_unsafe_blocks)]

mod answer;
mod arrow;
mod context;
mod data_set;
mod error;
mod events;
mod foreign;
mod gather;
mod lock;
mod merger;
mod options;
mod pool;
mod settings;
mod shape;
mod sink;
mod table;
mod verbs;
mod version;
mod writer;

pub use arrow::*;
pub use context::*;
pub use data_set::*;
pub use error::*;
pub use events::*;
pub use foreign::*;
pub use merger::*;
pub use pool::*;
pub use sink::*;
pub use table::*;
pub use verbs::*;
pub use version::*;
pub use writer::*;
