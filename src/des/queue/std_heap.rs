//! The standard library's binary heap, the yardstick.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{EventQueue, Key};

/// `std::collections::BinaryHeap` turned into a queue of the earliest.
#[derive(Debug, Clone)]
pub struct StdHeap<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
}

#[derive(Debug, Clone)]
struct Entry<E> {
    key: Key,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<E> EventQueue<E> for StdHeap<E> {
    fn new() -> Self {
        Self { heap: BinaryHeap::new() }
    }

    fn push(&mut self, key: Key, event: E) {
        self.heap.push(Reverse(Entry { key, event }));
    }

    fn pop(&mut self) -> Option<(Key, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.key, entry.event))
    }

    fn peek(&mut self) -> Option<Key> {
        self.heap.peek().map(|Reverse(entry)| entry.key)
    }

    fn len(&self) -> usize {
        self.heap.len()
    }
}
