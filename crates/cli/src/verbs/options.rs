//! `basketry options`: the options of all verbs as JSON, for what is made of them, such as Python's keywords. clap knows them
//! from the arguments of the verbs; nothing is listed here.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};
use rootfile::Result;
use serde::Serialize;

use crate::options::Verbosity;
use crate::verb_command::{VerbCommand, Watch};

/// Print the options of all verbs as JSON: names, values, defaults and texts.
#[derive(clap::Args)]
pub struct Args {}

/// An option of a verb.
#[derive(Serialize)]
pub struct VerbOption {
    /// Its name, without dashes.
    name: String,
    /// Names of its values, each of which has to be given; none of a switch.
    values: Vec<String>,
    /// Whether it may be given several times.
    several: bool,
    /// What it is otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    /// What it does.
    help: String,
    /// The group that the help lists it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<String>,
}

impl VerbCommand for Args {
    type Report = BTreeMap<String, Vec<VerbOption>>;

    fn verbosity(&self) -> &Verbosity {
        &Verbosity { quiet: false, json: true }
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Self::Report> {
        let mut whole = (watch.commands.whole)();
        whole.build();
        let shown = whole.get_subcommands().filter(|verb| !verb.is_hide_set());
        Ok(shown.map(|verb| (verb.get_name().to_owned(), options(verb))).collect())
    }
}

fn options(verb: &Command) -> Vec<VerbOption> {
    let of_users =
        |option: &&Arg| !option.is_hide_set() && !matches!(option.get_action(), ArgAction::Help | ArgAction::Version);
    verb.get_arguments().filter(of_users).filter_map(option).collect()
}

fn option(option: &Arg) -> Option<VerbOption> {
    let values: Vec<String> = match option.get_action().takes_values() {
        true => option.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect(),
        false => Vec::new(),
    };
    let takes_more = option.get_num_args().is_some_and(|count| count.max_values() > values.len());
    let default = option.get_default_values().first().filter(|_| !values.is_empty());
    Some(VerbOption {
        name: option.get_long()?.to_owned(),
        several: matches!(option.get_action(), ArgAction::Append)
            || takes_more
            || option.get_value_delimiter().is_some(),
        values,
        default: default.map(|text| text.to_string_lossy().into_owned()),
        help: option.get_long_help().or(option.get_help()).map(ToString::to_string).unwrap_or_default(),
        heading: option.get_help_heading().map(str::to_owned),
    })
}
