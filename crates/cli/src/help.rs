//! The help of the command as a whole: its verbs in groups; and where words lead that other commands have for the same.

use std::fmt::Write;

use clap::Command;

use crate::output;

/// The verbs by what they are for. A test compares them with those that there are.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Look into files", &["ls", "show", "count", "schema", "stats", "draw", "inspect"]),
    ("Make files", &["rewrite", "merge", "hadd", "convert", "recover", "split"]),
    ("Edit files", &["cp", "mv", "rm", "mkdir"]),
    ("Compare and check", &["verify", "check"]),
    ("Choose a layout", &["tune", "precision", "readspeed", "sweep"]),
    ("Find and sort events", &["index", "pick", "sort"]),
    ("Work on many files", &["fileset", "plan", "run", "collect"]),
    ("Measure programs", &["monitor", "generate", "write-bench"]),
    ("Shells", &["completions"]),
];

/// What other commands call the same: the word, and the command to use.
const ELSEWHERE: [(&str, &str); 27] = [
    ("head", "show FILE:TREE"),
    ("cat", "show FILE:TREE --csv"),
    ("print", "show FILE:HISTOGRAM"),
    ("dump", "show FILE:TREE --jsonl"),
    ("scan", "show FILE:TREE COLUMN..."),
    ("info", "inspect FILE"),
    ("list", "ls FILE"),
    ("dir", "ls FILE"),
    ("tree", "ls -r FILE"),
    ("types", "schema FILE:TREE"),
    ("describe", "stats FILE:TREE"),
    ("plot", "draw FILE:TREE EXPR"),
    ("hist", "draw FILE:TREE EXPR"),
    ("histogram", "draw FILE:TREE EXPR"),
    ("columns", "schema FILE:TREE"),
    ("wc", "count FILE"),
    ("entries", "count FILE"),
    ("copy", "cp FILE:OBJECT OUT.root"),
    ("rename", "mv FILE:OBJECT FILE:NAME"),
    ("move", "mv FILE:OBJECT OUT.root"),
    ("delete", "rm FILE:OBJECT"),
    ("remove", "rm FILE:OBJECT"),
    ("skim", "rewrite FILE -o OUT.root --keep 'Muon_*' --entries 0:1000"),
    ("slim", "rewrite FILE -o OUT.root --drop 'Jet_*'"),
    ("compress", "rewrite FILE -o OUT.root --compression zstd:5"),
    ("cat-files", "merge FILE... -o OUT.root"),
    ("diff", "verify FILE OTHER"),
];

/// The command, with its verbs in groups in the help.
pub fn grouped(command: Command) -> Command {
    let width = output::width().min(100);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, verbs) in GROUPS {
        let _ = writeln!(text, "\n{group}:");
        for verb in verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about).map(ToString::to_string);
            text += &entry(verb, &about.unwrap_or_default(), width);
        }
    }
    text += "\n`basketry help VERB` has the options and examples of a verb.\n\nOptions:\n{options}";
    command.help_template(text)
}

/// A verb and what it does, in lines of so many characters.
fn entry(verb: &str, about: &str, width: usize) -> String {
    const INDENT: usize = 15;
    let mut lines = vec![format!("  {verb:<11}  ")];
    for word in about.split_whitespace() {
        let length = lines.last().map_or(0, |line| line.chars().count());
        if length > INDENT && length + word.chars().count() + 1 > width {
            lines.push(" ".repeat(INDENT));
        }
        if let Some(line) = lines.last_mut() {
            if line.chars().count() > INDENT {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The command for a word that is no verb here.
pub fn elsewhere(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(known, _)| *known == word).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_verb_is_in_a_group() {
        let command = Cli::command();
        let mut verbs: Vec<&str> =
            command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(verbs, grouped);
    }

    #[test]
    fn words_of_other_commands_lead_to_commands_that_parse() {
        let command = Cli::command();
        for (word, leads_to) in ELSEWHERE {
            assert!(command.find_subcommand(word).is_none(), "{word}");
            let words = leads_to.split(' ').map(|word| word.trim_matches('\'').trim_end_matches("..."));
            let parsed = Cli::command().try_get_matches_from(std::iter::once("basketry").chain(words));
            assert!(parsed.is_ok(), "{leads_to}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn examples_are_commands_that_parse() {
        for verb in Cli::command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let text = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
            assert!(examples.len() >= 2, "{} has {} examples", verb.get_name(), examples.len());
            for example in examples {
                let all = shlex::split(example).unwrap();
                let words: Vec<String> = all.into_iter().take_while(|word| word != "|" && word != ">").collect();
                assert_eq!(words.first().map(String::as_str), Some("basketry"), "{example}");
                let parsed = Cli::command().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn descriptions_are_wrapped() {
        assert_eq!(entry("ls", "aaa bbb ccc", 22), "  ls           aaa bbb\n               ccc\n");
    }
}
