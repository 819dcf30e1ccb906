//! `lhcb`: many small events of small objects, after I. Valenčík, "Analysis of the ROOT Persistence I/O Memory Footprint in
//! LHCb" (2012): events of some 8 kB, in 40 containers of a few objects each, which split into some 350 branches. For such
//! events large baskets and full splitting cost the most memory for each output stream. The study went from split level 99,
//! 40 MB and 32 kB to 0, 2 MB and 2 kB. Objects have a base class and vectors in them.

use super::builder::ModelBuilder;
use super::count::CountSpec;
use super::event::VECTOR;
use super::generators::{Class, Number, Spec};
use super::random::Distribution;

const fn double(draw: Distribution) -> Spec {
    Spec::Number(Number::F64, draw)
}

static HEADER: Class = Class {
    name: "EventHeader",
    base: None,
    members: &[
        ("event", Spec::Number(Number::U64, Distribution::Serial)),
        ("bunch", Spec::Number(Number::I16, Distribution::Below(3564))),
        ("time", double(Distribution::Decay)),
        ("conditions", Spec::Text(&["cond-20120831", "cond-20120929", "cond-20130522-1"])),
    ],
};

static KEYED: Class = Class {
    name: "KeyedObject",
    base: None,
    members: &[("key", Spec::Number(Number::I32, Distribution::Below(4096)))],
};

static TRACK: Class = Class {
    name: "Track",
    base: Some(&KEYED),
    members: &[
        ("chi2PerDoF", double(Distribution::Uniform)),
        ("nDoF", Spec::Number(Number::I32, Distribution::Below(60))),
        ("flags", Spec::Number(Number::U32, Distribution::Below(128))),
        ("position", Spec::Class(&VECTOR)),
        ("momentum", Spec::Class(&VECTOR)),
        ("ids", Spec::Vector(CountSpec::Poisson(12), &Spec::Number(Number::U32, Distribution::Below(1 << 28)))),
    ],
};

static PARTICLE: Class = Class {
    name: "Particle",
    base: Some(&KEYED),
    members: &[
        ("pid", Spec::Number(Number::I32, Distribution::Below(400))),
        ("mass", double(Distribution::Falling)),
        ("massError", double(Distribution::Fraction)),
        ("momentum", Spec::Class(&VECTOR)),
        ("referencePoint", Spec::Class(&VECTOR)),
    ],
};

static VERTEX: Class = Class {
    name: "Vertex",
    base: Some(&KEYED),
    members: &[
        ("position", Spec::Class(&VECTOR)),
        ("chi2", double(Distribution::Decay)),
        ("nDoF", Spec::Number(Number::I32, Distribution::Below(20))),
        ("technique", Spec::Number(Number::U8, Distribution::Below(7))),
    ],
};

static HYPO: Class = Class {
    name: "CaloHypo",
    base: Some(&KEYED),
    members: &[
        ("hypothesis", Spec::Number(Number::I32, Distribution::Below(12))),
        ("energy", double(Distribution::Falling)),
        ("position", Spec::Class(&VECTOR)),
    ],
};

/// Ten containers of each.
const CONTAINERS: u32 = 10;

/// The columns.
pub(super) fn lhcb(builder: &mut ModelBuilder) {
    builder.value("Header", Spec::Class(&HEADER));
    for container in 0..CONTAINERS {
        for class in [&TRACK, &PARTICLE, &VERTEX, &HYPO] {
            let name = format!("{}s{container}", class.name);
            builder.vectors(CountSpec::Poisson(3), &[(name, Spec::Class(class))], None);
        }
    }
}
