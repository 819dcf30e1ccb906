//! What a rule returns: a fault with its cost and price. [`super::diagnose`] adds the message and the command.

use crate::inspect::finding::{Cost, Fault, Pays, Price};

/// A fault without its message and command.
#[derive(Debug)]
pub(super) struct Detected {
    pub fault: Fault,
    pub cost: Cost,
    pub price: Price,
    pub pays: Pays,
}

impl Detected {
    pub fn new(fault: Fault, cost: Cost) -> Self {
        Self { fault, cost, price: Price::default(), pays: Pays::Reader }
    }

    pub fn priced(self, price: Price) -> Self {
        Self { price, ..self }
    }

    pub fn of_writer(self) -> Self {
        Self { pays: Pays::Writer, ..self }
    }
}
