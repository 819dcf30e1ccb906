//! Writes a ROOT file: records appended in order, then key lists, streamer infos, free list and header.
//!
//! The output has a temporary name until all of it is on disk, so a file under its final name is complete. The same
//! records give the same bytes: the caller gives the dates, and the UUID is a hash of the records.

mod close;
mod directories;
mod disk;
mod file_writer;
mod gaps;
mod in_place;
mod output;
mod place;
mod save;
mod saved;
mod shrink;
mod staged;
mod syncs;
#[cfg(test)]
mod tests;
mod trailer;
mod update;
mod updated;

pub use directories::DirId;
pub use file_writer::{FileWriter, ROOT_VERSION};
pub use output::OutputFile;
pub use place::Sink;
pub use save::SavedObject;
pub use shrink::shrink;
pub use staged::StagedFile;
pub use syncs::time_in_syncs;
