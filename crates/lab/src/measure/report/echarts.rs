//! Charts as option objects of ECharts. Tooltips are text, never HTML, whatever the name of a branch.

use serde_json::{Value, json};

use super::chart::{Axis, Bar, Chart, Drawing, Part, Series, Spot, Style, Tile};
use super::names::LONGEST;

/// Points of a line beyond which they have no symbols.
const MANY_POINTS: usize = 20;
/// Approximate pixels of a character of a legend, and of the symbol before each name.
const CHARACTER: usize = 7;
const BEFORE: usize = 45;
/// Characters that fit into a legend at the right: a name, and its tooltip.
const LEGEND: usize = LONGEST + 20;
/// Pixels from one line of a legend to the next.
const LINE: usize = 24;
/// Most series of a chart: each has a line in the legend.
const MOST_SERIES: usize = 36;
/// The part of an axis that the name of a line takes.
const MARKS_APART: f64 = 0.03;
/// Width in pixels of a chart that shares its row.
const ROW: usize = 640;

/// The colours of curves, in their order.
pub(crate) const COLOURS: [&str; 12] = [
    "#3b6fb6", "#c8553d", "#4d9b6a", "#8a63a8", "#b58a2a", "#3f9aa8", "#a8577e", "#6b7684", "#7fa6d9", "#e0957f",
    "#94c9a5", "#c3a6d6",
];
const GREY: &str = "#c3c9d1";
/// Of tiles whose colour says nothing.
const TILE: &str = "#9dbbe0";
/// Characters of a bar's name in a chart that shares its row.
const BAR_NAME: usize = 30;

/// The option object of a chart.
pub(super) fn option(chart: &Chart) -> Value {
    let mut option = match &chart.drawing {
        Drawing::Plane { x, y, series } => plane(x, y, series.get(..series.len() - left_out(chart)).unwrap_or(series)),
        Drawing::Bars { x, bars, parts } => stacked(x, bars, parts),
        Drawing::Tiles { colour, tiles, .. } => treemap(colour, tiles),
    };
    if let Some(option) = option.as_object_mut() {
        option.insert("animation".to_owned(), json!(false));
        option.insert("color".to_owned(), json!(COLOURS));
        option.insert("aria".to_owned(), json!({ "enabled": true, "label": { "description": chart.title } }));
    }
    option
}

/// Number of a chart's last series that are not drawn because its legend has no room. Only series that are hidden at
/// first are left out.
pub(super) fn left_out(chart: &Chart) -> usize {
    match &chart.drawing {
        Drawing::Plane { series, .. } => {
            let hidden = series.iter().rev().take_while(|series| series.hidden).count();
            series.len().saturating_sub(MOST_SERIES).min(hidden)
        }
        _ => 0,
    }
}

/// Whether a chart needs all the width of the page.
pub(super) fn is_wide(chart: &Chart) -> bool {
    match &chart.drawing {
        Drawing::Plane { series, .. } => !fits_above(&names(series)),
        Drawing::Bars { bars, .. } => bars.iter().any(|bar| bar.name.chars().count() > BAR_NAME),
        Drawing::Tiles { .. } => false,
    }
}

/// Pixels from top to bottom.
pub(super) fn height(chart: &Chart) -> usize {
    match &chart.drawing {
        Drawing::Bars { bars, .. } => bars.len().saturating_mul(24).saturating_add(120).clamp(400, 1000),
        // Beside the chart, each name has a line.
        Drawing::Plane { series, .. } if !fits_above(&names(series)) => {
            let drawn = series.len() - left_out(chart);
            names(series.get(..drawn).unwrap_or(series)).len().saturating_mul(LINE).saturating_add(30).max(400)
        }
        _ => 400,
    }
}

/// Text of several lines, which ECharts makes harmless by itself.
fn tooltip() -> Value {
    json!({
        "trigger": "item",
        "formatter": "{b}",
        "confine": true,
        "extraCssText": "white-space: pre-line; max-width: 30em; overflow-wrap: anywhere",
    })
}

/// A text of which ECharts would read nothing but itself.
fn plain(text: &str) -> String {
    text.replace(['{', '}', '|'], "_")
}

/// Each name once.
fn names(series: &[Series]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in series {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

/// Whether a legend has room in one line above a chart.
fn fits_above(names: &[&str]) -> bool {
    let width = |name: &&str| name.chars().count().saturating_mul(CHARACTER).saturating_add(BEFORE);
    names.iter().map(width).sum::<usize>() <= ROW
}

/// A legend above the chart or to its right, and the remaining box of the chart.
fn legend(names: &[&str], hidden: &[&str]) -> (Value, Value) {
    let mut legend = json!({ "type": "plain", "top": 0, "data": names });
    let above = fits_above(names);
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = longest.min(LEGEND).saturating_mul(CHARACTER);
    let right = if above { 30 } else { width.saturating_add(BEFORE).saturating_add(30) };
    if let Some(legend) = legend.as_object_mut() {
        if !above {
            legend.insert("orient".to_owned(), json!("vertical"));
            legend.insert("right".to_owned(), json!(0));
            legend.insert("align".to_owned(), json!("left"));
            legend.insert("textStyle".to_owned(), json!({ "width": width, "overflow": "break" }));
        }
        let selected: serde_json::Map<_, _> = hidden.iter().map(|name| ((*name).to_owned(), json!(false))).collect();
        legend.insert("selected".to_owned(), Value::Object(selected));
    }
    let top = if above { 45 } else { 20 };
    (legend, json!({ "left": 75, "right": right, "top": top, "bottom": 55 }))
}

fn axis(axis: &Axis, gap: u32) -> Value {
    let mut drawn = json!({
        "type": "value",
        "name": axis.title,
        "nameLocation": "middle",
        "nameGap": gap,
        "scale": !axis.from_zero,
        "splitLine": { "lineStyle": { "opacity": 0.5 } },
    });
    if let Some(drawn) = drawn.as_object_mut().filter(|_| axis.whole) {
        drawn.insert("minInterval".to_owned(), json!(1));
    }
    drawn
}

fn plane(x: &Axis, y: &Axis, series: &[Series]) -> Value {
    let hidden: Vec<&str> = series.iter().filter(|series| series.hidden).map(|series| series.name.as_str()).collect();
    let (legend, grid) = legend(&names(series), &hidden);
    json!({
        "tooltip": tooltip(),
        "legend": legend,
        "grid": grid,
        "xAxis": with(axis(x, 30), "boundaryGap", margins(x, series)),
        "yAxis": axis(y, 50),
        "series": series.iter().map(drawn).collect::<Vec<_>>(),
    })
}

/// The parts of an axis to leave free before the first point and after the last: half of the longest label, which is centred
/// above its point, or all of one at its left, which would lie on the numbers of the other axis.
fn margins(axis: &Axis, series: &[Series]) -> Value {
    let labelled = series.iter().filter(|series| matches!(series.style, Style::Points | Style::Today | Style::Chosen));
    let longest = labelled.flat_map(|series| &series.points).map(|point| point.name.chars().count()).max().unwrap_or(0);
    let share = if series.iter().any(is_chosen_few) { 120 } else { 50 };
    // An axis from zero has room at its start.
    let percent = if axis.from_zero { 0 } else { (longest.saturating_mul(CHARACTER) * share / ROW).min(20) };
    json!([format!("{percent}%"), format!("{percent}%")])
}

/// Whether only those of many points are named that no other beats. Their names are at their left, where no point is.
fn is_chosen_few(series: &Series) -> bool {
    let is_named = |point: &Spot| !point.name.is_empty();
    series.style == Style::Points && series.points.iter().any(is_named) && !series.points.iter().all(is_named)
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
    object
}

fn drawn(series: &Series) -> Value {
    if series.style == Style::Marks {
        return marks(series);
    }
    let data: Vec<Value> = series.points.iter().map(spot).collect();
    let symbols = series.points.len() <= MANY_POINTS;
    // Labels that would overlap are left out; tooltips have them.
    let position = if is_chosen_few(series) { "left" } else { "top" };
    let label = json!({ "show": true, "position": position, "fontSize": 10, "minMargin": 4 });
    let (kind, look) = match series.style {
        Style::Points => ("scatter", json!({ "symbolSize": 11, "label": label })),
        Style::Others => ("scatter", json!({ "symbolSize": 8, "z": 1, "itemStyle": { "color": "#b6bcc4" } })),
        Style::Dots => ("scatter", json!({ "symbolSize": 4 })),
        Style::Today => (
            "scatter",
            json!({ "symbol": "diamond", "symbolSize": 20, "z": 5, "itemStyle": { "color": "#c8553d" }, "label": label }),
        ),
        Style::Chosen => (
            "scatter",
            json!({
                "symbol": "circle", "symbolSize": 18, "z": 6, "label": label,
                "itemStyle": { "color": "rgba(77,155,106,0.25)", "borderColor": "#2f7d4f", "borderWidth": 3 },
            }),
        ),
        Style::Line => ("line", json!({ "symbolSize": 7, "showSymbol": symbols })),
        Style::Area => (
            "line",
            json!({ "symbolSize": 5, "showSymbol": symbols, "lineStyle": { "width": 1.5 }, "areaStyle": { "opacity": 0.3 } }),
        ),
        Style::Whole => (
            "line",
            json!({ "showSymbol": false, "lineStyle": { "width": 1, "color": GREY }, "itemStyle": { "color": GREY },
                    "areaStyle": { "opacity": 0.4 } }),
        ),
        Style::Front => (
            "line",
            json!({ "step": "end", "symbolSize": 5, "z": 1, "lineStyle": { "color": "#6b7684", "width": 1.5 },
                    "itemStyle": { "color": "#6b7684" } }),
        ),
        Style::Ideal | Style::Marks => {
            ("line", json!({ "symbolSize": 4, "showSymbol": symbols, "lineStyle": { "type": "dashed", "width": 1.5 } }))
        }
    };
    let mut drawn = json!({ "type": kind, "name": series.name, "data": data, "labelLayout": { "hideOverlap": true } });
    if let (Some(drawn), Value::Object(look)) = (drawn.as_object_mut(), look) {
        drawn.extend(look);
    }
    drawn
}

/// Lines from the bottom to the top. A name that would lie on the one before is in the tooltip alone.
fn marks(series: &Series) -> Value {
    let last = series.points.iter().map(|point| point.x).fold(0.0, f64::max);
    let mut named = f64::NEG_INFINITY;
    let mut line = |point: &Spot| {
        let has_room = point.x - named >= MARKS_APART * last;
        named = if has_room { point.x } else { named };
        json!({
            "name": point.text.join("\n"),
            "xAxis": point.x,
            "label": { "show": has_room, "formatter": plain(&point.name), "distance": 2, "fontSize": 9, "color": "#8a95a3",
                       "position": "insideEndTop", "width": 160, "overflow": "truncate" },
        })
    };
    let look = json!({ "type": "dashed", "color": "#8a95a3", "width": 1 });
    json!({
        "type": "line", "name": series.name, "data": [], "symbol": "none", "lineStyle": look,
        "itemStyle": { "color": "#8a95a3" },
        "markLine": { "symbol": "none", "lineStyle": look, "data": series.points.iter().map(&mut line).collect::<Vec<_>>() },
    })
}

fn spot(spot: &Spot) -> Value {
    json!({
        "name": spot.text.join("\n"),
        "value": [spot.x, spot.y],
        // Without a name the label would be the value, and a blank one would take the place of another.
        "label": if spot.name.is_empty() { json!({ "show": false }) } else { json!({ "formatter": plain(&spot.name) }) },
    })
}

fn stacked(x: &Axis, bars: &[Bar], parts: &[Part]) -> Value {
    let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    let width = longest.min(LONGEST).saturating_mul(CHARACTER);
    let part = |(at, part): (usize, &Part)| {
        let value = |(bar, value): (&Bar, &f64)| json!({ "name": bar.text.join("\n"), "value": value });
        let data: Vec<Value> = bars.iter().zip(&part.values).map(value).collect();
        let drawn = json!({ "type": "bar", "stack": "all", "name": part.name, "data": data });
        // The rest comes last.
        if at + 1 < parts.len() { drawn } else { with(drawn, "itemStyle", json!({ "color": GREY })) }
    };
    let (legend, grid) = legend(&parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), &[]);
    json!({
        "tooltip": tooltip(),
        "legend": legend,
        "grid": with(grid, "left", json!(width.saturating_add(20))),
        "xAxis": axis(x, 30),
        "yAxis": {
            "type": "category", "inverse": true, "data": bars.iter().map(|bar| &bar.name).collect::<Vec<_>>(),
            "axisLabel": { "width": width, "overflow": "truncate", "interval": 0 },
        },
        "series": parts.iter().enumerate().map(part).collect::<Vec<_>>(),
    })
}

/// A tile. A group has its name above its parts.
fn tile(of: &Tile) -> Value {
    let name = of.text.join("\n");
    if !of.parts.is_empty() {
        return json!({
            "name": name,
            "upperLabel": { "show": true, "height": 18, "formatter": plain(&of.name), "overflow": "truncate" },
            "children": of.parts.iter().map(tile).collect::<Vec<_>>(),
        });
    }
    let drawn = json!({
        "name": name,
        "value": [of.size, of.colour],
        "label": { "show": true, "formatter": plain(&of.name), "overflow": "truncate", "color": "#1d2733" },
    });
    if of.colour.is_some() { drawn } else { with(drawn, "itemStyle", json!({ "color": TILE })) }
}

fn treemap(colour: &Axis, tiles: &[Tile]) -> Value {
    let parts = || tiles.iter().flat_map(|tile| &tile.parts);
    let most = tiles.iter().chain(parts()).filter_map(|tile| tile.colour).fold(0.0, f64::max);
    let mut option = json!({
        "tooltip": tooltip(),
        "series": [{
            "type": "treemap", "name": "columns", "roam": false, "nodeClick": false, "width": "100%",
            "top": 10, "bottom": 60, "visibleMin": 0, "breadcrumb": { "show": false },
            "itemStyle": { "borderWidth": 0, "gapWidth": 1 },
            "data": tiles.iter().map(tile).collect::<Vec<_>>(),
            "levels": if parts().next().is_some() { json!([{ "itemStyle": { "gapWidth": 3 } }]) } else { json!([]) },
        }],
    });
    if let Some(option) = option.as_object_mut().filter(|_| most > 0.0) {
        let map = json!({
            "type": "continuous", "dimension": 1, "min": 0, "max": most, "calculable": true, "orient": "horizontal",
            "left": "center", "bottom": 0, "text": [colour.title, ""], "precision": 1,
            "inRange": { "color": ["#dbe6f2", "#f2c28b", "#e07f66"] },
        });
        option.insert("visualMap".to_owned(), map);
    }
    option
}
