//! The trees of a recovery. `check` decompresses each basket, `attach` adds those that no tree lists, and cuts each tree where the
//! first of its branches ends.

pub(super) mod attach;
mod basket_order;
pub(super) mod check;
pub(super) mod leaf_maxima;
pub(super) mod saves;
