//! `nano`: as NanoAOD of CMS, about a thousand branches of leaves: single values, flags of triggers, and collections as
//! arrays of leaves that share a counter. Which collections, how many columns each and how many items on average are
//! those of a file of simulated top pairs (NanoAODv9), rounded; real numbers keep ten bits of their mantissa, as they do
//! there. An entry has about 4.6 kB.

use super::builder::ModelBuilder;
use super::count::Many;
use super::generators::{Number, Of};
use super::random::Draw;

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

const fn float(draw: Draw) -> Of {
    Of::Number(Number::F32, draw)
}

/// The columns.
pub(super) fn nano(builder: &mut ModelBuilder) {
    builder.value("run", Of::Number(Number::U32, Draw::Below(1)));
    builder.value("luminosityBlock", Of::Number(Number::U32, Draw::Below(2000)));
    builder.value("event", Of::Number(Number::U64, Draw::Serial));
    for (name, many, reals, integers, flags) in COLLECTIONS {
        let kinematics = [("pt", Draw::Falling), ("eta", Draw::Steps), ("phi", Draw::Bell), ("mass", Draw::Falling)];
        let mut parts: Vec<(String, Of)> =
            kinematics.iter().map(|(part, draw)| (format!("{name}_{part}"), float(*draw))).collect();
        for k in 0..reals {
            let draw = if k % 3 == 0 { Draw::Uniform } else { Draw::Bell };
            parts.push((format!("{name}_real{k}"), float(draw)));
        }
        for k in 0..integers {
            let number = if k % 2 == 0 { Number::I32 } else { Number::U8 };
            parts.push((format!("{name}_int{k}"), Of::Number(number, Draw::Below(4 << (k % 5)))));
        }
        parts.extend((0..flags).map(|k| (format!("{name}_flag{k}"), Of::Number(Number::Bool, Draw::Rare(2 + k)))));
        builder.leaves(&format!("n{name}"), Many::Poisson(many), &parts);
    }
    let weight = [("LHEPdfWeight".to_owned(), float(Draw::Uniform))];
    builder.leaves("nLHEPdfWeight", Many::Fixed(WEIGHTS), &weight);
    for k in 0..SCALARS {
        let draw = if k % 2 == 0 { Draw::Falling } else { Draw::Bell };
        builder.value(&format!("MET_real{k}"), float(draw));
    }
    for k in 0..TRIGGERS {
        builder.value(&format!("HLT_path{k}"), Of::Number(Number::Bool, Draw::Rare(10 + k)));
    }
}
