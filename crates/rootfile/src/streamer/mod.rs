//! Streamer infos: the description, kept in each file, of how the classes in it are laid out.
//!
//! A [`StreamerInfo`] lists the elements (bases and members) of one version of one class. [`StreamerInfos`]
//! holds those of a file and answers by class and version, falling back on the infos of ROOT 6 classes that
//! are built in ([`builtin`]). How an element's type code lies in bytes is said in `object`.

pub mod builtin;
pub mod describe;
mod element;
mod info;
mod infos;
mod packed;
mod range;
mod record;

pub use element::{ElementKind, HAS_RANGE, StreamerElement, code};
pub use info::StreamerInfo;
pub use infos::StreamerInfos;
pub use packed::Packed;
pub use range::Range;
pub use record::{parse_record, write_record};

pub(crate) use info::FORM;
