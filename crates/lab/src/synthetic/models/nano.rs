//! `nano`: like NanoAOD of CMS, about a thousand branches of leaves: single values, flags of triggers, and collections as
//! arrays of leaves that share a counter. The collections, their numbers of columns and their mean numbers of items are
//! those of a file of simulated top pairs (NanoAODv9), rounded. Real numbers keep ten bits of their mantissa, as in that
//! file. An entry has about 4.6 kB.

use super::builder::ModelBuilder;
use super::count::CountSpec;
use super::generators::{Number, Spec};
use super::random::Distribution;

/// A collection: its name, how many items, and how many columns of reals, integers and flags beside the four that all have.
const COLLECTIONS: [(&str, u32, u32, u32, u32); 12] = [
    ("Jet", 6, 26, 8, 0),
    ("Muon", 1, 20, 10, 16),
    ("Electron", 1, 28, 12, 12),
    ("Photon", 1, 18, 8, 6),
    ("Tau", 1, 22, 10, 2),
    ("FatJet", 1, 30, 6, 0),
    ("GenPart", 30, 0, 4, 0),
    ("GenJet", 8, 0, 2, 0),
    ("SV", 1, 10, 2, 0),
    ("TrigObj", 12, 4, 4, 0),
    ("SoftActivityJet", 6, 0, 0, 0),
    ("LHEPart", 6, 1, 4, 0),
];

const SCALARS: u32 = 80;
const TRIGGERS: u32 = 500;
const WEIGHTS: u32 = 103;

const fn float(draw: Distribution) -> Spec {
    Spec::Number(Number::F32, draw)
}

/// The columns.
pub(super) fn nano(builder: &mut ModelBuilder) {
    builder.value("run", Spec::Number(Number::U32, Distribution::Below(1)));
    builder.value("luminosityBlock", Spec::Number(Number::U32, Distribution::Below(2000)));
    builder.value("event", Spec::Number(Number::U64, Distribution::Serial));
    for (name, many, reals, integers, flags) in COLLECTIONS {
        let kinematics = [
            ("pt", Distribution::Falling),
            ("eta", Distribution::Steps),
            ("phi", Distribution::Bell),
            ("mass", Distribution::Falling),
        ];
        let mut parts: Vec<(String, Spec)> =
            kinematics.iter().map(|(part, draw)| (format!("{name}_{part}"), float(*draw))).collect();
        for k in 0..reals {
            let draw = if k % 3 == 0 { Distribution::Uniform } else { Distribution::Bell };
            parts.push((format!("{name}_real{k}"), float(draw)));
        }
        for k in 0..integers {
            let number = if k % 2 == 0 { Number::I32 } else { Number::U8 };
            parts.push((format!("{name}_int{k}"), Spec::Number(number, Distribution::Below(4 << (k % 5)))));
        }
        parts.extend(
            (0..flags).map(|k| (format!("{name}_flag{k}"), Spec::Number(Number::Bool, Distribution::Rare(2 + k)))),
        );
        builder.leaves(&format!("n{name}"), CountSpec::Poisson(many), &parts);
    }
    let weight = [("LHEPdfWeight".to_owned(), float(Distribution::Uniform))];
    builder.leaves("nLHEPdfWeight", CountSpec::Fixed(WEIGHTS), &weight);
    for k in 0..SCALARS {
        let draw = if k % 2 == 0 { Distribution::Falling } else { Distribution::Bell };
        builder.value(&format!("MET_real{k}"), float(draw));
    }
    for k in 0..TRIGGERS {
        builder.value(&format!("HLT_path{k}"), Spec::Number(Number::Bool, Distribution::Rare(10 + k)));
    }
}
