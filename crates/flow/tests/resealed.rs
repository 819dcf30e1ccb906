//! RNTuples that are damaged behind their checksums, by a seed: each block of small files of many shapes is changed, and all checksums
//! are made anew. The deep check calls a file whole if and only if all of it reads, and a rewrite is refused or reads equal.
//!
//! `BASKETRY_RESEALED` is the number of cases; a part of `numbers,lists` after a colon picks shapes, and a number before another colon
//! is the first case.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "a test")]

#[path = "resealed/chance.rs"]
mod chance;
#[path = "corrupt/memory.rs"]
mod memory;
#[path = "resealed/mutate.rs"]
mod mutate;
#[path = "resealed/oracle.rs"]
mod oracle;
#[path = "resealed/seeds.rs"]
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind};

use chance::Chance;
use mutate::{EDIT, Edit};
use oracle::{Verdict, judge};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// Cases, if not said otherwise.
const CASES: usize = 1500;
/// Memory limit of a case. The files have some kilobytes, the budget of a rewrite is 48 MB.
const MEMORY: usize = 96 << 20;

fn edit(chance: &mut Chance) -> Edit {
    let mut bytes = [0; EDIT];
    bytes.iter_mut().for_each(|byte| *byte = chance.below(256) as u8);
    Edit::from_bytes(&bytes)
}

#[test]
fn check_says_whole_if_and_only_if_it_reads() {
    let asked = std::env::var("BASKETRY_RESEALED").unwrap_or_default();
    let mut asked = asked.split(':');
    let cases = asked.next().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let first: usize = asked.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let folder = tempfile::tempdir().unwrap();
    let seeds = seeds::seeds(folder.path());
    for seed in &seeds {
        let sound = judge(seed.bytes(), mutate::Block::Footer, 0, folder.path());
        assert_eq!(sound, Ok(Verdict::Reads), "{}", seed.name);
    }
    let mut verdicts = [0; 3];
    let mut failures = Vec::new();
    for case in first..first + cases {
        let seed = &seeds[case % seeds.len()];
        let chance = &mut Chance::new(&format!("case {case}"));
        let edits: Vec<Edit> = (0..1 + chance.below(2)).map(|_| edit(chance)).collect();
        let (bytes, block) = seed.damaged(chance.below(1 << 30), &edits);
        memory::allow(MEMORY);
        let judged = catch_unwind(AssertUnwindSafe(|| judge(&bytes, block, case / seeds.len(), folder.path())));
        memory::allow(usize::MAX);
        match judged {
            Ok(Ok(verdict)) => verdicts[verdict as usize] += 1,
            Ok(Err(why)) => failures.push(format!("case {case} ({}, {block:?}, {edits:?}): {why}", seed.name)),
            Err(_) => failures.push(format!("case {case} ({}, {block:?}, {edits:?}): panic", seed.name)),
        }
        if std::env::var_os("BASKETRY_RESEALED_KEEP").is_some_and(|number| number == *case.to_string()) {
            std::fs::write("/tmp/resealed.root", &bytes).unwrap();
        }
    }
    eprintln!("read, damaged, unknown: {verdicts:?}; wrong: {}", failures.len());
    assert!(failures.is_empty(), "{} of {cases}:\n{}", failures.len(), failures.join("\n"));
    // Damage is neither always found at once nor never.
    assert!(cases < CASES || verdicts[..2].iter().all(|count| count * 20 > cases), "{verdicts:?}");
}
