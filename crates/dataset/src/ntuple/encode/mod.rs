//! Encoding: Arrow arrays as the elements of columns, the mirror of [`decode`](super::decode). The caller cuts pages where it
//! likes, compresses them and decides where clusters end.
//!
//! A [`TableEncoder`] is made once for a schema. It consists of [`FieldEncoder`]s, one for each stored top-level field: those may
//! run in parallel, for each has columns of its own. A [`PendingColumn`] keeps the elements that are in no page yet.
//!
//! `node` says how values lie in columns, as data; `append` runs it over arrays; `objects` writes objects as ROOT's streamer does.

mod append;
mod field_encoder;
mod node;
mod objects;
mod pending;

pub use field_encoder::{FieldEncoder, TableEncoder};
pub use pending::PendingColumn;
