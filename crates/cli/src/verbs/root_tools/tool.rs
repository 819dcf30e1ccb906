//! What ROOT's tools have in common: their messages, their exit codes, their compression settings.

use flow::edit::{Change, Edited};
use rootfile::{Error, Hint, Result, public_text};

use crate::output::{self, Answer};
use crate::verbs::edit::sentence;

/// A tool: its arguments do the work and print what it prints.
macro_rules! root_tool {
    ($args:ty, $name:literal) => {
        impl crate::verb_command::VerbCommand for $args {
            type Report = ();

            fn work(&self, _: &crate::verb_command::Watch<'_>) -> rootfile::Result<()> {
                Err(rootfile::Error::request(concat!($name, " is only for the command line")))
            }

            fn run(&self, _: crate::verb_command::Commands) -> rootfile::Result<crate::output::Answer> {
                self.do_it()
            }

            fn exit_code(&self, commands: crate::verb_command::Commands) -> u8 {
                crate::verbs::root_tools::tool::exit_code($name, crate::verb_command::ended::<Self>(self.run(commands)))
            }
        }
    };
}
pub(super) use root_tool;

/// The exit codes of ROOT's tools: 0 for success, 1 otherwise. An error is printed in ROOT's form.
pub fn exit_code(tool: &str, result: Result<Answer>) -> u8 {
    match result {
        Err(e) if !matches!(e.kind(), rootfile::ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::BrokenPipe) => {
            say("Error", tool, &e.to_string());
            1
        }
        result => output::exit_code(result),
    }
}

/// A message in ROOT's form.
pub(super) fn say(level: &str, tool: &str, text: &str) {
    eprintln!("{level} in <{tool}>: {}", output::line(&public_text(text)));
}

/// Prints what an edit left out as warnings, and with `verbose` what it did.
pub(super) fn told(tool: &str, edited: &Edited, verbose: bool) -> Answer {
    told_as(tool, edited, verbose.then_some(sentence))
}

/// As [`told`], with a form of the lines.
pub(super) fn told_as(tool: &str, edited: &Edited, line: Option<fn(&Change) -> String>) -> Answer {
    for left in &edited.left_out {
        let what = format!("Directory '{left}' will not be copied. Use the -r option if you need a recursive copy.");
        say("Warning", tool, &what);
    }
    if let Some(line) = line {
        edited.changes.iter().for_each(|change| say("Info", tool, &line(change)));
    }
    Answer::Yes
}

/// An error of a copy in the words of a tool that keeps no older cycles.
pub(super) fn without_cycles(error: Error) -> Error {
    let names = |option: &str| error.hints().iter().any(|hint| hint.option() == option);
    if !names("add-cycle") {
        return error;
    }
    let replace = Hint::switch("replace");
    let why = match names(replace.option()) {
        true => format!("is there already; {replace} replaces it"),
        false => "two sources have this name, and one would hide the other".to_owned(),
    };
    let told = Error::request(why).hint(replace);
    let told = error.subject().map(str::to_owned).into_iter().fold(told, Error::object);
    error.path().into_iter().fold(told, Error::file)
}

/// A compression setting by ROOT's number, as 505.
pub(super) fn compression(setting: Option<u32>) -> Result<Option<rootfile::codec::Compression>> {
    let Some(setting) = setting else { return Ok(None) };
    let known = i32::try_from(setting).ok().and_then(rootfile::codec::Compression::from_root_setting);
    known.map(Some).ok_or_else(|| Error::request(format!("{setting} is no compression setting, such as 505")))
}
