//! A point of a sweep: a layout with the other settings of a run, which are streams, threads, and the share of entries that
//! is copied.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use dataset::glob::{ColumnPattern, TreePattern};
use dataset::layout::{ColumnLayout, Layout, TreeLayout};
use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

/// The value for a key that stays as in the input.
pub const AS_IS: &str = "as-is";
/// The name of the point with today's layout.
pub(super) const TODAY: &str = "today";
/// Keys of a run, beside those of a layout.
pub(crate) const RUN_KEYS: [&str; 3] = ["streams", "threads", "fraction"];
/// A key and one of its values, as users write them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Such as `cluster`, `streams` or `column:Muon_*:compression`.
    pub key: String,
    /// Such as `30MB`, in the form that it is printed in.
    pub value: String,
}

/// One combination that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Its name, if it was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The settings that tell it from other points.
    pub settings: Vec<Setting>,
    /// The layout of its output.
    pub layout: Layout,
    /// Number of files to write at once.
    pub streams: usize,
    /// Threads, all together.
    pub threads: usize,
    /// Share of the entries that is copied.
    pub fraction: f64,
    /// Values for a command of the user, as they were written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Whether the sweep added the point to compare the others with: today's layout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub baseline: bool,
}

impl Point {
    pub(super) fn of(layout: &Layout) -> Self {
        Self {
            name: None,
            settings: Vec::new(),
            layout: layout.clone(),
            streams: 1,
            threads: 1,
            fraction: 1.0,
            variables: BTreeMap::new(),
            baseline: false,
        }
    }

    /// Today's layout beside these points: with all their keys as they are in the input, and run as most of them are.
    pub(super) fn today_beside(points: &[Self]) -> Option<Self> {
        let (streams, threads, fraction) = common_run(points)?;
        let mut settings: Vec<Setting> = Vec::new();
        for setting in points.iter().flat_map(|point| &point.settings) {
            if settings.iter().all(|known| known.key != setting.key) {
                settings.push(Setting { key: setting.key.clone(), value: AS_IS.to_owned() });
            }
        }
        let of = Self::of(&Layout::default());
        let mut today = Self { name: Some(TODAY.to_owned()), streams, threads, fraction, baseline: true, ..of };
        settings.iter_mut().for_each(|setting| {
            if let Some(value) = today.run_value(&setting.key) {
                setting.value = value;
            }
        });
        today.settings = settings;
        Some(today)
    }

    /// The value of a key of a run, as it is printed.
    pub(super) fn run_value(&self, key: &str) -> Option<String> {
        match key {
            "streams" => Some(self.streams.to_string()),
            "threads" => Some(self.threads.to_string()),
            "fraction" => Some(self.fraction.to_string()),
            _ => None,
        }
    }

    /// Whether it leaves the layout as the input's.
    pub(super) fn keeps_layout(&self) -> bool {
        self.layout == Layout::default() && self.variables.is_empty()
    }

    /// Whether both write the same file.
    pub(super) fn writes_as(&self, other: &Self) -> bool {
        let alike = self.layout == other.layout && self.fraction == other.fraction;
        alike && self.variables == other.variables
    }

    /// Whether both measure the same thing, however they are named.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.writes_as(other) && self.run() == other.run()
    }

    /// How it is run: streams, threads, and the share of the entries.
    pub(super) fn run(&self) -> (usize, usize, f64) {
        (self.streams, self.threads, self.fraction)
    }

    /// Tells points apart, and puts them into an order that does not depend on that of the grid.
    pub(super) fn order(&self) -> (Vec<(&str, &str)>, Option<&str>) {
        let mut settings: Vec<_> = self.settings.iter().map(|s| (s.key.as_str(), s.value.as_str())).collect();
        settings.sort_unstable();
        (settings, self.name.as_deref())
    }

    /// Sets one key. The value as it is printed is kept among the settings.
    pub(super) fn set(&mut self, key: &Key, text: &str) -> Result<()> {
        let value = key.apply(text, self)?;
        self.settings.push(Setting { key: key.to_string(), value });
        Ok(())
    }

    /// The value of a key, if it is among the settings.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str())
    }

    /// Whether two points differ at most in these keys. A key that is not among the settings is as in the input.
    pub fn is_like(&self, other: &Self, but: &[&str]) -> bool {
        let rest = |point: &Self| -> BTreeMap<String, String> {
            let told = |setting: &&Setting| !but.contains(&setting.key.as_str()) && setting.value != AS_IS;
            point.settings.iter().filter(told).map(|s| (s.key.clone(), s.value.clone())).collect()
        };
        rest(self) == rest(other)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<String> = self.settings.iter().map(|s| format!("{}={}", s.key, s.value)).collect();
        match (&self.name, settings.is_empty()) {
            (Some(name), _) => f.pad(name),
            (None, true) => f.pad("as the input is"),
            (None, false) => f.pad(&settings.join(" ")),
        }
    }
}

/// How most of these points are run; of several such ways that with the fewest streams and threads, and the most entries.
pub(super) fn common_run(points: &[Point]) -> Option<(usize, usize, f64)> {
    let mut runs: BTreeMap<(usize, usize, u64), usize> = BTreeMap::new();
    // Positive numbers have the order of their bits.
    points.iter().for_each(|p| *runs.entry((p.streams, p.threads, p.fraction.to_bits())).or_default() += 1);
    let rank = |&((streams, threads, fraction), count): &((usize, usize, u64), usize)| {
        (count, Reverse(streams), Reverse(threads), fraction)
    };
    let ((streams, threads, fraction), _) = runs.into_iter().max_by_key(rank)?;
    Some((streams, threads, f64::from_bits(fraction)))
}

/// The subject of a setting.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Common(String),
    Tree(Box<TreePattern>, String),
    Column(Box<ColumnPattern>, String),
    Streams,
    Threads,
    Fraction,
    /// A value for a command of the user, which alone knows what it means.
    Variable(String),
}

impl Key {
    /// A key of a grid for a command of the user: streams and threads are those of a run, all others are its own.
    pub(super) fn of_command(text: &str) -> Result<Self> {
        let name = text.trim();
        Ok(match name {
            "streams" => Self::Streams,
            "threads" => Self::Threads,
            _ if name.is_empty() || name.contains(['{', '}']) || name.contains(char::is_whitespace) => {
                return Err(Error::request(format!("{name:?} is not a name of a value")));
            }
            "input" | "output" | "stream" => {
                return Err(Error::request(format!("{name} has its value from the sweep; choose another name")));
            }
            name => Self::Variable(name.to_owned()),
        })
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("column:") {
            let (pattern, key) = parts(text, rest)?;
            return Ok(Self::Column(Box::new(ColumnPattern::new(pattern)?), known(key, ColumnLayout::NAMES)?));
        }
        if let Some(rest) = text.strip_prefix("tree:") {
            let (pattern, key) = parts(text, rest)?;
            return Ok(Self::Tree(Box::new(TreePattern::new(pattern)?), known(key, TreeLayout::NAMES)?));
        }
        Ok(match text {
            "streams" => Self::Streams,
            "threads" => Self::Threads,
            "fraction" => Self::Fraction,
            key => {
                let all: Vec<&str> = TreeLayout::NAMES.iter().copied().chain(RUN_KEYS).collect();
                Self::Common(known(key, &all)?)
            }
        })
    }

    /// Sets a value of a point, and returns the value as it is printed.
    pub(super) fn apply(&self, text: &str, point: &mut Point) -> Result<String> {
        let text = text.trim();
        let whole = |what: &str| {
            let number = text.parse::<usize>().ok().filter(|n| (1..=1000).contains(n));
            number.ok_or_else(|| {
                Error::request(format!("{text:?} is not a number of {what}; write 1 to 1000")).object(what)
            })
        };
        let mut layout = Layout::default();
        match self {
            Self::Streams => {
                point.streams = whole("streams")?;
                return Ok(point.streams.to_string());
            }
            Self::Threads => {
                point.threads = whole("threads")?;
                return Ok(point.threads.to_string());
            }
            Self::Fraction => {
                let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
                let share = number.trim().parse::<f64>().ok().map(|n| n / unit).filter(|n| *n > 0.0 && *n <= 1.0);
                let wrong =
                    || Error::request(format!("{text:?} is not a fraction; write 0.1 or 10%")).object("fraction");
                point.fraction = share.ok_or_else(wrong)?;
                return Ok(point.fraction.to_string());
            }
            Self::Variable(name) => {
                point.variables.insert(name.clone(), text.to_owned());
                return Ok(text.to_owned());
            }
            _ if text == AS_IS => return Ok(AS_IS.to_owned()),
            Self::Common(key) => layout.common.set(key, text)?,
            Self::Tree(pattern, key) => {
                let mut keys = TreeLayout::default();
                keys.set(key, text)?;
                layout.set_tree((**pattern).clone(), &keys);
            }
            Self::Column(pattern, key) => {
                let mut keys = ColumnLayout::default();
                keys.set(key, text)?;
                layout.set_column((**pattern).clone(), &keys);
            }
        }
        point.layout.overlay(&layout);
        Ok(printed(&layout))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Common(key) | Self::Variable(key) => f.write_str(key),
            Self::Tree(pattern, key) => write!(f, "tree:{}:{key}", pattern.as_str()),
            Self::Column(pattern, key) => write!(f, "column:{}:{key}", pattern.as_str()),
            Self::Streams => f.write_str("streams"),
            Self::Threads => f.write_str("threads"),
            Self::Fraction => f.write_str("fraction"),
        }
    }
}

/// The pattern and the key of `column:PATTERN:KEY`.
fn parts<'a>(text: &str, rest: &'a str) -> Result<(&'a str, &'a str)> {
    let wrong = || Error::request(format!("{text:?} names no key; write column:PATTERN:KEY or tree:PATTERN:KEY"));
    rest.rsplit_once(':').ok_or_else(wrong)
}

/// A key by its name, or an error that names the known ones.
fn known(key: &str, keys: &[&str]) -> Result<String> {
    match keys.contains(&key) {
        true => Ok(key.to_owned()),
        false => Err(Error::request(format!("unknown key {key:?} in a grid; known keys: {}", keys.join(", ")))),
    }
}

/// The one value of a layout that has one only.
fn printed(layout: &Layout) -> String {
    let mut value = serde_json::to_value(layout).unwrap_or_default();
    while let serde_json::Value::Object(map) = value {
        value = map.into_iter().next().map(|(_, value)| value).unwrap_or_default();
    }
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
