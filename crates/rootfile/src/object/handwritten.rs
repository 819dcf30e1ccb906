//! Plans of classes whose streamers are written by hand and do not follow their streamer infos, as far as their bytes are members one after
//! the other. Collections, which are no such lists, are read by `read`.

use super::plan::{Plan, Step};
use crate::streamer::code;

/// The first version of a `TCanvas` that has all of its members.
const CANVAS: i32 = 4;

/// The plan of a class version, if it has one here.
pub(super) fn plan(class: &str, version: i32) -> Option<Plan> {
    match class {
        "TCanvas" if version >= CANVAS => Some(canvas(version)),
        _ => None,
    }
}

/// `TCanvas::Streamer`. Some of the members are bits in memory.
fn canvas(version: i32) -> Plan {
    let basic = |name: &str, code| (name.to_owned(), Step::Basic(code));
    let mut steps = vec![
        ("TPad".to_owned(), Step::Base { class: "TPad".into() }),
        ("fDISPLAY".to_owned(), Step::TString),
        basic("fDoubleBuffer", code::INT),
        basic("fRetained", code::BOOL),
    ];
    steps.extend(["fXsizeUser", "fYsizeUser", "fXsizeReal", "fYsizeReal"].map(|name| basic(name, code::FLOAT)));
    steps.extend(["fWindowTopX", "fWindowTopY"].map(|name| basic(name, code::INT)));
    steps.extend(["fWindowWidth", "fWindowHeight", "fCw", "fCh"].map(|name| basic(name, code::UINT)));
    steps.push(("fCatt".to_owned(), Step::Inline("TAttCanvas".into())));
    steps.extend(["fMoveOpaque", "fResizeOpaque"].map(|name| basic(name, code::BOOL)));
    steps.push(basic("fHighLightColor", code::SHORT));
    steps.extend(["fBatch", "fShowEventStatus", "fAutoExec", "fMenuBar"].map(|name| basic(name, code::BOOL)));
    Plan { class: "TCanvas".to_owned(), version, checksum: 0, steps }
}
