//! Which columns are read.

use std::collections::BTreeSet;

use dataset::glob::Pattern;
use dataset::near::{advice, no_match};
use flow::read::{Dataset, Friend};
use rootfile::{Error, Hint, Result};

/// Says whether a column is meant, by its name.
type Test = Box<dyn Fn(&str) -> bool>;

/// Which columns are read.
#[derive(Clone, Debug, Default)]
pub enum Columns {
    /// All, except for projected fields of RNTuples.
    #[default]
    All,
    /// Columns by name or pattern; each must match at least one. They are values of the option `branches`.
    Named(Vec<String>),
    /// The same, as arguments.
    Listed(Vec<String>),
    /// Columns whose whole name matches an expression; each must match at least one.
    Matching(Vec<String>),
}

impl Columns {
    /// The option that names them.
    fn option(&self) -> Option<&'static str> {
        match self {
            Self::Matching(_) => Some("branches-regex"),
            Self::Named(_) => Some("branches"),
            Self::Listed(_) | Self::All => None,
        }
    }

    /// The columns meant, in the order of the tree. What is no branch of its own is looked for among those of its
    /// friends, which are called `friend.branch`, and come last. A text that means none is an error, unless that is allowed.
    pub(crate) fn choose(&self, dataset: &Dataset, allow_no_match: bool) -> Result<Vec<usize>> {
        let name = |column: usize| dataset.column(column).map_or("", |plan| plan.field().name().as_str());
        let (default, own) = (dataset.default_columns(), Vec::from_iter(0..dataset.columns().len()));
        let by = |matches: &[Test], texts: &[String]| {
            let (mut found, mut of_friends) = (BTreeSet::new(), BTreeSet::new());
            for (is_meant, text) in matches.iter().zip(texts) {
                let meant = |columns: &[usize]| -> Vec<usize> {
                    columns.iter().copied().filter(|&column| is_meant(name(column))).collect()
                };
                let mut all_own = meant(&default);
                if all_own.is_empty() && own.len() > default.len() {
                    // A field has the values of those below, so these are meant only where no whole one is.
                    all_own = meant(&own);
                }
                if all_own.is_empty() {
                    let theirs = meant(&dataset.friends().iter().flat_map(Friend::columns).collect::<Vec<_>>());
                    if theirs.is_empty() && !allow_no_match {
                        return Err(none(dataset, self.option(), text));
                    }
                    of_friends.extend(theirs);
                }
                found.extend(all_own);
            }
            Ok(found.into_iter().chain(of_friends).collect())
        };
        match self {
            // A column in a missing file is only selected by name: the error says why it cannot be read.
            Self::All => {
                Ok(dataset.stored_columns().into_iter().filter(|&column| dataset.absent(column).is_none()).collect())
            }
            Self::Named(texts) | Self::Listed(texts) => {
                let patterns = texts.iter().map(|text| {
                    let pattern = Pattern::new(text)?;
                    // A branch is meant with all below it, and by its last name alone.
                    Ok(Box::new(move |name: &str| {
                        name.match_indices('/').map(|(i, _)| i).chain([name.len()]).any(|end| {
                            let upto = name.get(..end).unwrap_or(name);
                            pattern.matches(upto) || upto.rsplit('/').next().is_some_and(|last| pattern.matches(last))
                        })
                    }) as Test)
                });
                by(&patterns.collect::<Result<Vec<_>>>()?, texts)
            }
            Self::Matching(texts) => {
                let patterns = texts.iter().map(|text| {
                    let pattern = Pattern::expression(text)?;
                    Ok(Box::new(move |name: &str| {
                        pattern.matches(name) || name.rsplit('/').next().is_some_and(|last| pattern.matches(last))
                    }) as Test)
                });
                by(&patterns.collect::<Result<Vec<_>>>()?, texts)
            }
        }
    }
}

/// Why a text means no column: perhaps it is one of a friend that cannot be read.
fn none(dataset: &Dataset, option: Option<&'static str>, text: &str) -> Error {
    let named = |friend: &&Friend| text.strip_prefix(friend.name()).is_some_and(|rest| rest.starts_with('.'));
    let why = dataset.friends().iter().filter(named).find_map(|friend| friend.schema().err());
    let all = 0..dataset.number_of_columns();
    let theirs = dataset.friends().iter().flat_map(Friend::columns);
    let names = all.chain(theirs).filter_map(|column| Some(dataset.column(column)?.field().name().as_str()));
    let what = format!("branch of {} or its friends", dataset.path());
    why.unwrap_or_else(|| match option {
        Some(option) => no_match(option, text, what, names),
        None => {
            let pass = "--allow-no-match lets it pass";
            let message = format!("no {what} matches {text}{}; {pass}", advice(text, names));
            Error::request(message).hint(Hint::switch("allow-no-match"))
        }
    })
}
