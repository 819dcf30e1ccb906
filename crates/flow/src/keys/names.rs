//! The names of the columns of a key, as users give them: `run,luminosityBlock,event`. Each may be an expression.

use std::fmt;
use std::str::FromStr;

use rootfile::{Error, Result};

/// The columns of a key in their order: names, or expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyNames {
    texts: Vec<String>,
    /// The option that gave them.
    option: &'static str,
}

impl KeyNames {
    /// Their texts.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The option that gave them, for messages.
    pub fn option(&self) -> &'static str {
        self.option
    }

    /// The same, given by another option.
    #[must_use]
    pub fn given_by(self, option: &'static str) -> Self {
        Self { option, ..self }
    }

    /// The columns of several texts, one after the other.
    ///
    /// # Errors
    ///
    /// There is none, or one is there twice.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut found: Vec<String> = Vec::new();
        for part in texts.into_iter().flat_map(parts).map(str::trim) {
            if part.is_empty() {
                return Err(Error::request("a key has names of columns with commas between them, such as run,event"));
            }
            found.push(part.to_owned());
        }
        Self::listed(found)
    }

    /// Columns in a list.
    ///
    /// # Errors
    ///
    /// There is none, or one is there twice.
    pub(crate) fn listed(texts: Vec<String>) -> Result<Self> {
        let twice = |(place, text): (usize, &String)| texts.iter().take(place).any(|known| known == text);
        match texts.iter().enumerate().find(|one| twice(*one)) {
            Some((_, text)) => Err(Error::request(format!("the key has {text} twice"))),
            None if texts.is_empty() => Err(Error::request("a key has at least one column")),
            None => Ok(Self { texts, option: "key" }),
        }
    }
}

impl FromStr for KeyNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::of([text])
    }
}

impl fmt::Display for KeyNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts.join(","))
    }
}

/// The parts of a text between its bare commas.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let ends = bare(text).filter(|(_, letter)| *letter == ',').map(|(at, _)| at).chain([text.len()]);
    ends.scan(0, |start, end| {
        let part = text.get(*start..end);
        *start = end + 1;
        part
    })
}

/// The characters of a text that are in no brackets and no quotes, with their places.
pub(crate) fn bare(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut quote) = (0usize, None);
    text.char_indices().filter(move |&(at, letter)| {
        let is_closed = || text.get(at + 1..).is_some_and(|rest| rest.contains(letter));
        match (quote, letter) {
            (Some(open), _) => {
                quote = quote.filter(|_| open != letter);
                return false;
            }
            (None, '`' | '"' | '\'') if is_closed() => {
                quote = Some(letter);
                return false;
            }
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_parentheses_are_of_an_expression() {
        let key: KeyNames = "run, max(a, b) ,event".parse().unwrap();
        assert_eq!(key.texts(), ["run", "max(a, b)", "event"]);
        assert_eq!(key.to_string(), "run,max(a, b),event");
        assert_eq!(KeyNames::of(["run", "event"]).unwrap().texts(), ["run", "event"]);
        let odd: KeyNames = "`a,b`,x == \"[,\",it's,é(,),[,],c".parse().unwrap();
        assert_eq!(odd.texts(), ["`a,b`", "x == \"[,\"", "it's", "é(,)", "[,]", "c"]);
        for wrong in ["", "run,", "run,run"] {
            assert!(wrong.parse::<KeyNames>().is_err(), "{wrong}");
        }
    }
}
