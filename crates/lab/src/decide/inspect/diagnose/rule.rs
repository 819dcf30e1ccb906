//! What each fault has: how it is detected, its sentence, and its remedy. The faults are in [`super::faults`].

use super::remedy::Remedy;
use super::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::{Cost, Pays, Price};

/// A kind of fault. Its value has the numbers of one that was found.
pub(super) trait Rule: Sized {
    /// The fault, in what is looked at. Below a threshold of its cost it is none.
    fn find(_: &Diagnosed<'_>) -> Option<Detected<Self>> {
        None
    }

    /// The same, of a kind of which there can be several.
    fn find_all(at: &Diagnosed<'_>) -> Vec<Detected<Self>> {
        Self::find(at).into_iter().collect()
    }

    /// Its description, and the reason for its cost, in a sentence or two.
    fn sentence(&self, words: Words) -> String;

    /// What mends it, if a command of basketry does.
    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        None
    }

    /// What mends it in files where that does not, the best first.
    fn others(&self, _: &Diagnosed<'_>) -> Vec<Remedy> {
        Vec::new()
    }
}

/// A fault with its cost, without its sentence and command.
#[derive(Debug)]
pub(super) struct Detected<F> {
    pub fault: F,
    pub cost: Cost,
    pub price: Price,
    pub pays: Pays,
}

impl<F> Detected<F> {
    pub fn new(fault: F, cost: Cost) -> Self {
        Self { fault, cost, price: Price::default(), pays: Pays::Reader }
    }

    pub fn priced(self, price: Price) -> Self {
        Self { price, ..self }
    }

    pub fn of_writer(self) -> Self {
        Self { pays: Pays::Writer, ..self }
    }

    /// As one of any kind.
    pub fn into_any<Any: From<F>>(self) -> Detected<Any> {
        Detected { fault: self.fault.into(), cost: self.cost, price: self.price, pays: self.pays }
    }
}
