//! A basket: the record that holds some consecutive entries of one branch.
//!
//! Layout (`TBasket::Streamer`, `TBasket::ReadBasketBuffers`): a key, and behind its title the basket's own header, both
//! within fKeylen. The payload is the entries; behind them, for entries of variable length, their offsets (a count, then
//! numbers that count from the start of the key), and the displacements, if any: the positions of the entries when they
//! were first written, from which their class tags count.

mod data;
mod header;
mod peek;
mod place;

pub use data::{BasketData, Entries, Payload};
pub use header::{BasketHeader, GENERATE_OFFSET_MAP};
pub use peek::{Listed, Peek};
pub use place::{BasketPlace, place};
