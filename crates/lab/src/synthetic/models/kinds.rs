//! `kinds`: columns of each kind that readers treat in a way of their own, for calibrations. It is no data set of a benchmark, and has no
//! place among the names.

use super::builder::ModelBuilder;
use super::count::CountSpec;
use super::event::VECTOR;
use super::generators::{Class, Number, Spec};
use super::random::Distribution;

pub(super) const NAME: &str = "kinds";

const FLOAT: Spec = Spec::Number(Number::F32, Distribution::Bell);
const INT: Spec = Spec::Number(Number::I32, Distribution::Below(1000));
const DOUBLE: Spec = Spec::Number(Number::F64, Distribution::Falling);
const WORDS: Spec =
    Spec::Text(&["HLT_IsoMu24", "HLT_Ele32", "run", "HLT_PFMET120_PFMHT120", "L1", "a description of some words"]);

static PARTICLE: Class = Class {
    name: "KindsParticle",
    base: None,
    members: &[("momentum", Spec::Class(&VECTOR)), ("energy", DOUBLE), ("id", INT), ("status", INT)],
};

/// The columns. A calibration takes those of one kind at a time.
pub(super) fn kinds(builder: &mut ModelBuilder) {
    for number in 0..3 {
        builder.value(&format!("text{number}"), WORDS);
    }
    let some = CountSpec::Poisson(5);
    for (number, of) in [FLOAT, INT, DOUBLE].into_iter().enumerate() {
        builder.vectors(some, &[(format!("vector{number}"), of)], None);
    }
    let few = CountSpec::Poisson(3);
    for (number, of) in [Spec::Vector(few, &FLOAT), Spec::Vector(few, &INT), WORDS].into_iter().enumerate() {
        builder.vectors(few, &[(format!("nested{number}"), of)], None);
    }
    for (number, class) in [&VECTOR, &PARTICLE, &VECTOR].into_iter().enumerate() {
        builder.value(&format!("single{number}"), Spec::Class(class));
        builder.vectors(few, &[(format!("few{number}"), Spec::Class(class))], None);
    }
}
