//! `aod` and `esd`: events of large containers.
//!
//! `aod` has products whose sizes vary as much as B. Bockelman warns of in "Optimizing Files for Analysis" (2017), 1 on
//! average but at most 1000, which is what makes one basket for each cluster dear; products of one subsystem vary
//! together, so that events vary too. An event has about 100 kB on average.
//!
//! `esd` is what P. van Gemmeren describes in "Persistent Layout Studies Updates" for ATLAS: containers that are not
//! split, for the sake of reading whole events, but for the two largest, which would take more space so. Events have
//! about 570 kB, of which these two are most. The study flushes every 5 entries (AOD: 10).

use super::builder::ModelBuilder;
use super::count::Many;
use super::generators::{Class, Number, Of};
use super::random::Draw;

const fn float(draw: Draw) -> Of {
    Of::Number(Number::F32, draw)
}

const fn int(below: u32) -> Of {
    Of::Number(Number::I32, Draw::Below(below))
}

static CANDIDATE: Class = Class {
    name: "Candidate",
    base: None,
    members: &[
        ("pt", float(Draw::Falling)),
        ("eta", float(Draw::Steps)),
        ("phi", float(Draw::Bell)),
        ("mass", float(Draw::Falling)),
        ("charge", int(3)),
        ("pdgId", int(25)),
        ("status", Of::Number(Number::U32, Draw::Below(1 << 10))),
    ],
};

static TRACK: Class = Class {
    name: "TrackParticle",
    base: Some(&CANDIDATE),
    members: &[
        ("chi2", float(Draw::Decay)),
        ("parameters", Of::Array(5, &float(Draw::Bell))),
        ("covariance", Of::Array(15, &float(Draw::Steps))),
        ("hits", Of::Vector(Many::Poisson(6), &Of::Number(Number::I16, Draw::Below(4096)))),
    ],
};

static CLUSTER: Class = Class {
    name: "CaloCluster",
    base: None,
    members: &[
        ("energy", Of::Number(Number::F64, Draw::Falling)),
        ("eta", float(Draw::Steps)),
        ("phi", float(Draw::Bell)),
        ("moments", Of::Array(4, &float(Draw::Uniform))),
        ("size", int(200)),
    ],
};

static HIT: Class = Class {
    name: "Hit",
    base: None,
    members: &[
        ("detector", Of::Number(Number::U32, Draw::Below(1 << 20))),
        ("charge", Of::Number(Number::I16, Draw::Below(1024))),
        ("time", float(Draw::Decay)),
        ("position", Of::Array(3, &float(Draw::Bell))),
    ],
};

static CELL: Class = Class {
    name: "CaloCell",
    base: None,
    members: &[
        ("id", Of::Number(Number::U32, Draw::Below(200_000))),
        ("energy", float(Draw::Bell)),
        ("time", float(Draw::Decay)),
        ("quality", Of::Number(Number::U8, Draw::Below(16))),
    ],
};

const SUBSYSTEMS: [&str; 8] = ["pixel", "strip", "ecal", "hcal", "muon", "forward", "trigger", "combined"];

/// Products of CMS's AOD: a subsystem's vary together.
pub(super) fn aod(builder: &mut ModelBuilder) {
    for subsystem in SUBSYSTEMS {
        let products = [("candidates", &CANDIDATE), ("tracks", &TRACK), ("clusters", &CLUSTER), ("hits", &HIT)];
        let parts = products.map(|(product, class)| (format!("{subsystem}_{product}"), Of::Class(class)));
        builder.vectors(Many::Variable(50), &parts, None);
    }
}

/// Containers of ATLAS's ESD: none is split but for the two largest.
pub(super) fn esd(builder: &mut ModelBuilder) {
    builder.vectors(Many::Poisson(20_000), &[("AllCalo".to_owned(), Of::Class(&CELL))], Some(99));
    builder.vectors(Many::Poisson(1_500), &[("TrackParticles".to_owned(), Of::Class(&TRACK))], Some(99));
    for (number, subsystem) in SUBSYSTEMS.iter().enumerate() {
        for (product, class) in [("Candidates", &CANDIDATE), ("Tracks", &TRACK), ("Clusters", &CLUSTER), ("Hits", &HIT)]
        {
            let many = Many::Poisson(20 << (number % 4));
            builder.vectors(many, &[(format!("{subsystem}{product}"), Of::Class(class))], Some(0));
        }
    }
}
