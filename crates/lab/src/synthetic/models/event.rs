//! `single` and `multi`: the data of the measurements of ROOT's TBufferMerger (G. Amadio, "Writing ROOT Data in Parallel
//! with TBufferMerger", CHEP 2018). `single` is one branch of random doubles. `multi` is a number of branches of
//! `vector<Event>`, each with a number of events: 10 and 10 in the main figures. Where the number of branches varies, the
//! product stays 100. An event is three vectors, three doubles and three integers.
//!
//! Only the compressed size of the original numbers is published. Here members have full precision, are rounded, or are
//! small integers, so that ROOT makes 60 bytes of 100 with zlib-1. `bench/native` writes the same numbers with ROOT.

use rootfile::{Error, Result};

use super::builder::ModelBuilder;
use super::count::CountSpec;
use super::generators::{Class, Number, Spec};
use super::random::Distribution;

/// More events in one entry than any measurement needs.
const MOST_EVENTS: u64 = 1_000_000;

const fn double(draw: Distribution) -> Spec {
    Spec::Number(Number::F64, draw)
}

const fn int(below: u32) -> Spec {
    Spec::Number(Number::I32, Distribution::Below(below))
}

/// Three coordinates.
pub(super) static VECTOR: Class = Class {
    name: "Vector3D",
    base: None,
    members: &[
        ("x", double(Distribution::Steps)),
        ("y", double(Distribution::Steps)),
        ("z", double(Distribution::Bell)),
    ],
};

static EVENT: Class = Class {
    name: "Event",
    base: None,
    members: &[
        ("position", Spec::Class(&VECTOR)),
        ("direction", Spec::Class(&VECTOR)),
        ("momentum", Spec::Class(&VECTOR)),
        ("energy", double(Distribution::Falling)),
        ("mass", double(Distribution::Fraction)),
        ("time", double(Distribution::Decay)),
        ("id", int(25)),
        ("status", int(3)),
        ("mother", int(1000)),
    ],
};

/// One branch of doubles.
pub(super) fn single(builder: &mut ModelBuilder) {
    builder.value("x", double(Distribution::Uniform));
}

/// Branches of events.
pub(super) fn multi(builder: &mut ModelBuilder, branches: u32, events: u32) -> Result<()> {
    let each = u64::from(branches) * u64::from(events);
    if each == 0 || each > MOST_EVENTS {
        return Err(Error::request(format!("{branches} branches of {events} events: 1 to {MOST_EVENTS} are possible")));
    }
    for branch in 0..branches {
        builder.vectors(CountSpec::Fixed(events), &[(format!("ev{branch}"), Spec::Class(&EVENT))], None);
    }
    Ok(())
}
