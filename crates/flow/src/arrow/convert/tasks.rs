//! The tasks of a conversion from Parquet. They depend on the files and the layout alone, not on threads.

use std::ops::Range;

use dataset::layout::ClusterSize;

use super::opened::Group;

/// Some entries of a row group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub file: usize,
    pub group: usize,
    /// Entries of the row group.
    pub rows: u64,
    /// Which of them.
    pub from: Range<u64>,
    /// The first of them, counted over all files.
    pub first: u64,
    /// Bytes on disk of the row group.
    pub bytes: u64,
}

/// The tasks for the requested entries of all files: one row group each; or as many row groups as make a cluster of this
/// many compressed bytes; or whole clusters of this many entries, together about as large as a row group.
pub(super) fn tasks(files: &[Vec<Group>], requested: &Range<u64>, cluster: Option<ClusterSize>) -> Vec<Vec<Part>> {
    let parts = parts(files, requested);
    match cluster {
        None => parts.into_iter().map(|part| vec![part]).collect(),
        Some(ClusterSize::Bytes(bytes)) => {
            let mut tasks: Vec<Vec<Part>> = Vec::new();
            let mut have = u64::MAX;
            for part in parts {
                if have >= bytes {
                    (have, _) = (0, tasks.push(Vec::new()));
                }
                have = have.saturating_add(part.bytes);
                if let Some(task) = tasks.last_mut() {
                    task.push(part);
                }
            }
            tasks
        }
        Some(ClusterSize::Entries(entries)) => {
            let mean = parts.iter().map(|part| part.rows).sum::<u64>() / (parts.len() as u64).max(1);
            let each = entries.max(1).saturating_mul((mean / entries.max(1)).max(1));
            let mut tasks = Vec::new();
            let mut at = requested.start;
            while at < requested.end {
                let range = at..requested.end.min(at.saturating_add(each));
                let from = parts.partition_point(|part| end(part) <= range.start);
                let within = parts.iter().skip(from).take_while(|part| part.first < range.end);
                let task: Vec<Part> = within.map(|part| cut(part, &range)).collect();
                at = range.end;
                if !task.is_empty() {
                    tasks.push(task);
                }
            }
            tasks
        }
    }
}

fn end(part: &Part) -> u64 {
    part.first + (part.from.end - part.from.start)
}

/// The intersection of a part and a range.
fn cut(part: &Part, range: &Range<u64>) -> Part {
    let (first, last) = (part.first.max(range.start), end(part).min(range.end));
    let from = part.from.start + (first - part.first);
    Part { from: from..from + (last - first), first, ..part.clone() }
}

fn parts(files: &[Vec<Group>], requested: &Range<u64>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut first = 0u64;
    for (file, groups) in files.iter().enumerate() {
        for (group, &Group { rows, bytes, .. }) in groups.iter().enumerate() {
            let part = Part { file, group, rows, from: 0..rows, first, bytes };
            first += rows;
            if rows > 0 && part.first < requested.end && first > requested.start {
                parts.push(cut(&part, requested));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(rows: u64, bytes: u64) -> Group {
        Group { rows, bytes, unpacked: bytes, held: bytes }
    }

    fn shape(tasks: &[Vec<Part>]) -> Vec<Vec<(usize, usize, Range<u64>)>> {
        let part = |part: &Part| (part.file, part.group, part.from.clone());
        tasks.iter().map(|task| task.iter().map(part).collect()).collect()
    }

    #[test]
    fn row_groups_are_put_together_and_cut() {
        let files = [vec![group(10, 100), group(20, 300)], vec![group(0, 0), group(5, 50)]];
        let each = tasks(&files, &(3..32), None);
        assert_eq!(shape(&each), [vec![(0, 0, 3..10)], vec![(0, 1, 0..20)], vec![(1, 1, 0..2)]]);
        assert_eq!(each[1][0].first, 10);
        let bytes = tasks(&files, &(0..35), Some(ClusterSize::Bytes(200)));
        assert_eq!(shape(&bytes), [vec![(0, 0, 0..10), (0, 1, 0..20)], vec![(1, 1, 0..5)]]);
        let entries = tasks(&files, &(0..35), Some(ClusterSize::Entries(8)));
        let expected = [
            vec![(0, 0, 0..8)],
            vec![(0, 0, 8..10), (0, 1, 0..6)],
            vec![(0, 1, 6..14)],
            vec![(0, 1, 14..20), (1, 1, 0..2)],
            vec![(1, 1, 2..5)],
        ];
        assert_eq!(shape(&entries), expected);
        assert!(tasks(&files, &(0..0), None).is_empty());
    }
}
