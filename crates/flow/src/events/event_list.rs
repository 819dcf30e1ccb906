//! Lists of events, as users have them: lines such as `run:lumi:event`, and JSON masks of luminosity sections (`{"run": [[first, last]]}`).
//! Values stay texts here: of which types they are is told by the key. A text with line breaks, or that is a line itself, is the list; any
//! other names a file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use rootfile::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// Some events: the first values of their keys, from the least to the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedEvents {
    pub least: Vec<String>,
    pub most: Vec<String>,
}

impl ListedEvents {
    fn one(values: Vec<String>) -> Self {
        Self { least: values.clone(), most: values }
    }

    /// As it stands in a list: `1:2:3`, or `1:2-5`.
    pub fn text(&self) -> String {
        let value = |(least, most): (&String, &String)| match least == most {
            true => least.clone(),
            false => format!("{least}-{most}"),
        };
        self.least.iter().zip(&self.most).map(value).collect::<Vec<_>>().join(":")
    }
}

/// Reads a list: the text itself, or the file that it names.
///
/// # Errors
///
/// The file cannot be read, or has a line that is no event.
pub(super) fn read_list(text: &str) -> Result<Vec<ListedEvents>> {
    if text.contains('\n') {
        return parse(text);
    }
    if !Path::new(text).exists()
        && let Some(one) = line(text)
    {
        return Ok(vec![one]);
    }
    let found = std::fs::read_to_string(text).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let what = format!("{text} is neither an event, such as 1:2:3, nor a file");
            Error::from(std::io::Error::new(e.kind(), what))
        }
        _ => Error::from(e).file(text),
    })?;
    parse(&found).map_err(|e| e.file(text))
}

fn parse(text: &str) -> Result<Vec<ListedEvents>> {
    if text.trim_start().starts_with('{') {
        return mask(text);
    }
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let read = |(number, text): (usize, &str)| {
        let wrong = || Error::request(format!("line {} is no event, such as 1:2:3: {text:?}", number + 1));
        line(text).ok_or_else(wrong)
    };
    lines.map(read).collect()
}

/// An event in a line: values with colons, commas or blanks between them.
fn line(text: &str) -> Option<ListedEvents> {
    let text = text.trim();
    let values: Vec<&str> = match [':', ','].into_iter().find(|sign| text.contains(*sign)) {
        Some(sign) => text.split(sign).map(str::trim).collect(),
        None => text.split_whitespace().collect(),
    };
    let is_value = |value: &&str| value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok();
    let values = (!values.is_empty() && values.iter().all(is_value)).then_some(values)?;
    Some(ListedEvents::one(values.into_iter().map(str::to_owned).collect()))
}

/// Ranges of luminosity sections by runs. A run that is there twice has the sections of both.
struct Mask(BTreeMap<String, Vec<[u64; 2]>>);

impl<'de> Deserialize<'de> for Mask {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> std::result::Result<Self, D::Error> {
        struct Runs;
        impl<'de> Visitor<'de> for Runs {
            type Value = Mask;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("runs with ranges of luminosity sections")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Mask, A::Error> {
                let mut runs: BTreeMap<String, Vec<[u64; 2]>> = BTreeMap::new();
                while let Some((run, sections)) = map.next_entry::<String, Vec<[u64; 2]>>()? {
                    runs.entry(run).or_default().extend(sections);
                }
                Ok(Mask(runs))
            }
        }
        reader.deserialize_map(Runs)
    }
}

/// The luminosity sections of runs, as CMS certifies them.
fn mask(text: &str) -> Result<Vec<ListedEvents>> {
    let read: std::result::Result<Mask, _> = serde_json::from_str(text);
    let Mask(runs) = read.map_err(|e| {
        Error::request(format!("is no mask of luminosity sections, such as {{\"1\": [[10, 20]]}}: {e}"))
    })?;
    let backwards = |(run, sections): (&String, &Vec<[u64; 2]>)| {
        let [first, last] = sections.iter().find(|[first, last]| first > last)?;
        Some(Error::request(format!(
            "the mask has the sections {first} to {last} of run {run}, which end before they begin"
        )))
    };
    if let Some(error) = runs.iter().find_map(backwards) {
        return Err(error);
    }
    let of_run = |(run, sections): (String, Vec<[u64; 2]>)| {
        sections.into_iter().map(move |[first, last]| ListedEvents {
            least: vec![run.clone(), first.to_string()],
            most: vec![run.clone(), last.to_string()],
        })
    };
    Ok(runs.into_iter().flat_map(of_run).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        read_list(text).unwrap().iter().map(ListedEvents::text).collect()
    }

    #[test]
    fn lines_are_events() {
        assert_eq!(texts("1:2:3"), ["1:2:3"]);
        assert_eq!(texts("1.5:NaN:true"), ["1.5:NaN:true"], "as keys are shown");
        assert_eq!(texts("# mine\n1:2:3\n\n 1 2 4 \n1, 2, 5\n"), ["1:2:3", "1:2:4", "1:2:5"]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picked.txt");
        std::fs::write(&path, "7:1:-3\n").unwrap();
        assert_eq!(texts(path.to_str().unwrap()), ["7:1:-3"]);
        let error = read_list("1:2:3\nx:2\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("x:2"), "{error}");
        assert!(read_list("no.txt").unwrap_err().to_string().contains("nor a file"));
    }

    #[test]
    fn masks_are_ranges() {
        let found = read_list("{\"2\": [[1, 3], [7, 7]],\n \"1\": [[4, 5]]}").unwrap();
        assert_eq!(found.iter().map(ListedEvents::text).collect::<Vec<_>>(), ["1:4-5", "2:1-3", "2:7"]);
        assert_eq!(texts("{\"2\": [[1, 3]], \"2\": [[7, 7]]}\n"), ["2:1-3", "2:7"]);
        for (wrong, why) in [("[1, 3]", "mask"), ("[[1, 3], [7, 6]]", "7 to 6 of run 2")] {
            assert!(read_list(&format!("{{\"2\": {wrong}}}\n")).unwrap_err().to_string().contains(why), "{wrong}");
        }
    }
}
