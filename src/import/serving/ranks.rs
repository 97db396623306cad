//! Who wrote a line, and whether another rank says the same.
//!
//! All ranks of a tensor-parallel group decode the same batch. Usually one of them logs; where several do, one of them is
//! followed and the lines of the others are repetitions. Data-parallel replicas (`DP1`) decode batches of their own.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::units::Seconds;

/// Lines of another rank without one of the followed rank, after which the other one is followed.
const PATIENCE: u32 = 4;

/// Replicas, and ranks of each, that are told apart: more than any server has, so that garbage takes no memory.
const MOST_REPLICAS: usize = 1024;

/// Data-parallel and other ranks in a line's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Rank {
    /// Data-parallel replica.
    pub(super) replica: u32,
    /// Rank within it: of pipeline, tensor and expert parallelism, and `gpu=`.
    within: [u32; 3],
}

impl Rank {
    /// From the words of a prefix such as `[2025-06-07 21:25:14 DP0 TP3 EP3] `.
    pub(super) fn of(prefix: &str) -> Self {
        let mut rank = Self::default();
        let inner = prefix.rfind('[').map_or("", |at| &prefix[at + 1..]);
        for word in inner.split([' ', ']']) {
            let (name, number) = word.split_at(word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len()));
            let Ok(number) = number.parse() else { continue };
            match name {
                "DP" => rank.replica = number,
                "PP" => rank.within[0] = number,
                "TP" | "gpu=" | "gpu_id=" => rank.within[1] = number,
                "EP" => rank.within[2] = number,
                _ => {}
            }
        }
        rank
    }
}

/// Decides line by line which rank speaks for each replica.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    groups: BTreeMap<u32, Group>,
}

#[derive(Debug)]
struct Group {
    followed: Rank,
    /// Clock of its last line.
    clock: Option<Seconds>,
    /// Lines of others, later than its last one.
    others: BTreeMap<Rank, u32>,
    /// Hash of its last line, stamp included.
    last: u64,
}

impl Ranks {
    /// Whether a line is to be counted: not that of another rank, and not the last one again.
    pub(super) fn counts(&mut self, rank: Rank, prefix: &str, body: &str, clock: Option<Seconds>) -> bool {
        if self.groups.len() >= MOST_REPLICAS && !self.groups.contains_key(&rank.replica) {
            return false;
        }
        let new = Group { followed: rank, clock, others: BTreeMap::new(), last: 0 };
        let group = self.groups.entry(rank.replica).or_insert(new);
        if group.followed != rank {
            // Lines of another rank up to the clock of the followed one repeat what that one said, in whatever order.
            let later = group.clock.zip(clock).is_none_or(|(followed, other)| other > followed);
            if !later || group.others.len() >= MOST_REPLICAS {
                return false;
            }
            let lines = group.others.entry(rank).or_default();
            *lines += 1;
            if *lines < PATIENCE {
                return false;
            }
            group.followed = rank;
        }
        group.others.clear();
        group.clock = clock;
        let mut hasher = DefaultHasher::new();
        (prefix, body).hash(&mut hasher);
        let hash = hasher.finish();
        let again = group.last == hash;
        group.last = hash;
        !again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_all_versions() {
        let rank = |replica, within| Rank { replica, within };
        assert_eq!(Rank::of("[2025-06-07 21:25:14 TP3] "), rank(0, [0, 3, 0]));
        assert_eq!(Rank::of("[2025-06-07 21:25:14 DP2 TP5 EP5] "), rank(2, [0, 5, 5]));
        assert_eq!(Rank::of("[2025-06-07 21:25:14 PP1 TP0] "), rank(0, [1, 0, 0]));
        assert_eq!(Rank::of("[gpu=1] "), rank(0, [0, 1, 0]));
        assert_eq!(Rank::of("[gpu_id=2] "), rank(0, [0, 2, 0]));
        assert_eq!(Rank::of("[2025-06-07 21:25:14] "), Rank::default());
        assert_eq!(Rank::of(""), Rank::default());
    }

    #[test]
    fn eight_ranks_count_once_and_another_takes_over_from_a_silent_one() {
        let mut ranks = Ranks::default();
        let mut says = |tick: u32, tp: u32, body: &str| {
            let prefix = format!("[2025-06-07 21:25:{tick:02} TP{tp}] ");
            ranks.counts(Rank::of(&prefix), &prefix, body, Some(Seconds::new(f64::from(tick))))
        };
        let mut counted = 0;
        for tick in 0..20 {
            for tp in 0..8 {
                counted += u32::from(says(tick, tp, "same"));
            }
        }
        assert_eq!(counted, 20);
        assert!(
            (0..20).all(|tick| !says(tick, 5, "from a second file")),
            "files of ranks one after the other"
        );
        let heard: Vec<bool> = (30..36).map(|tick| says(tick, 5, "alone")).collect();
        assert_eq!(heard, [false, false, false, true, true, true]);
        assert!(!says(35, 5, "alone"), "the same line again");
    }
}
