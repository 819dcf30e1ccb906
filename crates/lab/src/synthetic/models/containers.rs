//! `aod` and `esd`: events of large containers.
//!
//! `aod` has products of very variable size, 1 on average and at most 1000, after B. Bockelman, "Optimizing Files for
//! Analysis" (2017). Such sizes make one basket for each cluster expensive. Products of one subsystem vary together, so
//! events vary too. An event has about 100 kB on average.
//!
//! `esd` follows P. van Gemmeren, "Persistent Layout Studies Updates" (ATLAS). Containers are not split, because whole
//! events are read. Only the two largest are split, because they would take more space unsplit. Events have about 570 kB,
//! of which these two are most. The study flushes every 5 entries (AOD: 10).

use super::builder::ModelBuilder;
use super::count::CountSpec;
use super::generators::{Class, Number, Spec};
use super::random::Distribution;

const fn float(draw: Distribution) -> Spec {
    Spec::Number(Number::F32, draw)
}

const fn int(below: u32) -> Spec {
    Spec::Number(Number::I32, Distribution::Below(below))
}

static CANDIDATE: Class = Class {
    name: "Candidate",
    base: None,
    members: &[
        ("pt", float(Distribution::Falling)),
        ("eta", float(Distribution::Steps)),
        ("phi", float(Distribution::Bell)),
        ("mass", float(Distribution::Falling)),
        ("charge", int(3)),
        ("pdgId", int(25)),
        ("status", Spec::Number(Number::U32, Distribution::Below(1 << 10))),
    ],
};

static TRACK: Class = Class {
    name: "TrackParticle",
    base: Some(&CANDIDATE),
    members: &[
        ("chi2", float(Distribution::Decay)),
        ("parameters", Spec::Array(5, &float(Distribution::Bell))),
        ("covariance", Spec::Array(15, &float(Distribution::Steps))),
        ("hits", Spec::Vector(CountSpec::Poisson(6), &Spec::Number(Number::I16, Distribution::Below(4096)))),
    ],
};

static CLUSTER: Class = Class {
    name: "CaloCluster",
    base: None,
    members: &[
        ("energy", Spec::Number(Number::F64, Distribution::Falling)),
        ("eta", float(Distribution::Steps)),
        ("phi", float(Distribution::Bell)),
        ("moments", Spec::Array(4, &float(Distribution::Uniform))),
        ("size", int(200)),
    ],
};

static HIT: Class = Class {
    name: "Hit",
    base: None,
    members: &[
        ("detector", Spec::Number(Number::U32, Distribution::Below(1 << 20))),
        ("charge", Spec::Number(Number::I16, Distribution::Below(1024))),
        ("time", float(Distribution::Decay)),
        ("position", Spec::Array(3, &float(Distribution::Bell))),
    ],
};

static CELL: Class = Class {
    name: "CaloCell",
    base: None,
    members: &[
        ("id", Spec::Number(Number::U32, Distribution::Below(200_000))),
        ("energy", float(Distribution::Bell)),
        ("time", float(Distribution::Decay)),
        ("quality", Spec::Number(Number::U8, Distribution::Below(16))),
    ],
};

const SUBSYSTEMS: [&str; 8] = ["pixel", "strip", "ecal", "hcal", "muon", "forward", "trigger", "combined"];

/// Products of CMS's AOD: a subsystem's vary together.
pub(super) fn aod(builder: &mut ModelBuilder) {
    for subsystem in SUBSYSTEMS {
        let products = [("candidates", &CANDIDATE), ("tracks", &TRACK), ("clusters", &CLUSTER), ("hits", &HIT)];
        let parts = products.map(|(product, class)| (format!("{subsystem}_{product}"), Spec::Class(class)));
        builder.vectors(CountSpec::Variable(50), &parts, None);
    }
}

/// Containers of ATLAS's ESD: none is split but for the two largest.
pub(super) fn esd(builder: &mut ModelBuilder) {
    builder.vectors(CountSpec::Poisson(20_000), &[("AllCalo".to_owned(), Spec::Class(&CELL))], Some(99));
    builder.vectors(CountSpec::Poisson(1_500), &[("TrackParticles".to_owned(), Spec::Class(&TRACK))], Some(99));
    for (number, subsystem) in SUBSYSTEMS.iter().enumerate() {
        for (product, class) in [("Candidates", &CANDIDATE), ("Tracks", &TRACK), ("Clusters", &CLUSTER), ("Hits", &HIT)]
        {
            let many = CountSpec::Poisson(20 << (number % 4));
            builder.vectors(many, &[(format!("{subsystem}{product}"), Spec::Class(class))], Some(0));
        }
    }
}
