//! Options that an error's message names, as data, so that each front end can show them in its own notation.

use std::borrow::Cow;
use std::fmt;

/// An option in a message. `Display` gives the command's notation, which messages contain: `--memory 13MB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    option: Cow<'static, str>,
    value: HintValue,
}

/// The value that a message gives an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintValue {
    /// None: the message only names the option.
    NotGiven,
    /// The option is a switch that is turned on.
    On,
    /// A number.
    Number(String),
    /// A text.
    Text(String),
}

impl Hint {
    fn new(option: impl Into<Cow<'static, str>>, value: HintValue) -> Self {
        Self { option: option.into(), value }
    }

    /// An option that the message only names. All names are without dashes in front.
    pub fn named(option: impl Into<Cow<'static, str>>) -> Self {
        Self::new(option, HintValue::NotGiven)
    }

    /// A switch.
    pub fn switch(option: impl Into<Cow<'static, str>>) -> Self {
        Self::new(option, HintValue::On)
    }

    /// An option with a number.
    pub fn number(option: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        Self::new(option, HintValue::Number(value.to_string()))
    }

    /// An option with a text.
    pub fn text(option: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        Self::new(option, HintValue::Text(value.into()))
    }

    /// The option, without dashes in front.
    pub fn option(&self) -> &str {
        &self.option
    }

    /// The value that the message gives it.
    pub fn value(&self) -> &HintValue {
        &self.value
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.option)?;
        match &self.value {
            HintValue::NotGiven | HintValue::On => Ok(()),
            HintValue::Number(value) | HintValue::Text(value) => write!(f, " {value}"),
        }
    }
}

/// The switch that lets an output replace a file.
pub(crate) const FORCE: &str = "force";

/// The reason why the system's error says that a file exists.
#[derive(Debug)]
pub(crate) struct Taken;

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is there already; give {} to replace it", Hint::switch(FORCE))
    }
}

impl std::error::Error for Taken {}

/// A message with its hints as `show` gives them.
pub(crate) fn shown(message: String, hints: &[Hint], show: impl Fn(&Hint) -> String) -> String {
    let mut hints: Vec<(String, &Hint)> = hints.iter().map(|hint| (hint.to_string(), hint)).collect();
    // The name of an option may begin with that of another one.
    hints.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    hints.iter().fold(message, |message, (text, hint)| message.replace(text, &show(hint)))
}
