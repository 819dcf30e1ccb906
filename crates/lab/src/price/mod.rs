//! What a file costs over its life: a [`PriceBook`] turns bytes and CPU seconds into money, CPU hours, TB-years and kWh.
//!
//! The costs come from others: this module measures nothing, knows no layout, and decides nothing. Its prices and their sources are in
//! `default.toml`. All is proportional to bytes and seconds, so [`PriceBook::rates`] says the same as [`PriceBook::bill`] in
//! one number for each.

mod bill;
mod book;

pub use bill::{Bill, Rates, Usage};
pub use book::{Cpu, Energy, Life, Network, PriceBook, Storage};
