//! Header, pages, page lists, footer and anchor of an RNTuple.

pub(crate) mod open_ntuple;
pub(crate) mod page_sink;
