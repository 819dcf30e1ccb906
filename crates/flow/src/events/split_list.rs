//! Parts of lists of events, for several jobs: each has events whose values follow one another, so that their files do as well.

use rootfile::{Error, Hint, Result};

use super::event_list::{ListedEvents, read_list};

/// Splits lists of events into parts of so many at most, in the order of their values. A part is one text or two, as `pick` takes them: one
/// with a line for each event, and a mask.
///
/// # Errors
///
/// A list cannot be read, or has a line that is no event, or there is no event at all.
pub fn split_events(lists: &[String], most: usize) -> Result<Vec<Vec<String>>> {
    let hint = Hint::named("events");
    let mut all = Vec::new();
    for list in lists {
        all.extend(read_list(list).map_err(|e| e.hint(hint.clone()))?);
    }
    if all.is_empty() {
        return Err(Error::request(format!("{hint} names no event")).hint(hint));
    }
    all.sort_by_cached_key(|events| (numbers(&events.least), events.least.clone(), events.most.clone()));
    all.dedup();
    Ok(all.chunks(most.max(1)).map(texts).collect())
}

/// Values as numbers that compare; those that are none come first.
fn numbers(values: &[String]) -> Vec<i128> {
    let of_float = |text: &str| text.parse::<f64>().ok().map(|value| value as i128);
    values.iter().map(|text| text.parse().ok().or_else(|| of_float(text)).unwrap_or(i128::MIN)).collect()
}

/// Some events as lists.
fn texts(events: &[ListedEvents]) -> Vec<String> {
    let (single, ranges): (Vec<_>, Vec<_>) = events.iter().partition(|events| events.least == events.most);
    let mut texts = Vec::new();
    if !single.is_empty() {
        texts.push(single.iter().map(|events| format!("{}\n", events.text())).collect());
    }
    if !ranges.is_empty() {
        let range = |events: &&ListedEvents| match (events.least.as_slice(), events.most.as_slice()) {
            ([run, first], [_, last]) => Some(format!("{{\"{run}\": [[{first}, {last}]]}}")),
            _ => None,
        };
        // A run that is there twice has the sections of both.
        let all: Vec<String> = ranges.iter().filter_map(range).collect();
        let inner: Vec<&str> = all.iter().filter_map(|text| text.strip_prefix('{')?.strip_suffix('}')).collect();
        texts.push(format!("{{{}}}\n", inner.join(", ")));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_lists_again() {
        let lists =
            ["1:2:10\n1:2:9\n2:1:1\n1:2:9\n".to_owned(), "{\"1\": [[7, 8], [3, 5]], \"3\": [[1, 1]]}\n".to_owned()];
        let parts = split_events(&lists, 2).unwrap();
        let back = |part: &Vec<String>| -> Vec<String> {
            part.iter().flat_map(|text| read_list(text).unwrap()).map(|events| events.text()).collect()
        };
        assert_eq!(
            parts.iter().map(back).collect::<Vec<_>>(),
            [vec!["1:2:9", "1:2:10"], vec!["1:3-5", "1:7-8"], vec!["2:1:1", "3:1"]]
        );
        assert!(split_events(&["\n".to_owned()], 2).is_err());
    }
}
