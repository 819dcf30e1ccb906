//! Histograms as text: bars of the bins of one axis, shades of the bins of two.

use std::io::Write;

use lab::look::rows::ShownHistogram;
use lab::look::{Histogram, HistogramAxis};
use rootfile::Result;

use crate::output;

/// Most lines of a picture.
const LINES: usize = 40;
/// Shades from none to most.
const SHADES: [char; 6] = [' ', '·', '░', '▒', '▓', '█'];

/// Prints a histogram within so many characters of a line.
pub fn picture(out: &mut impl Write, shown: &ShownHistogram, width: usize) -> Result<()> {
    let histogram = &shown.histogram;
    writeln!(out, "{} {}: {}", shown.class, shown.path, histogram.title)?;
    writeln!(out, "{}", facts(histogram))?;
    match histogram.axes.as_slice() {
        [axis] => bars(out, histogram, axis, width),
        [x, y] => shades(out, histogram, [x, y], width),
        axes => {
            for (axis, name) in axes.iter().zip(["x", "y", "z"]) {
                writeln!(out, "{name}: {}", limits(axis))?;
            }
            Ok(())
        }
    }
}

/// Entries, mean and standard deviation.
fn facts(histogram: &Histogram) -> String {
    let mut text = format!("entries {}", number(histogram.entries));
    let names = if histogram.axes.len() > 1 { ["of x ", "of y ", "of z "] } else { [""; 3] };
    for ((mean, deviation), of) in histogram.means.iter().zip(&histogram.deviations).zip(names) {
        text += &format!(", mean {of}{}, standard deviation {of}{}", number(*mean), number(*deviation));
    }
    if let waiting @ 1.. = histogram.waiting {
        text += &format!("; {} are in no bin yet", output::plural(waiting, "entry", "entries"));
    }
    text
}

/// A number of at most six digits.
fn number(value: f64) -> String {
    let size = value.abs();
    match value == 0.0 || (1e-4..1e7).contains(&size) || !value.is_finite() {
        true => {
            let digits = if size >= 1e5 { 1 } else { 5 - size.max(1.0).log10().floor().clamp(0.0, 5.0) as usize };
            let text = format!("{value:.digits$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        false => format!("{value:.4e}"),
    }
}

fn limits(axis: &HistogramAxis) -> String {
    let (low, high) = (axis.edges.first().copied().unwrap_or(0.0), axis.edges.last().copied().unwrap_or(0.0));
    let bins = output::plural(axis.edges.len().saturating_sub(1) as u64, "bin", "bins");
    let title = if axis.title.is_empty() { String::new() } else { format!("{}, ", axis.title) };
    format!("{title}{bins} from {} to {}", number(low), number(high))
}

fn bars(out: &mut impl Write, histogram: &Histogram, axis: &HistogramAxis, width: usize) -> Result<()> {
    let bins = axis.edges.len().saturating_sub(1);
    let content = |cell: usize| histogram.contents.get(cell).copied().unwrap_or(0.0);
    // Neighbouring bins share a line where there are many.
    let each = bins.div_ceil(LINES).max(1);
    let mut lines: Vec<(String, f64)> = Vec::new();
    for first in (0..bins).step_by(each) {
        let end = (first + each).min(bins);
        let sum: f64 = (first..end).map(|bin| content(bin + 1)).sum();
        let filled = (first..end).filter(|bin| content(bin + 1) != 0.0).count().max(1);
        #[expect(clippy::cast_precision_loss, reason = "bins of a line")]
        let value = if histogram.profile { sum / filled as f64 } else { sum };
        let edge = |place: usize| number(axis.edges.get(place).copied().unwrap_or(0.0));
        let label = axis.labels.get(first).filter(|label| each == 1 && !label.is_empty());
        lines.push((label.cloned().unwrap_or_else(|| format!("{} .. {}", edge(first), edge(end))), value));
    }
    let outside = [("below", content(0)), ("above", content(bins + 1))];
    let head = if axis.title.is_empty() { "bin" } else { axis.title.as_str() };
    let names = lines.iter().map(|(name, _)| name.chars().count()).chain([head.chars().count(), 5]).max().unwrap_or(0);
    let values: Vec<String> = lines.iter().map(|(_, value)| number(*value)).collect();
    let longest = values.iter().map(String::len).chain(outside.iter().map(|(_, value)| number(*value).len())).max();
    let longest = longest.unwrap_or(0).max(7);
    let room = width.saturating_sub(names + longest + 4).clamp(8, 60);
    let most = lines.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    writeln!(out, "{head:<names$}  {:>longest$}", if histogram.profile { "mean" } else { "content" })?;
    for ((name, value), text) in lines.iter().zip(&values) {
        let line = format!("{name:<names$}  {text:>longest$}  {}", bar(*value, most, room));
        writeln!(out, "{}", line.trim_end())?;
    }
    for (name, value) in outside.into_iter().filter(|(_, value)| *value != 0.0) {
        writeln!(out, "{name:<names$}  {:>longest$}", number(value))?;
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

fn shades(out: &mut impl Write, histogram: &Histogram, [x, y]: [&HistogramAxis; 2], width: usize) -> Result<()> {
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
    for line in (0..lines).rev() {
        let edge = y.edges.get(line * ny / lines.max(1)).copied().unwrap_or(0.0);
        let row = cells.get(line * columns..(line + 1) * columns).unwrap_or_default();
        let shade = |value: &f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a shade")]
            let level = if most > 0.0 { (value / most * 5.0).ceil() as usize } else { 0 };
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
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.25, "0.25"),
            (-3.5, "-3.5"),
            (123_456.7, "123456.7"),
            (1e12, "1.0000e12"),
            (100.0, "100"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(bar(1.0, 1.0, 4), "████");
        assert_eq!(bar(0.5, 1.0, 4), "██");
        assert_eq!(bar(0.0, 0.0, 4), "");
    }
}
