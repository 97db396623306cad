//! Which part of the points one process of several computes.

use std::ops::Range;

/// Part `index` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    pub index: u64,
    /// How many there are.
    pub of: u64,
}

/// Parts of a sweep.
pub(super) const MOST_SHARDS: u64 = 1_000_000;

/// Why there is no such shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// Not of the form `i/n` with 1 ≤ i ≤ n.
    #[error("--shard takes `i/n` with i from 1 to n, such as 2/7, or `auto`, or `auto/7`; not `{0}`")]
    Form(String),
    /// `auto` without the variables of a scheduler.
    #[error(
        "--shard auto finds none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and PARALLEL_SEQ in the environment: give \
         `--shard i/n`"
    )]
    NoVariable,
    /// A variable of a scheduler that holds no number.
    #[error("--shard auto: {0} is `{1}`, no whole number: give `--shard i/n`")]
    Variable(&'static str, String),
    /// A variable of a scheduler that names none of the shards.
    #[error(
        "--shard auto: {name} is {value}, which is none of {of} shards: give `--shard i/n`, or `auto/n` with more"
    )]
    Beyond {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: u64,
        /// How many there are.
        of: u64,
    },
    /// More shards than points make sense of.
    #[error("--shard takes up to {MOST_SHARDS} shards, not {0}")]
    Many(u64),
    /// The scheduler says which one, not how many.
    #[error("{0} says which shard this is, and nothing says how many there are: give `--shard auto/n`")]
    NoCount(&'static str),
    /// An array job whose task numbers have gaps, as when a few tasks are run again.
    #[error(
        "the Slurm array has {count} tasks numbered {min} to {max}, so `auto` cannot tell the shards: give `--shard \
         \"$SLURM_ARRAY_TASK_ID/n\"`"
    )]
    Gaps {
        /// Tasks.
        count: u64,
        /// Least number.
        min: u64,
        /// Largest number.
        max: u64,
    },
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// Reads `2/7`, `auto` or `auto/7`; `variable` looks up the environment.
    ///
    /// `auto` takes the first of: `SLURM_ARRAY_TASK_ID` with `_COUNT`, `_MIN`, `_MAX` and `_STEP` (Slurm job arrays, numbered
    /// from anything), `JOB_COMPLETION_INDEX` (Kubernetes indexed jobs, from 0), `PARALLEL_SEQ` (GNU parallel, from 1); the
    /// latter two do not say how many there are. With `auto/n` a Slurm number counts from the array's least one.
    ///
    /// # Errors
    /// What is missing.
    pub fn parse(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ShardError> {
        let form = || ShardError::Form(text.to_owned());
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (index, of) = match text.trim().split_once('/') {
            None if text.trim() == "auto" => automatic(None, &variable)?,
            Some(("auto", of)) => automatic(Some(number(of).ok_or_else(form)?), &variable)?,
            Some((index, of)) => (number(index).ok_or_else(form)?, number(of).ok_or_else(form)?),
            None => return Err(form()),
        };
        if of > MOST_SHARDS {
            Err(ShardError::Many(of))
        } else if (1..=of).contains(&index) {
            Ok(Self { index, of })
        } else {
            Err(ShardError::Form(format!("{index}/{of}")))
        }
    }

    /// Its points among `total`: as equal parts as whole numbers allow, in order.
    pub fn range(self, total: u64) -> Range<u64> {
        let edge = |part: u64| (u128::from(total) * u128::from(part) / u128::from(self.of)) as u64;
        edge(self.index - 1)..edge(self.index)
    }
}

/// Which and how many, as the scheduler says.
fn automatic(of: Option<u64>, variable: &impl Fn(&str) -> Option<String>) -> Result<(u64, u64), ShardError> {
    let number = |name: &'static str| {
        let Some(value) = variable(name) else { return Ok(None) };
        let wrong = |_| ShardError::Variable(name, value.clone());
        value.trim().parse::<u64>().map(Some).map_err(wrong)
    };
    let known = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PARALLEL_SEQ"];
    let name = known.into_iter().find(|name| variable(name).is_some()).ok_or(ShardError::NoVariable)?;
    let value = number(name)?.ok_or(ShardError::NoVariable)?;
    let (index, of) = match name {
        "SLURM_ARRAY_TASK_ID" => {
            let least = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(1);
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
            let count = number("SLURM_ARRAY_TASK_COUNT")?;
            if let (Some(count), Some(max)) = (count, number("SLURM_ARRAY_TASK_MAX")?)
                && max.saturating_sub(least) / step != count.saturating_sub(1)
            {
                return Err(ShardError::Gaps { count, min: least, max });
            }
            (value.checked_sub(least).map(|above| above / step), of.or(count))
        }
        "JOB_COMPLETION_INDEX" => (Some(value), of),
        _ => (value.checked_sub(1), of),
    };
    let of = of.ok_or(ShardError::NoCount(name))?;
    match index.filter(|index| *index < of) {
        Some(index) => Ok((index + 1, of)),
        None => Err(ShardError::Beyond { name, value, of }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn auto(text: &str, variables: &[(&str, &str)]) -> Result<Shard, ShardError> {
        Shard::parse(text, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn shards_are_read_from_text_and_from_schedulers() {
        assert_eq!(auto("2/7", &[]), Ok(Shard { index: 2, of: 7 }));
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_MAX", "7"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
        ];
        assert_eq!(auto("auto", &slurm), Ok(Shard { index: 2, of: 3 }));
        assert_eq!(auto("auto/8", &[("JOB_COMPLETION_INDEX", "0")]), Ok(Shard { index: 1, of: 8 }));
        assert_eq!(auto("auto/8", &[("PARALLEL_SEQ", "8")]), Ok(Shard { index: 8, of: 8 }));
    }

    #[test]
    fn shards_that_cannot_be_are_refused() {
        for text in ["0/7", "8/7", "7", "a/7", "1/0", "auto/x", "-1/7"] {
            assert!(matches!(auto(text, &[("PARALLEL_SEQ", "1")]), Err(ShardError::Form(_))), "{text}");
        }
        assert_eq!(auto("auto", &[]), Err(ShardError::NoVariable));
        let most = u64::MAX;
        assert_eq!(auto(&format!("{most}/{most}"), &[]), Err(ShardError::Many(most)));
        for (name, value) in
            [("SLURM_ARRAY_TASK_ID", "abc"), ("JOB_COMPLETION_INDEX", "-1"), ("PARALLEL_SEQ", "")]
        {
            assert_eq!(auto("auto/4", &[(name, value)]), Err(ShardError::Variable(name, value.to_owned())));
        }
        for (name, value) in [("SLURM_ARRAY_TASK_ID", 0), ("JOB_COMPLETION_INDEX", 4), ("PARALLEL_SEQ", 5)] {
            let told = auto("auto/4", &[(name, &value.to_string())]);
            assert_eq!(told, Err(ShardError::Beyond { name, value, of: 4 }));
        }
        let last = [("JOB_COMPLETION_INDEX", u64::MAX.to_string())];
        let told = auto("auto/4", &[(last[0].0, &last[0].1)]);
        assert!(
            told.is_err_and(|error| error
                .to_string()
                .contains("JOB_COMPLETION_INDEX is 18446744073709551615"))
        );
        assert_eq!(auto("auto", &[("PARALLEL_SEQ", "1")]), Err(ShardError::NoCount("PARALLEL_SEQ")));
        let again = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_MAX", "5"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
        ];
        assert_eq!(auto("auto", &again), Err(ShardError::Gaps { count: 2, min: 3, max: 5 }));
    }

    proptest! {
        #[test]
        fn shards_partition_the_points(total in 0_u64..2_000_000_000, of in 1_u64..3000) {
            let mut next = 0;
            let least = total / of;
            for index in 1..=of {
                let range = Shard { index, of }.range(total);
                prop_assert_eq!(range.start, next);
                prop_assert!((least..=least + 1).contains(&(range.end - range.start)));
                next = range.end;
            }
            prop_assert_eq!(next, total);
        }
    }
}
