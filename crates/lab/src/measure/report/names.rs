//! Short names for legends and bars: the settings that differ. Where these are too long, the name is a number, which
//! tooltips and tables show as well.

use crate::sweep::findings::{Findings, Line};
use crate::sweep::point::{AS_IS, RUN_KEYS, Setting};

/// Characters that a legend has room for.
pub(super) const LONGEST: usize = 50;
/// Characters that fit beside a point.
pub(super) const BESIDE: usize = 20;
/// Number of groups that a chart shows in full. If there are more, it shows the most important ones.
const MOST_GROUPS: usize = 4;

/// Points that get a name from their settings.
#[derive(Clone, Debug, Default)]
pub(super) struct Labelled {
    /// The name that the user gave.
    pub name: Option<String>,
    /// Its points; none if it does not belong to a sweep.
    pub points: Vec<usize>,
    /// Its settings.
    pub settings: Vec<Setting>,
}

impl Labelled {
    /// Points that differ in these keys alone.
    pub fn of(lines: &[(usize, &Line)], but: &[&str]) -> Self {
        let first = lines.first().map(|(_, line)| &line.point);
        let settings = first.into_iter().flat_map(|point| &point.settings);
        Self {
            name: first.and_then(|point| point.name.clone()),
            points: lines.iter().map(|(point, _)| *point).collect(),
            settings: settings.filter(|setting| !but.contains(&setting.key.as_str())).cloned().collect(),
        }
    }

    fn numbers(&self) -> String {
        self.points.iter().map(|point| number(*point)).collect::<Vec<_>>().join(", ")
    }
}

/// The number of a point, as charts and tables write it.
pub(super) fn number(point: usize) -> String {
    format!("#{}", point.saturating_add(1))
}

/// A point in full, by its number.
pub(super) fn full(point: usize, line: &Line) -> String {
    format!("{} {}", number(point), line.point)
}

/// A name for each, of at most `longest` characters.
pub(super) fn short(all: &[Labelled], longest: usize) -> Vec<String> {
    let value = |subject: &Labelled, key: &str| {
        subject.settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.clone())
    };
    let differs = |setting: &&Setting| {
        let mut values = all.iter().filter(|other| other.name.is_none()).map(|other| value(other, &setting.key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let name = |subject: &Labelled| {
        let own = || setting_text(&subject.settings.iter().filter(differs).collect::<Vec<_>>());
        subject.name.clone().unwrap_or_else(own)
    };
    let or_number = |(subject, name): (&Labelled, String)| match name.is_empty() && all.len() > 1 {
        true => subject.numbers(),
        false => name,
    };
    let names: Vec<String> = all.iter().map(|subject| or_number((subject, name(subject)))).collect();
    let have_numbers = all.iter().all(|subject| !subject.points.is_empty());
    if have_numbers && names.iter().any(|name| name.chars().count() > longest) {
        // A name that was given stays where there is room for it.
        let given = |subject: &Labelled| subject.name.clone().filter(|name| name.chars().count() <= longest);
        return all.iter().map(|subject| given(subject).unwrap_or_else(|| subject.numbers())).collect();
    }
    names
}

fn setting_text(settings: &[&Setting]) -> String {
    let (of_run, of_layout): (Vec<&Setting>, Vec<&Setting>) =
        settings.iter().partition(|setting| RUN_KEYS.contains(&setting.key.as_str()));
    let texts: Vec<String> = match of_layout.len() > 1 && of_layout.iter().all(|setting| setting.value == AS_IS) {
        true => vec!["as is".to_owned()],
        false => of_layout.into_iter().map(word).collect(),
    };
    texts.into_iter().chain(of_run.into_iter().map(word)).collect::<Vec<_>>().join(", ")
}

/// A setting in the shortest clear form.
fn word(setting: &Setting) -> String {
    let (scope, key) = match setting.key.rsplit_once(':') {
        Some((scope, key)) => (scope.split_once(':').map(|(_, pattern)| pattern), key),
        None => (None, setting.key.as_str()),
    };
    let called = match key {
        "split-level" => "split".to_owned(),
        "compression" => "codec".to_owned(),
        key => key.replace('-', " "),
    };
    let word = match (key, setting.value.as_str()) {
        ("streams" | "threads" | "outputs", "1") => format!("1 {}", key.trim_end_matches('s')),
        ("streams" | "threads" | "outputs", count) => format!("{count} {key}"),
        ("fraction", share) => match share.parse::<f64>() {
            Ok(share) => format!("{} %", (1e5 * share).round() / 1e3),
            Err(_) => share.to_owned(),
        },
        (_, AS_IS) => format!("{called} {AS_IS}"),
        ("compression" | "streaming" | "container" | "writer" | "entry" | "medium" | "limit", value) => {
            value.to_owned()
        }
        (_, "true") => called,
        (_, "false") => format!("{called} off"),
        (_, value) => format!("{called} {value}"),
    };
    scope.map_or_else(|| word.clone(), |scope| format!("{scope} {word}"))
}

/// Which of these groups of points are shown at first: all if they are few, otherwise the group of today's layout and
/// the group of the chosen one.
pub(super) fn shown(findings: &Findings, groups: &[Labelled]) -> Vec<bool> {
    let marked = [Some(findings.reference), findings.decision.chosen];
    let matters = |group: &Labelled| group.points.iter().any(|point| marked.contains(&Some(*point)));
    let all = groups.len() <= MOST_GROUPS || !groups.iter().any(matters);
    groups.iter().map(|group| all || matters(group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(point: usize, settings: &str) -> Labelled {
        let setting = |text: &str| {
            let (key, value) = text.split_once('=').unwrap();
            Setting { key: key.to_owned(), value: value.to_owned() }
        };
        let settings = settings.split(' ').map(setting).collect();
        Labelled { name: None, points: vec![point], settings }
    }

    fn names(all: &[&str]) -> Vec<String> {
        short(&all.iter().enumerate().map(|(point, settings)| subject(point, settings)).collect::<Vec<_>>(), LONGEST)
    }

    #[test]
    fn only_what_differs_is_said() {
        assert_eq!(
            names(&["split-level=99 compression=as-is streams=1", "split-level=99 compression=zlib:5 streams=2"]),
            ["codec as-is, 1 stream", "zlib:5, 2 streams"]
        );
        assert_eq!(
            names(&["split-level=as-is basket=as-is", "split-level=0 basket=4kB"]),
            ["as is", "split 0, basket 4kB"]
        );
        assert_eq!(
            names(&["column:Muon_*:compression=none fraction=0.125", "column:Muon_*:compression=lz4:4 fraction=1"]),
            ["Muon_* none, 12.5 %", "Muon_* lz4:4, 100 %"]
        );
        assert_eq!(
            names(&["one-basket-per-cluster=true", "one-basket-per-cluster=false"]),
            ["one basket per cluster", "one basket per cluster off"]
        );
    }

    #[test]
    fn numbers_replace_names_that_are_too_long() {
        let long =
            ["basket-memory=1MB", "split-level=0", "compression=lz4:4", "cluster=30MB", "streams=1", "threads=1"];
        let mut all = [subject(0, &long.join(" ")), subject(4, &long.join(" ").replace(['0', '1', '4'], "2"))];
        assert_eq!(short(&all, LONGEST), ["#1", "#5"]);
        all[0].points.push(2);
        all[1].name = Some("today".to_owned());
        // A point with a name of its own does not count for the differences of the others.
        assert_eq!(short(&all, LONGEST), ["#1, #3", "today"]);
        let third = subject(7, &long.join(" ").replace(['0', '1', '4'], "3"));
        assert_eq!(short(&[all[0].clone(), all[1].clone(), third], LONGEST), ["#1, #3", "today", "#8"]);
    }
}
