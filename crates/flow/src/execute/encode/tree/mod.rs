//! Baskets of the output: entries encoded or moved, cut and compressed.

pub(crate) mod basket_builder;
pub(crate) mod branch_fill;
pub(crate) mod branch_plan;
mod class_tags;
mod figures;
mod made_basket;
mod maximum;
mod offset_array;
pub(crate) mod reduced;
mod stored_fill;
