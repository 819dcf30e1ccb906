//! The choice under limits: a multiple-choice knapsack with one choice for each group and limits on several resources.
//!
//! A Lagrangian dual gives a lower bound (`dual`). Its suggestions are repaired and improved (`primal`), and the remaining
//! choices are searched (`search`). A solution carries its bound, and so its largest distance from the optimum. Nothing here
//! knows columns or codecs.

mod dual;
mod primal;
mod problem;
mod search;

use problem::over;
pub use problem::{Choice, Infeasible, Problem, RESOURCES, Solution, Uses};

impl Problem {
    /// The cheapest choices within the limits, or which limits are in the way.
    ///
    /// # Errors
    ///
    /// No choices are within the limits; the error says which limits are in the way.
    pub fn solve(&self) -> Result<Solution, Infeasible> {
        match self.attempt() {
            Some(solution) => Ok(solution),
            None => Err(self.why_not()),
        }
    }

    fn attempt(&self) -> Option<Solution> {
        let least = self.least();
        let impossible = (0..RESOURCES).any(|r| over(least[r], self.limits[r]));
        if impossible || self.groups.iter().any(Vec::is_empty) {
            return None;
        }
        let dual = dual::maximise(self);
        let mut best: Option<Solution> = None;
        let mut offer = |picks: Vec<usize>| {
            let (cost, uses) = self.evaluate(&picks);
            if self.fits(&uses) && best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Solution { picks, cost, uses, bound: dual.bound });
            }
        };
        for start in &dual.starts {
            if let Some(picks) = primal::repair(self, &dual.prices, start.clone()) {
                offer(primal::refine(self, &dual.prices, picks));
            }
        }
        let best_so_far = best.take();
        search::improve(self, &dual, best_so_far)
    }

    fn why_not(&self) -> Infeasible {
        let limited = (0..RESOURCES).filter(|&r| self.limits[r].is_finite());
        let nearest = limited.filter_map(|r| {
            // How little of this one, while the other limits hold?
            let mut other = self.clone();
            other.limits[r] = f64::INFINITY;
            for choice in other.groups.iter_mut().flatten() {
                choice.cost = choice.uses[r];
            }
            let least = other.attempt().map(|solution| solution.uses[r]);
            // A limit that could be met with the others is not the one in the way.
            least.is_none_or(|least| over(least, self.limits[r])).then_some((r, least))
        });
        Infeasible { nearest: nearest.collect() }.in_the_way()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choice(cost: f64, size: f64) -> Choice {
        Choice { cost, uses: uses([size]) }
    }

    const FREE: Uses = [f64::INFINITY; RESOURCES];

    /// Amounts of the first resources, and nothing of the others.
    fn uses<const N: usize>(first: [f64; N]) -> Uses {
        std::array::from_fn(|r| first.get(r).copied().unwrap_or(0.0))
    }

    /// Limits on the first resources alone.
    fn limits<const N: usize>(first: [f64; N]) -> Uses {
        std::array::from_fn(|r| first.get(r).copied().unwrap_or(f64::INFINITY))
    }

    #[test]
    fn without_limits_the_cheapest_are_taken() {
        let groups = vec![vec![choice(2.0, 1.0), choice(1.0, 9.0)], vec![choice(3.0, 1.0), choice(5.0, 0.0)]];
        let solution = Problem { groups, limits: FREE }.solve().unwrap();
        assert_eq!((solution.picks.as_slice(), solution.cost), (&[1, 0][..], 4.0));
        assert!(solution.gap() < 1e-9);
    }

    #[test]
    fn a_limit_is_spent_where_it_pays_most() {
        // Each gives up 1 of cost for a size of 1, 2 or 3: room for the first two.
        let group = |size: f64| vec![choice(1.0, 0.0), choice(0.0, size)];
        let groups = vec![group(3.0), group(1.0), group(2.0)];
        let solution = Problem { groups, limits: limits([3.5]) }.solve().unwrap();
        assert_eq!(solution.picks, [0, 1, 1]);
    }

    #[test]
    fn a_limit_that_cannot_be_met_is_named_with_the_nearest_that_can() {
        let groups = vec![vec![choice(1.0, 5.0), choice(2.0, 4.0)]; 3];
        let infeasible = Problem { groups, limits: limits([11.0, FREE[1], 7.0]) }.solve().unwrap_err();
        assert_eq!(infeasible.nearest, [(0, Some(12.0))]);
    }

    #[test]
    fn limits_that_exclude_each_other_are_both_named() {
        let a = Choice { cost: 1.0, uses: uses([1.0, 10.0]) };
        let b = Choice { cost: 1.0, uses: uses([10.0, 1.0]) };
        let infeasible = Problem { groups: vec![vec![a, b]], limits: limits([5.0, 5.0]) }.solve();
        assert_eq!(infeasible.unwrap_err().nearest, [(0, Some(10.0)), (1, Some(10.0))]);
    }

    #[test]
    fn of_several_problems_the_limit_that_is_in_the_way_of_one_is_named() {
        let hopeless = Infeasible { nearest: vec![(0, None), (3, None)] };
        let [near, far] = [12.0, 15.0].map(|least| Infeasible { nearest: vec![(3, Some(least))] });
        assert_eq!(Infeasible::of_any([hopeless.clone(), far, near]).nearest, [(3, Some(12.0))]);
        assert_eq!(Infeasible::of_any([hopeless.clone()]), hopeless);
    }

    #[test]
    fn ten_thousand_columns_are_solved_with_a_small_gap() {
        // A cheap generator of spread-out numbers, the same each time.
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        let groups: Vec<Vec<Choice>> = (0..10_000)
            .map(|_| {
                let scale = 1.0 / (0.001 + next());
                (0..20)
                    .map(|_| Choice { cost: scale * next(), uses: std::array::from_fn(|_| scale * next()) })
                    .collect()
            })
            .collect();
        let mut problem = Problem { groups, limits: FREE };
        let free = problem.solve().unwrap();
        problem.limits = limits([free.uses[0] * 0.6, free.uses[1] * 0.8, free.uses[2] * 0.9]);
        let solution = problem.solve().unwrap();
        assert!(solution.gap() < 1e-3, "{}", solution.gap());
    }

    fn brute_force(problem: &Problem) -> Option<f64> {
        let mut best: Option<f64> = None;
        let mut picks = vec![0; problem.groups.len()];
        loop {
            let (cost, uses) = problem.evaluate(&picks);
            if problem.fits(&uses) && best.is_none_or(|b| cost < b) {
                best = Some(cost);
            }
            let mut at = 0;
            loop {
                let (Some(pick), Some(group)) = (picks.get_mut(at), problem.groups.get(at)) else { return best };
                *pick += 1;
                if *pick < group.len() {
                    break;
                }
                *pick = 0;
                at += 1;
            }
        }
    }

    fn any_problem() -> impl Strategy<Value = Problem> {
        let number = 0..100u32;
        let any_choice = (number.clone(), prop::array::uniform5(number))
            .prop_map(|(cost, uses)| Choice { cost: cost.into(), uses: uses.map(f64::from) });
        let groups = prop::collection::vec(prop::collection::vec(any_choice, 1..5), 1..7);
        let limit = prop_oneof![Just(f64::INFINITY), (0..500u32).prop_map(f64::from)];
        (groups, prop::array::uniform5(limit)).prop_map(|(groups, limits)| Problem { groups, limits })
    }

    proptest! {
        #[test]
        fn small_problems_are_solved_exactly(problem in any_problem()) {
            match (problem.solve(), brute_force(&problem)) {
                (Ok(solution), Some(best)) => {
                    prop_assert!(problem.fits(&solution.uses));
                    prop_assert!((solution.cost - best).abs() < 1e-6, "{} instead of {best}", solution.cost);
                    prop_assert!(solution.bound <= best + 1e-6, "bound {} above {best}", solution.bound);
                }
                (Err(infeasible), None) => {
                    for (r, nearest) in infeasible.nearest {
                        let Some(nearest) = nearest else { continue };
                        let mut met = problem.clone();
                        met.limits[r] = nearest;
                        prop_assert!(brute_force(&met).is_some());
                        met.limits[r] = nearest - 1.0;
                        prop_assert!(brute_force(&met).is_none());
                    }
                }
                (solved, best) => prop_assert!(false, "{solved:?} but {best:?}"),
            }
        }
    }
}
