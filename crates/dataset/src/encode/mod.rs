//! Encoding: Arrow arrays as the bytes of a tree's branches, the mirror of [`decode`](crate::decode).
//!
//! The [`ColumnPlan`](crate::decode::ColumnPlan) of a branch serves reading and writing. A [`ColumnEncoder`] runs it over
//! arrays. The caller makes baskets, compresses and writes files.
//!
//! `view` splits an array by its shape; `encoder` runs the program, with `objects`, `lists`, `scalars` and `arrays` for
//! single values, and with `rows` and `numbers` for values of equal size; `forms` has facts about classes; `entries` writes
//! the entry layouts.

mod arrays;
mod column_encoder;
mod encoded;
mod encoder;
pub(crate) mod entries;
pub(crate) mod forms;
mod lists;
mod numbers;
mod objects;
mod rows;
mod scalars;
#[cfg(test)]
mod tests;
pub(crate) mod view;

pub use self::column_encoder::ColumnEncoder;
pub use self::encoded::EncodedEntries;
