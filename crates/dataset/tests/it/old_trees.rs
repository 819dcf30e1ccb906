//! A tree with a `TBranchClones`, as ROOT 2 and 3 split arrays of objects. The file comes from
//! `root/branch_clones.py`.

use dataset::tree::basket::{BasketData, Entries};
use dataset::tree::model::{Branch, BranchKind};
use dataset::tree::read::read_tree;
use rootfile::RootFile;

#[test]
fn branch_clones_and_its_counter_are_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/branch_clones.root");
    let file = RootFile::open(path).unwrap();
    let key = file.top().keys.iter().find(|key| key.name == "t").unwrap();
    let tree = read_tree(&file, key).unwrap();
    let find = |name: &str| tree.branches.iter().position(|branch| branch.name() == name).unwrap();
    let names = |list: &[usize]| list.iter().map(|&i| tree.branches[i].name()).collect::<Vec<_>>();

    let clones = find("ca");
    let branch: &Branch = &tree.branches[clones];
    let BranchKind::Clones(own) = &branch.kind else { panic!("{} is a {}", branch.name(), branch.class()) };
    assert_eq!(own.class_name, "TNamed");
    assert_eq!(branch.entries, 5);
    assert_eq!(names(&branch.children)[..2], ["ca.fUniqueID", "ca.fBits"]);
    assert!(branch.baskets.is_empty());

    let count = own.branch_count.unwrap();
    assert_eq!(count, find("ca_"));
    assert_eq!(tree.branches[count].parent, Some(clones));
    assert_eq!(tree.branches[count].entries, 5);

    // Its basket holds 0, 1, 2, 3, 4. The tree did not know of it either when it flushed: it lies in the record.
    let [(0, basket)] = &tree.branches[count].embedded[..] else { panic!("one embedded basket") };
    let (_, data) = BasketData::parse_embedded(&basket.bytes).unwrap();
    assert_eq!(data.entries, Entries::Fixed(4));
    let counts: Vec<i32> = data.data.chunks_exact(4).map(|b| i32::from_be_bytes(b.try_into().unwrap())).collect();
    assert_eq!(counts, [0, 1, 2, 3, 4]);
}
