//! A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, J. ACM 37(2), 1990): since events are never scheduled in the past,
//! they can wait in buckets by the highest bit in which their time differs from the clock, and each moves down at
//! most once per bit. The bucket of the current instant is a stack in insertion order.

use super::{EventQueue, Key};
use crate::des::SimTime;

/// Buckets by the highest differing bit; bucket 0 holds the events of the instant `last`.
#[derive(Debug, Clone)]
pub struct RadixHeap<E> {
    last: u64,
    /// Events at `last`, latest number first.
    now: Vec<(u64, E)>,
    buckets: Vec<Vec<(Key, E)>>,
    occupied: u64,
    length: usize,
}

impl<E> RadixHeap<E> {
    fn bucket(last: u64, at: u64) -> usize {
        // 1 ..= 64: the position of the highest differing bit.
        64 - (last ^ at).leading_zeros() as usize
    }

    /// Moves the earliest events into `now`.
    fn refill(&mut self) {
        if !self.now.is_empty() || self.occupied == 0 {
            return;
        }
        let lowest = self.occupied.trailing_zeros() as usize;
        self.occupied &= !(1 << lowest);
        let mut bucket = std::mem::take(&mut self.buckets[lowest]);
        let earliest =
            bucket.iter().map(|(key, _)| key.at.ps()).min().expect("an occupied bucket holds events");
        self.last = earliest;
        for (key, event) in bucket.drain(..) {
            self.place(key, event);
        }
        self.buckets[lowest] = bucket;
        self.now.sort_unstable_by(|a, b| b.0.cmp(&a.0));
    }

    fn place(&mut self, key: Key, event: E) {
        let at = key.at.ps();
        if at == self.last {
            self.now.push((key.number, event));
        } else {
            let bucket = Self::bucket(self.last, at) - 1;
            self.buckets[bucket].push((key, event));
            self.occupied |= 1 << bucket;
        }
    }
}

impl<E> EventQueue<E> for RadixHeap<E> {
    fn new() -> Self {
        Self {
            last: 0,
            now: Vec::new(),
            buckets: std::iter::repeat_with(Vec::new).take(64).collect(),
            occupied: 0,
            length: 0,
        }
    }

    fn push(&mut self, key: Key, event: E) {
        self.length += 1;
        if key.at.ps() == self.last {
            // Later numbers come later: they belong below those that wait at this instant.
            let place = self.now.partition_point(|(number, _)| *number > key.number);
            self.now.insert(place, (key.number, event));
        } else {
            self.place(key, event);
        }
    }

    fn pop(&mut self) -> Option<(Key, E)> {
        self.refill();
        let (number, event) = self.now.pop()?;
        self.length -= 1;
        Some((Key { at: SimTime::from_ps(self.last), number }, event))
    }

    fn peek(&mut self) -> Option<Key> {
        self.refill();
        self.now.last().map(|(number, _)| Key { at: SimTime::from_ps(self.last), number: *number })
    }

    fn len(&self) -> usize {
        self.length
    }
}
