//! ROOT's checksum of a class. It distinguishes layouts of the same version, or without a version.
//!
//! Facts: `TClass::GetCheckSum` with its current kind (kLatestCheckSum, ROOT 6). Names, types, dimensions and the text
//! in brackets at the head of a comment are folded into 32 bits: for each character, sum = 3 * sum + character.

use super::super::{ElementKind, StreamerInfo, code};
use super::basic;

/// The sum so far.
pub(super) struct Sum(u32);

impl Sum {
    /// The sum of a class's name.
    pub fn of_class(name: &str) -> Self {
        let mut sum = Self(0);
        sum.text(name);
        sum
    }

    fn number(&mut self, n: u32) {
        self.0 = self.0.wrapping_mul(3).wrapping_add(n);
    }

    fn text(&mut self, text: &str) {
        // ROOT adds signed characters.
        let signed = |byte: u8| i32::from(byte.cast_signed()).cast_unsigned();
        crate::text::encode(text).iter().for_each(|byte| self.number(signed(*byte)));
    }

    /// A base class and its own checksum; containers as bases have none.
    pub fn base(&mut self, name: &str, checksum: Option<u32>) {
        self.text(name);
        if let Some(checksum) = checksum {
            self.number(checksum);
        }
    }

    pub fn member(&mut self, name: &str, type_name: &str, is_enum: bool, dimensions: &[i32], comment: &str) {
        if is_enum {
            self.number(1);
        }
        self.text(name);
        self.text(type_name);
        dimensions.iter().for_each(|n| self.number(n.cast_unsigned()));
        if let Some(inside) = counter(comment) {
            self.text(inside);
        }
    }

    pub fn finish(self) -> u32 {
        self.0
    }
}

/// The text in brackets at the head of a comment, which names the counter of an array
/// (`TVirtualStreamerInfo::GetElementCounterStart`).
pub(super) fn counter(comment: &str) -> Option<&str> {
    let head = comment.trim_start_matches(|c: char| c == '/' || c.is_ascii_whitespace());
    head.strip_prefix('[')?.split_once(']').map(|(inside, _)| inside)
}

/// The checksum of a class, from its streamer info.
///
/// The info lacks the declared types of members that ROOT writes as something else (`std::array`, `std::unique_ptr`,
/// arrays of enums), and the members of classes of version 0. The result is wrong for such classes.
pub fn checksum(info: &StreamerInfo) -> u32 {
    let mut sum = Sum::of_class(&info.name);
    let is_base = |e: &super::super::StreamerElement| match e.kind {
        ElementKind::Base { .. } => true,
        ElementKind::Stl { .. } => e.name == e.type_name,
        _ => false,
    };
    if !info.name.starts_with("pair<") {
        for base in info.elements.iter().filter(|e| is_base(e)) {
            let checksum = matches!(base.kind, ElementKind::Base { .. }).then(|| base.max_index[1].cast_unsigned());
            sum.base(&base.name, checksum);
        }
    }
    for e in info.elements.iter().filter(|e| !is_base(e)) {
        // An enum is written as an int with a type name that is not a basic type. Arrays of enums cannot be recognised.
        let type_name = e.type_name.trim_start_matches("const ").trim_start_matches("volatile ");
        let is_enum = e.type_code == code::INT && e.class == "TStreamerBasicType" && basic::find(type_name).is_none();
        let dimensions = usize::try_from(e.array_dim).ok().and_then(|n| e.max_index.get(..n)).unwrap_or_default();
        sum.member(&e.name, &e.type_name, is_enum, dimensions, &e.title);
    }
    sum.finish()
}

#[cfg(test)]
mod tests {
    use super::super::super::builtin;
    use super::*;

    #[test]
    fn the_sums_of_root_classes_come_out() {
        let infos = builtin::parse(builtin::TABLES[0]);
        let wrong: Vec<&str> =
            infos.iter().filter(|info| info.checksum != checksum(info)).map(|info| info.name.as_str()).collect();
        // Classes of version 0, a member that ROOT leaves out (its counter is a Long64_t), and a name that the table
        // spells otherwise.
        assert_eq!(wrong, ["THashList", "THashTable", "TParameter<long long>", "TSeqCollection", "TTreeIndex"]);
        assert!(infos.len() > 100);
    }

    #[test]
    fn counters_lead_the_comment() {
        assert_eq!(counter("[fN] values"), Some("fN"));
        assert_eq!(counter("/ [0,1,8]"), Some("0,1,8"));
        assert_eq!(counter("values [fN]"), None);
        assert_eq!(counter("[fN"), None);
    }
}
