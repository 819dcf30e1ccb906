//! The key of a join: the columns, or expressions, of the left table, and those of the tables on the right that have the same values.

use std::fmt;

use rootfile::{Error, Hint, Result};

use crate::keys::{KeyNames, bare};

/// The option that gives the key.
pub(super) const ON: &str = "on";

/// The columns of a key on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinKey {
    left: KeyNames,
    right: KeyNames,
}

impl JoinKey {
    /// The columns of several texts, one after the other: `run,event`, or `run=Run,event` where the right calls one otherwise.
    ///
    /// # Errors
    ///
    /// There is none, one is there twice, or one has no name on a side.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Self::parsed(texts).map_err(|e| e.hint(Hint::named(ON)))
    }

    fn parsed<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for text in KeyNames::of(texts)?.texts() {
            let (one, other) = sides(text).unwrap_or((text, text));
            if one.is_empty() || other.is_empty() {
                let hint = Hint::text(ON, "run=Run");
                let message =
                    format!("{text} has no name on one side; {hint} takes run on the left and Run on the right");
                return Err(Error::request(message).hint(hint));
            }
            left.push(one.to_owned());
            right.push(other.to_owned());
        }
        let listed = |texts| KeyNames::listed(texts).map(|names| names.given_by(ON));
        Ok(Self { left: listed(left)?, right: listed(right)? })
    }

    /// Those of the left table.
    pub fn left(&self) -> &KeyNames {
        &self.left
    }

    /// Those of the tables on the right.
    pub fn right(&self) -> &KeyNames {
        &self.right
    }

    /// The columns of both sides, pair by pair.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.left.texts().iter().map(String::as_str).zip(self.right.texts().iter().map(String::as_str))
    }
}

impl fmt::Display for JoinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            |(left, right): (&str, &str)| if left == right { left.to_owned() } else { format!("{left}={right}") };
        f.write_str(&self.pairs().map(text).collect::<Vec<_>>().join(","))
    }
}

/// The texts before and behind the sign `=`, which is none of a comparison.
fn sides(text: &str) -> Option<(&str, &str)> {
    let is_of_other = |letter: Option<char>| letter.is_some_and(|letter| "=<>!".contains(letter));
    bare(text).filter(|(_, letter)| *letter == '=').find_map(|(at, _)| {
        let (left, right) = (text.get(..at)?, text.get(at + 1..)?);
        let compares = is_of_other(left.chars().next_back()) || is_of_other(right.chars().next());
        (!compares).then_some((left.trim(), right.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_may_have_other_names() {
        let key = JoinKey::of(["run = Run,event", "max(a, b)=c % 3"]).unwrap();
        assert_eq!(key.left().texts(), ["run", "event", "max(a, b)"]);
        assert_eq!(key.right().texts(), ["Run", "event", "c % 3"]);
        assert_eq!(key.to_string(), "run=Run,event,max(a, b)=c % 3");
        for same in ["x == 3", "x >= y", "x != y", "`a=b`", "f[a=b]"] {
            assert_eq!(JoinKey::of([same]).unwrap().right().texts(), [same]);
        }
        assert_eq!(JoinKey::of(["x == 3=y <= 4"]).unwrap().to_string(), "x == 3=y <= 4");
        for wrong in ["", "run=", "=Run", "run=a,run=b", "a=Run,b=Run"] {
            assert!(JoinKey::of([wrong]).is_err(), "{wrong}");
        }
    }
}
