//! The grid: which points a sweep measures, from options (`KEY=V1,V2`) or a TOML file.
//!
//! Keys are those of a [`Layout`], for all, for trees or for columns, and what a run has besides: streams, threads and
//! the fraction of the entries that is copied. Nothing here knows how a point is measured.

use std::fmt;

use dataset::glob::{ColumnPattern, TreePattern};
use dataset::layout::{ColumnLayout, Layout, TreeLayout};
use rootfile::{Error, Result};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The value that leaves a key as the input has it.
pub const AS_IS: &str = "as-is";
/// Keys of a run, besides those of a layout.
pub(crate) const RUN_KEYS: [&str; 3] = ["streams", "threads", "fraction"];
/// Points of a grid at most: beyond that it is a mistake.
const MOST_POINTS: usize = 10_000;

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
    /// What makes it differ from others.
    pub settings: Vec<Setting>,
    /// The layout of what it writes.
    pub layout: Layout,
    /// Files written at once.
    pub streams: usize,
    /// Threads, all together.
    pub threads: usize,
    /// Share of the entries that is copied.
    pub fraction: f64,
}

impl Point {
    fn of(layout: &Layout) -> Self {
        Self { name: None, settings: Vec::new(), layout: layout.clone(), streams: 1, threads: 1, fraction: 1.0 }
    }

    /// Sets one key. The value as it is printed is kept among the settings.
    fn set(&mut self, key: &Key, text: &str) -> Result<()> {
        let value = key.apply(text, self)?;
        self.settings.push(Setting { key: key.to_string(), value });
        Ok(())
    }

    /// The value of a key, if it is among the settings.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str())
    }

    /// Whether two points differ at most in these keys.
    pub fn is_like(&self, other: &Self, but: &[&str]) -> bool {
        let rest = |point: &Self| -> Vec<Setting> {
            point.settings.iter().filter(|setting| !but.contains(&setting.key.as_str())).cloned().collect()
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

/// What a setting is about.
#[derive(Clone, Debug, PartialEq)]
enum Key {
    Common(String),
    Tree(Box<TreePattern>, String),
    Column(Box<ColumnPattern>, String),
    Streams,
    Threads,
    Fraction,
}

impl Key {
    fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("column:") {
            let (pattern, key) = parts(text, rest)?;
            return Ok(Self::Column(Box::new(ColumnPattern::new(pattern)?), known(key, ColumnLayout::KEYS)?));
        }
        if let Some(rest) = text.strip_prefix("tree:") {
            let (pattern, key) = parts(text, rest)?;
            return Ok(Self::Tree(Box::new(TreePattern::new(pattern)?), known(key, TreeLayout::KEYS)?));
        }
        Ok(match text {
            "streams" => Self::Streams,
            "threads" => Self::Threads,
            "fraction" => Self::Fraction,
            key => {
                let all: Vec<&str> = TreeLayout::KEYS.iter().copied().chain(RUN_KEYS).collect();
                Self::Common(known(key, &all)?)
            }
        })
    }

    /// Lays a value over a point, and says it in the form that it is printed in.
    fn apply(&self, text: &str, point: &mut Point) -> Result<String> {
        let text = text.trim();
        let whole = |what: &str| {
            let number = text.parse::<usize>().ok().filter(|n| (1..=1000).contains(n));
            number
                .ok_or_else(|| Error::request(format!("{text:?} is no number of {what}; write 1 to 1000")).object(what))
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
                let wrong = || Error::request(format!("{text:?} is no fraction; write 0.1 or 10%")).object("fraction");
                point.fraction = share.ok_or_else(wrong)?;
                return Ok(point.fraction.to_string());
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
            Self::Common(key) => f.write_str(key),
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

/// A point that is described by itself: its name, and its settings.
type Named = (Option<String>, Vec<(Key, String)>);

/// Which points are measured: all combinations of the axes, and those that are described one by one.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    base: Layout,
    axes: Vec<(Key, Vec<String>)>,
    named: Vec<Named>,
}

impl Grid {
    /// Adds an axis, `KEY=V1,V2`.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let wrong = || Error::request(format!("{text:?} is no axis; write KEY=V1,V2, such as basket=2kB,32kB"));
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        self.axis(key, values.split(',').map(|value| value.trim().to_owned()).collect())
    }

    /// Adds an axis with these values.
    pub fn axis(&mut self, key: &str, values: Vec<String>) -> Result<()> {
        let key = Key::parse(key)?;
        if values.is_empty() || values.iter().any(String::is_empty) {
            return Err(Error::request(format!("{key} has no value; write {key}=V1,V2")));
        }
        if self.axes.iter().any(|(other, _)| *other == key) {
            return Err(Error::request(format!("{key} is given twice; write all its values at once, {key}=V1,V2")));
        }
        // What is wrong with a value is said here, where its axis is known.
        let mut seen = Vec::new();
        for value in &values {
            let value = key.apply(value, &mut Point::of(&self.base))?;
            if seen.contains(&value) {
                return Err(Error::request(format!("{key} has the value {value} twice")));
            }
            seen.push(value);
        }
        self.axes.push((key, values));
        Ok(())
    }

    /// What all points have that do not say otherwise.
    pub fn set_base(&mut self, layout: Layout) {
        self.base = layout;
    }

    /// Takes over a TOML file: `[layout]` for all, `[grid]` with a list of values for each key, `[[point]]` for points
    /// that are described one by one.
    pub fn add_toml(&mut self, text: &str) -> Result<()> {
        let wrong = |e: toml::de::Error| Error::request(format!("grid: {}", e.to_string().trim_end()));
        let file: File = toml::from_str(text).map_err(wrong)?;
        if let Some(layout) = file.layout {
            self.base.overlay(&layout);
        }
        for (key, values) in file.grid.0 {
            self.axis(&key, values.0)?;
        }
        for point in file.point {
            let mut settings = Vec::new();
            let mut name = None;
            for (key, value) in point.0 {
                let [value] = <[String; 1]>::try_from(value.0)
                    .map_err(|_| Error::request(format!("a point has one value for {key}, not a list")))?;
                match &*key {
                    "name" => name = Some(value),
                    key => settings.push((Key::parse(key)?, value)),
                }
            }
            self.named.push((name, settings));
        }
        Ok(())
    }

    /// The points, each once.
    pub fn points(&self) -> Result<Vec<Point>> {
        let count = self.axes.iter().try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
        if count.is_none_or(|n| n > MOST_POINTS) {
            return Err(Error::request(format!("the grid has more than {MOST_POINTS} points: leave out some values")));
        }
        let mut points = match (self.axes.is_empty(), self.named.is_empty()) {
            (true, true) => return Err(Error::request("no grid: name what to vary, such as --grid basket=2kB,32kB")),
            (true, false) => Vec::new(),
            _ => vec![Point::of(&self.base)],
        };
        for (key, values) in &self.axes {
            let mut more = Vec::with_capacity(points.len() * values.len());
            for point in &points {
                for value in values {
                    let mut point: Point = point.clone();
                    point.set(key, value)?;
                    more.push(point);
                }
            }
            points = more;
        }
        for (name, settings) in &self.named {
            let mut point = Point { name: name.clone(), ..Point::of(&self.base) };
            settings.iter().try_for_each(|(key, value)| point.set(key, value))?;
            points.push(point);
        }
        check(&points)?;
        Ok(points)
    }
}

/// Refuses points that are the same, and those that cannot be written.
fn check(points: &[Point]) -> Result<()> {
    for (i, point) in points.iter().enumerate() {
        point.layout.check_container()?;
        let same = |other: &&Point| {
            (&other.layout, other.streams, other.threads, other.fraction)
                == (&point.layout, point.streams, point.threads, point.fraction)
        };
        if let Some(other) = points.get(..i).unwrap_or_default().iter().find(same) {
            return Err(Error::request(format!("two points are the same: {other}, and {point}")));
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    layout: Option<Layout>,
    #[serde(default)]
    grid: Axes,
    #[serde(default)]
    point: Vec<Axes>,
}

/// Keys with their values, in the order of the file.
#[derive(Default)]
struct Axes(Vec<(String, Values)>);

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Axes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("keys with their values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Axes, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Axes(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}

/// One value or several, written as text or as numbers.
struct Values(Vec<String>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => Ok(value.to_string()),
            _ => Err(de::Error::custom("a value is a text, a number, true or false")),
        };
        match toml::Value::deserialize(from)? {
            toml::Value::Array(values) => values.iter().map(text).collect::<std::result::Result<_, _>>().map(Self),
            value => Ok(Self(vec![text(&value)?])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(axes: &[&str]) -> Result<Vec<Point>> {
        let mut grid = Grid::default();
        axes.iter().try_for_each(|axis| grid.add(axis))?;
        grid.points()
    }

    #[test]
    fn all_combinations_in_the_order_of_the_axes() {
        let points = grid(&["split-level=0,99", "basket=2kB,32kB", "basket-memory=as-is,2MB", "streams=1,2"]).unwrap();
        assert_eq!(points.len(), 16);
        assert_eq!(points[0].to_string(), "split-level=0 basket=2kB basket-memory=as-is streams=1");
        assert_eq!(points[15].to_string(), "split-level=99 basket=32kB basket-memory=2MB streams=2");
        assert_eq!(points[15].layout, "split-level = 99\nbasket = \"32kB\"\nbasket-memory = \"2MB\"".parse().unwrap());
        assert_eq!(points[0].layout.common.basket_memory, None);
        assert_eq!((points[1].streams, points[1].threads, points[1].fraction), (2, 1, 1.0));
        assert!(points[0].is_like(&points[1], &["streams"]) && !points[0].is_like(&points[2], &["streams"]));
    }

    #[test]
    fn every_key_can_be_varied() {
        let axes = [
            "container=ttree",
            "cluster=10MB,1000",
            "one-basket-per-cluster=true,false",
            "memory-ratio=1.1,as-is",
            "streaming=member-wise,object-wise",
            "compression=505,lz4:4",
            "threads=1,2",
            "fraction=10%,1",
            "tree:Meta*:basket=1kB",
            "column:Muon_*:compression=none,zstd:1",
        ];
        let points = grid(&axes).unwrap();
        assert_eq!(points.len(), 256);
        assert_eq!(points[0].value("compression"), Some("zstd:5"));
        assert_eq!(points[0].value("fraction"), Some("0.1"));
        assert_eq!(points[0].value("column:Muon_*:compression"), Some("none"));
        assert_eq!(points[0].layout.columns().len(), 1);
    }

    #[test]
    fn a_file_has_axes_and_points_of_their_own() {
        let mut grid = Grid::default();
        let text = "[layout]\ncompression = \"zlib:1\"\n[grid]\ncluster = [\"30MB\", 10]\n\"column:A*:basket\" = [1000]\n\
                    [[point]]\nname = \"no split\"\nsplit-level = 0\nstreaming = \"member-wise\"\ncluster = 5\n\
                    \"column:Big*:split-level\" = 99\n";
        grid.add_toml(text).unwrap();
        grid.add("streams=1,5").unwrap();
        let points = grid.points().unwrap();
        let names: Vec<String> = points.iter().map(ToString::to_string).collect();
        assert_eq!(names[1], "cluster=30MB column:A*:basket=1kB streams=5");
        assert_eq!((names.len(), names[4].as_str()), (5, "no split"));
        let expected = "compression = \"zlib:1\"\nsplit-level = 0\nstreaming = \"member-wise\"\ncluster = 5\n\
                        [column.\"Big*\"]\nsplit-level = 99";
        assert_eq!(points[4].layout, expected.parse().unwrap());
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for (axes, expected) in [
            (&[][..], "no grid: name what to vary"),
            (&["basket"], "write KEY=V1,V2"),
            (&["baskets=1"], "unknown key \"baskets\" in a grid; known keys: container, cluster"),
            (&["column:x:cluster=1"], "known keys: basket, memory-ratio"),
            (&["column:x=1"], "write column:PATTERN:KEY"),
            (&["basket=1kB,much"], "basket: \"much\" is not a size"),
            (&["basket=1kB,"], "basket has no value"),
            (&["basket=1kB,1000"], "basket has the value 1kB twice"),
            (&["basket=1kB", "basket=2kB"], "basket is given twice"),
            (&["streams=0"], "is no number of streams"),
            (&["fraction=2"], "is no fraction"),
            (&["container=rntuple"], "cannot be written yet"),
        ] {
            let message = grid(axes).unwrap_err().to_string();
            assert!(message.contains(expected), "{axes:?} gives: {message}");
        }
        let many: String = (1..=999).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let message = grid(&[&format!("streams={many}"), &format!("threads={many}")]).unwrap_err().to_string();
        assert!(message.contains("more than 10000 points"), "{message}");
        let mut twice = Grid::default();
        twice.add_toml("[grid]\nbasket = [1000]\n[[point]]\nname = \"small\"\nbasket = \"1kB\"\n").unwrap();
        let message = twice.points().unwrap_err().to_string();
        assert!(message.contains("two points are the same: basket=1kB, and small"), "{message}");
        let message = Grid::default().add_toml("[grids]\n").unwrap_err().to_string();
        assert!(message.contains("grid: ") && message.contains("unknown field `grids`"), "{message}");
        let message = Grid::default().add_toml("[[point]]\nbasket = [1, 2]\n").unwrap_err().to_string();
        assert!(message.contains("one value for basket"), "{message}");
    }
}
