//! The slow, obvious queue: a list kept in order. The others are tested against it.

use super::{EventQueue, Key};

/// A list in descending order of keys; pushing is linear.
#[derive(Debug, Clone, Default)]
pub struct SortedList<E> {
    list: Vec<(Key, E)>,
}

impl<E> EventQueue<E> for SortedList<E> {
    fn new() -> Self {
        Self { list: Vec::new() }
    }

    fn push(&mut self, key: Key, event: E) {
        let place = self.list.partition_point(|(other, _)| *other > key);
        self.list.insert(place, (key, event));
    }

    fn pop(&mut self) -> Option<(Key, E)> {
        self.list.pop()
    }

    fn peek(&mut self) -> Option<Key> {
        self.list.last().map(|(key, _)| *key)
    }

    fn len(&self) -> usize {
        self.list.len()
    }
}
