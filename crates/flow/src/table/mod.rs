//! The data model of a table that is moved: columns, pieces of columns, finished records, sets of entries. It reads
//! and writes nothing.

pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod default_entry;
pub(crate) mod depth;
pub(crate) mod made_pages;
pub(crate) mod pages;
pub(crate) mod piece;
pub(crate) mod source;
pub(crate) mod target;
pub(crate) mod text_list;
