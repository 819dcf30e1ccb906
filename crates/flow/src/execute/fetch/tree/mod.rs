//! Baskets of the inputs: fetched, decompressed, kept for the clusters that share them, and decoded.

pub(crate) mod basket_cache;
pub(crate) mod column_stream;
pub(crate) mod counters;
pub(crate) mod fetcher;
pub(crate) mod learn;
pub(crate) mod sound_basket;
