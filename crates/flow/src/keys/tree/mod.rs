//! What only trees have of keys: their index (`TTreeIndex`), whose lines are the values of two expressions of each entry (`index_values`),
//! as they are named (`index_names`). It is made of all entries (`built_index`), or for an input that has none (`index_lines`).

mod built_index;
mod index_lines;
mod index_names;
mod index_values;

pub(crate) use built_index::{IndexedRows, built_index};
pub(crate) use index_lines::index_lines;
pub(crate) use index_names::BUILD_INDEX;
pub use index_names::IndexNames;
pub(crate) use index_values::IndexValues;
