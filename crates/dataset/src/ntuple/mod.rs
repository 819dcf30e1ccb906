//! RNTuples (`ROOT::RNTuple`) in ROOT files: metadata, pages, and the values of fields.
//!
//! | module | job |
//! |---|---|
//! | [`model`] | what an RNTuple is: fields, columns, cluster groups, clusters, pages |
//! | [`element`] | the column types, and how the elements of a page are encoded |
//! | [`decode`] | the values of a field as an Arrow array |
//! | [`make`] | the schema of a new RNTuple |
//! | [`encode`] | Arrow arrays as elements of columns |
//! | [`type_name`] | compares names of types, whoever wrote them |
//! | [`table`] | an RNTuple with its page lists, and the pieces of its fields |
//! | [`cluster_reader`] | reads entries of one field from one cluster |
//! | [`read`] | reads fields in one call |
//! | [`soundness`] | whether metadata and columns agree, so that fields read |
//! | [`page`] | verifies and decompresses pages |
//! | `open` | from a key to the metadata, and from a cluster group to its pages |
//! | `anchor`, `header`, `footer`, `page_list` | one structure in the file each, read and written |
//! | `schema`, `schema_rules` | the fields and columns in header and footer, and what must hold between them |
//! | `envelope`, `frame`, `locator` | what these structures are made of |
//! | `blob`, `blob_key` | the bytes of a block, and the key of one that is written |
//! | `made_page` | pages of zeroes, with other numbers, and in other encodings |
//! | `class_infos` | the streamer infos of streamed fields |
//!
//! Terms are those of ROOT's specification (`tree/ntuple/doc/BinaryFormatSpecification.md`). A *field* has a C++ type. It has
//! columns, fields below it, or both. A *column* is a sequence of *elements* of one type. A *page* is a record with consecutive
//! elements of one column. All pages with the data of a range of entries form a *cluster*.

mod anchor;
mod blob;
mod blob_key;
mod class_infos;
pub mod cluster_reader;
pub mod decode;
pub mod element;
pub mod encode;
mod envelope;
mod footer;
mod frame;
mod header;
mod locator;
mod made_page;
pub mod make;
pub mod model;
mod open;
pub mod page;
mod page_list;
pub mod read;
mod recognise;
mod schema;
mod schema_rules;
pub mod soundness;
pub mod table;
pub mod type_name;

pub use anchor::{parse_anchor, write_anchor};
pub use blob::{is_one_key, read_blob, read_block};
pub use blob_key::{MAX_KEY_SIZE, blob_key};
pub use class_infos::{STREAMER_INFOS, join_streamer_infos};
pub use envelope::{EnvelopeKind, envelope_checksum, open_envelope, seal_envelope};
pub use footer::write_footer;
pub use frame::{Reader, Writer};
pub use header::write_header;
pub use made_page::{add_to_page, recode_page, zero_page};
pub use open::{parse_ntuple, read_attribute_set, read_ntuple, read_page_list};
pub use page_list::{parse_page_list, write_page_list};
pub use recognise::{is_ntuple, is_released, name_of_header};
