//! Numbers of threads, as an option has them: `4`, `1,2,4`, `1..8`, or several of these; 0 is the number of processors.

use std::fmt;
use std::str::FromStr;

/// More threads than any machine has are a slip.
const MOST: usize = 4096;

/// Numbers of threads, at least one, as they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadCounts(Vec<usize>);

impl ThreadCounts {
    /// All of them, with the number of processors in the place of 0.
    pub fn all(&self) -> Vec<usize> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.0.iter().map(|&count| if count == 0 { processors } else { count }).collect()
    }

    /// The largest.
    pub fn most(&self) -> usize {
        self.all().into_iter().max().unwrap_or(1)
    }
}

impl FromStr for ThreadCounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no number of threads: write 4, 1,2,4 or 1..8; 0 is all processors");
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n <= MOST).ok_or_else(wrong);
        let mut counts = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, last)) => {
                    let last = Self(vec![number(last)?]).most();
                    let first = number(first)?;
                    if first == 0 || first > last {
                        return Err(wrong());
                    }
                    counts.extend(first..=last);
                }
                None => counts.push(number(part)?),
            }
        }
        Ok(Self(counts))
    }
}

impl fmt::Display for ThreadCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl From<usize> for ThreadCounts {
    fn from(count: usize) -> Self {
        Self(vec![count])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let of = |text: &str| text.parse::<ThreadCounts>().map(|counts| counts.0);
        assert_eq!(of("3"), Ok(vec![3]));
        assert_eq!(of("1..3,8"), Ok(vec![1, 2, 3, 8]));
        assert_eq!(of(" 1, 2"), Ok(vec![1, 2]));
        let processors = std::thread::available_parallelism().unwrap().get();
        assert_eq!(of("1..0"), Ok((1..=processors).collect()));
        assert_eq!("0".parse::<ThreadCounts>().unwrap().all(), [processors]);
        for wrong in ["", "1..", "3..2", "0..2", "-1", "1.5", "5000", "1;2"] {
            assert!(of(wrong).unwrap_err().contains("1..8"), "{wrong}");
        }
        assert_eq!("1..3".parse::<ThreadCounts>().unwrap().to_string(), "1,2,3");
    }
}
