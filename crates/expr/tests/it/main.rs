//! The language of expressions: what it gives, what it refuses, and that it agrees with an evaluator of one entry at a time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod extents;
mod language;
mod naive;
mod refusals;
mod table;
