//! Prints the report of `tune`: tables, sentences and a chart.

use std::io::Write;

use lab::tune::report::{
    Compared, Comparison, Figures, FrontPoint, Goal, LimitReport, Loosened, Proof, ReaderReport, Rejected, Report,
};
use lab::tune::{READ_NOISE, SIZE_NOISE};
use rootfile::Result;
use textplots::{Chart, LabelBuilder, LabelFormat, Plot, Shape};

use super::amounts::{SIZES, TIMES, as_f64, count, limit_and_least, size, time};
use super::offers::{container, offers};
use crate::output;

/// Groups of columns that are shown.
const GROUPS: usize = 12;
/// Size of the chart in dots; a character has two by four.
const CHART: (u32, u32) = (120, 48);

/// Prints all of it.
/// `with_money`: with the price of each choice.
pub fn report(report: &Report, with_money: bool) -> Result<()> {
    let mut out = output::stdout();
    let m = &report.measuring;
    // Second looks at the same baskets do not make more of the file known.
    let share = match m.sampled_share {
        share if share < 0.995 => format!("{:.1} % of the file's", 100.0 * share),
        _ => "about as many as the file has".to_owned(),
    };
    writeln!(
        out,
        "{}: measured on {} of {} columns, {} before compression ({share}), in {} of CPU time (seed {})",
        report.input,
        m.sampled_columns,
        m.columns,
        size(m.sampled_bytes),
        time(m.cpu_seconds),
        m.seed
    )?;
    let dropped = if m.dropped.is_empty() {
        String::new()
    } else {
        format!("; worse for nearly all bytes: {}", m.dropped.join(", "))
    };
    if report.files > 1 {
        writeln!(out, "{} of {} files measured, as one merged file", report.measured_files, report.files)?;
    }
    writeln!(out, "codecs: {}{dropped}", m.codecs.join(", "))?;
    reader(&mut out, &report.reader)?;
    writeln!(out)?;
    offers(&mut out, report, with_money)?;
    refused(&mut out, report)?;
    match &report.chosen {
        Some(today) if report.unchanged && report.asked.is_some() => writeln!(
            out,
            "Today's layout was asked for: {}, expected reading time {} ({}).",
            size(today.cost.size),
            time(today.cost.read),
            report.workload
        )?,
        Some(_) if report.unchanged => as_it_is(&mut out, report)?,
        Some(chosen) => decision(&mut out, report, chosen)?,
        None => refusal(&mut out, &report.limits)?,
    }
    if !report.attempts.is_empty() {
        attempts(&mut out, report)?;
    }
    if let Some(proof) = &report.proof {
        prove(&mut out, proof, &report.reader)?;
    }
    match (report.delivered, &report.chosen) {
        (None, Some(_)) if !report.unchanged => {
            writeln!(out)?;
            writeln!(
                out,
                "All figures are expectations: no file was written. Give -o FILE to rewrite and to prove them."
            )?;
        }
        (Some(_), _) if !report.verdict.is_empty() => {
            writeln!(out)?;
            writeln!(out, "{}", report.verdict)?;
        }
        _ => {}
    }
    Ok(out.flush()?)
}

/// Prints why a container has no choice.
fn refused(out: &mut impl Write, report: &Report) -> Result<()> {
    for one in &report.containers {
        match (&one.refused, &one.chosen) {
            (Some(why), _) => writeln!(out, "no {}: {why}", container(&one.container))?,
            (None, None) => writeln!(out, "no {} is within the limits", container(&one.container))?,
            _ => continue,
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Prints the reader of the times, unless it is basketry.
fn reader(out: &mut impl Write, reader: &ReaderReport) -> Result<()> {
    let ReaderReport { name, version, profile, date, processor, .. } = reader;
    let (Some(profile), Some(date), Some(processor)) = (profile, date, processor) else { return Ok(()) };
    let profile = if profile == "shipped" { "the profile shipped with basketry" } else { profile };
    writeln!(out, "reading times: those of {name} {version}, by {profile}, measured on {date} on {processor}")?;
    Ok(())
}

/// Prints only the result for the output.
pub fn verdict(report: &Report) -> Result<()> {
    Ok(writeln!(output::stdout(), "{}", report.verdict)?)
}

/// The present cost, where no candidate is better.
fn as_it_is(out: &mut impl Write, report: &Report) -> Result<()> {
    let today = &report.today;
    writeln!(
        out,
        "Nothing that was tried is better than today's layout by more than the noise: {}, expected reading time {} ({}).",
        size(today.cost.size),
        time(today.cost.read),
        report.workload
    )?;
    tried(out, report)?;
    limits(out, report)
}

/// What the choice is the best of.
fn tried(out: &mut impl Write, report: &Report) -> Result<()> {
    writeln!(out, "tried: {}", report.tried.join("; "))?;
    if !report.not_tried.is_empty() {
        writeln!(out, "not tried: {}", report.not_tried.join("; "))?;
    }
    Ok(())
}

fn decision(out: &mut impl Write, report: &Report, chosen: &Figures) -> Result<()> {
    let today = &report.today;
    let mut table = output::table(&["", ">today", ">chosen", ">"]);
    let mut row = |name: &str, values: [f64; 2], (show, noise): (fn(f64) -> String, f64)| {
        table.add_row([name.to_owned(), show(values[0]), show(values[1]), change(values, noise)]);
    };
    // Times that differ by less than the noise are the same.
    let (bytes, seconds, number) = (
        (size as fn(f64) -> String, SIZE_NOISE),
        (time as fn(f64) -> String, READ_NOISE),
        (count as fn(f64) -> String, SIZE_NOISE),
    );
    row("size", [today.cost.size, chosen.cost.size], bytes);
    row(&format!("read time ({})", report.workload), [today.cost.read, chosen.cost.read], seconds);
    row("  fetch", [today.cost.fetch, chosen.cost.fetch], seconds);
    row("  decompress", [today.cost.decompress, chosen.cost.decompress], seconds);
    row("  decode", [today.cost.decode, chosen.cost.decode], seconds);
    row("compression when written", [today.cost.write, chosen.cost.write], seconds);
    row("memory of a reader", [today.cost.read_memory, chosen.cost.read_memory], bytes);
    row("memory of a writer", [today.cost.write_memory, chosen.cost.write_memory], bytes);
    row("clusters", [today.clusters, chosen.clusters], number);
    row("baskets or pages", [today.cost.baskets, chosen.cost.baskets], number);
    writeln!(out, "{table}")?;
    let cluster = chosen.cluster_bytes.map_or_else(|| "as they are".to_owned(), |n| size(as_f64(n)));
    writeln!(
        out,
        "clusters: {cluster}; by these figures no other choice of what was tried is better by more than {:.2} %",
        100.0 * report.gap
    )?;
    tried(out, report)?;
    groups(out, report)?;
    writeln!(out)?;
    for sentence in &report.why {
        writeln!(out, "- {sentence}")?;
    }
    limits(out, report)?;
    if report.front.len() > 2 {
        writeln!(out)?;
        front(out, &report.front, chosen, today)?;
    }
    Ok(())
}

/// The changes by codec; none of a choice from a saved report.
fn groups(out: &mut impl Write, report: &Report) -> Result<()> {
    if report.groups.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    // A converted file has other columns than the input.
    let head = if report.groups_are_of_a_conversion() {
        ["codec as converted", "chosen", ">columns", ">converted", ">chosen", ">read converted", ">chosen"]
    } else {
        ["codec today", "chosen", ">columns", ">today", ">chosen", ">read today", ">chosen"]
    };
    let mut table = output::table(&head);
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
    writeln!(out, "{table}")?;
    if let Some(more @ 1..) = report.groups.len().checked_sub(GROUPS) {
        writeln!(out, "and {more} more groups; --json lists all")?;
    }
    Ok(())
}

fn limits(out: &mut impl Write, report: &Report) -> Result<()> {
    let Report { limits, sensitivity: loosened, .. } = report;
    let better = match report.goal {
        Goal::Balanced => "cost less",
        Goal::Reading => "read faster",
        Goal::Size => "are smaller",
    };
    // A limit excludes better choices only if a looser one gains something.
    let excludes = |limit: &&LimitReport| limit.binding && loosened.iter().any(|one| one.name == limit.name);
    for limit in limits.iter().filter(excludes) {
        let default = if limit.is_default { " (the default)" } else { "" };
        writeln!(out, "- {} {}{default} excludes choices that {better}", limit.name, value(limit.name, limit.value))?;
    }
    for Loosened { name, value: to, size: bytes, read } in loosened {
        let to = to.map_or_else(|| format!("without {name}"), |to| format!("with {name} {}", value(name, to)));
        writeln!(out, "- {to} the expected reading time is {}, the expected size {}", time(*read), size(*bytes))?;
    }
    Ok(())
}

fn refusal(out: &mut impl Write, limits: &[LimitReport]) -> Result<()> {
    writeln!(out, "no candidate layout meets all limits:")?;
    for limit in limits {
        let LimitReport { name, value: requested, nearest, .. } = limit;
        match nearest.map(|n| n.value) {
            Some(Some(nearest)) => {
                let [requested, nearest] = limit_and_least(*requested, nearest, units(name));
                writeln!(out, "- {name} {requested} cannot be met; with the other limits, {name} {nearest} can")?;
            }
            Some(None) => {
                let requested = value(name, *requested);
                writeln!(out, "- {name} {requested} cannot be met, and no other value of this limit alone helps")?;
            }
            None => writeln!(out, "- {name} {} can be met", value(name, *requested))?,
        }
    }
    Ok(())
}

/// Size against reading time: the front as a line, the choice and today as points.
fn front(out: &mut impl Write, front: &[FrontPoint], chosen: &Figures, today: &Figures) -> Result<()> {
    let all = || front.iter().map(|p| (p.size, p.read)).chain([today, chosen].map(|f| (f.cost.size, f.cost.read)));
    let [largest, longest] = all().fold([0.0f64; 2], |most, p| [most[0].max(p.0), most[1].max(p.1)]);
    let (size_unit, bytes) = if largest < 10e6 { ("kB", 1e3) } else { ("MB", 1e6) };
    let (time_unit, seconds) = if longest < 10e-3 { ("us", 1e-6) } else { ("ms", 1e-3) };
    #[expect(clippy::cast_possible_truncation, reason = "dots of a chart")]
    let dot = |size: f64, read: f64| ((size / bytes) as f32, (read / seconds) as f32);
    let line: Vec<_> = front.iter().map(|p| dot(p.size, p.read)).collect();
    let marks = [dot(chosen.cost.size, chosen.cost.read), dot(today.cost.size, today.cost.read)];
    let all = || line.iter().chain(&marks).copied();
    let (least, most) = all().fold((f32::MAX, f32::MIN), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let highest = all().fold(0.0f32, |a, p| a.max(p.1));
    let room = (most - least).max(most * 0.01) * 0.05;
    writeln!(
        out,
        "expected reading time ({time_unit}) against size ({size_unit}): the line is the best choices, + today, x the choice"
    )?;
    let today_mark = cross(marks[1], ((most - least + 2.0 * room) / 60.0, highest / 24.0), false);
    let chosen_mark = cross(marks[0], ((most - least + 2.0 * room) / 60.0, highest / 24.0), true);
    let mut chart = Chart::new_with_y_range(CHART.0, CHART.1, least - room, most + room, 0.0, highest * 1.05);
    let (line, today_shape, chosen_shape) =
        (Shape::Lines(&line), Shape::Lines(&today_mark), Shape::Lines(&chosen_mark));
    let chart = chart
        .lineplot(&line)
        .lineplot(&today_shape)
        .lineplot(&chosen_shape)
        .x_label_format(LabelFormat::Custom(Box::new(move |x| format!("{x:.0} {size_unit}"))))
        .y_label_format(LabelFormat::Custom(Box::new(move |y| format!("{y:.0} {time_unit}"))));
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

/// The rewrite and its measurements.
fn attempts(out: &mut impl Write, report: &Report) -> Result<()> {
    if report.attempts.len() < 2 && report.delivered == Some(true) {
        return Ok(());
    }
    writeln!(out)?;
    let mut table =
        output::table(&["rewrite", ">size expected", ">size measured", ">reading time against today", "outcome"]);
    for (i, attempt) in report.attempts.iter().enumerate() {
        let outcome = match attempt.rejected {
            None => "delivered",
            Some(Rejected::TooLarge) => "rejected: larger than --max-size",
            Some(Rejected::Slower) => "rejected: slower to read than it may",
            Some(Rejected::Different) => "rejected: the content differs",
            Some(Rejected::NoGain) => "rejected: no gain beyond the noise",
        };
        table.add_row([
            format!("choice {}", i + 1),
            size(attempt.expected_size),
            size(attempt.written.bytes),
            attempt.reading.as_ref().map_or_else(|| "not read".to_owned(), against_today),
            outcome.to_owned(),
        ]);
    }
    Ok(writeln!(out, "{table}")?)
}

/// A ratio of reading times with its interval.
fn against_today(reading: &Comparison) -> String {
    let [low, high] = reading.interval;
    format!("{:.0} % ({:.0} to {:.0} %)", 100.0 * reading.ratio, 100.0 * low, 100.0 * high)
}

fn prove(out: &mut impl Write, proof: &Proof, reader: &ReaderReport) -> Result<()> {
    writeln!(out)?;
    let mut table = output::table(&["", ">expected", ">measured", ">error"]);
    let mut row = |name: &str, compared: &Compared, show: fn(f64) -> String, same: bool| {
        let error = if same { error(compared) } else { "of another reader".to_owned() };
        table.add_row([name.to_owned(), show(compared.expected), show(compared.measured), error]);
    };
    // An expectation for one reader has no error against the time of another.
    let same = !reader.is_proven_by_another();
    row("size", &proof.size, size, true);
    row("read time, today", &proof.read_today, time, same);
    row("read time, chosen", &proof.read_chosen, time, same);
    row("baskets", &proof.baskets, count, true);
    row("CPU time of the rewrite", &proof.rewrite, time, true);
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "{} reads {}: in {} of today's time, measured in {} repeats by {}",
        proof.output,
        proof.reading.words(),
        against_today(&proof.reading),
        proof.reading.repeats,
        reader.proven_by.as_deref().unwrap_or("basketry")
    )?;
    if let Some(why) = &reader.instead {
        writeln!(out, "measured by basketry's reader instead of {}'s: {}", reader.name, output::one_line(why))?;
    }
    for difference in &proof.differences {
        writeln!(out, "{}", output::one_line(difference))?;
    }
    Ok(writeln!(out, "{}: content equal to the input's, branch by branch and entry by entry", proof.output)?)
}

/// The error of an expectation; a large one as a factor.
fn error(compared: &Compared) -> String {
    match compared.error() {
        error if error >= 9.995 => format!("{:.0} x", 1.0 + error),
        error => format!("{:+.1} %", 100.0 * error),
    }
}

fn value(name: &str, value: f64) -> String {
    if is_time(name) { time(value) } else { size(value) }
}

fn is_time(name: &str) -> bool {
    matches!(name, "--max-write-time" | "--max-read-time")
}

fn units(name: &str) -> &'static [(&'static str, f64)] {
    if is_time(name) { &TIMES } else { &SIZES }
}

/// How a value changes: `1.9x less`, `2 % more`. Beyond a factor of 100 both values say it better.
fn change([before, after]: [f64; 2], noise: f64) -> String {
    if before <= 0.0 || after <= 0.0 {
        return String::new();
    }
    let (more, less) = (after / before, before / after);
    match (more, less) {
        (m, l) if m.max(l) > 100.0 => String::new(),
        (m, l) if m.max(l) < 1.0 + noise => "the same".to_owned(),
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
    fn changes_for_people() {
        assert_eq!(change([10.0, 5.0], SIZE_NOISE), "2.0x less");
        assert_eq!(change([100.0, 97.0], SIZE_NOISE), "3 % less");
        assert_eq!(change([100.0, 97.5], READ_NOISE), "the same");
        assert_eq!(change([100.0, 250.0], READ_NOISE), "2.5x more");
        assert_eq!(change([100.0, 100.1], SIZE_NOISE), "the same");
        assert_eq!(change([0.134, 4e-6], SIZE_NOISE), "");
    }

    #[test]
    fn every_error_is_shown() {
        let shown = |expected, measured| error(&Compared { expected, measured });
        let all =
            [shown(0.5, 1.0), shown(1.994, 1.0), shown(1.996, 1.0), shown(8.8, 1.0), shown(88.0, 8.0), shown(1.0, 1e4)];
        assert_eq!(all, ["-50.0 %", "+99.4 %", "+99.6 %", "+780.0 %", "11 x", "-100.0 %"]);
    }
}
