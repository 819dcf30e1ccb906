//! A column that an expression defines: `NAME=EXPR`. Later ones and cuts take its name.

use std::str::FromStr;

use rootfile::{Error, Hint, Result};

/// The option.
pub(super) const DEFINE: &str = "define";

/// A column that an expression defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// Its name.
    pub name: String,
    /// The expression.
    pub text: String,
}

impl FromStr for Define {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            let hint = Hint::named(DEFINE);
            Error::request(format!("{hint} {text}: {why}; write NAME=EXPRESSION, such as ht='sum(Jet_pt)'")).hint(hint)
        };
        let (name, expression) = text.split_once('=').ok_or_else(|| wrong("there is no ="))?;
        let (name, expression) = (name.trim(), expression.trim());
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || !is_name(name) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(wrong("a name has letters, digits and _, and does not begin with a digit"));
        }
        if expression.is_empty() {
            return Err(wrong("there is no expression"));
        }
        Ok(Self { name: name.to_owned(), text: expression.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_a_name_and_an_expression() {
        let define: Define = " ht = sum(x == 2) ".parse().unwrap();
        assert_eq!((define.name.as_str(), define.text.as_str()), ("ht", "sum(x == 2)"));
        for text in ["x", "=1", "2x=1", "a.b=1", "x=", "a b=1"] {
            let error = text.parse::<Define>().unwrap_err().to_string();
            assert!(error.contains("NAME=EXPRESSION"), "{error}");
        }
    }
}
