//! Damaged entries and damaged streamer infos: decoding says what is wrong or gives some values, but neither panics
//! nor takes memory that has nothing to do with the bytes there are.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use arrow_array::Array;
use dataset::decode::{ColumnPlan, columns};
use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use dataset::tree::model::Tree;
use dataset::tree::read::{is_tree_class, read_tree};
use rootfile::RootFile;
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};
use rootfile::streamer::{StreamerInfo, StreamerInfos};

use crate::corpus::corpus;

/// Files with many types in little space.
const FILES: &[&str] = &[
    "uproot-custom--test_stl_complicated.root",
    "uproot-custom--test_stl_seq_with_obj.root",
    "uproot-custom--test_cstyle_array.root",
    "uproot-custom--test_simple_obj.root",
    "skhep--uproot-issue-40.root",
    "roottest--TreeVectorClass2.root",
    "skhep--uproot-small-evnt-tree-nosplit.root",
    "roottest--Event3a.root",
    "skhep--uproot-issue-400.root",
    "roottest--TreeNestedVector.root",
    "skhep--uproot-nesteddirs.root",
    "skhep--uproot-HZZ-objects.root",
    "roottest--TreeEventTreeSimple1.root",
    "roottest--foreignVec.root",
    "roottest--varyingArray_51508.root",
    "roottest--TreeNestedClones.root",
    "roottest--digi.root",
    "gohep--tbase.root",
    "gohep--chain.1.root",
    "gohep--leaves.root",
    "km3net--gseagen.root",
];

/// The same numbers every time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % n.max(1)
    }
}

fn first_basket(file: &RootFile, tree: &Tree, branch: usize) -> Option<BasketData> {
    let branch = &tree.branches[branch];
    if let Some((_, embedded)) = branch.embedded.first() {
        return BasketData::parse_embedded(&embedded.bytes).ok().map(|(_, data)| data);
    }
    let basket = branch.baskets.first().filter(|b| b.nbytes < 100_000)?;
    let mut record = vec![0; basket.nbytes as usize];
    file.source().read_exact_at(basket.seek, &mut record).ok()?;
    let header = BasketHeader::parse(&mut Cursor::new(&record)).ok()?;
    let raw = record.get(header.keylen()..)?;
    let objlen = header.key.objlen as usize;
    let mut payload = Vec::new();
    if is_stored(raw.len(), objlen) {
        payload.extend_from_slice(raw.get(..objlen)?);
    } else {
        Decompressor::new().decompress(raw, objlen, &mut payload).ok()?;
    }
    header.open(payload).ok()
}

/// Decodes what there is, and says whether it could.
fn attempt(plan: &ColumnPlan, basket: &BasketData, dice: &mut Dice) -> bool {
    let n = (basket.count as usize).min(50);
    let counts: Vec<Vec<u64>> =
        plan.counters().iter().map(|_| (0..n).map(|_| dice.below(5) as u64).collect()).collect();
    // Scattered or not, nothing may panic.
    let some: Vec<u64> = (0..n as u64).step_by(2).collect();
    let _ = plan.start(0, 0).append_scattered(basket, 0, &some, &counts);
    let mut builder = plan.start(n, 0);
    // Infos that contradict themselves show when parts of a record come out of different lengths.
    match builder.append(basket, 0..n, &counts).and_then(|()| builder.finish()) {
        Ok(array) => {
            assert_eq!(array.len(), n);
            // Members that are not there are zeros, and counts of a byte make offsets of eight.
            assert!(array.get_array_memory_size() < 8_000_000 + 200 * basket.data.len(), "{:?}", plan.field());
            true
        }
        Err(_) => false,
    }
}

fn damaged(basket: &BasketData, dice: &mut Dice) -> BasketData {
    let mut basket = basket.clone();
    let mut data = basket.data.to_vec();
    let len = data.len();
    for _ in 0..=dice.below(3) {
        let at = dice.below(len);
        let Some(byte) = data.get_mut(at) else { continue };
        *byte = match dice.below(4) {
            0 => 0xFF,
            1 => 0,
            2 => *byte ^ (1 << dice.below(8)),
            _ => u8::try_from(dice.below(256)).unwrap(),
        };
    }
    basket.data = data.into();
    if let (0, Entries::Offsets(offsets)) = (dice.below(4), &mut basket.entries) {
        let last = offsets.len() - 1;
        let at = dice.below(last);
        offsets[at] = u32::try_from(dice.below(len + 1)).unwrap();
        offsets[..last].sort_unstable();
    }
    basket
}

/// Infos of which some element says something else.
fn other_infos(infos: &StreamerInfos, dice: &mut Dice) -> StreamerInfos {
    let mut others = StreamerInfos::new();
    for info in infos.iter() {
        let mut info = StreamerInfo::clone(info);
        let n = info.elements.len();
        if n > 0 && dice.below(3) == 0 {
            let (at, from) = (dice.below(n), dice.below(n));
            let other = info.elements[from].clone();
            let element = &mut info.elements[at];
            match dice.below(5) {
                0 => element.type_code = i32::try_from(dice.below(520)).unwrap(),
                1 => (element.array_length, element.array_dim, element.max_index) = (i32::MAX, 1, [i32::MAX; 5]),
                2 => element.type_name.clone_from(&other.type_name),
                3 => element.type_name.clone_from(&info.name),
                _ => *element = other,
            }
        }
        others.add(info.into());
    }
    others
}

#[test]
fn damaged_entries_do_not_panic() {
    let Some(corpus) = corpus() else { return };
    let rounds = std::env::var("BASKETRY_ROUNDS").map_or(20, |n| n.parse().unwrap());
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut outcomes = [0usize; 2];
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root");
    for path in FILES.iter().map(|name| corpus.join("files").join(name)).chain([own]) {
        let file = RootFile::open(path).unwrap();
        for directory in file.walk().directories {
            for key in directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
                let Ok(tree) = read_tree(&file, key) else { continue };
                for plan in columns(&tree, file.infos()) {
                    let Some(basket) = first_basket(&file, &tree, plan.branch()) else { continue };
                    let plan = plan.learn(&tree, file.infos(), &basket);
                    for round in 0..rounds {
                        let plan = match round % 4 {
                            0 => {
                                let infos = other_infos(file.infos(), &mut dice);
                                ColumnPlan::new(&tree, plan.branch(), &infos).learn(&tree, &infos, &basket)
                            }
                            _ => plan.clone(),
                        };
                        let basket = if round % 8 == 0 { basket.clone() } else { damaged(&basket, &mut dice) };
                        outcomes[usize::from(attempt(&plan, &basket, &mut dice))] += 1;
                    }
                }
            }
        }
    }
    println!("{} refused, {} read", outcomes[0], outcomes[1]);
    assert!(outcomes[0] > 1000 && outcomes[1] > 1000, "{outcomes:?}: damage is to be of both kinds");
}
