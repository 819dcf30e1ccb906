//! The ROOT file container: what lies in a file, before anybody asks what it means.
//!
//! ```text
//! | header | TFile record | record | record | ... | key list | streamer infos | free list |
//!            |
//!            a record: | key: sizes, class, name, title | payload, in compressed blocks or as it is |
//! ```
//!
//! Reading: [`RootFile`] opens a [`Source`], lists directories and hands out payloads; [`object`] turns a
//! payload into values by the file's [`streamer`] infos. Writing: [`FileWriter`] appends records and closes.
//! Formats: `header`, `key`, `directory`, `streamer::record`, `tags` and `codec` each have one
//! on-disk structure, read and written side by side. Nothing here knows what a tree is.

pub mod bytes;
pub mod codec;
mod datime;
mod directory;
mod error;
mod file;
mod free;
mod header;
mod key;
pub mod object;
mod pool;
mod scratch;
mod source;
pub mod streamer;
pub mod tags;
mod target;
mod temporary;
pub mod text;
mod tobject;
mod writer;

pub use datime::datime_of_epoch;
pub use directory::{DirectoryRecord, parse_key_list};
pub use error::{Error, ErrorKind, Result};
pub use file::{Directory, Mismatch, RootFile, Walk, is_directory};
pub use free::FreeSegment;
pub use header::{FileHeader, START_BIG_FILE};
pub use key::{BIG_KEY, Key};
pub use pool::{FilePool, OPEN_FILES};
pub use scratch::ScratchFolder;
pub use source::{LocalFile, MemoryFile, Source};
pub use target::{check_output, is_same_file, is_same_place};
pub use temporary::{abandon_outputs, abandon_unless_named, outputs_abandoned, unfinished_output};
pub use writer::{DirId, FileWriter, OutputFile, ROOT_VERSION, SavedObject, StagedFile};
