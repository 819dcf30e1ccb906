//! Chooses the form of columns of objects: as they are, split, or unsplit. Forms are searched, each with the best choice for all
//! other columns. Where no limit binds, columns are independent and the result is optimal.

use crate::cost::model::Cost;
use crate::cost::statistics::FileStats;
use crate::math::solve::Infeasible;

use super::choice::{Chosen, Forms};

/// Another form must save this share of the column's cost, because measurements are not exact and readers would see
/// other branches.
pub(super) const WORTH: f64 = 0.02;
/// Rounds over all columns, at most.
const ROUNDS: usize = 3;

/// The columns that may have several forms.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopColumns {
    /// The forms of each column except the first, as indices into [`FileStats::recasts`].
    recasts: Vec<Vec<usize>>,
    /// The units of each form. The first form is the present one.
    units: Vec<Vec<Vec<usize>>>,
    /// For each unit its column and form, if it belongs to a column.
    owners: Vec<Option<(usize, usize)>>,
}

impl TopColumns {
    pub fn new(stats: &FileStats) -> Self {
        let mut tops = Self { owners: vec![None; stats.units.len()], ..Self::default() };
        let mut names: Vec<(usize, &str)> = Vec::new();
        for (number, recast) in stats.recasts.iter().enumerate() {
            let name = (recast.tree, recast.name.as_str());
            let top = names.iter().position(|known| *known == name).unwrap_or(names.len());
            if top == names.len() {
                names.push(name);
                tops.recasts.push(Vec::new());
                tops.units.push(vec![recast.own.clone()]);
            }
            if let (Some(recasts), Some(units)) = (tops.recasts.get_mut(top), tops.units.get_mut(top)) {
                recasts.push(number);
                units.push(recast.units.clone());
            }
        }
        for (top, forms) in tops.units.iter().enumerate() {
            for (form, units) in forms.iter().enumerate() {
                for &unit in units {
                    if let Some(owner) = tops.owners.get_mut(unit) {
                        *owner = Some((top, form));
                    }
                }
            }
        }
        tops
    }

    /// All columns as they are.
    pub fn as_is(&self) -> Forms {
        vec![0; self.units.len()]
    }

    /// Whether a unit exists with these forms.
    pub fn is_active(&self, unit: usize, forms: &Forms) -> bool {
        let owner = self.owners.get(unit).copied().flatten();
        owner.is_none_or(|(top, form)| forms.get(top) == Some(&form))
    }

    /// Whether a unit belongs to a column that gets another form.
    pub fn is_recast(&self, unit: usize, forms: &Forms) -> bool {
        let owner = self.owners.get(unit).copied().flatten();
        owner.is_some_and(|(top, _)| forms.get(top).is_some_and(|form| *form > 0))
    }

    /// The chosen other forms, as indices into [`FileStats::recasts`].
    pub fn chosen<'a>(&'a self, forms: &'a Forms) -> impl Iterator<Item = usize> + 'a {
        forms.iter().zip(&self.recasts).filter_map(|(form, recasts)| recasts.get(form.checked_sub(1)?).copied())
    }

    /// The best forms. The search starts from all columns in their present form, and from all in each other form, and
    /// gives one column after the other its best form.
    pub fn search(
        &self,
        value: &dyn Fn(&Cost) -> f64,
        decide: &dyn Fn(&Forms) -> Result<Chosen, Infeasible>,
    ) -> Result<Chosen, Infeasible> {
        let mut best = decide(&self.as_is());
        if self.units.is_empty() {
            return best;
        }
        if best.is_err() {
            // Limits that fail with the present forms may hold with others.
            let most = self.units.iter().map(Vec::len).max().unwrap_or(0);
            for form in 1..most {
                let all = self.units.iter().map(|forms| form.min(forms.len() - 1)).collect();
                best = best.or_else(|refused| decide(&all).map_err(|_| refused));
            }
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (top, forms) in self.units.iter().enumerate() {
                for form in 0..forms.len() {
                    let Ok(now) = &best else { return best };
                    let mut other = now.forms.clone();
                    match other.get_mut(top) {
                        Some(slot) if *slot != form => *slot = form,
                        _ => continue,
                    }
                    let Ok(found) = decide(&other) else { continue };
                    // The present form wins back by any gain.
                    let worth = if form == 0 { 0.0 } else { WORTH * value(&self.cost(now, top)) };
                    if found.objective + worth < now.objective {
                        (best, changed) = (Ok(found), true);
                    }
                }
            }
            if !changed {
                break;
            }
        }
        best
    }

    /// The cost of a column in its chosen form.
    fn cost(&self, chosen: &Chosen, top: usize) -> Cost {
        let mut sum = Cost::default();
        let form = chosen.forms.get(top).copied().unwrap_or(0);
        let units = self.units.get(top).and_then(|forms| forms.get(form)).map(Vec::as_slice).unwrap_or_default();
        units.iter().filter_map(|&unit| chosen.costs.get(unit)).for_each(|cost| sum += *cost);
        sum
    }

    /// How many forms each column has.
    #[cfg(test)]
    pub fn counts(&self) -> Vec<usize> {
        self.units.iter().map(Vec::len).collect()
    }
}
