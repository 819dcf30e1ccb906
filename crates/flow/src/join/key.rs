//! The key of a join: the columns, or expressions, of the left table, and those of each table on the right that have the same values.

use rootfile::{Error, Hint, Result};

use crate::keys::{KeyNames, bare};

/// The option that gives the key.
pub(super) const ON: &str = "on";

/// The columns of a key on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinKey {
    left: KeyNames,
    /// Those of each table on the right, or the only ones of all.
    right: Vec<KeyNames>,
}

impl JoinKey {
    /// The columns of several texts, one after the other: `run,event`, or `run=Run,event` where the right calls one otherwise, or
    /// `run=Run=number,event` where each of several tables does.
    ///
    /// # Errors
    ///
    /// There is none, one is there twice, one has no name on a side, or names of other numbers of tables.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Self::parsed(texts).map_err(|e| e.hint(Hint::named(ON)))
    }

    fn parsed<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let parts = KeyNames::of(texts)?;
        let parts: Vec<Vec<&str>> = parts.texts().iter().map(|text| sides(text)).collect();
        if let Some(part) = parts.iter().find(|part| part.iter().any(|name| name.is_empty())) {
            let hint = Hint::text(ON, "run=Run");
            let text = part.join("=");
            let message = format!("{text} has no name on one side; {hint} takes run on the left and Run on the right");
            return Err(Error::request(message).hint(hint));
        }
        let tables = parts.iter().map(|part| part.len().saturating_sub(1)).max().unwrap_or(1).max(1);
        if let Some(part) = parts.iter().find(|part| part.len() > 2 && part.len() <= tables) {
            let message = format!(
                "{} has names of {} tables on the right, and another column of the key has those of {tables}; give one name for all, or \
                 one for each",
                part.join("="),
                part.len() - 1
            );
            return Err(Error::request(message));
        }
        let listed = |names: Vec<&str>| {
            KeyNames::listed(names.into_iter().map(str::to_owned).collect()).map(|names| names.given_by(ON))
        };
        let left = listed(parts.iter().filter_map(|part| part.first().copied()).collect())?;
        let of_table = |table: usize| {
            let own = parts.iter().filter_map(|part| if part.len() > 2 { part.get(table + 1) } else { part.last() });
            listed(own.copied().collect())
        };
        Ok(Self { left, right: (0..tables).map(of_table).collect::<Result<_>>()? })
    }

    /// Those of the left table.
    pub fn left(&self) -> &KeyNames {
        &self.left
    }

    /// Those of a table on the right.
    pub fn right(&self, table: usize) -> &KeyNames {
        self.right.get(table).or(self.right.first()).unwrap_or(&self.left)
    }

    /// Refuses names for another number of tables on the right, unless they are for all.
    pub(super) fn suits(&self, tables: usize) -> Result<()> {
        match self.right.len() {
            1 => Ok(()),
            named if named == tables => Ok(()),
            named => {
                let hint = Hint::named(ON);
                let message = format!(
                    "{hint} has names of {named} tables on the right, and there {}; give one name for all, or one for each",
                    if tables == 1 { "is 1".to_owned() } else { format!("are {tables}") }
                );
                Err(Error::request(message).hint(hint))
            }
        }
    }

    /// The columns of the left table and of one on the right, pair by pair.
    pub(super) fn pairs(&self, table: usize) -> impl Iterator<Item = (&str, &str)> {
        self.left.texts().iter().zip(self.right(table).texts()).map(|(left, right)| (left.as_str(), right.as_str()))
    }

    /// The key as a text, for a table on the right.
    pub(super) fn text(&self, table: usize) -> String {
        let text =
            |(left, right): (&str, &str)| if left == right { left.to_owned() } else { format!("{left}={right}") };
        self.pairs(table).map(text).collect::<Vec<_>>().join(",")
    }
}

/// The texts between the signs `=` that are none of a comparison.
fn sides(text: &str) -> Vec<&str> {
    let is_of_other = |letter: Option<char>| letter.is_some_and(|letter| "=<>!".contains(letter));
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, _) in bare(text).filter(|(_, letter)| *letter == '=') {
        let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        if !is_of_other(before.chars().next_back()) && !is_of_other(behind.chars().next()) {
            found.extend(text.get(start..at).map(str::trim));
            start = at + 1;
        }
    }
    found.extend(text.get(start..).map(str::trim));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_may_have_other_names() {
        let key = JoinKey::of(["run = Run,event", "max(a, b)=c % 3"]).unwrap();
        assert_eq!(key.left().texts(), ["run", "event", "max(a, b)"]);
        assert_eq!(key.right(0).texts(), ["Run", "event", "c % 3"]);
        assert_eq!(key.text(1), "run=Run,event,max(a, b)=c % 3");
        for same in ["x == 3", "x >= y", "x != y", "`a=b`", "f[a=b]"] {
            assert_eq!(JoinKey::of([same]).unwrap().right(0).texts(), [same]);
        }
        assert_eq!(JoinKey::of(["x == 3=y <= 4"]).unwrap().text(0), "x == 3=y <= 4");
        for wrong in ["", "run=", "=Run", "run=a=", "run=a,run=b", "a=Run,b=Run"] {
            assert!(JoinKey::of([wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tables_may_have_other_names() {
        let key = JoinKey::of(["run=Run=run=r", "event", "x % 3 = y = `z=1` = z == 1"]).unwrap();
        let found: Vec<String> = (0..3).map(|table| key.right(table).to_string()).collect();
        assert_eq!(found, ["Run,event,y", "run,event,`z=1`", "r,event,z == 1"]);
        assert_eq!(key.left().to_string(), "run,event,x % 3");
        assert_eq!(key.text(1), "run,event,x % 3=`z=1`");
        assert!(key.suits(3).is_ok());
        for (tables, said) in [(2, "names of 3 tables on the right, and there are 2"), (1, "and there is 1")] {
            let why = key.suits(tables).unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
        let one = JoinKey::of(["k=b,l"]).unwrap();
        assert!(one.suits(7).is_ok());
        assert_eq!((one.text(0), one.text(5)), ("k=b,l".to_owned(), "k=b,l".to_owned()));
        let why = JoinKey::of(["run=a=b,event=c=d=e"]).unwrap_err().to_string();
        assert!(why.contains("run=a=b has names of 2 tables on the right") && why.contains("those of 3"), "{why}");
        assert!(JoinKey::of(["run=a=b,event=c=b"]).is_err());
    }
}
