//! Objects as values: anything that a file's streamer infos describe, read into a small value model and
//! written back byte for byte.
//!
//! This is for metadata (trees, histograms, lists); the entries of branches never pass through it. Members that no
//! streamer info describes, and collections of the standard library, stay opaque bytes with their frame.

mod handwritten;
mod plan;
mod plans;
mod read;
mod typed;
mod value;
mod write;

pub use plan::{PackedNumber, Plan, Step};
pub use read::{CustomStreamer, ObjectReader, array_class};
pub use typed::{Place, Span, Typed};
pub use value::{Array, Collection, Content, Graph, Members, Named, Object, ObjectId, Value};
pub use write::ObjectWriter;

pub use crate::tobject::{TObject, read_tobject, write_tnamed, write_tobject};
