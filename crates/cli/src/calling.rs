//! Calls of verbs by programs: options with their values become words of the command where clap's description of the verb says
//! how, so that texts pass as they are, whatever characters they have.

use std::ffi::{OsStr, OsString};

use clap::{ArgAction, Command};
use rootfile::{Error, Result};

/// What a program gives for an option.
#[derive(Clone, Debug)]
pub enum Value {
    /// A truth value.
    Switch(bool),
    /// A text, a number as text, or a path.
    One(OsString),
    /// Several of these.
    Several(Vec<OsString>),
    /// Settings by pattern, each as `KEY=VALUE,...`; of an option with one value each is `NAME=VALUE`.
    Rules(Vec<(OsString, OsString)>),
}

/// A call of a verb.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The verb, such as `rewrite` or `sweep report`.
    pub verb: String,
    /// Its options by name, with dashes or underscores.
    pub options: Vec<(String, Value)>,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Options of the verb that is the first argument, which this one plans.
    pub planned: Vec<(String, Value)>,
}

impl Call {
    /// The words of the command, and `command` for them.
    pub(crate) fn words(&self, mut command: Command) -> Result<(Vec<OsString>, Command)> {
        let mut words = vec![OsString::from("basketry")];
        words.extend(self.verb.split(' ').map(OsString::from));
        let mut verb = Some(&mut command);
        for name in self.verb.split(' ') {
            verb = verb.and_then(|above| above.find_subcommand_mut(name));
        }
        let unknown = || Error::request(format!("basketry has no verb {:?}", self.verb));
        let verb = verb.ok_or_else(unknown)?;
        words.extend(option_words(verb, &self.options)?);
        // A list is one already: a comma is of its texts.
        let lists = self.options.iter().filter(|(_, value)| matches!(value, Value::Several(_)));
        let lists: Vec<String> = lists.map(|(name, _)| long(name)).collect();
        *verb = std::mem::take(verb).mut_args(|arg| match arg.get_long() {
            Some(name) if lists.iter().any(|list| list == name) => arg.value_delimiter(None),
            _ => arg,
        });
        match self.arguments.split_first() {
            Some((planned, inputs)) if self.verb == "plan" => {
                words.push(planned.clone());
                // What follows `--` are options of the other verb.
                words.extend(inputs.iter().map(|input| match input.as_encoded_bytes() {
                    [b'-', ..] => [OsStr::new("./"), input].into_iter().collect(),
                    _ => input.clone(),
                }));
                words.push("--".into());
                if let Some(other) = planned.to_str().and_then(|name| command.find_subcommand(name)) {
                    words.extend(option_words(other, &self.planned)?);
                }
            }
            _ => {
                words.push("--".into());
                words.extend(self.arguments.iter().cloned());
            }
        }
        Ok((words, command))
    }
}

fn long(name: &str) -> String {
    name.replace('_', "-")
}

fn option_words(verb: &Command, options: &[(String, Value)]) -> Result<Vec<OsString>> {
    let mut words = Vec::new();
    for (name, value) in options {
        let name = long(name);
        let is_named = |option: &&clap::Arg| {
            option.get_long() == Some(&name)
                || option.get_all_aliases().into_iter().flatten().any(|alias| alias == name)
        };
        let Some(option) = verb.get_arguments().find(is_named) else {
            return Err(Error::request(format!("{} has no option {name}", verb.get_name())));
        };
        let with =
            |value: &OsStr| [OsStr::new("--"), name.as_ref(), "=".as_ref(), value].into_iter().collect::<OsString>();
        match value {
            Value::Switch(on) if matches!(option.get_action(), ArgAction::SetTrue) => {
                words.extend(on.then(|| format!("--{name}").into()));
            }
            Value::Switch(on) => words.push(with(on.to_string().as_ref())),
            Value::One(text) => words.push(with(text)),
            Value::Several(texts) => words.extend(texts.iter().map(|text| with(text))),
            Value::Rules(rules) => {
                let takes_two = option.get_num_args().is_some_and(|count| count.min_values() == 2);
                for (pattern, settings) in rules {
                    match takes_two {
                        true => words.extend([format!("--{name}").into(), pattern.clone(), settings.clone()]),
                        false => words.push(with(
                            &[pattern.as_os_str(), "=".as_ref(), settings.as_os_str()]
                                .into_iter()
                                .collect::<OsString>(),
                        )),
                    }
                }
            }
        }
    }
    Ok(words)
}
