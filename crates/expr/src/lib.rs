//! One language for conditions and columns: an expression is parsed, gets its types from a table's columns, and is evaluated over Arrow
//! arrays. This crate knows Arrow and no files.
//!
//! An [`Expression`] is a text that was parsed. With the [`Names`] of a table it becomes a [`Program`], which is evaluated entry by entry:
//! one value, or nested lists of values, for each. The operators are Python's, and those of C beside them; docs/expressions.md has the
//! language. `token` and `parse` make the tree (`syntax`), `bind` gives it types (`typed`, `types`, `function`), `evaluate` runs it over
//! `values`: the levels of lists as offsets, and the values of all lists in one array. `extents` tells what values can be without
//! a look at them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Float64Array};
//! use arrow_schema::DataType;
//! use expr::{Entries, Expression, NamedColumn, Names};
//!
//! struct Table;
//!
//! impl Names for Table {
//!     fn column(&self, name: &str) -> Option<NamedColumn> {
//!         (name == "pt").then_some(NamedColumn { number: 0, data_type: DataType::Float64 })
//!     }
//!     fn alias(&self, _: &str) -> Option<String> {
//!         None
//!     }
//!     fn known(&self) -> Vec<String> {
//!         vec!["pt".to_owned()]
//!     }
//! }
//!
//! let program = Expression::parse("20 < pt <= 50")?.bind(&Table)?.condition()?;
//! let pt: ArrayRef = Arc::new(Float64Array::from(vec![10.0, 30.0, 60.0]));
//! let passed = program.passed(&[pt], Entries::from(0))?;
//! assert_eq!(passed.iter().collect::<Vec<_>>(), [false, true, false]);
//! # Ok::<(), expr::Error>(())
//! ```

mod bind;
mod entries;
mod error;
mod evaluate;
mod extents;
mod function;
mod parse;
mod program;
mod syntax;
mod token;
mod typed;
mod types;
mod values;

pub use bind::{NamedColumn, Names};
pub use entries::Entries;
pub use error::{Error, ErrorKind, Result};
pub use extents::{Extent, Passing, Span};
pub use program::{Condition, Expression, Program};
pub use types::{Kind, Type};
