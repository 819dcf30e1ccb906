//! Trees inside other objects, such as those in the user info of a tree. Their baskets lie elsewhere in the file and are
//! copied with the object, unchanged. Baskets inside the object's own record need no care.

use std::hash::{DefaultHasher, Hash, Hasher};

use dataset::tree::{InnerBaskets, each_inner_branch};
use rootfile::bytes::{Cursor, Writer};
use rootfile::codec::{Decompressor, is_stored};
use rootfile::object::Graph;
use rootfile::{DirId, FileWriter, Key, Result, START_BIG_FILE, Source};

/// Copies the baskets of the trees in an object graph to the end of the output, and sets their new positions in the
/// branches. Returns the names of branches whose baskets are missing from the input.
///
/// # Errors
///
/// The output cannot be written.
pub fn copy_baskets(
    graph: &mut Graph,
    source: &dyn Source,
    writer: &mut FileWriter,
    directory: DirId,
) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut result = Ok(());
    // Branches that share one record cannot make the output larger than the input.
    let mut room = source.size();
    each_inner_branch(graph, &mut |mut baskets: InnerBaskets<'_>| {
        let mut places = baskets.places.clone();
        for place in places.iter_mut().filter(|(seek, _)| *seek > 0) {
            let found = room.checked_sub(u64::from(place.1)).and_then(|left| {
                room = left;
                record(source, *place, &baskets.branch)
            });
            let Some((key, record)) = found else {
                *place = (0, 0);
                missing.push(baskets.branch.clone());
                continue;
            };
            match append(key, record, writer, directory) {
                Ok(moved) => *place = moved,
                Err(e) => result = Err(e),
            }
        }
        baskets.set(&places);
    });
    result?;
    missing.dedup();
    Ok(missing)
}

/// Whether a tree is among the objects.
pub fn holds_tree(graph: &Graph) -> bool {
    graph.objects.iter().flatten().any(|object| object.is_a("TTree"))
}

/// Whether the objects hold a tree with baskets elsewhere in its file.
pub fn has_baskets(graph: &mut Graph) -> bool {
    let mut found = false;
    each_inner_branch(graph, &mut |_| found = true);
    found
}

/// The record of a basket, if one of this size and name lies there.
fn record(source: &dyn Source, (seek, nbytes): (u64, u32), branch: &str) -> Option<(Key, Vec<u8>)> {
    let end = seek.checked_add(u64::from(nbytes)).filter(|end| *end <= source.size());
    let record = source.read(seek, usize::try_from(end? - seek).ok()?).ok()?;
    let key = Key::parse(&mut Cursor::new(&record)).ok()?;
    let is_it = key.class == "TBasket" && key.nbytes == nbytes && key.name == branch;
    is_it.then_some((key, record))
}

/// Appends a basket to the output. Returns its position and size.
fn append(mut key: Key, mut record: Vec<u8>, writer: &mut FileWriter, directory: DirId) -> Result<(u64, u32)> {
    key.seek_pdir = writer.claim(directory)?;
    key.seek_key = writer.position();
    if !key.is_big() && key.seek_key.max(key.seek_pdir) > START_BIG_FILE {
        return Err(rootfile::Error::unsupported(
            "a tree in the user info has baskets whose keys have no room for positions beyond 2 GB",
        ));
    }
    let mut header = Writer::new();
    key.write(&mut header);
    // A basket's own fields follow the key's within its length, and stay as they are.
    if let Some(place) = record.get_mut(..header.bytes.len()) {
        place.copy_from_slice(&header.bytes);
    }
    writer.append(&record)?;
    Ok((key.seek_key, key.nbytes))
}

/// Replaces the positions of the baskets of inner trees by hashes of their contents, so that two files can be compared.
pub fn hash_baskets(graph: &mut Graph, source: &dyn Source) {
    let mut room = source.size();
    each_inner_branch(graph, &mut |mut baskets: InnerBaskets<'_>| {
        let mut content = |place: &(u64, u32)| -> (u64, u32) {
            room = room.saturating_sub(u64::from(place.1));
            if room == 0 {
                return (0, 0);
            }
            let Some((key, record)) = record(source, *place, &baskets.branch) else { return (0, 0) };
            let payload = record.get(usize::from(key.keylen)..).unwrap_or_default();
            let mut out = Vec::new();
            let unpacked = if is_stored(payload.len(), key.objlen as usize) {
                payload
            } else if Decompressor::new().decompress(payload, key.objlen as usize, &mut out).is_ok() {
                out.as_slice()
            } else {
                return (0, 0);
            };
            let mut hasher = DefaultHasher::new();
            unpacked.hash(&mut hasher);
            (hasher.finish(), 0)
        };
        let places: Vec<_> = baskets.places.iter().map(&mut content).collect();
        baskets.set(&places);
    });
}
