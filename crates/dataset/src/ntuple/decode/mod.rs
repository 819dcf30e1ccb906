//! Decoding: the values of a field as an Arrow array.
//!
//! A [`FieldPlan`] is made once for a field, from the schema alone. A [`FieldBuilder`] appends clusters, or ranges of their
//! entries, and writes straight into the final Arrow buffers. It asks an [`ElementSource`] for ranges of elements, so that
//! only the pages with these elements are needed: for a collection first for the ends, then for the elements between them.
//! A field that cannot be read gives nulls, with the reason.
//!
//! | module | job |
//! |---|---|
//! | `node` | how values are put together from columns, as data |
//! | `planner` | from the schema to nodes |
//! | `field_plan` | the nodes of a field with its Arrow field |
//! | `parts` | a field in parts, for several threads |
//! | `values` | the growing buffers |
//! | `append` | the nodes, run over the elements of a cluster |
//! | `numbers` | numbers from columns of another type |
//! | `rules` | what must hold between the elements of columns |
//! | `builder` | the interface for those who have pages |

mod append;
mod builder;
mod field_plan;
pub(in crate::ntuple) mod node;
pub(in crate::ntuple) mod numbers;
mod parts;
mod planner;
pub(in crate::ntuple) mod rules;
#[cfg(test)]
mod tests;
pub(in crate::ntuple) mod values;

pub use append::ElementSource;
pub(in crate::ntuple) use append::empty;
pub use builder::FieldBuilder;
pub use field_plan::{FieldPlan, fields};
pub use parts::MOST_PARTS;
pub(in crate::ntuple) use planner::program_of;
