//! Column types of the specification, and how the elements of a page are encoded in bytes. Nothing here knows fields or
//! files.
//!
//! A reader makes the [`Encoding`] of a column once, and the [`Elements`] of a column for each Arrow array. Then it decodes
//! pages, one after the other, whole or in part:
//!
//! ```
//! use dataset::ntuple::element::{ColumnType, Elements, Encoding};
//!
//! let encoding = Encoding::new(ColumnType::SplitIndex32, 32, None)?;
//! let mut ends = Elements::new(encoding.kind(), false);
//! ends.start_cluster(0)?;
//! // Three collections in a page, with 2, 0 and 1 elements: differences, then split.
//! ends.decode(&encoding, &[2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3, 0..3)?;
//! ends.start_cluster(0)?;
//! // In the next cluster, whose ends start anew: one with 5 elements.
//! ends.decode(&encoding, &[5, 0, 0, 0], 1, 0..1)?;
//! let Elements::Index(ends) = ends else { unreachable!() };
//! assert_eq!(ends.offsets(), [0, 2, 2, 3, 8]);
//! # Ok::<(), rootfile::Error>(())
//! ```
//!
//! | module | job |
//! |---|---|
//! | `column_type` | types, their codes and bits |
//! | `encoding` | a type with its parameters, checked |
//! | `elements`, `encode` | decoded elements; which decoder and encoder is for which type |
//! | `ends` | the offsets of an index column |
//! | `unpack`, `pack` | bytes to words and back |
//! | `word`, `float` | words to values and back |
//! | `exact` | how many bits numbers need |

mod column_type;
mod elements;
mod encode;
mod encoding;
mod ends;
mod exact;
mod float;
mod pack;
mod unpack;
mod word;

pub use column_type::{ColumnType, Kind};
pub use elements::Elements;
pub use encoding::Encoding;
pub use ends::Ends;
pub use exact::NeededBits;
pub(crate) use float::quantized;
pub(crate) use pack::native;
pub(crate) use word::Word;

#[cfg(test)]
mod tests;
