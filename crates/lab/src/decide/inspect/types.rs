//! The types of branches and leaves as ROOT shows them (`TBranch::GetClassName`, `TLeaf::GetTypeName`).

use dataset::tree::model::{BranchKind, Element};
use dataset::tree::{Branch, Leaf};
use rootfile::streamer::StreamerInfos;

/// Names of ROOT's basic types by type code, as `TBranchElement` has them.
const BASIC: [&str; 20] = [
    "",
    "Char_t",
    "Short_t",
    "Int_t",
    "Long_t",
    "Float_t",
    "Int_t",
    "char*",
    "Double_t",
    "Double32_t",
    "",
    "UChar_t",
    "UShort_t",
    "UInt_t",
    "ULong_t",
    "UInt_t",
    "Long64_t",
    "ULong64_t",
    "Bool_t",
    "Float16_t",
];

/// `TBranchElement::fType` of a split `TClonesArray` and of a split collection: their own data are counts.
const COUNTS: [i32; 2] = [3, 4];

/// The class of a branch, or nothing where its leaves define it.
pub fn branch_type(branch: &Branch) -> &str {
    match &branch.kind {
        BranchKind::Element(element) => &element.class_name,
        BranchKind::Object { class_name } => class_name,
        BranchKind::Clones(clones) => &clones.class_name,
        BranchKind::Plain | BranchKind::Ref { .. } => "",
    }
}

/// Type of the values of a leaf.
pub fn leaf_type(leaf: &Leaf, branch: &Branch, infos: &StreamerInfos) -> String {
    let signed = |signed: &str, unsigned: &str| if leaf.is_unsigned { unsigned } else { signed }.to_owned();
    match (leaf.class.as_str(), branch.element()) {
        ("TLeafB" | "TLeafC", _) => signed("Char_t", "UChar_t"),
        ("TLeafS", _) => signed("Short_t", "UShort_t"),
        ("TLeafI", _) => signed("Int_t", "UInt_t"),
        ("TLeafL", _) => signed("Long64_t", "ULong64_t"),
        ("TLeafG", _) => signed("Long_t", "ULong_t"),
        ("TLeafF", _) => "Float_t".to_owned(),
        ("TLeafF16", _) => "Float16_t".to_owned(),
        ("TLeafD", _) => "Double_t".to_owned(),
        ("TLeafD32", _) => "Double32_t".to_owned(),
        ("TLeafO", _) => "Bool_t".to_owned(),
        ("TLeafObject", _) => branch_type(branch).to_owned(),
        ("TLeafElement", Some(element)) => element_type(element, infos),
        _ => String::new(),
    }
}

fn element_type(element: &Element, infos: &StreamerInfos) -> String {
    if COUNTS.contains(&element.element_type) {
        return "Int_t".to_owned();
    }
    // Codes below 60 are basic types, with 20 added for fixed and 40 for counted arrays.
    if let Ok(code @ 1..60) = usize::try_from(element.streamer_type) {
        return BASIC.get(code % 20).copied().unwrap_or_default().to_owned();
    }
    let member = usize::try_from(element.element_id).ok().and_then(|id| {
        let info = infos
            .by_checksum(&element.class_name, element.checksum)
            .or_else(|| infos.get(&element.class_name, i32::from(element.class_version)))
            .or_else(|| infos.latest(&element.class_name))?;
        info.elements.get(id).map(|member| member.type_name.clone())
    });
    member.unwrap_or_else(|| element.class_name.clone())
}
