//! The page: one HTML file with its script.
//!
//! The contents are in [`Report`]; this module fills the template. All text is escaped, and the data of scripts are JSON that
//! no text can close.

use askama::Template;
use rootfile::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use super::chart::Chart;
use super::table::Table;
use super::{Fact, Report, Statement, echarts};

/// ECharts, as released and minified.
pub(super) const ECHARTS: &str = include_str!(concat!(env!("OUT_DIR"), "/echarts.js"));
const STYLE: &str = include_str!("../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../templates/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    facts: &'a [Fact],
    chosen: Option<&'a str>,
    said: &'a [Statement],
    layout: Option<&'a str>,
    layout_link: String,
    command: Option<&'a str>,
    charts: Vec<Place<'a>>,
    left_out: &'a [String],
    tables: &'a [Table],
    stars: &'a str,
    options: Vec<Drawn<'a>>,
    style: &'static str,
    script: &'static str,
    echarts: &'static str,
}

/// Where a chart goes.
struct Place<'a> {
    chart: &'a Chart,
    height: usize,
    wide: bool,
    /// Series that are in the tables only.
    left_out: usize,
}

/// A chart for the script.
#[derive(Serialize)]
struct Drawn<'a> {
    name: &'a str,
    option: Value,
}

/// The page.
///
/// # Errors
///
/// A chart has no form in JSON.
pub fn html(report: &Report) -> Result<String> {
    let page = Page {
        title: &report.title,
        facts: &report.facts,
        chosen: report.chosen.as_deref(),
        said: &report.said,
        layout: report.layout.as_deref(),
        layout_link: report.layout.as_deref().map_or_else(String::new, |layout| link("application/toml", layout)),
        command: report.command.as_deref(),
        charts: report.charts.iter().map(place).collect(),
        left_out: &report.left_out,
        tables: &report.tables,
        stars: &report.stars,
        options: report.charts.iter().map(drawn).collect(),
        style: STYLE,
        script: SCRIPT,
        echarts: ECHARTS,
    };
    page.render().map_err(|e| Error::request(format!("the page cannot be made: {e}")))
}

/// A page of charts and tables alone, and of what is told above them.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    /// Its title.
    pub title: String,
    /// Facts, each with its name.
    pub facts: Vec<(String, String)>,
    /// What stands above what is told, and that.
    pub said_title: String,
    /// What is told before the charts.
    pub said: Vec<Told>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// What stands above the pictures, and those.
    pub pictures_title: String,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// Tables.
    pub tables: Vec<Table>,
}

/// A picture that is a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    name: String,
    address: String,
}

impl Picture {
    /// Of a name, as SVG. In the page it is an image: its styles are its own.
    pub fn new(name: String, svg: &str) -> Self {
        Self { name, address: link("image/svg+xml", svg) }
    }
}

/// A sentence or two, with a command that can be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The sentences.
    pub text: String,
    /// The command.
    pub command: Option<String>,
    /// What is said of the command.
    pub price: Option<String>,
}

#[derive(Template)]
#[template(path = "plain.html")]
struct PlainPage<'a> {
    title: &'a str,
    facts: &'a [(String, String)],
    said_title: &'a str,
    said: &'a [Told],
    pictures_title: &'a str,
    pictures: &'a [Picture],
    tables: &'a [Table],
    charts: Vec<Place<'a>>,
    options: Vec<Drawn<'a>>,
    style: &'static str,
    script: &'static str,
    echarts: &'static str,
}

/// A page of charts and tables, as one file.
///
/// # Errors
///
/// A chart has no form in JSON.
pub fn plain(page: &Plain) -> Result<String> {
    let filled = PlainPage {
        title: &page.title,
        facts: &page.facts,
        said_title: &page.said_title,
        said: &page.said,
        pictures_title: &page.pictures_title,
        pictures: &page.pictures,
        tables: &page.tables,
        charts: page.charts.iter().map(place).collect(),
        options: page.charts.iter().map(drawn).collect(),
        style: STYLE,
        script: SCRIPT,
        echarts: ECHARTS,
    };
    filled.render().map_err(|e| Error::request(format!("the page cannot be made: {e}")))
}

fn drawn(chart: &Chart) -> Drawn<'_> {
    Drawn { name: chart.name, option: echarts::option(chart) }
}

fn place(chart: &Chart) -> Place<'_> {
    Place { chart, height: echarts::height(chart), wide: echarts::is_wide(chart), left_out: echarts::left_out(chart) }
}

/// A text as the address of itself.
fn link(kind: &str, text: &str) -> String {
    use std::fmt::Write;

    let mut link = format!("data:{kind};charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => link.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(link, "%{byte:02X}");
            }
        }
    }
    link
}
