//! A part of a campaign: every N-th run, from the I-th on.

use std::fmt;
use std::str::FromStr;

/// The `part`-th of `of` parts; both count from 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    part: u64,
    of: u64,
}

impl Shard {
    /// True if the run of this number, from 1, is in the part, provided that it is the first of its scenario. Adjacent
    /// runs belong to different parts, so that every part gets a share of the long ones.
    pub const fn has(self, run: u64) -> bool {
        (run - 1) % self.of == self.part - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    /// `1/4`.
    fn from_str(written: &str) -> Result<Self, String> {
        let fail = || format!("`{written}` is not a part such as `1/4`, the first of four");
        let (part, of) = written.split_once('/').ok_or_else(fail)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| fail());
        let (part, of) = (number(part)?, number(of)?);
        if of == 0 || part == 0 {
            return Err(fail());
        }
        if part > of {
            return Err(format!("there is no part {part} of {of}; the last is `{of}/{of}`"));
        }
        Ok(Self { part, of })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_one_part() {
        for of in 1..6 {
            let shards: Vec<Shard> = (1..=of).map(|part| format!("{part}/{of}").parse().unwrap()).collect();
            for run in 1..40 {
                assert_eq!(
                    shards.iter().filter(|shard| shard.has(run)).count(),
                    1,
                    "run {run} of {of} parts"
                );
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let said = |text: &str| text.parse::<Shard>().unwrap_err();
        assert_eq!(said("3/2"), "there is no part 3 of 2; the last is `2/2`");
        assert_eq!(said("0/2"), "`0/2` is not a part such as `1/4`, the first of four");
        assert_eq!(said("half"), "`half` is not a part such as `1/4`, the first of four");
    }
}
