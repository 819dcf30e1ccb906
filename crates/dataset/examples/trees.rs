use dataset::tree::{basket::*, read::*};
use rootfile::*;
fn main() {
    let (mut trees, mut baskets, mut bad) = (0, 0u64, 0u64);
    for path in std::env::args().skip(1) {
        let Ok(file) = RootFile::open(&path) else {
            println!("OPEN {path}");
            continue;
        };
        for d in file.walk().directories {
            for k in &d.keys {
                if !is_tree_class(&file, &k.class) {
                    if k.class.contains("Tree") || k.class.contains("tuple") {
                        println!("NOTREE {path} {}", k.class)
                    }
                    continue;
                }
                match read_tree(&file, k) {
                    Err(e) => println!("TREE {e}"),
                    Ok(t) => {
                        trees += 1;
                        for b in &t.branches {
                            if !b.file_name.is_empty() {
                                println!("EXT {path} {} {}", b.name(), b.file_name);
                                continue;
                            }
                            let sum: u64 = b.baskets.iter().map(|x| x.entries).sum();
                            if sum != b.entries && !(b.leaves.is_empty() && sum == 0) {
                                println!(
                                    "ENTRIES {path} {} {} entries {} in baskets {} first {} tree {}",
                                    t.name(),
                                    b.name(),
                                    b.entries,
                                    sum,
                                    b.first_entry,
                                    t.entries
                                )
                            }
                            for (i, r) in b.baskets.iter().enumerate() {
                                baskets += 1;
                                let res = (|| -> Result<(u32, BasketData)> {
                                    if let Some((_, e)) = b.embedded.iter().find(|(j, _)| *j == i) {
                                        let (h, d) = BasketData::parse_embedded(&e.bytes)?;
                                        return Ok((h.nev_buf, d));
                                    }
                                    let rec = file.source().read(r.seek, r.nbytes as usize)?;
                                    let h = BasketHeader::parse(&mut bytes::Cursor::new(&rec))?;
                                    let raw = rec.get(h.keylen()..).unwrap_or_default();
                                    let mut out = vec![];
                                    if codec::is_stored(raw.len(), h.key.objlen as usize) {
                                        out.extend_from_slice(raw)
                                    } else {
                                        codec::Decompressor::new().decompress(raw, h.key.objlen as usize, &mut out)?;
                                    }
                                    let d = h.open(out)?;
                                    Ok((h.nev_buf, d))
                                })();
                                match res {
                                    Ok((n, d)) => {
                                        if u64::from(n) != r.entries {
                                            println!(
                                                "NEV {path} {} {} basket {i}: {n} vs {}",
                                                t.name(),
                                                b.name(),
                                                r.entries
                                            );
                                            bad += 1
                                        }
                                        if d.entries == Entries::Generated {
                                            println!("GEN {path} {}", b.name())
                                        }
                                    }
                                    Err(e) => {
                                        bad += 1;
                                        println!(
                                            "BASKET {path} {} {} basket {i} of {} at {} n{}: {e}",
                                            t.name(),
                                            b.name(),
                                            b.baskets.len(),
                                            r.seek,
                                            r.nbytes
                                        )
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{trees} trees {baskets} baskets {bad} bad");
}
