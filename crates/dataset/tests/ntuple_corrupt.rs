//! Damaged metadata of RNTuples: every byte of header, footer and page list changed or cut off, with a checksum that fits, so
//! that the parsers themselves meet the damage. They say what is wrong or give some values; they neither panic nor take memory
//! that has nothing to do with the bytes there are.
//!
//! One test alone: the limit is that of the whole process. Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use dataset::ntuple::model::{Ntuple, PageList};
use dataset::ntuple::{
    EnvelopeKind, envelope_checksum, is_ntuple, open_envelope, parse_anchor, parse_ntuple, parse_page_list, read_block,
    read_ntuple, seal_envelope, write_anchor,
};
use rootfile::RootFile;

#[allow(dead_code, unused_imports, reason = "the other tests use the rest")]
#[path = "it/corpus/mod.rs"]
mod corpus;
#[path = "../../flow/tests/corrupt/memory.rs"]
mod memory;

use corpus::corpus;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// Envelopes up to this many bytes are damaged at each.
const MOST: usize = 3000;
/// Memory limit of a case: what a small envelope may need, and a multiple of its bytes. A field of 40 bytes takes 200 in memory,
/// and vectors grow by doubling.
const MEMORY_FLOOR: usize = 8 << 10;
const MEMORY_FACTOR: usize = 16;

/// An RNTuple with its envelopes.
struct Parts {
    ntuple: Ntuple,
    header: Vec<u8>,
    footer: Vec<u8>,
    page_list: Option<Vec<u8>>,
}

/// The RNTuples of the validation suite whose envelopes are small.
fn parts() -> Option<Vec<(String, Parts)>> {
    let folder = corpus()?.join("rntuple-validation");
    let mut all = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "root")) {
        let file = RootFile::open(&path).unwrap();
        let key = file.top().keys.iter().find(|key| is_ntuple(&key.class)).unwrap();
        let Ok(ntuple) = read_ntuple(&file, key) else { continue };
        let block = |link| read_block(&**file.source(), link, 0).unwrap();
        let (header, footer) = (block(&ntuple.anchor.header), block(&ntuple.anchor.footer));
        let page_list = ntuple.groups.first().map(|group| block(&group.page_list));
        if header.len() + footer.len() + page_list.as_ref().map_or(0, Vec::len) < MOST {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            all.push((name, Parts { ntuple, header, footer, page_list }));
        }
    }
    Some(all)
}

/// The envelope with another payload.
fn sealed(kind: EnvelopeKind, payload: &[u8]) -> Vec<u8> {
    seal_envelope(kind, |w| {
        w.bytes.extend_from_slice(payload);
        Ok(())
    })
    .unwrap()
}

/// Every damaged form of an envelope, with a checksum that fits.
fn damaged(kind: EnvelopeKind, envelope: &[u8], mut case: impl FnMut(&[u8])) {
    let payload = &envelope[8..envelope.len() - 8];
    assert_eq!(open_envelope(kind, envelope).unwrap().0.remaining(), payload.len());
    let mut changed = payload.to_vec();
    for at in 0..payload.len() {
        for value in [payload[at] ^ 0x01, payload[at] ^ 0x80, payload[at].wrapping_add(1), 0, 0x7f, 0xff] {
            changed[at] = value;
            case(&sealed(kind, &changed));
        }
        changed[at] = payload[at];
        case(&sealed(kind, &payload[..at]));
    }
    // Frames have sizes of eight bytes, lists counts of four.
    for at in 0..payload.len().saturating_sub(4) {
        for value in [u32::MAX, 1 << 31, 1 << 24, payload.len() as u32] {
            changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
            case(&sealed(kind, &changed));
        }
        changed[at..at + 4].copy_from_slice(&payload[at..at + 4]);
    }
}

/// Uses what was read as later code does.
fn walk(ntuple: &Ntuple) {
    let schema = &ntuple.schema;
    for (id, field) in schema.fields.iter().enumerate() {
        assert!(schema.path(id).ends_with(&field.name));
        assert!(field.parent.is_none_or(|parent| parent < id) && field.source.is_none_or(|s| s < schema.fields.len()));
        assert!(schema.children(Some(id)).iter().all(|child| *child > id));
        assert!(schema.columns_of(id).iter().all(|column| schema.columns[*column].field == id));
    }
    assert!(
        schema.aliases.iter().all(|alias| alias.column < schema.columns.len() && alias.field < schema.fields.len())
    );
}

fn walk_pages(ntuple: &Ntuple, group: usize, list: &PageList) {
    assert_eq!(list.clusters.len(), ntuple.groups[group].clusters as usize);
    for cluster in &list.clusters {
        assert!(cluster.columns.len() <= ntuple.schema.columns.len());
        assert!((0..cluster.columns.len()).all(|column| cluster.pages(list, column).is_some()));
    }
}

#[test]
fn damaged_metadata() {
    let Some(all) = parts() else {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
        return;
    };
    assert!(all.len() > 30, "{}", all.len());
    let (mut cases, mut refused) = (0u32, 0u32);
    for (name, Parts { ntuple, header, footer, page_list }) in all {
        eprintln!("{name}");
        let mut count = |limit: usize, sound: &mut dyn FnMut() -> bool| {
            memory::allow(MEMORY_FLOOR + MEMORY_FACTOR * limit);
            cases += 1;
            refused += u32::from(!sound());
            memory::allow(usize::MAX);
        };
        let all = header.len() + footer.len();
        damaged(EnvelopeKind::Header, &header, |bytes| {
            // The footer repeats the checksum of the header.
            let mut own = footer[8..footer.len() - 8].to_vec();
            own[8..16].copy_from_slice(&envelope_checksum(bytes).to_le_bytes());
            let footer = sealed(EnvelopeKind::Footer, &own);
            count(all, &mut || parse_ntuple(ntuple.anchor, bytes, &footer).inspect(walk).is_ok());
        });
        damaged(EnvelopeKind::Footer, &footer, |bytes| {
            count(all, &mut || parse_ntuple(ntuple.anchor, &header, bytes).inspect(walk).is_ok());
        });
        for list in page_list.iter() {
            damaged(EnvelopeKind::PageList, list, |bytes| {
                let mut parse =
                    || parse_page_list(bytes, &ntuple, 0).inspect(|list| walk_pages(&ntuple, 0, list)).is_ok();
                count(list.len(), &mut parse);
            });
        }
        let anchor = write_anchor(&ntuple.anchor).unwrap();
        for at in 0..anchor.len() {
            let mut changed = anchor.clone();
            changed[at] ^= 0xff;
            // The first bytes are a count and a version, and have no checksum.
            assert!(parse_anchor(&changed).is_err() || at < 6, "{name}: {at}");
            assert!(parse_anchor(&anchor[..at]).is_err(), "{name}: {at}");
        }
    }
    eprintln!("{cases} cases, {refused} refused");
    assert!(refused > cases / 4 && refused < cases, "{refused} of {cases}");
}
