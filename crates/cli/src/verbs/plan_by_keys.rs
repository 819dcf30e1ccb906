//! The tasks of verbs that know entries by their keys: `pick` of parts of a list of events, and `join` of ranges of keys. Each task has all
//! inputs, and the union of what tasks write is what one command would.

use flow::events::split_events;
use flow::inputs::Input;
use flow::join::{JoinKey, key_bounds};
use flow::{Budget, Progress};
use rootfile::{Error, Hint, Result};

/// The options of a task that differ from those of the others.
pub(super) struct KeyedTask {
    pub options: Vec<String>,
    /// Lists of events: the option for each, and its text, which goes into a file.
    pub lists: Vec<String>,
}

/// The values of an option among the words of a verb, and the other words.
fn taken(words: &[String], option: &str) -> (Vec<String>, Vec<String>) {
    let (name, with) = (format!("--{option}"), format!("--{option}="));
    let (mut values, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(&with) {
            Some(value) => values.push(value.to_owned()),
            None if *word == name => values.extend(words.next().cloned()),
            None => others.push(word.clone()),
        }
    }
    (values, others)
}

/// Parts of the lists of events that the options of `pick` name.
pub(super) fn of_events(words: &[String], events: u64) -> Result<Vec<KeyedTask>> {
    let (lists, others) = taken(words, "events");
    if lists.is_empty() {
        let hint = Hint::named("events");
        return Err(Error::request(format!("tasks of pick are parts of a list: give {hint} behind --")).hint(hint));
    }
    let parts = split_events(&lists, usize::try_from(events).unwrap_or(usize::MAX))?;
    Ok(parts.into_iter().map(|lists| KeyedTask { options: others.clone(), lists }).collect())
}

/// Ranges of the keys that the options of `join` name, with about so many entries of the inputs.
pub(super) fn of_ranges(
    words: &[String],
    inputs: &[Input],
    entries: u64,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Vec<KeyedTask>> {
    let (on, _) = taken(words, "on");
    if on.is_empty() {
        let hint = Hint::named("on");
        return Err(Error::request(format!("tasks of join are ranges of keys: give {hint} behind --")).hint(hint));
    }
    let key = JoinKey::of(on.iter().map(String::as_str))?;
    let bounds = key_bounds(inputs, &key, entries, budget, progress)?;
    let starts = std::iter::once(None).chain(bounds.iter().map(Some));
    let ends = bounds.iter().map(Some).chain([None]);
    let task = |(from, before): (Option<&String>, Option<&String>)| {
        let mut options = words.to_vec();
        options.extend(from.map(|key| format!("--from-key={key}")));
        options.extend(before.map(|key| format!("--before-key={key}")));
        KeyedTask { options, lists: Vec::new() }
    };
    Ok(starts.zip(ends).map(task).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_option_are_taken_out() {
        let words = ["--on", "run,event", "--how=inner", "--on=lumi"].map(str::to_owned);
        let (values, others) = taken(&words, "on");
        assert_eq!((values.join(" "), others.join(" ")), ("run,event lumi".to_owned(), "--how=inner".to_owned()));
    }
}
