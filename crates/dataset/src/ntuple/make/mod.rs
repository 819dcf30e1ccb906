//! Makes the schema of a new RNTuple: the fields and columns that ROOT's own writer makes for the same types. Nothing here
//! writes bytes.
//!
//! | module | job |
//! |---|---|
//! | `new_field` | what a caller asks for: top-level fields by C++ type, or of records and lists without a type |
//! | `maker` | fields and columns of a type |
//! | `classes` | the members of a class, from its streamer info |
//! | `column_encoding` | which column type stores a number |
//! | `from_columns` | the fields for the columns of a tree, as ROOT's importer makes them |
//! | `from_arrow` | the fields for Arrow data |
//! | `again` | the schema of an existing RNTuple, for new clusters and pages |
//! | `to_columns` | the columns of a tree for the fields of an RNTuple |
//! | `late` | fields that are added later, in the footer |
//! | `inputs` | the columns that a writer takes for these fields |

mod again;
mod classes;
mod column_encoding;
mod from_arrow;
mod from_columns;
mod inputs;
mod late;
mod maker;
mod new_field;
mod to_columns;
pub use again::schema_again;
pub use column_encoding::FieldEncoding;
pub use from_arrow::fields_for;
pub use from_columns::{field_name, fields_of_columns};
pub use inputs::{Input, InputUse};
pub use late::extended;
pub use maker::{MadeSchema, make_schema};
pub use new_field::{Counted, FieldKind, NewField};
pub use to_columns::{ColumnSource, TreeColumns, columns_of_fields};
