//! Keys: a few columns, or expressions, whose values say which event an entry is. Values of a key are packed into 128 bits that compare as
//! they do (`key_type`), read of one table (`columns`) or of the tables of many files (`files`), sorted in runs within a budget
//! (`sorter`), and merged (`merged`). What is made of keys in their order is for others; entries that share a key are found here
//! (`duplicates`), and so is the order of the entries of a
//! table (`sorted`) by a key that may descend (`sort_key`), and what
//! two tables have of the same keys (`matched`). What only trees have is in `tree`.

pub(crate) mod columns;
mod duplicates;
mod entry_bits;
pub(crate) mod files;
pub(crate) mod key_type;
mod matched;
mod merged;
mod names;
mod repeated;
mod row;
mod runs;
mod sort_key;
mod sorted;
mod sorter;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

pub use duplicates::{Duplicate, DuplicateKeys, EntryOfKey};
pub(crate) use entry_bits::EntryBits;
pub use files::{KeyedFile, duplicates_of_files};
pub use matched::{LoneKey, LoneKeys, MatchedKeys};
pub(crate) use matched::{Matching, match_entries};
pub(crate) use merged::Merged;
pub use names::KeyNames;
pub(crate) use names::bare;
pub(crate) use repeated::{RepeatedEntries, repeated_entries};
pub(crate) use row::{Row, first_place};
pub use sort_key::SortKey;
pub use sorted::UnsortedInput;
pub(crate) use sorted::{SortJob, beside_order, sorted_entries};
pub(crate) use sorter::Sorter;
pub use tree::IndexNames;
