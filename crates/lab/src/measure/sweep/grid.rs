//! The grid of a sweep: its points, from options (`KEY=V1,V2`) or a TOML file. Nothing here knows how a point is measured.

use std::fmt;

use dataset::layout::Layout;
use rootfile::{Error, Hint, Result};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::point::{Key, Point};

/// Points of a grid at most: beyond that it is a mistake.
const MOST_POINTS: usize = 10_000;

/// A point that is described by itself: its name, and its settings.
type Named = (Option<String>, Vec<(Key, String)>);

/// The points to measure: all combinations of the axes, and points that are described one by one.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Whether the keys are values for a command of the user.
    command: bool,
    base: Layout,
    axes: Vec<(Key, Vec<String>)>,
    named: Vec<Named>,
}

impl Grid {
    /// A grid of values for a command of the user: every key but streams and threads is its own.
    pub fn for_command() -> Self {
        Self { command: true, ..Self::default() }
    }

    fn key(&self, text: &str) -> Result<Key> {
        if self.command { Key::of_command(text) } else { Key::parse(text) }
    }

    /// Adds an axis, `KEY=V1,V2`.
    ///
    /// # Errors
    ///
    /// The text is no `KEY=V1,V2`, and as [`Self::axis`].
    pub fn add(&mut self, text: &str) -> Result<()> {
        let wrong = || Error::request(format!("{text:?} is not an axis; write KEY=V1,V2, such as basket=2kB,32kB"));
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        self.axis(key, values.split(',').map(|value| value.trim().to_owned()).collect())
    }

    /// Adds an axis with these values.
    ///
    /// # Errors
    ///
    /// There is no such key, it has no value, a value is none of it or there twice, or it has an axis already.
    pub fn axis(&mut self, key: &str, values: Vec<String>) -> Result<()> {
        let key = self.key(key)?;
        if values.is_empty() || values.iter().any(String::is_empty) {
            return Err(Error::request(format!("{key} has no value; write {key}=V1,V2")));
        }
        if self.axes.iter().any(|(other, _)| *other == key) {
            return Err(Error::request(format!("{key} is given twice; write all its values at once, {key}=V1,V2")));
        }
        // Values are checked here, where the error can name the axis.
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

    /// The layout that all points start from.
    pub fn set_base(&mut self, layout: Layout) {
        self.base = layout;
    }

    /// Takes over a TOML file: `[layout]` for all, `[grid]` with a list of values for each key, `[[point]]` for points
    /// that are described one by one.
    ///
    /// # Errors
    ///
    /// The text is no TOML of this form, or has a key or a value that layouts do not have.
    pub fn add_toml(&mut self, text: &str) -> Result<()> {
        let wrong = |e: toml::de::Error| Error::request(format!("grid: {}", e.to_string().trim_end()));
        let file: File = toml::from_str(text).map_err(wrong)?;
        if self.command && file.layout.is_some() {
            return Err(Error::request("grid: a command has no [layout]; write its values as [grid] or [[point]]"));
        }
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
                    key => settings.push((self.key(key)?, value)),
                }
            }
            self.named.push((name, settings));
        }
        Ok(())
    }

    /// The points, each once.
    ///
    /// # Errors
    ///
    /// There are too many points, or one is no layout.
    pub fn points(&self) -> Result<Vec<Point>> {
        let count = self.axes.iter().try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
        if count.is_none_or(|n| n > MOST_POINTS) {
            return Err(Error::request(format!("the grid has more than {MOST_POINTS} points: leave out some values")));
        }
        let mut points = match (self.axes.is_empty(), self.named.is_empty()) {
            (true, true) => {
                let message = "no grid: give an axis, such as --grid basket=2kB,32kB";
                return Err(Error::request(message).hint(Hint::named("grid")));
            }
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

/// Refuses equal points, and points that cannot be written.
fn check(points: &[Point]) -> Result<()> {
    for (i, point) in points.iter().enumerate() {
        if let Some(other) = points.get(..i).unwrap_or_default().iter().find(|other| other.is_same(point)) {
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
    fn errors_name_valid_values() {
        for (axes, expected) in [
            (&[][..], "no grid: give an axis"),
            (&["basket"], "write KEY=V1,V2"),
            (&["baskets=1"], "unknown key \"baskets\" in a grid; known keys: container, cluster"),
            (&["column:x:cluster=1"], "known keys: basket, memory-ratio"),
            (&["column:x=1"], "write column:PATTERN:KEY"),
            (&["basket=1kB,much"], "basket: \"much\" is not a size"),
            (&["basket=1kB,"], "basket has no value"),
            (&["basket=1kB,1000"], "basket has the value 1kB twice"),
            (&["basket=1kB", "basket=2kB"], "basket is given twice"),
            (&["streams=0"], "is not a number of streams"),
            (&["fraction=2"], "is not a fraction"),
            (&["container=tuple"], "is not a container"),
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
