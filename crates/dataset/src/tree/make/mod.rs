//! Makes the metadata of a new tree: the branches and leaves that ROOT's own writer would have made for the same
//! columns and split levels, without baskets.
//!
//! [`make_tree`] follows `TTree::Branch`, `TTree::Bronch` and `TBranchElement` of ROOT 6.40, names, titles and numbers
//! included. Sizes, counts and extremes have their values before the first entry. `fOffset` of split members, a
//! position in the writer's memory, is not set.

mod arrow;
mod classes;
mod closure;
mod columns;
mod existing;
mod leaves;
mod maker;
mod objects;
#[cfg(test)]
mod tests;
mod unpack;
mod unroll;
mod widen;

use rootfile::Result;
use rootfile::object::Named;
use rootfile::streamer::StreamerInfos;

use super::model::Tree;

pub use arrow::columns_for;
pub(crate) use arrow::spelled;
pub(crate) use classes::is_custom;
pub use closure::classes_of;
pub use columns::{NewColumn, NewKind, NewLeaf};
pub use existing::{kind_of, remark};
pub use widen::LeafNumber;

/// Makes the tree with these columns. `infos` must describe their classes.
///
/// # Errors
///
/// If a class is not described, or if ROOT would not make a branch for a column.
pub fn make_tree(name: &str, title: &str, columns: &[NewColumn], infos: &StreamerInfos) -> Result<Tree> {
    let mut maker = maker::Maker::new(infos);
    for column in columns {
        maker.column(column).map_err(|e| e.object(format!("column {}", column.name)))?;
    }
    let named = Named { name: name.to_owned(), title: title.to_owned(), ..Named::default() };
    Ok(maker.finish(named))
}
