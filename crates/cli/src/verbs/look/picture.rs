//! Histograms as text: bars of the bins of one axis, shades of the bins of two. Several of one axis stand beside each other.

use std::io::Write;

use lab::look::draw::scale::short as number;
use lab::look::draw::{Curve, Drawing};
use lab::look::rows::ShownHistogram;
use lab::look::{Histogram, HistogramAxis};
use rootfile::Result;
use rootfile::text::{padded, printable, shortened, to_the_right, width};

use crate::output;

/// Most lines of a picture.
const LINES: usize = 40;
/// Shades from none to most.
const SHADES: [char; 6] = [' ', '·', '░', '▒', '▓', '█'];
/// Columns of a terminal for the edges of a bin, and the least for a curve beside others: its numbers and its bars.
const LONGEST_EDGES: usize = 28;
const LEAST_OF_CURVE: usize = 24;
/// Fewest and most characters of a bar.
const ROOM: [usize; 2] = [8, 60];

/// A histogram that is printed, with what stands above its contents.
struct Shown<'a> {
    head: &'a str,
    histogram: &'a Histogram,
    /// Whether errors stand beside contents.
    errors: bool,
}

/// Prints a histogram in lines of so many columns of a terminal.
pub fn picture(out: &mut impl Write, shown: &ShownHistogram, width: usize) -> Result<()> {
    let histogram = &shown.histogram;
    writeln!(out, "{}", named(&shown.class, &shown.path, &histogram.title))?;
    writeln!(out, "{}", facts(histogram))?;
    let head = if histogram.profile { "mean" } else { "content" };
    contents(out, &[Shown { head, histogram, errors: histogram.profile }], false, width)
}

/// Prints the histograms of a drawing in lines of so many columns of a terminal.
pub fn drawing(out: &mut impl Write, drawing: &Drawing, log: bool, width: usize) -> Result<()> {
    for curve in &drawing.curves {
        writeln!(out, "{}", about(curve))?;
        writeln!(out, "  {}", facts_of(curve))?;
    }
    let alone = drawing.curves.len() == 1;
    let all: Vec<Shown<'_>> = drawing.curves.iter().map(|curve| shown_of(drawing, curve)).collect();
    let edges = |one: &Shown<'_>| one.histogram.axes.first().map(|axis| axis.edges.clone());
    let alike = all.iter().all(|one| one.histogram.axes.len() == 1 && edges(one) == all.first().and_then(edges));
    if alike && (alone || width >= LONGEST_EDGES + all.len() * LEAST_OF_CURVE) {
        return contents(out, &all, log, width);
    }
    for (one, curve) in all.iter().zip(&drawing.curves) {
        if !alone {
            writeln!(out, "\n{}", printable(&curve.name))?;
        }
        contents(out, std::slice::from_ref(one), log, width)?;
    }
    Ok(())
}

/// A curve as it is printed: alone with its errors, or beside others with its name.
fn shown_of<'a>(drawing: &'a Drawing, curve: &'a Curve) -> Shown<'a> {
    let Curve { name, histogram, .. } = curve;
    match drawing.curves.len() {
        1 => Shown { head: &drawing.content, histogram, errors: histogram.profile || curve.class.is_none() },
        _ => Shown { head: name, histogram, errors: false },
    }
}

/// A histogram by its class, path and title.
fn named(class: &str, path: &str, title: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(": {title}") };
    printable(&format!("{class} {path}{title}")).trim_end().to_owned()
}

/// What a curve is of.
fn about(curve: &Curve) -> String {
    let mut text = match &curve.class {
        Some(class) => named(class, &curve.path, &curve.histogram.title),
        None => format!("{} of {}", curve.histogram.title, curve.path),
    };
    if let (Some(entries), [file, more @ ..]) = (curve.entries, curve.files.as_slice()) {
        let others = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        text += &format!(" in {file}{others}, {}", output::plural(entries, "entry", "entries"));
    }
    text += &curve.cut.as_ref().map(|cut| format!(", cut {cut}")).unwrap_or_default();
    text += &curve.weight.as_ref().map(|weight| format!(", weight {weight}")).unwrap_or_default();
    printable(&text).into_owned()
}

/// What was filled, and where it is.
fn facts_of(curve: &Curve) -> String {
    if curve.class.is_some() {
        return facts(&curve.histogram);
    }
    let mut text = format!("{} filled{}", output::count(curve.filled), moments(&curve.histogram));
    for (many, what) in [(curve.below, "below"), (curve.above, "above"), (curve.no_number, "no number")] {
        if many > 0 {
            text += &format!(", {} {what}", output::count(many));
        }
    }
    text
}

/// Entries, mean and standard deviation.
fn facts(histogram: &Histogram) -> String {
    let mut text = format!("entries {}{}", number(histogram.entries), moments(histogram));
    if let waiting @ 1.. = histogram.waiting {
        text += &format!("; {} are in no bin yet", output::plural(waiting, "entry", "entries"));
    }
    text
}

/// Mean and standard deviation of each axis.
fn moments(histogram: &Histogram) -> String {
    let names = if histogram.axes.len() > 1 { ["of x ", "of y ", "of z "] } else { [""; 3] };
    let all = histogram.means.iter().zip(&histogram.deviations).zip(names);
    let one = |((mean, deviation), of): ((&f64, &f64), &str)| {
        format!(", mean {of}{}, standard deviation {of}{}", number(*mean), number(*deviation))
    };
    all.map(one).collect()
}

fn contents(out: &mut impl Write, shown: &[Shown<'_>], log: bool, width: usize) -> Result<()> {
    let Some(first) = shown.first() else { return Ok(()) };
    match first.histogram.axes.as_slice() {
        [axis] => bars(out, shown, axis, log, width),
        [x, y] => shades(out, first.histogram, [x, y], log, width),
        axes => {
            for (axis, name) in axes.iter().zip(["x", "y", "z"]) {
                writeln!(out, "{}: {}", printable(name), limits(axis))?;
            }
            Ok(())
        }
    }
}

fn limits(axis: &HistogramAxis) -> String {
    let (low, high) = (axis.edges.first().copied().unwrap_or(0.0), axis.edges.last().copied().unwrap_or(0.0));
    let bins = output::plural(axis.edges.len().saturating_sub(1) as u64, "bin", "bins");
    let title = if axis.title.is_empty() { String::new() } else { format!("{}, ", axis.title) };
    format!("{title}{bins} from {} to {}", number(low), number(high))
}

/// The content of some bins that share a line, and its error.
fn line(histogram: &Histogram, bins: std::ops::Range<usize>) -> (f64, f64) {
    let of = |values: &[f64], bin: usize| values.get(bin + 1).copied().unwrap_or(0.0);
    let sum: f64 = bins.clone().map(|bin| of(&histogram.contents, bin)).sum();
    let squares: f64 = bins.clone().map(|bin| of(&histogram.errors, bin).powi(2)).sum();
    let filled = bins.filter(|bin| of(&histogram.contents, *bin) != 0.0).count().max(1);
    #[expect(clippy::cast_precision_loss, reason = "bins of a line")]
    let parts = if histogram.profile { filled as f64 } else { 1.0 };
    (sum / parts, squares.sqrt() / parts)
}

fn bars(out: &mut impl Write, shown: &[Shown<'_>], axis: &HistogramAxis, log: bool, line_width: usize) -> Result<()> {
    let bins = axis.edges.len().saturating_sub(1);
    // Neighbouring bins share a line where there are many.
    let each = bins.div_ceil(LINES).max(1);
    let ranges: Vec<_> = (0..bins).step_by(each).map(|first| first..(first + each).min(bins)).collect();
    // Names leave most of a line to the bars.
    let most = if shown.len() > 1 { LONGEST_EDGES } else { (line_width * 3 / 10).clamp(20, 60) };
    let short = |name: &str| shortened(&printable(name), most).into_owned();
    let name = |range: &std::ops::Range<usize>| {
        let edge = |place: usize| number(axis.edges.get(place).copied().unwrap_or(0.0));
        let label = axis.labels.get(range.start).filter(|label| each == 1 && !label.is_empty());
        label.map_or_else(|| format!("{} .. {}", edge(range.start), edge(range.end)), |label| short(label))
    };
    let names: Vec<String> = ranges.iter().map(name).collect();
    let head = short(if axis.title.is_empty() { "bin" } else { axis.title.as_str() });
    let longest_name = names.iter().map(|name| width(name)).chain([width(&head), 5]).max().unwrap_or(0);

    let heads: Vec<String> = shown.iter().map(|one| shortened(&printable(one.head), 24).into_owned()).collect();
    let columns: Vec<Vec<(f64, f64)>> =
        shown.iter().map(|one| ranges.iter().map(|range| line(one.histogram, range.clone())).collect()).collect();
    let outside = |one: &Shown<'_>| [0, bins + 1].map(|cell| one.histogram.contents.get(cell).copied().unwrap_or(0.0));
    let values = || columns.iter().flatten();
    let flow = || shown.iter().flat_map(outside);
    let longest = values().map(|(value, _)| *value).chain(flow()).map(|value| number(value).len()).max().unwrap_or(0);
    let longest = longest.max(7).max(if shown.len() == 1 { heads.first().map_or(0, |head| width(head)) } else { 0 });
    let has_errors = shown.iter().any(|one| one.errors);
    let longest_error = values().map(|(_, error)| number(*error).len()).max().unwrap_or(0).max(5);
    let besides = longest + 4 + if has_errors { longest_error + 2 } else { 0 };
    let room =
        (line_width.saturating_sub(longest_name) / shown.len().max(1)).saturating_sub(besides).clamp(ROOM[0], ROOM[1]);
    let most = values().map(|(value, _)| value.abs()).fold(0.0, f64::max);
    let least = values().map(|(value, _)| *value).filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let length = |value: f64| match log && value > 0.0 && least < most {
        // The least content has a bar that can be seen.
        true => ((value / least).ln() + 0.7) / ((most / least).ln() + 0.7) * most,
        false if log && value <= 0.0 => 0.0,
        false => value,
    };

    let mut text = padded(&head, longest_name);
    for (one, head) in shown.iter().zip(&heads) {
        match shown.len() {
            1 => text += &format!("  {}", to_the_right(head, longest)),
            _ => {
                let block = longest + 2 + room;
                text += &format!("  {}", padded(&shortened(head, block.saturating_sub(1).max(3)), block));
            }
        }
        if one.errors {
            text += &format!("  {:>longest_error$}", "error");
        }
    }
    writeln!(out, "{}", text.trim_end())?;
    for (place, name) in names.iter().enumerate() {
        let mut text = padded(name, longest_name);
        for (one, column) in shown.iter().zip(&columns) {
            let (value, error) = column.get(place).copied().unwrap_or_default();
            text += &format!("  {:>longest$}", number(value));
            if one.errors {
                text += &format!("  {:>longest_error$}", number(error));
            }
            text += &format!("  {:<room$}", bar(length(value), most, room));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    for (place, name) in ["below", "above"].into_iter().enumerate() {
        let values: Vec<f64> = shown.iter().filter_map(|one| outside(one).get(place).copied()).collect();
        if values.iter().any(|value| *value != 0.0) {
            let mut text = format!("{name:<longest_name$}");
            for value in values {
                let block = if shown.len() > 1 { room + 2 } else { 0 };
                text += &format!("  {:>longest$}{:block$}", number(value), "");
            }
            writeln!(out, "{}", text.trim_end())?;
        }
    }
    if each > 1 {
        writeln!(out, "{each} of {} share a line", output::plural(bins as u64, "bin", "bins"))?;
    }
    Ok(())
}

/// A bar; of a negative number it is shaded.
fn bar(value: f64, most: f64, room: usize) -> String {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length"
    )]
    let eighths = if most > 0.0 { (value.abs() / most * room as f64 * 8.0).round() as usize } else { 0 };
    if value < 0.0 {
        return "▒".repeat(eighths.div_ceil(8));
    }
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get(eighths % 8).copied().unwrap_or("");
    "█".repeat(eighths / 8) + rest
}

fn shades(
    out: &mut impl Write,
    histogram: &Histogram,
    [x, y]: [&HistogramAxis; 2],
    log: bool,
    width: usize,
) -> Result<()> {
    let (nx, ny) = (x.edges.len().saturating_sub(1), y.edges.len().saturating_sub(1));
    let (columns, lines) = (nx.min(width.saturating_sub(16).clamp(8, 100)), ny.min(LINES / 2 + 4));
    let mut cells = vec![0.0; columns * lines];
    for (bin_y, bin_x) in (0..ny).flat_map(|bin_y| (0..nx).map(move |bin_x| (bin_y, bin_x))) {
        let cell = (bin_x + 1) + (nx + 2) * (bin_y + 1);
        let place = bin_x * columns / nx.max(1) + columns * (bin_y * lines / ny.max(1));
        if let (Some(sum), Some(content)) = (cells.get_mut(place), histogram.contents.get(cell)) {
            *sum += content.abs();
        }
    }
    let most = cells.iter().copied().fold(0.0, f64::max);
    let least = cells.iter().copied().filter(|sum| *sum > 0.0).fold(f64::INFINITY, f64::min);
    let share = |value: f64| match log && value > 0.0 && least < most {
        true => ((value / least).ln() + 0.2) / ((most / least).ln() + 0.2),
        false => value / most,
    };
    for line in (0..lines).rev() {
        let edge = y.edges.get(line * ny / lines.max(1)).copied().unwrap_or(0.0);
        let row = cells.get(line * columns..(line + 1) * columns).unwrap_or_default();
        let shade = |value: &f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a shade")]
            let level = if most > 0.0 { (share(*value) * 5.0).ceil() as usize } else { 0 };
            SHADES.get(level).copied().unwrap_or('█')
        };
        writeln!(out, "{:>12} │{}│", number(edge), row.iter().map(shade).collect::<String>())?;
    }
    writeln!(out, "x: {}", limits(x))?;
    writeln!(out, "y: {}; the darkest is {}", limits(y), number(most))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_length_of_their_share() {
        assert_eq!(bar(1.0, 1.0, 4), "████");
        assert_eq!(bar(0.5, 1.0, 4), "██");
        assert_eq!(bar(0.0, 0.0, 4), "");
    }

    fn curve(name: &str, contents: [f64; 4]) -> Curve {
        let axis = HistogramAxis { title: "x".to_owned(), edges: vec![0.0, 1.0, 2.0], labels: Vec::new() };
        Curve {
            name: name.to_owned(),
            files: vec!["a.root".to_owned()],
            path: "t".to_owned(),
            class: None,
            cut: None,
            weight: None,
            entries: Some(7),
            filled: 6,
            no_number: 1,
            below: 0,
            above: 0,
            histogram: Histogram {
                title: "x".to_owned(),
                axes: vec![axis],
                profile: false,
                contents: contents.to_vec(),
                errors: contents.map(f64::sqrt).to_vec(),
                entries: 6.0,
                means: vec![1.0],
                deviations: vec![0.5],
                waiting: 0,
            },
        }
    }

    fn printed(curves: Vec<Curve>, width: usize) -> Vec<String> {
        let mut out = Vec::new();
        drawing(&mut out, &Drawing { content: "entries".to_owned(), curves }, false, width).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn several_histograms_stand_beside_each_other_where_there_is_room() {
        let one = printed(vec![curve("a", [0.0, 4.0, 1.0, 0.0])], 60);
        assert_eq!(one[0], "x of t in a.root, 7 entries");
        assert_eq!(one[1], "  6 filled, mean 1, standard deviation 0.5, 1 no number");
        assert!(one[2].starts_with("x") && one[2].ends_with("error"), "{one:?}");
        assert!(one[3].contains('4') && one[3].contains('2') && one[3].ends_with('█'), "{one:?}");
        let two = || vec![curve("a", [0.0, 4.0, 1.0, 0.0]), curve("b", [2.0, 2.0, 2.0, 0.0])];
        let wide = printed(two(), 100);
        assert_eq!(wide.len(), 4 + 1 + 2 + 1, "{wide:?}");
        assert!(wide[7].starts_with("below") && wide[7].ends_with('2'), "{wide:?}");
        let narrow = printed(two(), 40);
        assert_eq!(narrow.iter().filter(|line| line.starts_with("0 .. 1")).count(), 2, "{narrow:?}");
        assert!(wide.iter().all(|text| width(text) <= 100));
    }
}
