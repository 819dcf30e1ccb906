//! Reads and writes ROOT files: the container, without the meaning of what is in it.
//!
//! ```text
//! | header | TFile record | record | record | ... | key list | streamer infos | free list |
//!            |
//!            a record: | key: sizes, class, name, title | payload, in compressed blocks or stored |
//! ```
//!
//! - Reading: [`RootFile`] opens a file or any other [`Source`], lists directories and returns payloads. [`object`]
//!   decodes a payload into values by the file's streamer infos ([`streamer`]).
//! - Writing: [`FileWriter`] appends records and closes the file. A file has a temporary name until all of it is on disk.
//!
//! Each on-disk structure has one module, which reads and writes it: the file header, keys, directories, streamer
//! infos, [`tags`] of objects, compressed blocks ([`codec`]). The facts come from ROOT's sources, which the modules name.
//! All integers in a file are big-endian; offsets and sizes are bytes. Trees (`TTree`) are in the crate
//! `basketry-dataset`.
//!
//! # Example
//!
//! Write an object, find it again, decode it, and copy it into another file:
//!
//! ```
//! use rootfile::codec::Compression;
//! use rootfile::object::{Graph, Named, ObjectReader, ObjectWriter};
//! use rootfile::{FileWriter, RootFile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (input, output) = (folder.path().join("in.root"), folder.path().join("out.root"));
//! let mut writer = FileWriter::create(&input, false, Compression::NONE.to_root_setting(), 0, "")?;
//! let top = writer.top();
//! writer.write_object(top, ("TNamed", "run", "37"), Compression::NONE, |keylen| {
//!     let graph = Graph::default();
//!     let mut object = ObjectWriter::new(keylen, &graph);
//!     object.named(&Named { name: "run".to_owned(), title: "37".to_owned(), ..Named::default() });
//!     Ok(object.out.bytes)
//! })?;
//! writer.finish()?;
//!
//! let file = RootFile::open(&input)?;
//! for directory in file.walk().directories {
//!     for key in &directory.keys {
//!         println!("{} {};{}", key.class, directory.path_of(&key.name), key.cycle);
//!     }
//! }
//! let key = &file.top().keys[0];
//! let payload = file.payload(key)?;
//! let named = ObjectReader::new(&payload, usize::from(key.keylen), file.infos()).named()?;
//! assert_eq!(named.title, "37");
//!
//! // The payload is copied as it is, compressed or not.
//! let mut copy = FileWriter::create(&output, false, file.header().compress, key.datime, "")?;
//! copy.infos_mut().extend(file.infos());
//! copy.copy_object(copy.top(), key, &file.raw_payload(key)?)?;
//! copy.finish()?;
//! assert_eq!(RootFile::open(&output)?.top().keys[0].name, "run");
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//!
//! All functions fail with [`Error`]: its [`ErrorKind`] says whether the request, the file or a limit of this crate is the
//! cause, and the message names the file, the object and the offset. No input makes the crate panic.

mod address;
pub mod bytes;
pub mod codec;
mod datime;
mod descriptors;
mod directory;
mod edit_lock;
mod error;
mod file;
mod foreign;
mod free;
mod header;
mod hint;
mod key;
mod naming;
mod new_folder;
pub mod object;
mod owner;
mod pool;
mod range_bytes;
mod reach;
mod redact;
mod scratch;
mod source;
pub mod streamer;
pub mod tags;
mod target;
mod temporary;
pub mod text;
mod tobject;
mod url;
mod writer;

pub use address::{
    Credentials, UrlLister, UrlOpener, forget_handed_over, hand_over, list_url, open_source, register_urls,
};
pub use datime::{date_of_datime, date_of_days, datime_of_epoch};
pub use descriptors::OPEN_FILES;
pub use directory::{DirectoryRecord, parse_key_list};
pub use edit_lock::EditLock;
pub use error::{Error, ErrorKind, Result};
pub use file::{
    Committed, Directory, Holder, Mismatch, Place, Role, RootFile, Run, Walk, hear_of_unclosed, is_directory,
};
pub use foreign::foreign;
pub use free::FreeSegment;
pub use header::{BEGIN, FileHeader, START_BIG_FILE};
pub use hint::{Hint, HintValue};
pub use key::{BIG_KEY, BIG_KEY_ROOM, Key};
pub use naming::NamingWatch;
pub use new_folder::NewFolder;
pub use owner::{Owned, Owner};
pub use pool::FilePool;
pub use range_bytes::{RangeBuffer, RangeBytes, RangeReader};
pub use reach::Follow;
pub use redact::{has_secrets, public_path, public_text};
pub use scratch::ScratchFolder;
pub use source::{LocalFile, MemoryFile, Source, Traffic, range_len, read_as_range};
pub use target::{check_output, is_same_file, is_same_place};
pub use temporary::{abandon_outputs, abandon_unless_named, outputs_abandoned, unfinished_output};
pub use url::{beside, url};
pub use writer::{DirId, FileWriter, OutputFile, ROOT_VERSION, SavedObject, Sink, StagedFile, shrink, time_in_syncs};
