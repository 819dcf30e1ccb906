//! Turns leaves of numbers into leaves of wider numbers, and says in which type the numbers of several leaves fit without a loss.
//! Entries in baskets stay as they are.

use std::fmt;

use rootfile::object::Value;

use super::maker::leaf_extra;
use super::unpack::without_range;
use crate::tree::model::{Leaf, Tree};

/// The type of a leaf's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafNumber {
    /// `Bool_t`.
    Flag,
    /// Integers with a sign, of so many bits.
    Signed(u8),
    /// Integers without a sign, of so many bits.
    Unsigned(u8),
    /// `Float_t` of 32 bits, or `Double_t` of 64.
    Real(u8),
}

impl LeafNumber {
    /// The type of a leaf's numbers in memory. `None` for texts and objects.
    pub fn of(leaf: &Leaf) -> Option<Self> {
        let bits = match leaf.class.as_str() {
            "TLeafO" => return Some(Self::Flag),
            "TLeafF" | "TLeafF16" => return Some(Self::Real(32)),
            "TLeafD" | "TLeafD32" => return Some(Self::Real(64)),
            "TLeafB" => 8,
            "TLeafS" => 16,
            "TLeafI" => 32,
            "TLeafL" | "TLeafG" => 64,
            _ => return None,
        };
        Some(if leaf.is_unsigned { Self::Unsigned(bits) } else { Self::Signed(bits) })
    }

    /// The smallest type that holds all values of some types. `None` if there is none.
    pub fn joined(types: &[Self]) -> Option<Self> {
        let (mut signed, mut unsigned, mut real) = (0u8, 0u8, 0u8);
        for of in types {
            match *of {
                Self::Flag => {}
                Self::Signed(bits) => signed = signed.max(bits),
                Self::Unsigned(bits) => unsigned = unsigned.max(bits),
                Self::Real(bits) => real = real.max(bits),
            }
        }
        match (signed, unsigned, real) {
            (0, 0, 0) => types.first().copied(),
            (_, 0, 0) => Some(Self::Signed(signed)),
            (0, _, 0) => Some(Self::Unsigned(unsigned)),
            (.., 0) if unsigned < 64 => Some(Self::Signed(signed.max(2 * unsigned))),
            (.., 0) => None,
            // A Float_t has 24 bits of a number, a Double_t 53.
            _ => match signed.max(unsigned) {
                0..=16 => Some(Self::Real(real)),
                17..=32 => Some(Self::Real(64)),
                _ => None,
            },
        }
    }

    /// Class, bytes and letter of a leaf of such numbers.
    fn leaf(self) -> (&'static str, i32, char) {
        match self {
            Self::Flag => ("TLeafO", 1, 'O'),
            Self::Signed(8) => ("TLeafB", 1, 'B'),
            Self::Unsigned(8) => ("TLeafB", 1, 'b'),
            Self::Signed(16) => ("TLeafS", 2, 'S'),
            Self::Unsigned(16) => ("TLeafS", 2, 's'),
            Self::Signed(32) => ("TLeafI", 4, 'I'),
            Self::Unsigned(32) => ("TLeafI", 4, 'i'),
            Self::Signed(_) => ("TLeafL", 8, 'L'),
            Self::Unsigned(_) => ("TLeafL", 8, 'l'),
            Self::Real(32) => ("TLeafF", 4, 'F'),
            Self::Real(_) => ("TLeafD", 8, 'D'),
        }
    }
}

impl fmt::Display for LeafNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, bits) = match self {
            Self::Flag => return f.write_str("Bool_t"),
            Self::Real(32) => return f.write_str("Float_t"),
            Self::Real(_) => return f.write_str("Double_t"),
            Self::Signed(bits) => ("", bits),
            Self::Unsigned(bits) => ("U", bits),
        };
        let name = match bits {
            8 => "Char_t",
            16 => "Short_t",
            32 => "Int_t",
            _ => "Long64_t",
        };
        write!(f, "{sign}{name}")
    }
}

impl Tree {
    /// The types of the numbers of a branch's leaves.
    pub fn leaf_numbers(&self, branch: usize) -> Vec<Option<LeafNumber>> {
        self.leaves_of(branch).map(LeafNumber::of).collect()
    }

    /// Whether entries of a branch have other bytes if its leaves hold these numbers. `None` leaves a leaf as it is.
    pub fn widening_changes(&self, branch: usize, numbers: &[Option<LeafNumber>]) -> bool {
        let packed = |leaf: &Leaf| matches!(leaf.class.as_str(), "TLeafD32" | "TLeafF16");
        let mut pairs = self.leaves_of(branch).zip(numbers);
        pairs.any(|(leaf, wanted)| wanted.is_some() && (packed(leaf) || LeafNumber::of(leaf) != *wanted))
    }

    /// Lets the leaves of a branch hold these numbers; `None` leaves a leaf as it is. `other` is a branch that is joined: its
    /// extremes count as well.
    pub fn widen_leaves(&mut self, branch: usize, numbers: &[Option<LeafNumber>], (other, theirs): (&Self, usize)) {
        let Some(own) = self.branches.get_mut(branch) else { return };
        let (mut listed, mut offset) = (Vec::new(), 0i32);
        for (k, &at) in own.leaves.iter().enumerate() {
            let Some(leaf) = self.leaves.get_mut(at) else { continue };
            if let Some(wanted) = numbers.get(k).copied().flatten() {
                let their = other.leaves_of(theirs).nth(k).map_or([0, 0], extremes);
                let [low, high] = extremes(leaf);
                let (class, len_type, letter) = wanted.leaf();
                leaf.class = class.to_owned();
                leaf.len_type = len_type;
                leaf.is_unsigned = matches!(wanted, LeafNumber::Unsigned(_));
                leaf.extra = leaf_extra(class, &[low.min(their[0]), high.max(their[1])]);
                leaf.named.title = without_range(&leaf.named.title);
                listed.push((leaf.named.name.clone(), Some(letter)));
            } else {
                listed.push((leaf.named.name.clone(), letter_of(leaf)));
            }
            // A counted array has the length of its counter: 0 so far.
            let len = if leaf.leaf_count.is_some() { 0 } else { leaf.len };
            leaf.offset = offset;
            offset = offset.saturating_add(len.saturating_mul(leaf.len_type));
        }
        if let Some(title) = relisted(&own.named.title, &listed) {
            own.named.title = title;
        }
    }

    fn leaves_of(&self, branch: usize) -> impl Iterator<Item = &Leaf> {
        let of_branch = self.branches.get(branch).map(|branch| branch.leaves.iter()).into_iter().flatten();
        of_branch.filter_map(|&leaf| self.leaves.get(leaf))
    }
}

/// fMinimum and fMaximum of a leaf of integers. ROOT keeps them in signed numbers of the leaf's size.
fn extremes(leaf: &Leaf) -> [i64; 2] {
    let members = leaf.extra.as_ref().and_then(|extra| extra.members());
    ["fMinimum", "fMaximum"].map(|name| {
        let value = match members.and_then(|members| members.get(name)) {
            Some(Value::Int(value)) => *value,
            Some(Value::UInt(value)) => i64::try_from(*value).unwrap_or(i64::MAX),
            _ => 0,
        };
        let unsigned = leaf.is_unsigned && value < 0 && (1..8).contains(&leaf.len_type);
        if unsigned { value + (1i64 << (8 * leaf.len_type)) } else { value }
    })
}

/// The letter of a leaf that stays as it is.
fn letter_of(leaf: &Leaf) -> Option<char> {
    match leaf.class.as_str() {
        "TLeafC" => Some('C'),
        "TLeafG" => Some(if leaf.is_unsigned { 'g' } else { 'G' }),
        // Their ranges follow the letters.
        "TLeafD32" | "TLeafF16" => None,
        _ => LeafNumber::of(leaf).map(|number| number.leaf().2),
    }
}

/// A leaf list with the letters of its leaves. `None` if the title is no list of these leaves.
fn relisted(title: &str, leaves: &[(String, Option<char>)]) -> Option<String> {
    let parts: Vec<&str> = title.split(':').collect();
    let is_list = title.contains('/') && parts.len() == leaves.len();
    let listed = parts.iter().zip(leaves).map(|(part, (name, letter))| {
        let full = part.rsplit_once('/').map_or(*part, |(full, _)| full);
        let is_of_leaf = full.split('[').next() == Some(name.as_str());
        is_of_leaf
            .then(|| letter.map_or_else(|| (*part).to_owned(), |letter| format!("{}/{letter}", without_range(part))))
    });
    is_list.then(|| listed.collect::<Option<Vec<_>>>())?.map(|parts| parts.join(":"))
}

#[cfg(test)]
mod tests {
    use super::LeafNumber::{self, Flag, Real, Signed, Unsigned};
    use super::*;

    #[test]
    fn the_smallest_type_that_holds_all() {
        for (types, wanted) in [
            (&[Flag, Flag][..], Some(Flag)),
            (&[Flag, Unsigned(8)], Some(Unsigned(8))),
            (&[Signed(8), Unsigned(8)], Some(Signed(16))),
            (&[Signed(32), Unsigned(16)], Some(Signed(32))),
            (&[Signed(8), Unsigned(32)], Some(Signed(64))),
            (&[Signed(8), Unsigned(64)], None),
            (&[Flag, Unsigned(64)], Some(Unsigned(64))),
            (&[Signed(16), Real(32)], Some(Real(32))),
            (&[Unsigned(32), Real(32)], Some(Real(64))),
            (&[Signed(32), Unsigned(32), Real(32)], Some(Real(64))),
            (&[Signed(64), Real(64)], None),
        ] {
            assert_eq!(LeafNumber::joined(types), wanted, "{types:?}");
            let reversed: Vec<LeafNumber> = types.iter().rev().copied().collect();
            assert_eq!(LeafNumber::joined(&reversed), wanted, "{types:?}");
        }
    }

    #[test]
    fn lists_get_other_letters() {
        let leaves = |letters: &[(&str, Option<char>)]| -> Vec<_> {
            letters.iter().map(|(name, letter)| ((*name).to_owned(), *letter)).collect()
        };
        assert_eq!(relisted("x[n][3]/S", &leaves(&[("x", Some('I'))])).as_deref(), Some("x[n][3]/I"));
        assert_eq!(
            relisted("a/S:b:c/d[0,1,8]", &leaves(&[("a", Some('I')), ("b", Some('S')), ("c", None)])).as_deref(),
            Some("a/I:b/S:c/d[0,1,8]")
        );
        assert_eq!(relisted("x/d[0,100,10]", &leaves(&[("x", Some('D'))])).as_deref(), Some("x/D"));
        assert_eq!(relisted("energy in GeV", &leaves(&[("x", Some('D'))])), None);
        assert_eq!(relisted("p/q:r/s", &leaves(&[("x", Some('D')), ("r", Some('D'))])), None);
    }
}
