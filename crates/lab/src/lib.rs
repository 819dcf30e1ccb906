//! Measures what a layout costs, and decides.
//!
//! [`inspect`] says what is in a file and how it lies there; [`diagnose`] says what is wrong with that, what it costs,
//! and which command mends it.
#![warn(missing_docs)]

pub mod diagnose;
pub mod inspect;
