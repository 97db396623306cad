//! Replica tests.
