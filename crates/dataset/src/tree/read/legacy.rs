//! Hand-written streamers for classes in a tree's record whose format no streamer info can describe.
//!
//! The built-in infos describe most versions from before streamer infos. Code is needed for the widths in `TBranch` 6
//! to 9, the missing sizes in earlier versions, and `TBranchClones`. The facts are in `docs/format/ttree-history.md`.

use std::sync::Arc;

use rootfile::object::{Content, Members, Object, ObjectReader, Plan, Step, Typed, Value};
use rootfile::streamer::code;
use rootfile::{Error, Result};

use super::branch_record::{BranchRecord, ReadBranch};

/// First ROOT version (fVersion) whose counts are `Long64_t`.
const LONG64_COUNTS: i32 = 40_100;
/// The byte in front of fBasketSeek: positions of eight bytes (1: four).
const WIDE_POSITIONS: u8 = 2;

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

pub(super) fn branch_before_10(
    branches: &Typed<BranchRecord>,
    record: &mut BranchRecord,
    version: i16,
    reader: &mut ObjectReader<'_>,
) -> Result<()> {
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
    branches.members(record, &plan("TBranch", version, list), reader)?;

    // The byte in front of this counted array also gives the width of its numbers.
    let (positions, size) = if reader.cursor.u8()? == WIDE_POSITIONS { (code::LONG64, 8) } else { (code::INT, 4) };
    let n = reader.cursor.checked_count(record.max_baskets(), size)?;
    record.basket_seek = Some(reader.span_of(positions, n)?);
    branches.members(record, &plan("TBranch", version, steps(&Step::TString, &["fFileName"]).collect()), reader)
}

/// The built-in info describes the members. There are no sizes of baskets; their keys have them.
pub(super) fn branch_before_5(
    branches: &Typed<BranchRecord>,
    record: &mut BranchRecord,
    version: i16,
    reader: &mut ObjectReader<'_>,
) -> Result<()> {
    let info = rootfile::streamer::StreamerInfos::new()
        .get("TBranch", i32::from(version))
        .ok_or_else(|| Error::unsupported(format!("TBranch version {version}")))?;
    record.lists_bytes = false;
    branches.members(record, &Arc::new(Plan::new(&info)), reader)
}

/// A `TBranchClones` streams the members of its `TBranch` base itself. Returns the branch, and the members of its own. The
/// data lie in the branches below: a `TBranchClones` has no baskets, although fMaxBaskets and fWriteBasket are written.
pub(super) fn branch_clones(
    branches: &Typed<BranchRecord>,
    file_version: i32,
    reader: &mut ObjectReader<'_>,
) -> Result<(ReadBranch, Members)> {
    let int = Step::Basic(code::INT);
    // The class version stayed the same when counts became wider.
    let wide = file_version >= LONG64_COUNTS;
    let (number, sum) = if wide { (code::LONG64, code::LONG64) } else { (code::INT, code::DOUBLE) };
    let mut list: Steps = vec![("TNamed".to_owned(), Step::TNamed)];
    list.extend(steps(&int, &["fCompress", "fBasketSize", "fEntryOffsetLen"]));
    // fMaxBaskets and fWriteBasket have no meaning here.
    list.extend(steps(&int, &["", ""]));
    list.extend(steps(&Step::Basic(number), &["fEntryNumber"]));
    list.extend(steps(&Step::Basic(sum), &["fEntries", "fTotBytes", "fZipBytes"]));
    list.extend(steps(&int, &["fOffset"]));
    let mut base = BranchRecord::default();
    branches.members(&mut base, &plan("TBranch", 0, list), reader)?;
    let own = vec![("fBranchCount".to_owned(), Step::Pointer), ("fClassName".to_owned(), Step::TString)];
    let own = reader.members(plan("TBranchClones", 0, own))?;
    branches.members(&mut base, &plan("TBranch", 0, lists(&["fBranches"]).collect()), reader)?;
    base.without_leaves();
    Ok((base.finish(reader)?, own))
}

/// A `TBranchClones` with its `TBranch`, as the value of an object.
pub(super) fn clones_content(branch: Content, mut own: Members) -> Content {
    let base = Object { class: Arc::from("TBranch"), version: 0, content: branch };
    Arc::make_mut(&mut own.plan).steps.push(("TBranch".to_owned(), Step::Base { class: "TBranch".into() }));
    own.values.push(Value::Object(Box::new(base)));
    Content::Members(own)
}

#[cfg(test)]
mod tests {
    use rootfile::bytes::Writer;
    use rootfile::object::write_tobject;
    use rootfile::streamer::StreamerInfos;
    use rootfile::tags::{begin_frame, end_frame};

    use super::*;
    use crate::tree::model::Branch;
    use crate::tree::read::records::Records;

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

    fn read(class: &str, file_version: i32, version: i16, body: impl FnOnce(&mut Writer)) -> Result<Read> {
        let mut w = Writer::new();
        let frame = begin_frame(&mut w, version);
        body(&mut w);
        end_frame(&mut w, frame);
        let infos = StreamerInfos::new();
        let records = Records::new(file_version);
        let object = ObjectReader::new(&w.bytes, 0, &infos).with_custom(&records).object(class)?;
        let base = object.members().and_then(|m| m.values.iter().find_map(base));
        let branch = records.into_objects().take_branch(base.unwrap_or(&object.content)).unwrap().branch;
        Ok(Read { object, branch })
    }

    struct Read {
        object: Object,
        branch: Branch,
    }

    fn base(value: &Value) -> Option<&Content> {
        match value {
            Value::Object(base) => Some(&base.content),
            _ => None,
        }
    }

    impl Read {
        fn seeks(&self) -> Vec<u64> {
            self.branch.baskets.iter().map(|b| b.seek).collect()
        }

        fn entries(&self) -> Vec<u64> {
            self.branch.baskets.iter().map(|b| b.first_entry).collect()
        }

        fn bytes(&self) -> Vec<u32> {
            self.branch.baskets.iter().map(|b| b.nbytes).collect()
        }
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
        assert_eq!(narrow.seeks(), [400, 500]);
        assert_eq!(narrow.bytes(), [75, 76]);
        let wide = read("TBranch", 40000, 9, |w| version_9(w, 2)).unwrap();
        assert_eq!(wide.seeks(), [400 << 32, 500 << 32]);
        assert_eq!(wide.entries(), [0, 40]);
        assert_eq!(wide.branch.entries, 70);
        assert_eq!(wide.branch.file_name, "other.root");
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
            [1, 8000, 0, 2, 2, 9].iter().for_each(|&v| w.i32(v));
            [9.0, 36.0, 30.0].iter().for_each(|&v| w.f64(v));
            w.i32(0);
            empty_lists(w, 3);
            [2, 0, 5, 2, 640, 0].iter().for_each(|&v| w.i32(v));
            w.string("");
        })
        .unwrap();
        assert_eq!(branch.entries(), [0, 5]);
        assert_eq!(branch.seeks(), [640, 0]);
        assert_eq!(branch.bytes(), [0, 0]);
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
        assert!(clones.object.is_a("TBranch"));
        assert_eq!(clones.branch.tot_bytes, 10_000_000_000);
        assert!(clones.branch.baskets.is_empty());
        assert_eq!(clones.object.members().unwrap().get("fClassName").and_then(Value::as_str), Some("TTrack"));
    }
}
