//! Finds the branches whose entries may hold class tags: numbers that count from the entry's position. They become
//! wrong when the entry moves, unless the basket records the old position (its displacement).

use std::collections::HashSet;

use rootfile::streamer::{StreamerInfos, code};

use super::model::{Branch, BranchKind, Tree};

/// Whether entries of this branch may hold class tags. Returns true if a class is not described.
pub fn may_hold_tags(tree: &Tree, branch: &Branch, infos: &StreamerInfos) -> bool {
    if branch.entry_offset_len == 0 {
        // Without offsets ROOT never reads displacements, so such entries have no tags.
        return false;
    }
    match &branch.kind {
        BranchKind::Plain | BranchKind::Clones(_) => {
            branch.leaves.iter().filter_map(|&l| tree.leaves.get(l)).any(|leaf| leaf.class == "TLeafObject")
        }
        BranchKind::Object { .. } | BranchKind::Ref { .. } => true,
        BranchKind::Element(element) => {
            let t = element.streamer_type;
            let basic = (1..code::OBJECT).contains(&t) || t == code::TSTRING || t == code::STL_STRING;
            if basic {
                return false;
            }
            let member = infos
                .get(&element.class_name, i32::from(element.class_version))
                .or_else(|| infos.latest(&element.class_name))
                .and_then(|info| info.elements.get(usize::try_from(element.element_id).ok()?).cloned());
            let type_name = match (&member, element.element_id) {
                // An unsplit branch has no element; its class decides.
                (_, id) if id < 0 => element.class_name.clone(),
                (Some(member), _) => member.type_name.clone(),
                (None, _) => return true,
            };
            type_may_hold_tags(&type_name, infos, &mut HashSet::new())
        }
    }
}

/// Whether a type contains pointers to objects.
fn type_may_hold_tags(type_name: &str, infos: &StreamerInfos, seen: &mut HashSet<String>) -> bool {
    let name = type_name.trim();
    let bare = name.trim_start_matches("const ").trim_end_matches([' ', '&']);
    if is_basic(bare) {
        return false;
    }
    if bare.ends_with('*') {
        return !is_basic(bare.trim_end_matches(['*', ' ']));
    }
    if let Some((outer, inner)) = bare.split_once('<') {
        let outer = outer.trim_start_matches("std::");
        let known = [
            "vector",
            "list",
            "deque",
            "set",
            "multiset",
            "map",
            "multimap",
            "pair",
            "array",
            "bitset",
            "unordered_set",
            "unordered_multiset",
            "unordered_map",
            "unordered_multimap",
            "forward_list",
        ];
        if known.contains(&outer) || outer.ends_with("RVec") {
            let inner = inner.strip_suffix('>').unwrap_or(inner);
            return arguments(inner).iter().any(|a| a.parse::<u64>().is_err() && type_may_hold_tags(a, infos, seen));
        }
    }
    if !seen.insert(bare.to_owned()) {
        return false;
    }
    let mut known = false;
    for info in infos.versions(bare) {
        known = true;
        for e in &info.elements {
            let tags = match e.type_code {
                code::BASE => e.name != "TObject" && type_may_hold_tags(&e.name, infos, seen),
                code::TOBJECT | code::TNAMED | code::TSTRING | code::STL_STRING | code::CHAR_STAR => false,
                t if t > 0 && t < code::OBJECT => false,
                t if t < 0 => false,
                code::OBJECT | code::ANY | code::OBJECT_P_INLINE | code::ANY_P_INLINE | code::STL => {
                    type_may_hold_tags(&e.type_name.replace('*', ""), infos, seen) || e.type_name.contains("*>")
                }
                t if t == code::TSTRING + code::OFFSET_L => false,
                _ => true,
            };
            if tags {
                return true;
            }
        }
    }
    !known
}

fn is_basic(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "bool",
        "char",
        "signed char",
        "unsigned char",
        "short",
        "unsigned short",
        "int",
        "unsigned int",
        "unsigned",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
        "float",
        "double",
        "string",
        "std::string",
        "TString",
        "Long64_t",
        "ULong64_t",
        "Int_t",
        "UInt_t",
        "Short_t",
        "UShort_t",
        "Char_t",
        "UChar_t",
        "Bool_t",
        "Float_t",
        "Double_t",
        "Double32_t",
        "Float16_t",
        "Long_t",
        "ULong_t",
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "size_t",
        "TObject",
        "TNamed",
        "TRef",
    ];
    NAMES.contains(&name)
}

/// Template arguments that may hold data, without allocators and comparators.
fn arguments(text: &str) -> Vec<&str> {
    let mut parts = crate::type_name::arguments(text);
    parts.retain(|p| !p.starts_with("allocator") && !p.starts_with("less<") && !p.starts_with("std::allocator"));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_numbers_have_no_tags_and_pointers_do() {
        let infos = StreamerInfos::new();
        let may = |t: &str| type_may_hold_tags(t, &infos, &mut HashSet::new());
        assert!(!may("vector<float>"));
        assert!(!may("map<string,vector<int> >"));
        assert!(!may("vector<double,allocator<double> >"));
        assert!(may("vector<Track*>"));
        assert!(may("SomeClass"), "not described: on the safe side");
    }
}
