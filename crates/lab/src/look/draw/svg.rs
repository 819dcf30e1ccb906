//! A picture of histograms as SVG: steps with errors for one axis, coloured cells for two; axes with titles, and a legend. It needs nothing
//! else, and is dark where its reader wants that. All text is escaped by the template.

use askama::Template;
use objects::Histogram;
use rootfile::text::count;
use rootfile::{Error, Hint, Result};

use super::report::{Curve, Drawing};
use super::scale::{Mark, Scale, short};
use crate::report::COLOURS;

/// Pixels of the picture, and of the line of a legend.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 560.0;
const LINE: f64 = 20.0;
/// Pixels at the edges of a picture, and beside what is written at marks.
const EDGE: f64 = 16.0;
const GAP: f64 = 8.0;
/// Pixels of the scale of colours and of what is beside it.
const COLOUR_BAR: f64 = 18.0;
const SHADES: usize = 24;
/// Most bins whose errors are drawn, and most cells to the right and upwards.
const MOST_ERRORS: usize = 120;
const MOST_CELLS: usize = 200;
/// Colours of cells, from the least content on (viridis).
const RAMP: [[f64; 3]; 6] = [
    [68.0, 1.0, 84.0],
    [65.0, 68.0, 135.0],
    [42.0, 120.0, 142.0],
    [34.0, 168.0, 132.0],
    [122.0, 209.0, 81.0],
    [253.0, 231.0, 37.0],
];

#[derive(Template)]
#[template(path = "histogram.svg", escape = "html")]
struct Picture {
    width: f64,
    height: f64,
    title: String,
    about: Vec<Text>,
    legend: Vec<Named>,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x_title: String,
    y_title: String,
    x_marks: Vec<Mark>,
    y_marks: Vec<Mark>,
    lines: Vec<Line>,
    cells: Vec<Cell>,
    bar: Option<Bar>,
}

/// A line of text.
struct Text {
    y: f64,
    text: String,
}

/// A line of the legend.
struct Named {
    y: f64,
    name: String,
    facts: String,
    colour: &'static str,
}

/// A curve.
struct Line {
    colour: &'static str,
    path: String,
    /// All below it, if it is alone.
    area: Option<String>,
    errors: String,
}

/// A rectangle of a colour.
struct Cell {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    colour: String,
}

/// The scale of colours.
struct Bar {
    x: f64,
    title: String,
    title_x: f64,
    shades: Vec<Cell>,
    marks: Vec<Mark>,
}

/// The picture.
///
/// # Errors
///
/// Histograms have three axes, or several of them two.
pub fn picture(drawing: &Drawing, log: bool) -> Result<String> {
    let Some(first) = drawing.curves.first() else { return Err(Error::request("there is nothing to draw")) };
    let picture = match (first.histogram.axes.len(), drawing.curves.len()) {
        (1, _) => curves(drawing, first, log),
        (2, 1) => cells(drawing, first, log),
        (2, _) => {
            let hint = Hint::named("output");
            let why = format!("{hint}: histograms of two expressions do not fit into one picture: draw one at a time");
            return Err(Error::request(why).hint(hint));
        }
        (axes, _) => return Err(Error::request(format!("histograms of {axes} axes have no picture"))),
    };
    picture.render().map_err(|e| Error::request(format!("the picture cannot be made: {e}")))
}

/// The frame of a picture: titles, legend and margins.
fn frame(drawing: &Drawing, first: &Curve) -> Picture {
    let room = WIDTH - 2.0 * EDGE;
    let whole = first.histogram.title.clone();
    let one_sample = drawing.curves.iter().all(|curve| curve.files == first.files && curve.path == first.path);
    let place = match first.files.as_slice() {
        [file] if one_sample => format!("{} of {file}", first.path),
        files if one_sample => format!("{} of {} files", first.path, files.len()),
        _ => String::new(),
    };
    let title = [whole, place].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" — ");
    let mut y = 30.0;
    let mut about = Vec::new();
    let mut legend = Vec::new();
    if let [one] = drawing.curves.as_slice() {
        let conditions = one.cut.iter().map(|cut| format!("cut {cut}"));
        let conditions = conditions.chain(one.weight.iter().map(|weight| format!("weight {weight}")));
        let conditions = conditions.collect::<Vec<_>>().join("; ");
        let mut lines = wrapped(&facts(one), room);
        lines.extend(Some(conditions).filter(|text| !text.is_empty()));
        for text in lines {
            y += LINE;
            about.push(Text { y, text: fitting(&text, room) });
        }
    } else {
        for (curve, colour) in drawing.curves.iter().zip(COLOURS) {
            y += LINE;
            let facts = format!("{} filled", count(curve.filled));
            let name = fitting(&curve.name, room - 30.0 - GAP - width(&facts));
            legend.push(Named { y, name, facts, colour });
        }
    }
    Picture {
        width: WIDTH,
        height: HEIGHT + y - 50.0,
        title: fitting(&title, room * 0.78),
        about,
        legend,
        left: 0.0,
        right: WIDTH - EDGE - GAP,
        top: y + 20.0,
        bottom: HEIGHT + y - 50.0 - 62.0,
        x_title: String::new(),
        y_title: String::new(),
        x_marks: Vec::new(),
        y_marks: Vec::new(),
        lines: Vec::new(),
        cells: Vec::new(),
        bar: None,
    }
}

/// How many were filled, and where they are.
fn facts(curve: &Curve) -> Vec<String> {
    let histogram = &curve.histogram;
    let mut facts = vec![format!("{} filled", count(curve.filled))];
    let axes: &[&str] = if histogram.axes.len() > 1 { &["of x ", "of y "] } else { &[""] };
    for ((mean, deviation), of) in histogram.means.iter().zip(&histogram.deviations).zip(axes) {
        facts.push(format!("mean {of}{}, standard deviation {}", short(*mean), short(*deviation)));
    }
    let outside = [(curve.below, "below"), (curve.above, "above"), (curve.no_number, "no number")];
    let outside = outside.into_iter().filter(|(many, _)| *many > 0);
    facts.extend(outside.map(|(many, what)| format!("{} {what}", count(many))));
    facts
}

/// Facts in lines of so many pixels.
fn wrapped(facts: &[String], room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        match lines.last_mut() {
            Some(line) if width(line) + width(fact) + width(" · ") <= room => *line += &format!(" · {fact}"),
            _ => lines.push(fact.clone()),
        }
    }
    lines
}

/// The histograms of one axis.
fn curves(drawing: &Drawing, first: &Curve, log: bool) -> Picture {
    let mut picture = frame(drawing, first);
    let histograms = || drawing.curves.iter().map(|curve| &curve.histogram);
    let ends = histograms().flat_map(|histogram| histogram.axes.iter().flat_map(|axis| axis.edges.iter().copied()));
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), edge| (low.min(edge), high.max(edge)));
    let y_range = contents_range(histograms(), log);
    let y = Scale::new(y_range, [picture.bottom, picture.top], log);
    picture.y_marks = y.marks(7);
    picture.left = left(&picture.y_marks);
    let x = Scale::new([low, high], [picture.left, picture.right], false);
    picture.x_marks = labels(&first.histogram, x).unwrap_or_else(|| spaced(x, picture.right - picture.left));
    let titles = first.histogram.axes.first().map_or("", |axis| axis.title.as_str());
    picture.x_title = fitting(titles, picture.right - picture.left);
    picture.y_title = fitting(&drawing.content, picture.bottom - picture.top);
    let alone = drawing.curves.len() == 1;
    picture.lines =
        histograms().zip(COLOURS).map(|(histogram, colour)| line(histogram, [x, y], colour, alone)).collect();
    picture
}

/// From the least content to the largest, with errors and some room.
fn contents_range<'a>(histograms: impl Iterator<Item = &'a Histogram>, log: bool) -> [f64; 2] {
    let (mut least, mut most, mut positive, mut profile) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, true);
    for histogram in histograms {
        profile &= histogram.profile;
        for cell in 1..histogram.contents.len().saturating_sub(1) {
            let content = histogram.contents.get(cell).copied().unwrap_or(0.0);
            let error = histogram.errors.get(cell).copied().unwrap_or(0.0);
            if content.is_finite() && error.is_finite() {
                (least, most) = (least.min(content - error), most.max(content + error));
                positive = if content > 0.0 { positive.min(content) } else { positive };
            }
        }
    }
    match (least < most, log && positive.is_finite()) {
        (_, true) => [positive / 2.0, most * 2.0],
        (true, false) if profile => [least - 0.05 * (most - least), most + 0.05 * (most - least)],
        (true, false) => [least.min(0.0) * 1.05, most.max(0.0) * 1.05],
        (false, false) if most.is_finite() && most != 0.0 => [most.min(0.0), most.max(0.0)],
        (false, false) => [0.0, 1.0],
    }
}

/// The steps of a histogram, and its errors.
fn line(histogram: &Histogram, [x, y]: [Scale; 2], colour: &'static str, alone: bool) -> Line {
    let edges = histogram.axes.first().map_or(&[][..], |axis| axis.edges.as_slice());
    let ground = y.pixel(0.0);
    let content = |bin: usize| histogram.contents.get(bin + 1).copied().unwrap_or(0.0);
    let (mut path, mut errors) = (String::new(), String::new());
    let bins = edges.len().saturating_sub(1);
    for (bin, (from, to)) in edges.iter().zip(edges.iter().skip(1)).enumerate() {
        let (from, to, height) = (x.pixel(*from), x.pixel(*to), y.pixel(content(bin)));
        path += &if bin == 0 { format!("M{from:.1} {ground:.1}V{height:.1}") } else { format!("V{height:.1}") };
        path += &format!("H{to:.1}");
        let error = histogram.errors.get(bin + 1).copied().unwrap_or(0.0);
        if bins <= MOST_ERRORS && error > 0.0 {
            let (low, high) = (y.pixel(content(bin) - error), y.pixel(content(bin) + error));
            errors += &format!("M{:.1} {low:.1}V{high:.1}", (from + to) / 2.0);
        }
    }
    path += &format!("V{ground:.1}");
    Line { colour, area: alone.then(|| path.clone() + "Z"), path, errors }
}

/// The histogram of two axes.
fn cells(drawing: &Drawing, curve: &Curve, log: bool) -> Picture {
    let mut picture = frame(drawing, curve);
    let histogram = &curve.histogram;
    let (Some(across), Some(up)) = (histogram.axes.first(), histogram.axes.get(1)) else { return picture };
    let (nx, ny) = (across.edges.len().saturating_sub(1), up.edges.len().saturating_sub(1));
    // Neighbouring cells share a rectangle where there are many.
    let each = [nx, ny].map(|bins| bins.div_ceil(MOST_CELLS).max(1));
    let mut found = Vec::new();
    for (from_y, from_x) in (0..ny).step_by(each[1]).flat_map(|y| (0..nx).step_by(each[0]).map(move |x| (y, x))) {
        let (to_x, to_y) = ((from_x + each[0]).min(nx), (from_y + each[1]).min(ny));
        let cells = (from_y..to_y).flat_map(|y| (from_x..to_x).map(move |x| x + 1 + (nx + 2) * (y + 1)));
        let sum: f64 = cells.filter_map(|cell| histogram.contents.get(cell)).sum();
        if sum != 0.0 && sum.is_finite() {
            found.push(([from_x, to_x], [from_y, to_y], sum));
        }
    }
    let values = || found.iter().map(|(_, _, sum)| *sum);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let range = match (found.is_empty(), log && least > 0.0) {
        (true, _) => [0.0, 1.0],
        (false, true) => [least, most],
        (false, false) => [least.min(0.0), most.max(0.0)],
    };
    let shades = Scale::new(range, [picture.bottom, picture.top], log);
    let marks = shades.marks(7);
    let title_x = WIDTH - EDGE;
    let bar_x = title_x - LINE - marks.iter().map(|mark| width(&mark.label)).fold(0.0, f64::max) - COLOUR_BAR - GAP;
    picture.right = bar_x - GAP - COLOUR_BAR;
    let ends = |edges: &[f64]| [edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0)];
    let y = Scale::new(ends(&up.edges), [picture.bottom, picture.top], false);
    picture.y_marks = y.marks(7);
    picture.left = left(&picture.y_marks);
    let x = Scale::new(ends(&across.edges), [picture.left, picture.right], false);
    picture.x_marks = spaced(x, picture.right - picture.left);
    picture.x_title = fitting(&across.title, picture.right - picture.left);
    picture.y_title = fitting(&up.title, picture.bottom - picture.top);
    let edge = |scale: Scale, edges: &[f64], place: usize| scale.pixel(edges.get(place).copied().unwrap_or(0.0));
    let cell = |([from_x, to_x], [from_y, to_y], sum): &([usize; 2], [usize; 2], f64)| {
        let (left, right) = (edge(x, &across.edges, *from_x), edge(x, &across.edges, *to_x));
        let (bottom, top) = (edge(y, &up.edges, *from_y), edge(y, &up.edges, *to_y));
        Cell { x: left, y: top, width: right - left, height: bottom - top, colour: colour(shades.share(*sum)) }
    };
    picture.cells = found.iter().map(cell).collect();
    #[expect(clippy::cast_precision_loss, reason = "a few shades")]
    let shade = |number: usize| {
        let height = (picture.bottom - picture.top) / SHADES as f64;
        let share = (number as f64 + 0.5) / SHADES as f64;
        let y = picture.bottom - (number + 1) as f64 * height;
        Cell { x: bar_x, y, width: COLOUR_BAR, height: height + 0.5, colour: colour(share) }
    };
    let title = fitting(&drawing.content, picture.bottom - picture.top);
    picture.bar = Some(Bar { x: bar_x + COLOUR_BAR, title, title_x, shades: (0..SHADES).map(shade).collect(), marks });
    picture
}

/// The colour of a share of the largest content.
fn colour(share: f64) -> String {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place among a few colours"
    )]
    let (place, rest) = {
        let place = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
        (place.floor() as usize, place.fract())
    };
    let of = |place: usize| RAMP.get(place.min(RAMP.len() - 1)).copied().unwrap_or([0.0; 3]);
    let [from, to] = [of(place), of(place + 1)];
    let parts = from.iter().zip(to).map(|(from, to)| format!("{:.0}", from + (to - from) * rest));
    format!("rgb({})", parts.collect::<Vec<_>>().join(","))
}

/// The left edge of the axes, beside what is written at the marks and the title.
fn left(marks: &[Mark]) -> f64 {
    EDGE + LINE + marks.iter().map(|mark| width(&mark.label)).fold(0.0, f64::max) + GAP
}

/// Marks of an axis to the right, so few that their labels do not touch.
fn spaced(scale: Scale, pixels: f64) -> Vec<Mark> {
    let fits = |marks: &[Mark]| {
        let pairs = marks.iter().zip(marks.iter().skip(1));
        pairs.into_iter().all(|(one, next)| next.at - one.at > (width(&one.label) + width(&next.label)) / 2.0 + GAP)
    };
    let tries = [10, 8, 6, 5, 4, 3, 2].into_iter().map(|most| scale.marks(most));
    let found = tries.into_iter().find(|marks| fits(marks)).unwrap_or_default();
    // A label at an end lies in the middle of its mark, and must not leave the picture.
    let room = EDGE + GAP;
    found.into_iter().filter(|mark| width(&mark.label) / 2.0 <= room.max(pixels / 10.0)).collect()
}

/// The labels of bins, as many as have room.
fn labels(histogram: &Histogram, x: Scale) -> Option<Vec<Mark>> {
    let axis = histogram.axes.first().filter(|axis| axis.labels.iter().any(|label| !label.is_empty()))?;
    let middles = axis.edges.iter().zip(axis.edges.iter().skip(1)).map(|(from, to)| x.pixel(from + (to - from) / 2.0));
    let room = 90.0;
    let mut marks: Vec<Mark> = Vec::new();
    for (at, label) in middles.zip(&axis.labels).filter(|(_, label)| !label.is_empty()) {
        let label = fitting(label, room);
        let half = width(&label) / 2.0;
        let free = marks.last().map_or(f64::NEG_INFINITY, |last| last.at + width(&last.label) / 2.0 + GAP);
        if at - half >= free && at - half >= 0.0 && at + half <= WIDTH {
            marks.push(Mark { at, label });
        }
    }
    Some(marks)
}

/// About the pixels of a text at 13 pixels: never less than it takes.
fn width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '[' | ']' => {
            5.5
        }
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 13.5,
        '—' => 14.0,
        c if c.is_ascii_uppercase()
            || c == '&'
            || c == '<'
            || c == '>'
            || c == '='
            || c == '+'
            || c == '#'
            || c == '~' =>
        {
            11.0
        }
        c if c.is_ascii() => 8.4,
        c if u32::from(c) < 0x2e80 => 10.5,
        _ => 14.5,
    };
    text.chars().map(of).sum()
}

/// A text that takes at most so many pixels.
fn fitting(text: &str, pixels: f64) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if width(&text) <= pixels {
        return text;
    }
    let mut cut = String::new();
    let mut used = width("—");
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > pixels {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use objects::HistogramAxis;

    use super::*;

    fn curve(name: &str, axes: usize) -> Curve {
        let axis = HistogramAxis { title: "<x>".to_owned(), edges: vec![0.0, 1.0, 2.0], labels: Vec::new() };
        let cells = 4usize.pow(u32::try_from(axes).unwrap());
        let contents: Vec<f64> = (0..cells).map(|cell| cell as f64).collect();
        Curve {
            name: name.to_owned(),
            files: vec!["a.root".to_owned()],
            path: "t".to_owned(),
            class: None,
            cut: None,
            weight: None,
            entries: Some(3),
            filled: 3,
            no_number: 1,
            below: 0,
            above: 2,
            histogram: Histogram {
                title: String::new(),
                axes: vec![axis; axes],
                profile: false,
                errors: contents.iter().map(|content| content.sqrt()).collect(),
                contents,
                entries: 3.0,
                means: vec![1.0; axes],
                deviations: vec![0.5; axes],
                waiting: 0,
            },
        }
    }

    fn drawn(curves: Vec<Curve>, log: bool) -> String {
        picture(&Drawing { content: "entries".to_owned(), curves }, log).unwrap()
    }

    #[test]
    fn texts_of_files_are_escaped() {
        let text = drawn(vec![curve("</style><script>", 1), curve("b & c", 1)], false);
        assert!(!text.contains("<script>") && !text.contains("<x>"), "{text}");
        assert!(text.contains("&#60;x&#62;") && text.contains("3 filled"), "{text}");
        assert!(drawn(vec![curve("a", 1)], true).contains("no number"));
    }

    #[test]
    fn cells_have_colours_and_a_scale() {
        let text = drawn(vec![curve("a", 2)], false);
        // Four cells and the shades of the scale.
        assert_eq!(text.matches("<rect class=\"cell\"").count(), 4 + SHADES);
        assert!(
            picture(&Drawing { content: String::new(), curves: vec![curve("a", 2), curve("b", 2)] }, false).is_err()
        );
        assert!(picture(&Drawing { content: String::new(), curves: Vec::new() }, false).is_err());
        assert_eq!((colour(0.0), colour(1.0)), ("rgb(68,1,84)".to_owned(), "rgb(253,231,37)".to_owned()));
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "Muon_pt ".repeat(50);
        assert!(width(&fitting(&long, 300.0)) <= 300.0);
        assert_eq!(fitting("short", 300.0), "short");
    }
}
