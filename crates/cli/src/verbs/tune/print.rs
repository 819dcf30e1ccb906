//! The report of `tune` for people: tables, sentences and a chart.

use std::io::Write;

use lab::tune::report::{Compared, Figures, FrontPoint, LimitReport, Loosened, Proof, Report};
use rootfile::Result;
use textplots::{Chart, LabelBuilder, LabelFormat, Plot, Shape};

use crate::output;

/// Groups of columns that are shown.
const GROUPS: usize = 12;
/// Size of the chart in dots; a character has two by four.
const CHART: (u32, u32) = (120, 48);

/// Prints all of it.
pub fn report(report: &Report) -> Result<()> {
    let mut out = output::stdout();
    let m = &report.measuring;
    writeln!(
        out,
        "{}: {} of {} columns sampled ({} before compression, {:.1} %), seed {}, {} of CPU time",
        report.input,
        m.sampled_columns,
        m.columns,
        size(m.sampled_bytes),
        100.0 * m.sampled_share,
        m.seed,
        time(m.cpu_seconds)
    )?;
    let dropped = if m.dropped.is_empty() {
        String::new()
    } else {
        format!("; worse for nearly all bytes: {}", m.dropped.join(", "))
    };
    writeln!(out, "codecs: {}{dropped}", m.codecs.join(", "))?;
    writeln!(out)?;
    match &report.chosen {
        Some(chosen) => {
            decision(&mut out, report, chosen)?;
        }
        None => refusal(&mut out, &report.limits)?,
    }
    if let Some(proof) = &report.proof {
        prove(&mut out, proof)?;
    }
    Ok(out.flush()?)
}

fn decision(out: &mut impl Write, report: &Report, chosen: &Figures) -> Result<()> {
    let today = &report.today;
    let mut table = output::table(&["", ">today", ">chosen", ">"]);
    let mut row = |name: &str, values: [f64; 2], show: fn(f64) -> String| {
        table.add_row([name.to_owned(), show(values[0]), show(values[1]), change(values)]);
    };
    row("size", [today.cost.size, chosen.cost.size], size);
    row(&format!("read time ({})", report.workload), [today.cost.read, chosen.cost.read], time);
    row("  fetch", [today.cost.fetch, chosen.cost.fetch], time);
    row("  decompress", [today.cost.decompress, chosen.cost.decompress], time);
    row("  decode", [today.cost.decode, chosen.cost.decode], time);
    row("write time", [today.cost.write, chosen.cost.write], time);
    row("memory of a reader", [today.cost.read_memory, chosen.cost.read_memory], size);
    row("memory of a writer", [today.cost.write_memory, chosen.cost.write_memory], size);
    row("clusters", [today.clusters, chosen.clusters], count);
    row("baskets", [today.cost.baskets, chosen.cost.baskets], count);
    writeln!(out, "{}", table.trim_fmt())?;
    let cluster = chosen.cluster_bytes.map_or_else(|| "as they are".to_owned(), |n| size(as_f64(n)));
    writeln!(
        out,
        "clusters: {cluster}; another choice is at most {:.2} % better by these figures",
        100.0 * report.gap
    )?;
    writeln!(out)?;
    let mut table =
        output::table(&["codec today", "chosen", ">columns", ">today", ">chosen", ">read today", ">chosen"]);
    for group in report.groups.iter().take(GROUPS) {
        table.add_row([
            group.from.clone(),
            group.to.clone(),
            count(as_f64(group.columns as u64)),
            size(group.today.size),
            size(group.chosen.size),
            time(group.today.read),
            time(group.chosen.read),
        ]);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    if let Some(more @ 1..) = report.groups.len().checked_sub(GROUPS) {
        writeln!(out, "and {more} more groups; --json lists all")?;
    }
    writeln!(out)?;
    for sentence in &report.why {
        writeln!(out, "- {sentence}")?;
    }
    limits(out, &report.limits, &report.sensitivity)?;
    if report.front.len() > 2 {
        writeln!(out)?;
        front(out, &report.front, chosen, today)?;
    }
    Ok(())
}

fn limits(out: &mut impl Write, limits: &[LimitReport], loosened: &[Loosened]) -> Result<()> {
    for limit in limits.iter().filter(|l| l.binding) {
        let default = if limit.is_default { " (where nothing is asked)" } else { "" };
        writeln!(out, "- {} {}{default} stops a cheaper choice", limit.name, value(limit.name, limit.value))?;
    }
    for Loosened { name, value: to, size: bytes, read } in loosened {
        let to = to.map_or_else(|| format!("without {name}"), |to| format!("with {name} {}", value(name, to)));
        writeln!(out, "- {to}: {} to read, {}", time(*read), size(*bytes))?;
    }
    Ok(())
}

fn refusal(out: &mut impl Write, limits: &[LimitReport]) -> Result<()> {
    writeln!(out, "no layout meets all limits:")?;
    for limit in limits {
        let asked = value(limit.name, limit.value);
        match limit.nearest.map(|n| n.value) {
            Some(Some(nearest)) => writeln!(
                out,
                "- {} {asked} cannot be met; with the other limits as they are, the nearest that would do is {}",
                limit.name,
                value(limit.name, nearest)
            )?,
            Some(None) => {
                writeln!(out, "- {} {asked} cannot be met, and loosening it alone does not help", limit.name)?
            }
            None => writeln!(out, "- {} {asked} is not in the way", limit.name)?,
        }
    }
    Ok(())
}

/// Size against reading time: the front as a line, the choice and today as points.
fn front(out: &mut impl Write, front: &[FrontPoint], chosen: &Figures, today: &Figures) -> Result<()> {
    #[expect(clippy::cast_possible_truncation, reason = "dots of a chart")]
    let dot = |size: f64, read: f64| ((size / 1e6) as f32, (read * 1e3) as f32);
    let line: Vec<_> = front.iter().map(|p| dot(p.size, p.read)).collect();
    let marks = [dot(chosen.cost.size, chosen.cost.read), dot(today.cost.size, today.cost.read)];
    let all = || line.iter().chain(&marks).copied();
    let (least, most) = all().fold((f32::MAX, f32::MIN), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let highest = all().fold(0.0f32, |a, p| a.max(p.1));
    let room = (most - least).max(most * 0.01) * 0.05;
    writeln!(out, "reading time (ms) against size (MB): the best there are as a line; + today, x chosen")?;
    let today_mark = cross(marks[1], ((most - least + 2.0 * room) / 60.0, highest / 24.0), false);
    let chosen_mark = cross(marks[0], ((most - least + 2.0 * room) / 60.0, highest / 24.0), true);
    let mut chart = Chart::new_with_y_range(CHART.0, CHART.1, least - room, most + room, 0.0, highest * 1.05);
    let (line, today_shape, chosen_shape) =
        (Shape::Lines(&line), Shape::Lines(&today_mark), Shape::Lines(&chosen_mark));
    let chart = chart
        .lineplot(&line)
        .lineplot(&today_shape)
        .lineplot(&chosen_shape)
        .x_label_format(LabelFormat::Custom(Box::new(|x| format!("{x:.0} MB"))))
        .y_label_format(LabelFormat::Custom(Box::new(|y| format!("{y:.0} ms"))));
    chart.axis();
    chart.figures();
    Ok(writeln!(out, "{chart}")?)
}

/// Strokes of a mark: upright, or slanting.
fn cross((x, y): (f32, f32), (dx, dy): (f32, f32), slanting: bool) -> Vec<(f32, f32)> {
    match slanting {
        false => vec![(x - dx, y), (x + dx, y), (x, y), (x, y + dy), (x, y - dy)],
        true => vec![(x - dx, y - dy), (x + dx, y + dy), (x, y), (x - dx, y + dy), (x + dx, y - dy)],
    }
}

fn prove(out: &mut impl Write, proof: &Proof) -> Result<()> {
    writeln!(out)?;
    let mut table = output::table(&["", ">expected", ">measured", ">error"]);
    let mut row = |name: &str, compared: &Compared, show: fn(f64) -> String| {
        let error = format!("{:+.1} %", 100.0 * compared.error());
        table.add_row([name.to_owned(), show(compared.expected), show(compared.measured), error]);
    };
    row("size", &proof.size, size);
    row("read time, today", &proof.read_today, time);
    row("read time, chosen", &proof.read_chosen, time);
    row("times cheaper to read", &proof.speedup, |x| format!("{x:.2}x"));
    row("baskets", &proof.baskets, count);
    row("CPU time of the rewrite", &proof.rewrite, time);
    writeln!(out, "{}", table.trim_fmt())?;
    writeln!(out, "measuring took {:.0} % of the CPU time of the rewrite", 100.0 * proof.measuring_share)?;
    for difference in &proof.differences {
        writeln!(out, "{}", output::one_line(difference))?;
    }
    if !proof.within_size {
        let more = "the prediction was off by more than is kept to spare";
        writeln!(out, "{} is larger than the limit: {more}, or metadata grew", proof.output)?;
    }
    let verdict = if proof.equal { "equal" } else { "NOT equal" };
    Ok(writeln!(out, "{}: content {verdict} to the input's, branch by branch and entry by entry", proof.output)?)
}

fn value(name: &str, value: f64) -> String {
    if name == "--max-write-time" { time(value) } else { size(value) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
fn size(bytes: f64) -> String {
    output::bytes(bytes.max(0.0).round() as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn count(n: f64) -> String {
    output::count(n.max(0.0).round() as u64)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn as_f64(n: u64) -> f64 {
    n as f64
}

/// Seconds for people.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.9995e-3 => format!("{:.0} us", s * 1e6),
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 99.95 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

/// How a value changes: `1.9x less`, `2 % more`.
fn change([before, after]: [f64; 2]) -> String {
    if before <= 0.0 || after <= 0.0 {
        return String::new();
    }
    let (more, less) = (after / before, before / after);
    match (more, less) {
        (m, l) if m.max(l) < 1.005 => "the same".to_owned(),
        (m, _) if m >= 1.5 => format!("{m:.1}x more"),
        (_, l) if l >= 1.5 => format!("{l:.1}x less"),
        (m, _) if m > 1.0 => format!("{:.0} % more", 100.0 * (m - 1.0)),
        (m, _) => format!("{:.0} % less", 100.0 * (1.0 - m)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_changes_for_people() {
        assert_eq!(time(2e-5), "20 us");
        assert_eq!(time(0.25), "250 ms");
        assert_eq!(time(1.234), "1.23 s");
        assert_eq!(time(250.0), "250 s");
        assert_eq!(change([10.0, 5.0]), "2.0x less");
        assert_eq!(change([100.0, 97.0]), "3 % less");
        assert_eq!(change([100.0, 250.0]), "2.5x more");
        assert_eq!(change([100.0, 100.1]), "the same");
    }
}
