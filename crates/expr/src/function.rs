//! The functions: their names, in Python's, NumPy's, ROOT's and C's spelling, and what each takes.

use crate::error::near;
use crate::typed::{Fold, Math, Math2, TextTest};

/// What a function does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    /// One number to one number.
    Math(Math),
    /// The same where a larger number never gives a smaller one, and all numbers between two of the domain are in it.
    Rising(Math),
    /// Two numbers to one number.
    Math2(Math2),
    /// `abs`, which keeps whole numbers whole.
    Abs,
    Negative,
    /// With one argument a [`Fold`], with two the smaller or larger of both.
    Min,
    Max,
    /// All values of an entry to one.
    Fold(Fold),
    /// `MinIf$` and `MaxIf$`: only where the second argument is true.
    FoldIf(Fold),
    Count,
    Length,
    Empty,
    First,
    Last,
    At,
    Where,
    And,
    Or,
    Not,
    /// The first argument, and where it has no value the second.
    Alternative,
    IsNull,
    IsNan,
    IsInf,
    IsFinite,
    ToWhole,
    ToNumber,
    ToBool,
    Test(TextTest),
    DeltaPhi,
    DeltaR,
    Pi,
    E,
}

/// The functions with their names.
const FUNCTIONS: &[(&str, Function)] = &[
    ("any Any", Function::Fold(Fold::Any)),
    ("all All", Function::Fold(Fold::All)),
    ("sum Sum$ Sum", Function::Fold(Fold::Sum)),
    ("mean Mean", Function::Fold(Fold::Mean)),
    ("min Min$ fmin", Function::Min),
    ("max Max$ fmax", Function::Max),
    ("MinIf$", Function::FoldIf(Fold::Min)),
    ("MaxIf$", Function::FoldIf(Fold::Max)),
    ("argmin ArgMin", Function::Fold(Fold::ArgMin)),
    ("argmax ArgMax", Function::Fold(Fold::ArgMax)),
    ("count", Function::Count),
    ("len Length$ size length", Function::Length),
    ("empty", Function::Empty),
    ("first", Function::First),
    ("last", Function::Last),
    ("at", Function::At),
    ("where Where", Function::Where),
    ("logical_and", Function::And),
    ("logical_or", Function::Or),
    ("logical_not", Function::Not),
    ("Alt$", Function::Alternative),
    ("isnull", Function::IsNull),
    ("isnan", Function::IsNan),
    ("isinf", Function::IsInf),
    ("isfinite finite", Function::IsFinite),
    ("int", Function::ToWhole),
    ("float double", Function::ToNumber),
    ("bool", Function::ToBool),
    ("startswith starts_with", Function::Test(TextTest::StartsWith)),
    ("endswith ends_with", Function::Test(TextTest::EndsWith)),
    ("contains", Function::Test(TextTest::Contains)),
    ("deltaphi DeltaPhi", Function::DeltaPhi),
    ("deltar DeltaR", Function::DeltaR),
    ("abs absolute fabs", Function::Abs),
    ("neg negative", Function::Negative),
    ("pi", Function::Pi),
    ("e", Function::E),
    ("sqrt", Function::Rising(f64::sqrt)),
    ("cbrt", Function::Rising(f64::cbrt)),
    ("exp", Function::Rising(f64::exp)),
    ("exp2", Function::Rising(f64::exp2)),
    ("expm1", Function::Rising(f64::exp_m1)),
    ("log", Function::Rising(f64::ln)),
    ("log10", Function::Rising(f64::log10)),
    ("log2", Function::Rising(f64::log2)),
    ("log1p", Function::Rising(f64::ln_1p)),
    ("sin", Function::Math(f64::sin)),
    ("cos", Function::Math(f64::cos)),
    ("tan", Function::Math(f64::tan)),
    ("asin arcsin", Function::Math(f64::asin)),
    ("acos arccos", Function::Math(f64::acos)),
    ("atan arctan", Function::Rising(f64::atan)),
    ("sinh", Function::Rising(f64::sinh)),
    ("cosh", Function::Math(f64::cosh)),
    ("tanh", Function::Rising(f64::tanh)),
    ("asinh arcsinh", Function::Rising(libm::asinh)),
    ("acosh arccosh", Function::Math(libm::acosh)),
    ("atanh arctanh", Function::Math(libm::atanh)),
    ("floor", Function::Rising(f64::floor)),
    ("ceil", Function::Rising(f64::ceil)),
    ("trunc", Function::Rising(f64::trunc)),
    ("round rint nint", Function::Rising(f64::round_ties_even)),
    ("std::round", Function::Rising(f64::round)),
    ("erf", Function::Rising(libm::erf)),
    ("erfc", Function::Math(libm::erfc)),
    ("gamma tgamma", Function::Math(libm::tgamma)),
    ("lgamma lngamma", Function::Math(libm::lgamma)),
    ("factorial", Function::Math(factorial)),
    ("sq", Function::Math(square)),
    ("atan2 arctan2", Function::Math2(f64::atan2)),
    ("hypot", Function::Math2(f64::hypot)),
    ("pow power", Function::Math2(f64::powf)),
    ("fmod", Function::Math2(remainder)),
    ("copysign", Function::Math2(f64::copysign)),
    ("nextafter", Function::Math2(libm::nextafter)),
];

/// The namespaces whose functions are known without them. In `TMath` names begin with a capital letter.
const NAMESPACES: [&str; 5] = ["TMath::", "ROOT::VecOps::", "VecOps::", "std::", "np."];

fn factorial(value: f64) -> f64 {
    libm::tgamma(value.round_ties_even() + 1.0)
}

fn square(value: f64) -> f64 {
    value * value
}

fn remainder(value: f64, divisor: f64) -> f64 {
    value % divisor
}

/// The angle from one to another, from -pi to pi: the second less the first, as `ROOT::VecOps::DeltaPhi` has it.
pub(crate) fn delta_phi(from: f64, to: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    let difference = (to - from) % turn;
    if difference < -std::f64::consts::PI {
        difference + turn
    } else if difference > std::f64::consts::PI {
        difference - turn
    } else {
        difference
    }
}

/// The function of a name. One that is another with its namespace is known by both together.
pub(crate) fn find(name: &str) -> Option<Function> {
    let bare = NAMESPACES.into_iter().find_map(|space| name.strip_prefix(space));
    let named = |wanted: &str| {
        let mut all = FUNCTIONS.iter();
        all.find(|(names, _)| names.split(' ').any(|one| one == wanted)).map(|(_, function)| *function)
    };
    named(name).or_else(|| named(bare?)).or_else(|| named(&bare?.to_lowercase()))
}

/// The names of functions that are most like one, each function once.
pub(crate) fn like(name: &str) -> Vec<&'static str> {
    let named = |one: &str| FUNCTIONS.iter().position(|(names, _)| names.split(' ').any(|name| name == one));
    let bare = FUNCTIONS.iter().flat_map(|(names, _)| names.split(' ')).filter(|name| !name.contains("::"));
    near(name, bare, named)
}
