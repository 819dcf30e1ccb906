//! Charts as plain values: numbers in the units of the axes, and tooltips. `echarts` draws them on the page,
//! matplotlib in Python; neither computes anything.

use serde::Serialize;

use crate::math::statistics::Figure;
use crate::sweep::metric::{Metric, Unit, amount};

/// One chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Its name in files and links.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// The explanation below it.
    pub note: String,
    /// Its contents.
    #[serde(flatten)]
    pub drawing: Drawing,
}

/// The contents of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Drawing {
    /// Points and lines.
    Plane {
        /// To the right.
        x: Axis,
        /// Upwards.
        y: Axis,
        /// The marks.
        series: Vec<Series>,
    },
    /// Bars to the right, one below the other, whose parts follow each other.
    Bars {
        /// To the right.
        x: Axis,
        /// The bars.
        bars: Vec<Bar>,
        /// Their parts.
        parts: Vec<Part>,
    },
    /// Tiles of a treemap.
    Tiles {
        /// The meaning of a tile's size.
        size: Axis,
        /// The meaning of its colour.
        colour: Axis,
        /// The tiles.
        tiles: Vec<Tile>,
    },
}

/// The quantity along an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Its name, with the unit.
    pub title: String,
    /// Whether it begins at zero.
    pub from_zero: bool,
    /// Whether values are whole numbers.
    pub whole: bool,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Their name in the legend.
    pub name: String,
    /// How they are drawn.
    pub style: Style,
    /// Whether they are hidden at first, because there are many.
    pub hidden: bool,
    /// They.
    pub points: Vec<Spot>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Each by itself.
    Points,
    /// Each by itself, behind the others.
    Others,
    /// The one of today's layout.
    Today,
    /// The one that was chosen.
    Chosen,
    /// Each as a small dot.
    Dots,
    /// A line through them.
    Line,
    /// A line through them, and all below it.
    Area,
    /// The same, of which others are a part.
    Whole,
    /// The line that no point is beyond.
    Front,
    /// The line of ideal scaling.
    Ideal,
    /// A line upwards at each, with its name.
    Marks,
}

/// A point of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spot {
    /// Its label, if there is room.
    pub name: String,
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Its tooltip, line by line.
    pub text: Vec<String>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Its prefix.
    pub name: String,
    /// Its tooltip, line by line.
    pub text: Vec<String>,
}

/// A part of each bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name in the legend.
    pub name: String,
    /// Its length in each bar.
    pub values: Vec<f64>,
}

/// A tile of a treemap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tile {
    /// Its label.
    pub name: String,
    /// How large it is.
    pub size: f64,
    /// The meaning of its colour.
    pub colour: Option<f64>,
    /// Its tooltip, line by line.
    pub text: Vec<String>,
    /// The tiles that it is made of, if it is a group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Tile>,
}

/// A unit of a whole axis, and how many of the figure's own make one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// How it is written.
    pub name: &'static str,
    /// How many of the figure's own make one.
    pub factor: f64,
}

impl Scale {
    /// The largest unit of which the largest value has at least one.
    pub fn of(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let most = values.into_iter().fold(0.0, f64::max);
        let known: &[(&str, f64)] = match unit {
            Unit::Bytes => &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)],
            Unit::Seconds => &[("s", 1.0), ("ms", 1e-3)],
            Unit::Milliseconds => &[("ms", 1.0), ("µs", 1e-3)],
            Unit::Count => &[("", 1.0)],
        };
        let fits = known.iter().find(|(_, factor)| most >= *factor).or(known.last());
        let (name, factor) = *fits.unwrap_or(&("", 1.0));
        Self { name, factor }
    }

    /// A value in this unit.
    pub fn of_value(self, value: f64) -> f64 {
        value / self.factor
    }

    /// An axis in this unit.
    pub fn axis(self, title: &str, from_zero: bool) -> Axis {
        let title = if self.name.is_empty() { title.to_owned() } else { format!("{title} [{}]", self.name) };
        Axis { title, from_zero, whole: false }
    }
}

/// An axis to the right that counts things.
pub(super) fn count(title: &str) -> Axis {
    Axis { title: title.to_owned(), from_zero: false, whole: true }
}

/// An axis that begins at zero.
pub(super) fn amounts(title: &str) -> Axis {
    Axis { title: title.to_owned(), from_zero: true, whole: false }
}

impl Spot {
    /// A point that nothing stands beside.
    pub(super) fn new(x: f64, y: f64, text: Vec<String>) -> Self {
        Self { name: String::new(), x, y, text }
    }
}

impl Series {
    /// Points that are drawn at once.
    pub(crate) fn new(name: impl Into<String>, style: Style, points: Vec<Spot>) -> Self {
        Self { name: name.into(), style, hidden: false, points }
    }
}

/// A figure in words: its median, and how far runs are away from it.
pub(super) fn tooltip(metric: &Metric, figure: &Figure) -> String {
    let noise = match figure.runs {
        0 | 1 => String::new(),
        runs => format!(" ± {:.1} % ({runs} runs)", 100.0 * figure.noise),
    };
    format!("{}: {}{noise}", metric.title, amount(metric.unit, figure.median))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_the_unit_of_its_largest_value() {
        let scale = Scale::of(Unit::Bytes, [12e6, 1.5e9]);
        assert_eq!((scale.name, scale.of_value(12e6)), ("GB", 0.012));
        assert_eq!(Scale::of(Unit::Seconds, [0.2]).axis("read", true).title, "read [ms]");
        assert_eq!(Scale::of(Unit::Bytes, []).name, "B");
        assert_eq!(Scale::of(Unit::Count, [3.0]).axis("baskets", false).title, "baskets");
    }
}
