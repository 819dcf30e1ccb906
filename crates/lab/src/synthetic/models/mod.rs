//! Data sets of published benchmarks, of any size, as Arrow record batches.
//!
//! An entry depends only on the seed and its number. Batches can therefore be made of any range, in any order and by any
//! thread, and a larger data set begins with the same entries. Nothing here writes a file.

mod builder;
mod containers;
mod count;
mod event;
mod generators;
mod kinds;
mod lhcb;
mod model;
mod nano;
mod random;

#[cfg(test)]
mod tests;

use rootfile::{Error, Result};

use self::builder::ModelBuilder;
pub use self::model::{Model, ModelColumn};

/// The names of the data sets.
pub const NAMES: [&str; 6] = ["single", "multi", "nano", "lhcb", "aod", "esd"];

/// More bytes than any measurement needs: a petabyte.
const MOST_SIZE: u64 = 1_000_000_000_000_000;

/// Parameters of a data set.
#[derive(Clone, Copy, Debug)]
pub struct ModelOptions {
    /// Bytes of payload: numbers and texts, without counts and the overhead of a format.
    pub size: u64,
    /// Seed of the numbers.
    pub seed: u64,
    /// How many branches `multi` has.
    pub branches: u32,
    /// How many events there are in each entry of a branch of `multi`.
    pub events: u32,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { size: 100_000_000, seed: 1, branches: 10, events: 10 }
    }
}

impl Model {
    /// The data set of that name, see [`NAMES`].
    ///
    /// # Errors
    ///
    /// There is no data set of that name, or it is too large.
    pub fn named(name: &str, options: &ModelOptions) -> Result<Self> {
        if options.size > MOST_SIZE {
            return Err(Error::request(format!(
                "a data set of {} bytes is too large: the maximum is {MOST_SIZE}",
                options.size
            )));
        }
        let mut builder = ModelBuilder::new(options.seed);
        match name {
            "single" => event::single(&mut builder),
            "multi" => event::multi(&mut builder, options.branches, options.events)?,
            "nano" => nano::nano(&mut builder),
            "lhcb" => lhcb::lhcb(&mut builder),
            "aod" => containers::aod(&mut builder),
            "esd" => containers::esd(&mut builder),
            kinds::NAME => kinds::kinds(&mut builder),
            _ => return Err(Error::request(format!("no data set {name:?}; known data sets: {}", NAMES.join(", ")))),
        }
        Ok(builder.sized(options.size))
    }
}
