//! Entry selection: the entries that a [`dataset::EntryFilter`] names, and those that pass its cuts ([`cuts`]), become one set of
//! entries for each table ([`apply`]), or for one that is read ([`chosen`]). Columns that expressions define are computed here too
//! ([`defined`]), and the values of expressions ([`computed`]). What only trees have is in [`tree`].

mod apply;
mod chosen;
mod computed;
pub(crate) mod cut_flow;
mod cuts;
mod define;
mod defined;
mod defined_values;
mod names;
mod parts;
mod pass;
mod source;
mod steps;
pub(crate) mod tree;

pub(crate) use apply::EntrySelection;
pub use chosen::{Choice, Chosen, chosen_of_joined};
pub use computed::{Computed, Given, Step};
pub use cut_flow::{CutFlow, CutStep};
pub use define::Define;
pub use defined::Defined;
pub(crate) use defined::refuse_define;
pub(crate) use defined_values::{DefinedReading, DefinedValues};
pub use parts::EvaluatedRows;
pub(crate) use source::{OpenColumns, SourceTree};
