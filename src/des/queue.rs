//! Event queues: one order, several structures. Which one the kernel uses was decided by measurement; see
//! `docs/decisions/0006-event-queue.md` and `benches/des.rs`.

mod heap4;
mod radix;
mod sorted;
mod std_heap;

pub use heap4::Heap4;
pub use radix::RadixHeap;
pub use sorted::SortedList;
pub use std_heap::StdHeap;

use super::SimTime;

/// When an event happens: time, then insertion number. The one definition of the order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The time.
    pub at: SimTime,
    /// Its number in the order of scheduling.
    pub number: u64,
}

impl Key {
    /// Both as one integer, for branch-free comparison.
    pub(super) const fn packed(self) -> u128 {
        ((self.at.ps() as u128) << 64) | self.number as u128
    }
}

/// A queue of events. Keys are unique; those pushed are never below the last one popped.
pub trait EventQueue<E> {
    /// An empty queue.
    fn new() -> Self;
    /// Puts an event in.
    fn push(&mut self, key: Key, event: E);
    /// Takes the earliest event out.
    fn pop(&mut self) -> Option<(Key, E)>;
    /// The earliest key.
    fn peek(&mut self) -> Option<Key>;
    /// Events inside.
    fn len(&self) -> usize;
    /// Whether none is inside.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pops and pushes in a given pattern; every queue must give the same order as the sorted list.
    fn drain<Q: EventQueue<u32>>(steps: &[(u64, bool)]) -> Vec<(Key, u32)> {
        let mut queue = Q::new();
        let mut now = 0;
        let mut out = Vec::new();
        for (number, &(delay, pop)) in steps.iter().enumerate() {
            queue.push(Key { at: SimTime::from_ps(now + delay), number: number as u64 }, number as u32);
            if pop {
                let peeked = queue.peek();
                let (key, event) = queue.pop().expect("one was pushed");
                assert_eq!(peeked, Some(key));
                now = key.at.ps();
                out.push((key, event));
            }
        }
        while let Some(popped) = queue.pop() {
            out.push(popped);
        }
        assert!(queue.is_empty());
        out
    }

    proptest! {
        #[test]
        fn all_queues_agree_with_the_sorted_list(
            steps in prop::collection::vec((prop_oneof![0u64..4, 0u64..1000, 0u64..u64::from(u32::MAX)], any::<bool>()), 1..300)
        ) {
            let truth = drain::<SortedList<u32>>(&steps);
            prop_assert_eq!(&drain::<StdHeap<u32>>(&steps), &truth);
            prop_assert_eq!(&drain::<Heap4<u32>>(&steps), &truth);
            prop_assert_eq!(&drain::<RadixHeap<u32>>(&steps), &truth);
        }
    }
}
