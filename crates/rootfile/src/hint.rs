//! Options that an error's message names, as data, so that each front end can show them in its own notation.

use std::borrow::Cow;
use std::fmt;

/// An option in a message. `Display` gives the command's notation, which messages contain: `--memory 13MB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    option: Cow<'static, str>,
    value: HintValue,
    /// What it does, if the message offers it as a way out, in a clause of its own.
    does: String,
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
        Self { option: option.into(), value, does: String::new() }
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

    /// An option that is a way out: the message has the [`clause`](Self::clause) that it does this. Who lacks the option leaves the clause out.
    #[must_use]
    pub fn that(mut self, does: impl Into<String>) -> Self {
        self.does = does.into();
        self
    }

    /// The clause of a way out, `--common leaves the branch out`. Before it and behind it stands a comma or a semicolon, or brackets are around all
    /// such clauses of a message. It is empty if the message only names the option.
    pub fn clause(&self) -> String {
        if self.does.is_empty() { String::new() } else { format!("{self} {}", self.does) }
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

/// A message without the clause of an option.
pub(crate) fn without(message: &str, clause: &str) -> String {
    let forms = [
        format!(" ({clause})"),
        format!("{clause}, "),
        format!("{clause}; "),
        format!("; {clause}"),
        format!(", {clause}"),
    ];
    let found = forms.iter().find(|form| message.contains(form.as_str()));
    found.map_or_else(|| message.to_owned(), |form| message.replacen(form.as_str(), "", 1))
}

/// A message with its hints as `show` gives them.
pub(crate) fn shown(message: String, hints: &[Hint], show: impl Fn(&Hint) -> String) -> String {
    let mut hints: Vec<(String, &Hint)> = hints.iter().map(|hint| (hint.to_string(), hint)).collect();
    // The name of an option may begin with that of another one.
    hints.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    hints.iter().fold(message, |message, (text, hint)| message.replace(text, &show(hint)))
}
