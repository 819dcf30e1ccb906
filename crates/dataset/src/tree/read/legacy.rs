//! Hand-written streamers: classes in a tree's record whose bytes no streamer info can tell.
//!
//! Most versions from before streamer infos lie as an info would have it, and are among the built-in infos.
//! Left for code are the widths in `TBranch` 6 to 9, the missing sizes before, and `TBranchClones`.
//! The facts are in `docs/format/ttree-history.md`.

use std::sync::Arc;

use rootfile::object::tags::Frame;
use rootfile::object::{Array, Content, CustomStreamer, Members, Object, ObjectReader, Plan, Step, Value};
use rootfile::streamer::code;
use rootfile::{Error, Result};

/// First ROOT version whose counts are `Long64_t`, as fVersion says it.
const LONG64_COUNTS: i32 = 40_100;
/// In front of fBasketSeek: its positions take eight bytes (1: four).
const WIDE_POSITIONS: u8 = 2;

/// The hand-written streamers of a file.
pub struct OldStreamers {
    /// Version of ROOT that wrote the file.
    pub file_version: i32,
}

impl CustomStreamer for OldStreamers {
    fn read(&self, class: &str, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Option<Content>> {
        let members = match (class, frame.version) {
            ("TBranch", version @ 6..=9) => branch_before_10(reader, version)?,
            ("TBranch", version @ 2..=4) => branch_before_5(reader, version)?,
            ("TBranchClones", _) => self.branch_clones(reader)?,
            _ => return Ok(None),
        };
        Ok(Some(Content::Members(members)))
    }
}

type Steps = Vec<(String, Step)>;

fn plan(class: &str, version: i16, steps: Steps) -> Arc<Plan> {
    Arc::new(Plan { class: class.to_owned(), version: i32::from(version), checksum: 0, steps })
}

fn steps<'a>(step: &Step, names: &'a [&str]) -> impl Iterator<Item = (String, Step)> + use<'a> {
    let step = step.clone();
    names.iter().map(move |name| ((*name).to_owned(), step.clone()))
}

fn lists<'a>(names: &'a [&str]) -> impl Iterator<Item = (String, Step)> + use<'a> {
    steps(&Step::Inline("TObjArray".into()), names)
}

fn add(members: &mut Members, name: &str, step: Step, value: Value) {
    Arc::make_mut(&mut members.plan).steps.push((name.to_owned(), step));
    members.values.push(value);
}

fn branch_before_10(reader: &mut ObjectReader<'_>, version: i16) -> Result<Members> {
    let (int, double) = (Step::Basic(code::INT), Step::Basic(code::DOUBLE));
    let counted = || Step::CountedArray(code::INT, "fMaxBaskets".to_owned());
    let mut list: Steps = vec![("TNamed".to_owned(), Step::TNamed)];
    if version > 7 {
        list.push(("TAttFill".to_owned(), Step::Base { class: "TAttFill".into() }));
    }
    list.extend(steps(
        &int,
        &["fCompress", "fBasketSize", "fEntryOffsetLen", "fWriteBasket", "fEntryNumber", "fOffset", "fMaxBaskets"],
    ));
    if version > 6 {
        list.extend(steps(&int, &["fSplitLevel"]));
    }
    list.extend(steps(&double, &["fEntries", "fTotBytes", "fZipBytes"]));
    list.extend(lists(&["fBranches", "fLeaves", "fBaskets"]));
    list.extend(steps(&counted(), &["fBasketBytes", "fBasketEntry"]));
    let mut members = reader.members(plan("TBranch", version, list))?;

    let n = members.get("fMaxBaskets").and_then(Value::as_i64).unwrap_or(0);
    // Here the byte in front of a counted array also says how wide its numbers are.
    let positions = if reader.cursor.u8()? == WIDE_POSITIONS { code::LONG64 } else { code::INT };
    let seek = numbers(reader, n, positions)?;
    add(&mut members, "fBasketSeek", Step::CountedArray(positions, "fMaxBaskets".to_owned()), seek);
    let file_name = reader.cursor.string()?;
    add(&mut members, "fFileName", Step::TString, Value::Str(file_name));
    Ok(members)
}

/// The built-in info tells what lies there; sizes of baskets do not, and are left to their keys.
fn branch_before_5(reader: &mut ObjectReader<'_>, version: i16) -> Result<Members> {
    let info = rootfile::streamer::StreamerInfos::new()
        .get("TBranch", i32::from(version))
        .ok_or_else(|| Error::unsupported(format!("TBranch version {version}")))?;
    let mut members = reader.members(Arc::new(Plan::new(&info)))?;
    let slots = members.get("fBasketSeek").and_then(Value::as_array).map_or(0, Array::len);
    let sizes = Value::Array(Box::new(Array { code: code::INT, raw: vec![0; slots * 4] }));
    add(&mut members, "fBasketBytes", Step::FixedArray(code::INT, slots), sizes);
    Ok(members)
}

fn numbers(reader: &mut ObjectReader<'_>, n: i64, type_code: i32) -> Result<Value> {
    let size = if type_code == code::LONG64 { 8 } else { 4 };
    let n = reader.cursor.checked_count(n, size)?;
    let raw = reader.cursor.bytes(n * size)?.to_vec();
    Ok(Value::Array(Box::new(Array { code: type_code, raw })))
}

impl OldStreamers {
    /// A `TBranchClones` writes what it has of a `TBranch` itself, as its own. It is given as the other branches
    /// are, with a `TBranch` for its base.
    fn branch_clones(&self, reader: &mut ObjectReader<'_>) -> Result<Members> {
        let int = Step::Basic(code::INT);
        // The class version stayed the same when counts became wider.
        let wide = self.file_version >= LONG64_COUNTS;
        let (number, sum) = if wide { (code::LONG64, code::LONG64) } else { (code::INT, code::DOUBLE) };
        let mut list: Steps = vec![("TNamed".to_owned(), Step::TNamed)];
        list.extend(steps(&int, &["fCompress", "fBasketSize", "fEntryOffsetLen", "fMaxBaskets", "fWriteBasket"]));
        list.extend(steps(&Step::Basic(number), &["fEntryNumber"]));
        list.extend(steps(&Step::Basic(sum), &["fEntries", "fTotBytes", "fZipBytes"]));
        list.extend(steps(&int, &["fOffset"]));
        let mut base = reader.members(plan("TBranch", 0, list))?;
        let own = vec![("fBranchCount".to_owned(), Step::Pointer), ("fClassName".to_owned(), Step::TString)];
        let mut own = reader.members(plan("TBranchClones", 0, own))?;
        let branches = reader.object("TObjArray")?;
        add(&mut base, "fBranches", Step::Inline("TObjArray".into()), Value::Object(Box::new(branches)));
        // Its data lie in the branches below, but fMaxBaskets and fWriteBasket are written all the same.
        for name in ["fLeaves", "fBaskets"] {
            let empty = Content::Collection(Box::default());
            let list = Object { class: Arc::from("TObjArray"), version: 3, content: empty };
            add(&mut base, name, Step::Inline("TObjArray".into()), Value::Object(Box::new(list)));
        }
        for name in ["fWriteBasket", "fMaxBaskets"] {
            if let Some(value) = base.get_mut(name) {
                *value = Value::Int(0);
            }
        }
        let base = Object { class: Arc::from("TBranch"), version: 0, content: Content::Members(base) };
        let step = Step::Base { class: "TBranch".into() };
        add(&mut own, "TBranch", step, Value::Object(Box::new(base)));
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use rootfile::bytes::Writer;
    use rootfile::object::tags::{begin_frame, end_frame};
    use rootfile::object::write_tobject;
    use rootfile::streamer::StreamerInfos;

    use super::*;

    fn named(w: &mut Writer) {
        let frame = begin_frame(w, 1);
        write_tobject(w, 0, 0);
        w.string("px");
        w.string("px/F");
        end_frame(w, frame);
    }

    fn empty_lists(w: &mut Writer, n: usize) {
        for _ in 0..n {
            let frame = begin_frame(w, 3);
            write_tobject(w, 0, 0);
            w.string("");
            w.i32(0);
            w.i32(0);
            end_frame(w, frame);
        }
    }

    fn read(class: &str, file_version: i32, version: i16, body: impl FnOnce(&mut Writer)) -> Result<Object> {
        let mut w = Writer::new();
        let frame = begin_frame(&mut w, version);
        body(&mut w);
        end_frame(&mut w, frame);
        let infos = StreamerInfos::new();
        let old = OldStreamers { file_version };
        ObjectReader::new(&w.bytes, 0, &infos).with_custom(&old).object(class)
    }

    fn array(object: &Object, name: &str) -> Vec<i64> {
        object.members().unwrap().get(name).and_then(Value::as_array).unwrap().to_i64()
    }

    fn number(object: &Object, name: &str) -> Option<i64> {
        object.members().unwrap().get(name).and_then(Value::as_i64)
    }

    fn version_9(w: &mut Writer, width: u8) {
        named(w);
        let fill = begin_frame(w, 1);
        w.i16(0);
        w.i16(1001);
        end_frame(w, fill);
        // fCompress, fBasketSize, fEntryOffsetLen, fWriteBasket, fEntryNumber, fOffset, fMaxBaskets, fSplitLevel
        [1, 32000, 0, 2, 70, 0, 2, 0].iter().for_each(|&v| w.i32(v));
        [70.0, 280.0, 150.0].iter().for_each(|&v| w.f64(v));
        empty_lists(w, 3);
        w.u8(1);
        [75, 76].iter().for_each(|&v| w.i32(v));
        w.u8(1);
        [0, 40].iter().for_each(|&v| w.i32(v));
        w.u8(width);
        for seek in [400, 500] {
            if width == 2 { w.i64(seek << 32) } else { w.i32(i32::try_from(seek).unwrap()) }
        }
        w.string("other.root");
    }

    #[test]
    fn positions_of_version_9_are_as_wide_as_they_say() {
        let narrow = read("TBranch", 40000, 9, |w| version_9(w, 1)).unwrap();
        assert_eq!(array(&narrow, "fBasketSeek"), [400, 500]);
        let wide = read("TBranch", 40000, 9, |w| version_9(w, 2)).unwrap();
        assert_eq!(array(&wide, "fBasketSeek"), [400 << 32, 500 << 32]);
        assert_eq!(array(&wide, "fBasketEntry"), [0, 40]);
        assert_eq!(number(&wide, "fEntries"), Some(70));
        assert_eq!(wide.members().unwrap().get("fFileName").and_then(Value::as_str), Some("other.root"));
    }

    #[test]
    fn a_counter_beyond_the_record_is_refused() {
        let broken = read("TBranch", 40000, 9, |w| {
            version_9(w, 1);
            let at = w.bytes.windows(8).position(|b| b == [0, 0, 0, 2, 0, 0, 0, 0]).unwrap();
            w.patch_u32(at, 0x7fff_ffff);
        });
        assert!(broken.is_err());
    }

    #[test]
    fn version_3_lacks_the_sizes_of_baskets() {
        let branch = read("TBranch", 20000, 3, |w| {
            named(w);
            // fCompress, fBasketSize, fEntryOffsetLen, fMaxBaskets, fWriteBasket, fEntryNumber
            [1, 8000, 0, 2, 1, 9].iter().for_each(|&v| w.i32(v));
            [9.0, 36.0, 30.0].iter().for_each(|&v| w.f64(v));
            w.i32(0);
            empty_lists(w, 3);
            [2, 0, 5, 2, 640, 0].iter().for_each(|&v| w.i32(v));
            w.string("");
        })
        .unwrap();
        assert_eq!(array(&branch, "fBasketEntry"), [0, 5]);
        assert_eq!(array(&branch, "fBasketSeek"), [640, 0]);
        assert_eq!(array(&branch, "fBasketBytes"), [0, 0]);
    }

    #[test]
    fn branch_clones_of_root_3_counts_in_doubles() {
        let clones = read("TBranchClones", 30507, 2, |w| {
            named(w);
            [1, 32000, 0, 10, 3, 70].iter().for_each(|&v| w.i32(v));
            [70.0, 1e10, 1e9].iter().for_each(|&v| w.f64(v));
            w.i32(0);
            w.u32(0);
            w.string("TTrack");
            empty_lists(w, 1);
        })
        .unwrap();
        assert!(clones.is_a("TBranch"));
        assert_eq!(number(&clones, "fTotBytes"), Some(10_000_000_000));
        assert_eq!(number(&clones, "fWriteBasket"), Some(0));
        assert_eq!(clones.members().unwrap().get("fClassName").and_then(Value::as_str), Some("TTrack"));
    }
}
