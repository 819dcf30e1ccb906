//! Histograms of expressions over the entries of tables, and of files: [`draw`] fills them in one pass, within the budget, from the columns of
//! the expressions alone; [`histograms`] reads those that a file has. Several files or cuts are several curves in the same bins. [`Format`]
//! makes a picture of them.
//!
//! Where bins are to be made of the numbers, these are kept in an eighth of the memory; if they do not fit, the columns are read again.
//! Both ways, and any number of threads, give the same histogram.

mod binning;
mod fill;
mod formats;
mod items;
mod options;
mod report;
pub mod scale;
mod svg;
mod values;

use flow::inputs::Input;
use flow::{Budget, Progress};
use rootfile::{Error, Hint, Result, RootFile, public_path};

pub use binning::Bins;
use binning::{Binning, Extent, check_cells};
use fill::{Filler, Item};
pub use formats::Format;
use items::Items;
pub use objects::is_histogram;
pub use options::{DrawOptions, Sample};
pub use report::{Curve, Drawing};

use super::rows::histogram;

/// Most curves of a picture.
const MOST_CURVES: usize = 12;
/// Bins where the user asks for none: of one axis, and of two.
const DEFAULT: usize = 40;
const DEFAULT_OF_TWO: [usize; 2] = [40, 20];

/// The histograms of an expression.
///
/// # Errors
///
/// A file cannot be read or has no such table, an expression means nothing there, or the callback ends the work.
pub fn draw(samples: &[Sample], options: &DrawOptions, progress: Progress<'_>) -> Result<Drawing> {
    // As in ROOT, the axis upwards comes first.
    let mut expressions = parts(&options.expression);
    expressions.reverse();
    let axes = expressions.len();
    if !(1..=2).contains(&axes) || expressions.iter().any(|text| text.is_empty()) {
        let why = "is no expression and no two of them, as in MET_pt, or Muon_eta:Muon_pt";
        return Err(Error::request(format!("{} {why}", options.expression)));
    }
    let cuts: Vec<Option<&str>> = match options.cuts.is_empty() {
        true => vec![None],
        false => options.cuts.iter().map(|cut| Some(cut.as_str())).collect(),
    };
    if samples.len().saturating_mul(cuts.len()) > MOST_CURVES {
        let why = format!("{} files with {} cuts each are more than {MOST_CURVES} curves", samples.len(), cuts.len());
        return Err(Error::request(why));
    }
    if axes == 1 && options.bins[1].is_some() {
        let hint = Hint::named("bins-y");
        return Err(Error::request(format!("{hint} is for two expressions, as in Y:X")).hint(hint));
    }
    let opened: Vec<Items> =
        samples.iter().map(|sample| Items::open(sample, &expressions, &cuts, options)).collect::<Result<_>>()?;
    let curves = opened.len() * cuts.len();

    let needs_range = (0..axes).any(|axis| options.bins.get(axis).copied().flatten().is_none_or(|b| b.range.is_none()));
    let mut extents = [Extent::default(); 2];
    let mut kept = needs_range.then(|| Kept::new(curves, options.budget.memory / 8));
    if let Some(kept) = &mut kept {
        for (place, items) in opened.iter().enumerate() {
            items.each(progress, &mut |cut, item| {
                if !item.is_nan() {
                    extents.iter_mut().zip(item.at).for_each(|(extent, number)| extent.add(number));
                }
                kept.add(place * cuts.len() + cut, item);
            })?;
        }
    }
    let mut binnings = Vec::new();
    for (axis, text) in expressions.iter().enumerate() {
        let asked = options.bins.get(axis).copied().flatten();
        let default = if axes == 1 { DEFAULT } else { DEFAULT_OF_TWO.get(axis).copied().unwrap_or(DEFAULT) };
        let is_whole = opened.iter().all(|items| items.is_whole(axis));
        let extent = extents.get(axis).copied().unwrap_or_default();
        binnings
            .push(Binning::of(asked, default, extent, is_whole).map_err(|why| bins_error(format!("{text}: {why}")))?);
    }
    check_cells(&binnings).map_err(bins_error)?;
    check_memory(&binnings, curves, options.budget)?;

    let mut fillers: Vec<Filler> = (0..curves).map(|_| Filler::new(binnings.clone())).collect();
    match kept.and_then(Kept::all) {
        Some(all) => {
            for (filler, items) in fillers.iter_mut().zip(all) {
                items.into_iter().for_each(|item| filler.add(item));
            }
        }
        None => {
            for (place, items) in opened.iter().enumerate() {
                items.each(progress, &mut |cut, item| {
                    fillers.get_mut(place * cuts.len() + cut).into_iter().for_each(|filler| filler.add(item));
                })?;
            }
        }
    }

    let titles: Vec<String> = expressions.iter().map(|&text| text.to_owned()).collect();
    let whose =
        opened.iter().zip(samples).flat_map(|(items, sample)| cuts.iter().map(move |cut| (items, sample, *cut)));
    let curve = |(filler, (items, sample, cut)): (Filler, (&Items, &Sample, Option<&str>))| {
        let named =
            [(samples.len() > 1).then_some(sample.name.as_str()), cut.filter(|_| cuts.len() > 1 || samples.len() == 1)];
        let named: Vec<&str> = named.into_iter().flatten().collect();
        Curve {
            name: if named.is_empty() { options.expression.clone() } else { named.join(", ") },
            files: sample.inputs.iter().map(|input| public_path(&input.path).display().to_string()).collect(),
            path: items.path().to_owned(),
            class: None,
            cut: cut.map(str::to_owned),
            weight: options.weight.clone(),
            entries: Some(items.entries()),
            filled: filler.filled,
            no_number: filler.no_number,
            below: filler.outside[0],
            above: filler.outside[1],
            histogram: filler.finish(&options.expression, &titles),
        }
    };
    let content = match &options.weight {
        Some(weight) => format!("sum of {weight}"),
        None if opened.iter().any(Items::has_lists) => "values".to_owned(),
        None => "entries".to_owned(),
    };
    Ok(Drawing { content, curves: fillers.into_iter().zip(whose).map(curve).collect() })
}

/// The histograms that files have.
///
/// # Errors
///
/// A file cannot be read, or has no histogram of this path; or they have different numbers of axes.
pub fn histograms(inputs: &[Input]) -> Result<Drawing> {
    if inputs.len() > MOST_CURVES {
        return Err(Error::request(format!("{} histograms are more than {MOST_CURVES} curves", inputs.len())));
    }
    let mut curves: Vec<Curve> = Vec::new();
    for input in inputs {
        let file = public_path(&input.path).display().to_string();
        let Some(path) = &input.tree else {
            let why =
                format!("name a histogram in it: `basketry ls -r {file}` lists them; or say what to draw of a tree");
            return Err(Error::request(why).file(&input.path));
        };
        let mut found = stored(&RootFile::open(&input.path)?, path)?;
        if let Some(first) = curves.first()
            && first.histogram.axes.len() != found.histogram.axes.len()
        {
            let why = format!("{} and {} have different numbers of axes", first.path, found.path);
            return Err(Error::request(why).file(&input.path));
        }
        if inputs.len() > 1 {
            found.name = format!("{file}:{}", found.path);
        }
        curves.push(found);
    }
    Ok(drawing(curves))
}

/// A histogram of an open file.
///
/// # Errors
///
/// It cannot be read, or the file has no histogram of this path.
pub fn histogram_in(file: &RootFile, path: &str) -> Result<Drawing> {
    Ok(drawing(vec![stored(file, path)?]))
}

/// Histograms of files in one picture.
fn drawing(curves: Vec<Curve>) -> Drawing {
    let is_profile = curves.iter().all(|curve| curve.histogram.profile);
    Drawing { content: if is_profile { "mean" } else { "content" }.to_owned(), curves }
}

/// A histogram that a file has.
fn stored(file: &RootFile, path: &str) -> Result<Curve> {
    let Some(found) = histogram(file, path)? else {
        let name = public_path(file.name()).display().to_string();
        let why = format!(
            "{path} is a table: say what to draw of it, as in `basketry draw {name}:{path} COLUMN`; `basketry schema \
             {name}:{path}` lists its columns"
        );
        return Err(Error::request(why).file(file.name()));
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, as ROOT keeps it")]
    let filled = found.histogram.entries.max(0.0) as u64;
    Ok(Curve {
        name: found.path.clone(),
        files: vec![found.file],
        path: found.path,
        class: Some(found.class),
        cut: None,
        weight: None,
        entries: None,
        filled,
        no_number: 0,
        below: 0,
        above: 0,
        histogram: found.histogram,
    })
}

/// The items of all curves, as long as they have room.
struct Kept {
    curves: Vec<Vec<Item>>,
    /// Items that still have room; none if there was too little.
    room: Option<u64>,
}

impl Kept {
    fn new(curves: usize, bytes: u64) -> Self {
        Self { curves: vec![Vec::new(); curves], room: Some(bytes / size_of::<Item>() as u64) }
    }

    fn add(&mut self, curve: usize, item: Item) {
        self.room = self.room.and_then(|room| room.checked_sub(1));
        match self.room {
            Some(_) => self.curves.get_mut(curve).into_iter().for_each(|items| items.push(item)),
            None => self.curves.clear(),
        }
    }

    fn all(self) -> Option<Vec<Vec<Item>>> {
        self.room.map(|_| self.curves)
    }
}

/// Fails for histograms that take more than a quarter of the memory.
fn check_memory(axes: &[Binning], curves: usize, budget: Budget) -> Result<()> {
    let needed = curves as u64 * Filler::bytes(axes);
    if needed <= budget.memory / 4 {
        return Ok(());
    }
    let memory = Hint::text("memory", format!("{}MB", (4 * needed).div_ceil(1_000_000)));
    let cells = Filler::cells(axes);
    Err(Error::request(format!("{curves} histograms of {cells} cells need {memory}, or fewer bins")).hint(memory))
}

fn bins_error(why: String) -> Error {
    let hint = Hint::named("bins");
    Error::request(format!("{why}; {hint} N,LOW,HIGH gives the bins")).hint(hint)
}

/// The expressions between colons; those within brackets or quotes, of `?:` and `::` part nothing.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut from, mut depth, mut choices) = (Vec::new(), 0, 0usize, 0usize);
    let mut quote = None;
    let mut all = text.char_indices().peekable();
    while let Some((at, c)) = all.next() {
        if let Some(open) = quote {
            match c {
                '\\' => drop(all.next()),
                _ if c == open => quote = None,
                _ => {}
            }
            continue;
        }
        match c {
            '"' | '\'' | '`' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '?' if depth == 0 => choices += 1,
            ':' if all.peek().is_some_and(|(_, next)| *next == ':') => drop(all.next()),
            ':' if depth == 0 && choices > 0 => choices -= 1,
            ':' if depth == 0 => {
                found.push(text.get(from..at).unwrap_or_default().trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(text.get(from..).unwrap_or_default().trim());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_part_expressions() {
        for (text, expected) in [
            ("pt", vec!["pt"]),
            ("eta : pt", vec!["eta", "pt"]),
            ("a > 1 ? b : c", vec!["a > 1 ? b : c"]),
            ("a ? b : c:d", vec!["a ? b : c", "d"]),
            ("f(a ? b : c):`x:y`", vec!["f(a ? b : c)", "`x:y`"]),
            ("name == 'a:b'", vec!["name == 'a:b'"]),
            ("TMath::Abs(x):y", vec!["TMath::Abs(x)", "y"]),
            ("a:b:c", vec!["a", "b", "c"]),
            ("a:", vec!["a", ""]),
        ] {
            assert_eq!(parts(text), expected);
        }
    }

    #[test]
    fn what_has_no_room_is_forgotten() {
        let item = Item { at: [0.0; 2], weight: 1.0 };
        let mut kept = Kept::new(2, 2 * size_of::<Item>() as u64);
        kept.add(0, item);
        kept.add(1, item);
        kept.add(1, item);
        kept.add(0, item);
        assert!(kept.all().is_none());
        let mut kept = Kept::new(1, 1000);
        kept.add(0, item);
        assert_eq!(kept.all(), Some(vec![vec![item]]));
    }
}
