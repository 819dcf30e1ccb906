//! Reads trees into Arrow: which entries of which columns of which files, on threads, within a [`Budget`].
//!
//! One way through: a [`Dataset`] knows where the baskets of all its files lie, [`tasks`] deals out the wanted ones
//! cluster by cluster, workers fetch and decompress them, and each column's [`lane`] decodes them in their order. What a
//! branch's bytes mean is known to `dataset::decode` alone.

mod batches;
pub(crate) mod counts;
mod friends;
mod lane;
pub(crate) mod learn;
mod open;
mod request;
mod run;
mod spent;
mod tasks;

pub use batches::{Batches, Step, batches};
pub use friends::Friend;
pub use open::Dataset;
pub use request::{Request, Selection};
pub(crate) use run::least_memory;
pub use run::{Read, drain, read};
pub use spent::Spent;

use crate::budget::Budget;
