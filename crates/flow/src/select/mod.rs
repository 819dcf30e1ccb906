//! Selection of entries: ranges, shares, lists and conditions, as the user gives them.

pub(crate) mod choosing;
pub(crate) mod condition;
pub(crate) mod entries;
