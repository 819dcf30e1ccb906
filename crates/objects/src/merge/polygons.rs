//! `TH2Poly` and `TProfile2Poly`: histograms whose bins are polygons, added bin by bin (`TH2Poly::Add`,
//! `TProfile2Poly::Merge`). Both must have the same bins. The members that only
//! painting needs stay unchanged.

use rootfile::object::{Content, Graph, Members, Object, ObjectId, Value};

use super::members::{array_of, number, set_array, set_int, set_number};
use super::pair::{Addend, Note, Target};

/// Regions around the limits, and the one between the bins (`TH2Poly::kNOverflow`).
const REGIONS: usize = 9;
/// The sums of the histogram as a whole.
const SUMS: [&str; 9] =
    ["fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2"];
const LIMITS: [&str; 4] = ["fXmin", "fXmax", "fYmin", "fYmax"];

/// Adds a histogram to the first. On failure, the first is unchanged and the reason is returned.
pub(super) fn merge(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let is_profile = &*first.class == "TProfile2Poly";
    let unreadable = || "its members cannot be read".to_owned();
    let (Some(m), Some(o)) = (first.members_mut(), other.members()) else { return Err(unreadable()) };
    let (mine, theirs) = (bins(m, graph)?, bins(o, other_graph)?);
    if mine.len() != theirs.len() {
        return Err(format!("it has {} bins, the first {}", theirs.len(), mine.len()));
    }
    let mut differ = None;
    for (i, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
        let (mine, theirs) = (bin(*mine, graph)?, bin(*theirs, other_graph)?);
        if differ.is_none() && LIMITS.iter().any(|name| number(mine, name) != number(theirs, name)) {
            differ = Some(i + 1);
        }
    }
    match differ {
        Some(bin) if is_profile => {
            notes
                .push(Note::Changed(format!("its bin {bin} has other limits, and ROOT adds bin number to bin number")));
        }
        Some(bin) => return Err(format!("its bin {bin} has other limits")),
        None => {}
    }
    if is_profile {
        let added = ((m, graph), (o, other_graph));
        add_profile(added, (&mine, &theirs))
    } else {
        add_contents(((m, graph), (o, other_graph)), (&mine, &theirs))
    }
}

type Both<'a> = ((&'a mut Members, &'a mut Graph), (&'a Members, &'a Graph));

fn bins(m: &Members, graph: &Graph) -> Result<Vec<ObjectId>, String> {
    match m.get("fBins") {
        Some(Value::Pointer(None)) => Ok(Vec::new()),
        Some(Value::Pointer(Some(id))) => match graph.get(*id).map(|list| &list.content) {
            Some(Content::Collection(list)) => list.items.iter().map(|id| id.ok_or_else(lost)).collect(),
            _ => Err(lost()),
        },
        _ => Err(lost()),
    }
}

fn lost() -> String {
    "its bins cannot be read".to_owned()
}

fn bin(id: ObjectId, graph: &Graph) -> Result<&Members, String> {
    graph.get(id).and_then(Object::members).filter(|m| m.get("fContent").is_some()).ok_or_else(lost)
}

fn add_sums(m: &mut Members, o: &Members) {
    for name in SUMS {
        let sum = number(m, name) + number(o, name);
        set_number(m, name, sum);
    }
}

fn add_contents(
    ((m, graph), (o, other_graph)): Both<'_>,
    (mine, theirs): (&[ObjectId], &[ObjectId]),
) -> Result<(), String> {
    if number(o, "fNormFactor") != 0.0 {
        return Err("it has a normalisation factor of its own (fNormFactor)".to_owned());
    }
    let mut contents = contents(m, graph, mine)?;
    let added = self::contents(o, other_graph, theirs)?;
    let mut sumw2 = squares(m, contents.len())?;
    let their_sumw2 = squares(o, added.len())?;
    if sumw2.is_empty() && !their_sumw2.is_empty() {
        let filled = number(m, "fEntries") > 0.0;
        sumw2 = contents.iter().map(|content| if filled { content.abs() } else { 0.0 }).collect();
    }
    let their_squares = if their_sumw2.is_empty() { added.iter().map(|c| c.abs()).collect() } else { their_sumw2 };
    sumw2.iter_mut().zip(&their_squares).for_each(|(mine, theirs)| *mine += theirs);
    contents.iter_mut().zip(&added).for_each(|(mine, theirs)| *mine += theirs);
    let entries = (number(m, "fEntries") + number(o, "fEntries")).abs();
    add_sums(m, o);
    set_number(m, "fEntries", entries);
    set_array(m, "fSumw2", &sumw2);
    let (regions, bins) = contents.split_at(REGIONS.min(contents.len()));
    set_array(m, "fOverflow", regions);
    for (id, content) in mine.iter().zip(bins) {
        if let Some(m) = graph.objects.get_mut(*id).and_then(Option::as_mut).and_then(Object::members_mut) {
            set_number(m, "fContent", *content);
            set_int(m, "fChanged", 1);
        }
    }
    Ok(())
}

/// Contents of the regions, then of the bins.
fn contents(m: &Members, graph: &Graph, bins: &[ObjectId]) -> Result<Vec<f64>, String> {
    let mut contents = array_of(m, "fOverflow");
    if contents.len() != REGIONS {
        return Err(format!("it has {} regions for overflows, not {REGIONS}", contents.len()));
    }
    for id in bins {
        contents.push(number(bin(*id, graph)?, "fContent"));
    }
    Ok(contents)
}

/// Sums of squares of weights: none, or one for each region and bin.
fn squares(m: &Members, count: usize) -> Result<Vec<f64>, String> {
    let sumw2 = array_of(m, "fSumw2");
    if sumw2.is_empty() || sumw2.len() == count {
        Ok(sumw2)
    } else {
        Err(format!("it has {count} regions and bins, and {} errors", sumw2.len()))
    }
}

fn add_profile(
    ((m, graph), (o, other_graph)): Both<'_>,
    (mine, theirs): (&[ObjectId], &[ObjectId]),
) -> Result<(), String> {
    let (Some(Value::List(regions)), Some(Value::List(added))) = (m.get("fOverflowBins"), o.get("fOverflowBins"))
    else {
        return Err("its regions for overflows cannot be read".to_owned());
    };
    let is_bin = |value: &Value| matches!(value, Value::Object(bin) if bin.members().is_some());
    if regions.len() != added.len() || !regions.iter().chain(added).all(is_bin) {
        return Err("its regions for overflows cannot be read".to_owned());
    }
    let entries = number(m, "fEntries") + number(o, "fEntries");
    add_sums(m, o);
    set_number(m, "fEntries", entries);
    if let (Some(Value::List(regions)), Some(Value::List(added))) = (m.get_mut("fOverflowBins"), o.get("fOverflowBins"))
    {
        for (mine, theirs) in regions.iter_mut().zip(added) {
            if let (Value::Object(mine), Value::Object(theirs)) = (mine, theirs)
                && let (Some(mine), Some(theirs)) = (mine.members_mut(), theirs.members())
            {
                add_mean(mine, theirs);
            }
        }
    }
    for (mine, theirs) in mine.iter().zip(theirs) {
        let theirs = bin(*theirs, other_graph)?;
        if let Some(m) = graph.objects.get_mut(*mine).and_then(Option::as_mut).and_then(Object::members_mut) {
            add_mean(m, theirs);
        }
    }
    Ok(())
}

/// Adds the sums of one bin, and computes its mean and spread anew (`TProfile2PolyBin::Update`).
fn add_mean(m: &mut Members, o: &Members) {
    for name in ["fSumw", "fSumvw", "fSumw2", "fSumwv2"] {
        let sum = number(m, name) + number(o, name);
        set_number(m, name, sum);
    }
    let weights = number(m, "fSumw");
    let mut spread = 0.0;
    if weights != 0.0 {
        let mean = number(m, "fSumvw") / weights;
        set_number(m, "fAverage", mean);
        spread = (number(m, "fSumwv2") / weights - mean * mean).sqrt();
    }
    set_number(m, "fError", spread);
    let mean = number(m, "fAverage");
    set_number(m, "fContent", mean);
    set_int(m, "fChanged", 1);
}
