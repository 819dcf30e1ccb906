//! The benchmark of parallel writing: the same data in every combination of shapes, containers, codecs, threads and media. The published
//! study is G. Amadio's of TBufferMerger.
//!
//! Each run is a process of its own ([`subprocess`](crate::system::subprocess)). Runs take turns, so that other work on the
//! machine affects all alike. [`generate`](crate::synthetic::generate) does a run of basketry, `rivals` those of ROOT.

mod grid;
mod report;
mod rivals;

use rootfile::{Error, Result};

pub use grid::{Grid, Point, Run, Writer};
pub use report::{Line, Report};
pub use rivals::Rivals;
pub(crate) use rivals::compile;

/// Measures all points in turn, `repeat` times; `run` does one run, and `done` is called after each.
///
/// # Errors
///
/// A run fails.
pub fn bench(
    grid: &Grid,
    writers: &[Writer],
    run: impl Fn(&Point) -> Result<Run>,
    mut done: impl FnMut(),
) -> Result<Report> {
    let points = grid.points(writers);
    if points.is_empty() {
        return Err(Error::request(
            "nothing to measure: give at least one of each: container, threads, compression, media",
        ));
    }
    let mut runs = vec![Vec::with_capacity(grid.repeat); points.len()];
    for _ in 0..grid.repeat.max(1) {
        for (point, runs) in points.iter().zip(&mut runs) {
            runs.push(run(point)?);
            done();
        }
    }
    Ok(Report::new(grid, points.into_iter().zip(runs)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use dataset::layout::Container;

    use super::*;

    const OURS: Writer = Writer { name: "basketry", containers: &[Container::Ttree, Container::Rntuple] };
    const RIVAL: Writer = Writer { name: "TTree", containers: &[Container::Ttree] };

    fn grid() -> Grid {
        Grid {
            kind: "multi".to_owned(),
            size: 1_000_000,
            shapes: vec![(1, 100), (10, 10)],
            containers: vec![Container::Ttree],
            compressions: vec!["none".to_owned(), "lz4:4".to_owned()],
            threads: vec![1, 2],
            media: vec![PathBuf::from("/a")],
            repeat: 3,
            common: Vec::new(),
            outputs: 2,
            no_write: true,
            no_fill: false,
        }
    }

    #[test]
    fn runs_take_turns_and_medians_are_told() {
        let order = std::cell::RefCell::new(Vec::new());
        let run = |point: &Point| {
            order.borrow_mut().push(point.clone());
            let n = order.borrow().len() as f64;
            let wall = point.branches as f64 / point.threads as f64;
            Ok(Run { wall, cpu: n, bytes: 500_000, ..Run::default() })
        };
        let mut told = 0;
        let report = bench(&grid(), &[OURS], run, || told += 1).unwrap();
        let order = order.into_inner();
        assert_eq!((order.len(), told), (24, 24));
        assert_eq!(order[..8], order[8..16], "one after the other, then all again");
        let line = report.lines.iter().find(|l| l.point.branches == 10 && l.point.threads == 2).unwrap();
        assert_eq!((line.wall, line.speed_up), (5.0, Some(2.0)));
        assert!((line.mb_per_s - 0.2).abs() < 1e-9);
        // The fourth of the first round, and eight and sixteen later.
        let second = &report.lines[1];
        assert_eq!((second.cpu, second.point.threads), (10.0, 2));
    }

    #[test]
    fn a_writer_is_run_for_its_own_containers() {
        let both = Grid { containers: vec![Container::Ttree, Container::Rntuple], ..grid() };
        let points = both.points(&[OURS, RIVAL]);
        let of = |writer: &str, container: &str| {
            points.iter().filter(|point| point.writer == writer && point.container == container).count()
        };
        assert_eq!(points.len(), 24);
        assert_eq!((of("basketry", "ttree"), of("basketry", "rntuple")), (8, 8));
        assert_eq!((of("TTree", "ttree"), of("TTree", "rntuple")), (8, 0));
        // A thread of the other container is no measure of the gain.
        let run = |point: &Point| {
            let alone = if point.container == "ttree" { 4.0 } else { 2.0 };
            Ok(Run { wall: alone / point.threads as f64, ..Run::default() })
        };
        let report = bench(&both, &[OURS], run, || ()).unwrap();
        let gains = report.lines.iter().filter(|line| line.point.threads == 2).map(|line| line.speed_up);
        assert!(gains.eq([Some(2.0); 8]));
    }

    #[test]
    fn nothing_to_measure_is_said() {
        let empty = Grid { threads: Vec::new(), ..grid() };
        assert!(bench(&empty, &[OURS], |_| Ok(Run::default()), || ()).is_err());
    }
}
