//! The pictures of a file's histograms, for its page.

use std::path::Path;

use lab::inspect::report::Report;
use lab::look::draw::{Format, histogram_in, is_histogram};
use lab::report::page::Picture;
use rootfile::{Result, RootFile};

/// Most pictures of a page. The table of objects has all.
const MOST: usize = 60;

/// Histograms of one or two axes, in the order of the file. Those that cannot be read have no picture: the page is of a file as it is.
pub fn pictures(path: &Path, report: &Report) -> Result<Vec<Picture>> {
    let mut names = report.objects.iter().filter(|object| is_histogram(&object.class)).take(MOST).peekable();
    if names.peek().is_none() {
        return Ok(Vec::new());
    }
    let file = RootFile::open(path)?;
    let picture = |name: String| {
        let drawing = histogram_in(&file, &name).ok()?;
        let picture = Format::Svg.picture(&drawing, false).ok()?;
        Some(Picture::new(name, &String::from_utf8_lossy(&picture)))
    };
    Ok(names.filter_map(|object| picture(format!("{};{}", object.path, object.cycle))).collect())
}
