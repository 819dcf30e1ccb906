//! The columns of a table, each planned when it is asked for: of thousands a request reads few. It knows which nodes are columns, and
//! not how they are planned.

use std::sync::OnceLock;

use dataset::table::TableColumn;

/// Columns by their numbers, in the order of their nodes.
pub(super) struct PlannedColumns {
    nodes: Vec<usize>,
    planned: Vec<OnceLock<TableColumn>>,
    /// All of them, once somebody needs all.
    all: OnceLock<Vec<TableColumn>>,
}

impl PlannedColumns {
    /// The columns of these nodes, in ascending order.
    pub fn of(nodes: Vec<usize>) -> Self {
        Self { planned: nodes.iter().map(|_| OnceLock::new()).collect(), nodes, all: OnceLock::new() }
    }

    /// Columns that are planned.
    pub fn made(columns: Vec<TableColumn>) -> Self {
        let nodes = columns.iter().map(TableColumn::node).collect();
        let planned = columns.iter().map(|column| OnceLock::from(column.clone())).collect();
        Self { nodes, planned, all: OnceLock::from(columns) }
    }

    /// The nodes of the columns.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// A column, which `plan` plans for its node. None if there is no such column or no plan.
    pub fn get(&self, column: usize, plan: impl FnOnce(usize) -> Option<TableColumn>) -> Option<&TableColumn> {
        let (node, planned) = self.nodes.get(column).zip(self.planned.get(column))?;
        match planned.get() {
            Some(known) => Some(known),
            None => {
                let made = plan(*node)?;
                Some(planned.get_or_init(|| made))
            }
        }
    }

    /// All columns.
    pub fn all(&self, plan: impl Fn(usize) -> Option<TableColumn>) -> &[TableColumn] {
        let plan = |column| self.get(column, &plan).cloned();
        self.all.get_or_init(|| (0..self.nodes.len()).filter_map(plan).collect())
    }

    /// How many have been planned.
    pub fn number_planned(&self) -> usize {
        self.planned.iter().filter(|planned| planned.get().is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn a_column_is_planned_once_and_only_if_it_is_asked_for() {
        let calls = AtomicUsize::new(0);
        let plan = |node: usize| {
            calls.fetch_add(1, Ordering::Relaxed);
            (node != 5).then(|| TableColumn::Array { field: Arc::new(Field::new("x", DataType::Int32, false)), node })
        };
        let columns = PlannedColumns::of(vec![1, 3, 5, 8]);
        assert_eq!((columns.nodes(), columns.number_planned()), (&[1, 3, 5, 8][..], 0));
        assert_eq!(columns.get(1, plan).map(TableColumn::node), Some(3));
        assert_eq!(columns.get(1, plan).map(TableColumn::node), Some(3));
        assert!(columns.get(2, plan).is_none() && columns.get(4, plan).is_none());
        assert_eq!((calls.load(Ordering::Relaxed), columns.number_planned()), (2, 1));
        let all: Vec<usize> = columns.all(plan).iter().map(TableColumn::node).collect();
        assert_eq!((all, columns.number_planned()), (vec![1, 3, 8], 3));
        let made = PlannedColumns::made(columns.all(plan).to_vec());
        assert_eq!((made.nodes(), made.get(2, |_| None).map(TableColumn::node)), (&[1, 3, 8][..], Some(8)));
    }
}
