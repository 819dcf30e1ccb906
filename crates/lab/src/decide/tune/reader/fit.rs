//! Non-negative least squares by the active-set method of Lawson and Hanson ("Solving Least Squares Problems", 1974, chapter
//! 23). It is made for few unknowns and some dozens of rows.

/// Each unknown is freed at most this often.
const MOST: usize = 10;
/// A gradient below this share of the largest counts as zero.
const NOTHING: f64 = 1e-12;

/// The non-negative numbers whose products with the rows come nearest to `wanted`. All `rows` have the same length.
pub(crate) fn fit(rows: &[Vec<f64>], wanted: &[f64]) -> Vec<f64> {
    let n = rows.first().map_or(0, Vec::len);
    // Unknowns differ by orders of magnitude, so each column is scaled to length 1.
    let scale: Vec<f64> = (0..n)
        .map(|j| rows.iter().filter_map(|row| row.get(j)).map(|x| x * x).sum::<f64>().sqrt())
        .map(|length| if length > 0.0 { length } else { 1.0 })
        .collect();
    let scaled: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().zip(&scale).map(|(x, s)| x / s).collect()).collect();
    let found = active_set(&scaled, wanted, n);
    found.into_iter().zip(scale).map(|(x, s)| x / s).collect()
}

fn active_set(rows: &[Vec<f64>], wanted: &[f64], n: usize) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let column = |j: usize| -> Vec<f64> { rows.iter().map(|row| row.get(j).copied().unwrap_or(0.0)).collect() };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let gram: Vec<Vec<f64>> = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    let target: Vec<f64> = columns.iter().map(|a| dot(a, wanted)).collect();
    let least = NOTHING * target.iter().fold(0.0f64, |most, t| most.max(t.abs()));
    let mut x = vec![0.0; n];
    let (mut free, mut twins): (Vec<usize>, Vec<usize>) = Default::default();
    for _ in 0..MOST * n.max(1) {
        // The zero unknown whose increase reduces the error most.
        let gradient = |j: usize| target.get(j).copied().unwrap_or(0.0) - gram.get(j).map_or(0.0, |row| dot(row, &x));
        let open = (0..n).filter(|j| !free.contains(j) && !twins.contains(j));
        let best = open.max_by(|&a, &b| gradient(a).total_cmp(&gradient(b)));
        match best {
            Some(j) if gradient(j) > least => free.push(j),
            _ => break,
        }
        // The rows cannot tell this unknown from the others.
        if solve(&gram, &target, &free).is_none() {
            twins.extend(free.pop());
            continue;
        }
        // Unknowns that would become negative are set to zero, beginning with the first that does.
        while let Some(solution) = solve(&gram, &target, &free) {
            let step = |(&j, s): (&usize, &f64)| {
                let now = x.get(j).copied().unwrap_or(0.0);
                (*s <= 0.0).then(|| (j, if now - s > 0.0 { now / (now - s) } else { 0.0 }))
            };
            let first = free.iter().zip(&solution).filter_map(step).min_by(|a, b| a.1.total_cmp(&b.1));
            let share = first.map_or(1.0, |(_, share)| share);
            for (&j, s) in free.iter().zip(&solution) {
                if let Some(now) = x.get_mut(j) {
                    *now += share * (s - *now);
                }
            }
            let Some((gone, _)) = first else { break };
            if let Some(now) = x.get_mut(gone) {
                *now = 0.0;
            }
            free.retain(|&j| j != gone);
        }
    }
    x
}

/// Solves the normal equations of some unknowns by elimination with pivots. `None` if they have no unique solution.
fn solve(gram: &[Vec<f64>], target: &[f64], free: &[usize]) -> Option<Vec<f64>> {
    let n = free.len();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
    for &i in free {
        let mut row: Vec<f64> = free.iter().filter_map(|&j| gram.get(i)?.get(j).copied()).collect();
        row.push(*target.get(i)?);
        rows.push(row);
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| {
            let of = |i: usize| rows.get(i).and_then(|row| row.get(k)).map_or(0.0, |x| x.abs());
            of(a).total_cmp(&of(b))
        })?;
        rows.swap(k, pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        let row = above.last()?;
        let head = *row.get(k)?;
        if head.abs() < NOTHING {
            return None;
        }
        for other in below {
            let times = other.get(k)? / head;
            other.iter_mut().zip(row).for_each(|(x, y)| *x -= times * y);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let row = rows.get(k)?;
        let rest: f64 = row.iter().zip(&x).skip(k + 1).take(n - k - 1).map(|(a, b)| a * b).sum();
        *x.get_mut(k)? = (row.last()? - rest) / row.get(k)?;
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow::uniform;

    fn products(rows: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
        rows.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    fn off(rows: &[Vec<f64>], x: &[f64], wanted: &[f64]) -> f64 {
        products(rows, x).iter().zip(wanted).map(|(a, b)| (a - b).powi(2)).sum()
    }

    #[test]
    fn planted_numbers_are_found_whatever_their_sizes() {
        let planted = [1e-9, 0.0, 3e-3, 2.5e-6];
        let sizes = [1e8, 1e3, 10.0, 1e4];
        let row = |i: u64| (0..4u64).map(|j| sizes[j as usize] * uniform(j, i)).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..20).map(row).collect();
        let found = fit(&rows, &products(&rows, &planted));
        for (found, planted) in found.iter().zip(planted) {
            assert!((found - planted).abs() <= 1e-6 * planted.max(1e-12), "{found} {planted}");
        }
    }

    #[test]
    fn none_is_negative_and_no_small_step_makes_it_better() {
        for seed in 0..50 {
            let rows: Vec<Vec<f64>> =
                (0..12u64).map(|i| (0..5u64).map(|j| uniform(seed * 100 + j, i) - 0.3).collect()).collect();
            let wanted: Vec<f64> = (0..12).map(|i| uniform(seed * 100 + 50, i) - 0.4).collect();
            let found = fit(&rows, &wanted);
            assert!(found.iter().all(|&x| x >= 0.0), "{found:?}");
            let best = off(&rows, &found, &wanted);
            for j in 0..5 {
                for step in [-1e-4, 1e-4] {
                    let mut other = found.clone();
                    other[j] = (other[j] + step).max(0.0);
                    assert!(off(&rows, &other, &wanted) >= best - 1e-12, "seed {seed}: {j} {step} {found:?}");
                }
            }
        }
    }

    #[test]
    fn unknowns_without_rows_are_zero() {
        let found = fit(&[vec![1.0, 0.0], vec![2.0, 0.0]], &[3.0, 6.0]);
        assert!((found[0] - 3.0).abs() < 1e-9 && found[1] == 0.0, "{found:?}");
        assert!(fit(&[], &[]).is_empty());
    }
}
