//! The values of both expressions of an index, read step by step as whole numbers, as ROOT has them: fractions are cut off. An expression
//! is a column, a number, or a sum, difference or product of those: there ROOT and this library compute the same.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use expr::Expression;
use rootfile::{Error, ErrorKind, Hint, Result};

use crate::arrow::read::Dataset;
use crate::keys::KeyNames;
use crate::keys::columns::{KeyColumns, KeyReading, KeyStep};
use crate::select::{OpenColumns, refused};

/// What an expression is.
enum Source {
    Constant(i64),
    /// The place among the parts that are read.
    Part(usize),
}

/// The columns of an index in an open table.
pub(crate) struct IndexValues {
    columns: KeyColumns,
    sources: Vec<Source>,
}

/// What is done with the major and the minor values of some entries.
type TakeValues<'a> = &'a mut dyn FnMut([&[i64]; 2], &KeyStep<'_>) -> Result<()>;

impl IndexValues {
    /// Opens the columns in a table of this path. The inner error says why it can have no such index. `option` gave the expressions, if one
    /// did.
    ///
    /// # Errors
    ///
    /// The table cannot be read.
    pub fn open(
        path: &str,
        open: OpenColumns<'_>,
        expressions: &[String; 2],
        option: &'static str,
    ) -> Result<std::result::Result<Self, Error>> {
        let why_not = |what: String| match option.is_empty() {
            true => Error::request(what),
            false => Error::request(format!("{}: {what}", Hint::named(option))).hint(Hint::named(option)),
        };
        let (mut texts, mut sources): (Vec<&str>, Vec<Source>) = (Vec::new(), Vec::new());
        for text in expressions.iter().map(|text| text.trim()) {
            if let Ok(number) = text.parse() {
                sources.push(Source::Constant(number));
                continue;
            }
            if !is_plain(text) {
                return Ok(Err(why_not(format!("expression {text:?} is no column, and no sum or product of columns"))));
            }
            let place = texts.iter().position(|known| *known == text).unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            sources.push(Source::Part(place));
        }
        if texts.is_empty() {
            return Ok(Err(why_not("its expressions are no columns".to_owned())));
        }
        let key = KeyNames::of(texts.iter().copied())?.given_by(option);
        let columns = match KeyColumns::open(path, open, &key, &[]) {
            Ok(Ok(columns)) => columns,
            Ok(Err(lacking)) => return Ok(Err(refused(&lacking, option))),
            Err(e) if is_reason(&e) => return Ok(Err(e)),
            Err(e) => return Err(e),
        };
        for (text, part) in texts.iter().zip(columns.parts()) {
            if is_column(columns.dataset(), text) {
                continue;
            }
            let names = Expression::parse(text).map(|expression| expression.names()).unwrap_or_default();
            if let Some(name) = names.iter().find(|name| !is_column(columns.dataset(), name)) {
                return Ok(Err(why_not(format!("{name} of expression {text:?} is no column"))));
            }
            if !part.data_type.is_integer() {
                return Ok(Err(why_not(format!("expression {text:?} is no whole number"))));
            }
        }
        Ok(Ok(Self { columns, sources }))
    }

    pub fn dataset(&self) -> &Dataset {
        self.columns.dataset()
    }

    /// Calls `take` with the major and the minor values of the entries, and with what else is known of them, step by step.
    ///
    /// # Errors
    ///
    /// A column cannot be read, a value is no whole number of 64 bits, or `take` fails.
    pub fn each_step(&self, how: &KeyReading<'_>, take: TakeValues<'_>) -> Result<()> {
        self.columns.each_step(how, &mut |step| {
            let mut values = Vec::with_capacity(self.sources.len());
            for source in &self.sources {
                values.push(match source {
                    Source::Constant(number) => vec![*number; step.rows.count],
                    Source::Part(place) => self.whole(*place, &step.arrays)?,
                });
            }
            let [majors, minors] = values.as_slice() else { return Err(Error::request("its expressions are not two")) };
            take([majors, minors], step)
        })
    }

    /// The values of a part as whole numbers.
    fn whole(&self, place: usize, arrays: &[ArrayRef]) -> Result<Vec<i64>> {
        let whole = arrays.get(place).and_then(|array| arrow_cast::cast(array, &DataType::Int64).ok());
        let whole = whole.filter(|whole| whole.null_count() == 0);
        let name = self.columns.parts().get(place).map_or("", |part| part.name.as_str());
        let wrong = || Error::differs(format!("a value of {name} is no whole number of 64 bits"));
        Ok(whole.ok_or_else(wrong)?.as_primitive::<Int64Type>().values().to_vec())
    }
}

/// Whether an error says why a table can have no index, and not that something is damaged.
pub(super) fn is_reason(error: &Error) -> bool {
    let of_memory = error.hints().iter().any(|hint| hint.option() == "memory");
    matches!(error.kind(), ErrorKind::Request(_) | ErrorKind::Unsupported(_) | ErrorKind::Differs(_)) && !of_memory
}

/// Whether a text has names, numbers and the signs of sums and products alone.
fn is_plain(text: &str) -> bool {
    !text.contains("**") && text.chars().all(|c| c.is_alphanumeric() || "_.: +-*()".contains(c))
}

fn is_column(dataset: &Dataset, name: &str) -> bool {
    dataset.columns().iter().any(|column| column.field().name() == name)
}
