//! A command with places for values: `cmsRun cfg.py split={split-level} out={output}`. It is split into words as a shell splits them, before
//! any value is put in, and no shell runs it: a value is never split, and nothing in it has a meaning.

use std::collections::BTreeSet;

use rootfile::{Error, Result};

/// A command with places for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    words: Vec<Vec<Part>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(String),
}

impl Template {
    /// Reads a command. `{name}` is the place of a value, `{{` and `}}` are braces.
    ///
    /// # Errors
    ///
    /// It has no word, a quote or a brace is not closed, or a place has no name.
    pub fn parse(text: &str) -> Result<Self> {
        let words = shlex::split(text).ok_or_else(|| Error::request(format!("{text:?}: a quote is not closed")))?;
        if words.is_empty() {
            return Err(Error::request("the command has no word"));
        }
        let words = words.iter().map(|word| parts(word)).collect::<Result<_>>()?;
        Ok(Self { text: text.to_owned(), words })
    }

    /// The command as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of its values.
    pub fn names(&self) -> BTreeSet<&str> {
        let named = |part: &'_ Part| matches!(part, Part::Value(_));
        let parts = self.words.iter().flatten().filter(|part| named(part));
        parts.filter_map(|part| if let Part::Value(name) = part { Some(name.as_str()) } else { None }).collect()
    }

    /// The words without places, which are the same at all points.
    pub(super) fn constant_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|parts| match parts.as_slice() {
            [Part::Text(text)] => Some(text.as_str()),
            _ => None,
        })
    }

    /// The words with values in their places.
    ///
    /// # Errors
    ///
    /// There is no value for a place.
    pub(super) fn fill(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Vec<String>> {
        let part = |part: &Part| match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Value(name) => value(name).ok_or_else(|| Error::request(format!("{{{name}}} has no value here"))),
        };
        self.words.iter().map(|word| word.iter().map(part).collect::<Result<String>>()).collect()
    }
}

/// The parts of a word.
fn parts(word: &str) -> Result<Vec<Part>> {
    let wrong = |what: &str| Error::request(format!("{word:?}: {what}; write {{{{ and }}}} for braces"));
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut left = word.chars().peekable();
    while let Some(c) = left.next() {
        match c {
            '{' | '}' if left.peek() == Some(&c) => {
                left.next();
                text.push(c);
            }
            '{' => {
                let mut name = String::new();
                loop {
                    match left.next() {
                        Some('}') => break,
                        Some(c) if c != '{' => name.push(c),
                        _ => return Err(wrong("a brace is not closed")),
                    }
                }
                if name.trim().is_empty() {
                    return Err(wrong("a place without a name"));
                }
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(Part::Value(name.trim().to_owned()));
            }
            '}' => return Err(wrong("a brace that closes nothing")),
            c => text.push(c),
        }
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, value: &str) -> Result<Vec<String>> {
        Template::parse(text)?.fill(&|name| (name != "none").then(|| value.to_owned()))
    }

    #[test]
    fn a_value_stays_in_its_word() {
        let hostile = "a b'\"$(touch x); rm *";
        assert_eq!(filled("job split={s} {o}", hostile).unwrap(), ["job", &format!("split={hostile}"), hostile]);
        assert_eq!(filled("job 'a {s}' \"b\" c\\ d ''", "1").unwrap(), ["job", "a 1", "b", "c d", ""]);
        assert_eq!(filled("root -q 'j.C({{\"{o}\"}})'", "f").unwrap(), ["root", "-q", "j.C({\"f\"})"]);
        let template = Template::parse("a {x} {y}{x} b").unwrap();
        assert_eq!(template.names().into_iter().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(template.constant_words().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for (text, expected) in [
            ("", "no word"),
            ("a 'b", "quote is not closed"),
            ("a {b", "brace is not closed"),
            ("a {b{c}}", "brace is not closed"),
            ("a b}", "closes nothing"),
            ("a {}", "without a name"),
            ("a {none}", "{none} has no value here"),
        ] {
            let message = filled(text, "1").unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
