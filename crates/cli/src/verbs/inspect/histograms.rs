//! The pictures of a file's histograms, for its page.

use flow::inputs::Input;
use lab::inspect::report::Report;
use lab::look::draw::{Format, histograms, is_histogram};
use lab::report::page::Picture;

/// Most pictures of a page. The table of objects has all.
const MOST: usize = 60;

/// Histograms of one or two axes, in the order of the file. Those that cannot be read have no picture: the page is of a file as it is.
pub fn pictures(report: &Report) -> Vec<Picture> {
    let mut found = Vec::new();
    for object in report.objects.iter().filter(|object| is_histogram(&object.class)).take(MOST) {
        let name = format!("{};{}", object.path, object.cycle);
        let input = Input { path: report.file.path.clone().into(), tree: Some(name.clone()) };
        let Ok(picture) = histograms(&[input]).and_then(|drawing| Format::Svg.picture(&drawing, false)) else {
            continue;
        };
        found.push(Picture::new(name, &String::from_utf8_lossy(&picture)));
    }
    found
}
