//! Prints the choices that `--choose` takes, as one table with their sizes, times and prices.

use std::io::Write;

use lab::price::PriceBook;
use lab::tune::report::{Choice, Cost, Report};
use rootfile::Result;

use super::amounts::{money, size, time};
use crate::output;

const TB: f64 = 1e12;

/// Prints them; with the money of each where that is asked for.
pub(super) fn offers(out: &mut impl Write, report: &Report, with_money: bool) -> Result<()> {
    let Report { choices, today, workload, .. } = report;
    if choices.len() < 2 {
        return Ok(());
    }
    let book = PriceBook::parse(&report.prices)?;
    let all = workload == "full";
    let of_workload = format!(">read {workload}");
    let mut head = vec![
        "",
        "choice",
        ">size",
        ">",
        ">read all",
        ">read 1 %",
        ">compression",
        ">memory of a reader",
        ">of a writer",
    ];
    head.splice(4..5, if all { vec![">read all", ">"] } else { vec![of_workload.as_str(), ">", ">read all"] });
    let has_both = choices.iter().any(|choice| choice.container != choices.first().map_or("", |one| &one.container));
    if has_both {
        head.insert(2, "as");
    }
    let price = format!(">{} for a TB of today", book.currency);
    if with_money {
        head.extend([price.as_str(), ">"]);
    }
    let mut table = output::table(&head);
    let now = choices.iter().find(|choice| choice.is_today()).map_or(0.0, |choice| choice.bill.total);
    for choice in choices {
        let Cost { size: bytes, read, write, read_memory, write_memory, .. } = choice.figures.cost;
        let seconds = |seconds: Option<f64>| seconds.map_or_else(String::new, time);
        let mut row = vec![format!("{}{}", choice.number, if choice.chosen { " *" } else { "" }), title(choice)];
        if has_both {
            row.push(container(&choice.container).to_owned());
        }
        row.extend([size(bytes), share(bytes, today.cost.size), time(read), share(read, today.cost.read)]);
        if !all {
            row.push(seconds(choice.read_all));
        }
        row.extend([seconds(choice.read_sparse), time(write), size(read_memory), size(write_memory)]);
        if with_money {
            let each = choice.bill.total * TB / today.cost.size.max(1.0);
            row.extend([money(each), share(choice.bill.total, now)]);
        }
        table.add_row(row);
    }
    writeln!(out, "{table}")?;
    let star = if choices.iter().any(|choice| choice.chosen) { "* chosen; " } else { "" };
    let another = if star.is_empty() { "one" } else { "another" };
    let price = book.summary();
    let within = match report.limits.iter().find(|limit| limit.name == "--max-read-time") {
        Some(limit) if !limit.is_default => "are within --max-read-time",
        _ => "read as fast as today within the noise",
    };
    writeln!(
        out,
        "{star}--choose NAME or a number takes {another}. Balanced is the lowest price of those that {within}: {price}"
    )?;
    if with_money {
        bill(out, report)?;
    }
    Ok(writeln!(out)?)
}

/// The parts of the price, today and with the choice.
fn bill(out: &mut impl Write, report: &Report) -> Result<()> {
    let today = report.choices.iter().find(|choice| choice.is_today());
    let chosen = report.choices.iter().find(|choice| choice.chosen);
    let (Some(today), Some(chosen)) = (today, chosen) else { return Ok(()) };
    let factor = TB / report.today.cost.size.max(1.0);
    let (a, b) = (&today.bill, &chosen.bill);
    let mut table = output::table(&["for a TB of today", ">today", ">chosen", ">"]);
    let mut row = |name: String, values: [f64; 2]| {
        if values != [0.0, 0.0] {
            let [now, then] = values.map(|value| value * factor);
            table.add_row([name, money(now), money(then), share(then, now)]);
        }
    };
    let in_currency = |name: &str| format!("{name}, {}", a.currency);
    row(in_currency("disk"), [a.disk, b.disk]);
    row(in_currency("tape"), [a.tape, b.tape]);
    row(in_currency("CPU of reading"), [a.reading, b.reading]);
    row(in_currency("network"), [a.network, b.network]);
    row(in_currency("CPU of writing"), [a.writing, b.writing]);
    row(in_currency("energy"), [a.energy, b.energy]);
    row(in_currency("all"), [a.total, b.total]);
    row("CPU hours".to_owned(), [a.cpu_hours, b.cpu_hours]);
    row("TB-years".to_owned(), [a.tb_years, b.tb_years]);
    row("kWh".to_owned(), [a.kwh, b.kwh]);
    writeln!(out)?;
    writeln!(out, "{table}")?;
    Ok(())
}

fn title(choice: &Choice) -> String {
    choice.title().replace("best-tree", "best tree").replace("best-rntuple", "best RNTuple")
}

/// The name of a container for people.
pub(super) fn container(name: &str) -> &str {
    match name {
        "rntuple" => "RNTuple",
        "ttree" => "TTree",
        other => other,
    }
}

fn share(value: f64, of: f64) -> String {
    match value / of {
        _ if of <= 0.0 => String::new(),
        times if times < 1.995 => format!("{:.0} %", 100.0 * times),
        times if times < 99.5 => format!("{times:.1}x"),
        times => format!("{times:.0}x"),
    }
}
