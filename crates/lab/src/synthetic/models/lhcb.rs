//! `lhcb`: many small events of small objects, after I. Valenčík, "Analysis of the ROOT Persistence I/O Memory Footprint in
//! LHCb" (2012): events of some 8 kB, in 40 containers of a few objects each, which split into some 350 branches. That
//! is where large baskets and full splitting cost the most memory for each output stream; the study went from split level
//! 99, 40 MB and 32 kB to 0, 2 MB and 2 kB. Objects have a base class and vectors in them.

use super::builder::ModelBuilder;
use super::count::Many;
use super::event::VECTOR;
use super::generators::{Class, Number, Of};
use super::random::Draw;

const fn double(draw: Draw) -> Of {
    Of::Number(Number::F64, draw)
}

static HEADER: Class = Class {
    name: "EventHeader",
    base: None,
    members: &[
        ("event", Of::Number(Number::U64, Draw::Serial)),
        ("bunch", Of::Number(Number::I16, Draw::Below(3564))),
        ("time", double(Draw::Decay)),
        ("conditions", Of::Text(&["cond-20120831", "cond-20120929", "cond-20130522-1"])),
    ],
};

static KEYED: Class =
    Class { name: "KeyedObject", base: None, members: &[("key", Of::Number(Number::I32, Draw::Below(4096)))] };

static TRACK: Class = Class {
    name: "Track",
    base: Some(&KEYED),
    members: &[
        ("chi2PerDoF", double(Draw::Uniform)),
        ("nDoF", Of::Number(Number::I32, Draw::Below(60))),
        ("flags", Of::Number(Number::U32, Draw::Below(128))),
        ("position", Of::Class(&VECTOR)),
        ("momentum", Of::Class(&VECTOR)),
        ("ids", Of::Vector(Many::Poisson(12), &Of::Number(Number::U32, Draw::Below(1 << 28)))),
    ],
};

static PARTICLE: Class = Class {
    name: "Particle",
    base: Some(&KEYED),
    members: &[
        ("pid", Of::Number(Number::I32, Draw::Below(400))),
        ("mass", double(Draw::Falling)),
        ("massError", double(Draw::Fraction)),
        ("momentum", Of::Class(&VECTOR)),
        ("referencePoint", Of::Class(&VECTOR)),
    ],
};

static VERTEX: Class = Class {
    name: "Vertex",
    base: Some(&KEYED),
    members: &[
        ("position", Of::Class(&VECTOR)),
        ("chi2", double(Draw::Decay)),
        ("nDoF", Of::Number(Number::I32, Draw::Below(20))),
        ("technique", Of::Number(Number::U8, Draw::Below(7))),
    ],
};

static HYPO: Class = Class {
    name: "CaloHypo",
    base: Some(&KEYED),
    members: &[
        ("hypothesis", Of::Number(Number::I32, Draw::Below(12))),
        ("energy", double(Draw::Falling)),
        ("position", Of::Class(&VECTOR)),
    ],
};

/// Ten containers of each.
const CONTAINERS: u32 = 10;

/// The columns.
pub(super) fn lhcb(builder: &mut ModelBuilder) {
    builder.value("Header", Of::Class(&HEADER));
    for container in 0..CONTAINERS {
        for class in [&TRACK, &PARTICLE, &VERTEX, &HYPO] {
            let name = format!("{}s{container}", class.name);
            builder.vectors(Many::Poisson(3), &[(name, Of::Class(class))], None);
        }
    }
}
