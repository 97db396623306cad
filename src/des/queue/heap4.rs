//! A four-way heap: half the levels of a binary heap, and the four children of a node lie side by side.

use super::{EventQueue, Key};

const WAYS: usize = 4;

/// An implicit heap with four children per node.
#[derive(Debug, Clone)]
pub struct Heap4<E> {
    keys: Vec<u128>,
    events: Vec<E>,
}

impl<E> Heap4<E> {
    fn key(packed: u128) -> Key {
        Key { at: crate::des::SimTime::from_ps((packed >> 64) as u64), number: packed as u64 }
    }

    fn rise(&mut self, mut place: usize) {
        let key = self.keys[place];
        while place > 0 {
            let parent = (place - 1) / WAYS;
            if self.keys[parent] <= key {
                break;
            }
            self.keys.swap(place, parent);
            self.events.swap(place, parent);
            place = parent;
        }
    }

    fn sink(&mut self) {
        let length = self.keys.len();
        let mut place = 0;
        let key = self.keys[0];
        loop {
            let first = place * WAYS + 1;
            if first >= length {
                break;
            }
            let last = (first + WAYS).min(length);
            let mut least = first;
            let mut least_key = self.keys[first];
            for child in first + 1..last {
                let child_key = self.keys[child];
                if child_key < least_key {
                    least = child;
                    least_key = child_key;
                }
            }
            if least_key >= key {
                break;
            }
            self.keys.swap(place, least);
            self.events.swap(place, least);
            place = least;
        }
    }
}

impl<E> EventQueue<E> for Heap4<E> {
    fn new() -> Self {
        Self { keys: Vec::new(), events: Vec::new() }
    }

    fn push(&mut self, key: Key, event: E) {
        self.keys.push(key.packed());
        self.events.push(event);
        self.rise(self.keys.len() - 1);
    }

    fn pop(&mut self) -> Option<(Key, E)> {
        if self.keys.is_empty() {
            return None;
        }
        let key = self.keys.swap_remove(0);
        let event = self.events.swap_remove(0);
        if self.keys.len() > 1 {
            self.sink();
        }
        Some((Self::key(key), event))
    }

    fn peek(&mut self) -> Option<Key> {
        self.keys.first().map(|packed| Self::key(*packed))
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}
