//! The data model of RNTuples: pages that are moved or made.

pub(crate) mod made_pages;
pub(crate) mod pages;
