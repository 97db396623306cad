//! A table that is decoded when it is first looked at.

use std::sync::{Arc, OnceLock};

use super::block::Raw;
use super::error::TableError;
use super::scatter::{Scatter, scatter};

/// Something that can be read from the text of a table.
pub(super) trait Decode: Sized {
    /// Reads it.
    fn decode(text: &str) -> Result<Self, TableError>;
}

/// A table as text, and as what is looked up once that is needed. Clones share both.
#[derive(Debug, Clone)]
pub(super) struct Lazy<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    raw: Raw,
    decoded: OnceLock<(T, Option<Scatter>)>,
}

impl<T: Decode> Lazy<T> {
    /// Not yet decoded: only for text that a test has decoded before.
    pub(super) fn trusted(raw: Raw) -> Self {
        Self(Arc::new(Inner { raw, decoded: OnceLock::new() }))
    }

    /// Decoded now, so that what is wrong is said now.
    pub(super) fn checked(raw: Raw) -> Result<Self, TableError> {
        let text = raw.text()?;
        let decoded = (T::decode(&text)?, scatter(&text));
        drop(text);
        Ok(Self(Arc::new(Inner { raw, decoded: OnceLock::from(decoded) })))
    }

    /// The table.
    pub(super) fn get(&self) -> &T {
        let (table, _) = self.0.decoded.get_or_init(|| {
            let text = self.0.raw.text().expect("a table that ships with specplan can be unpacked");
            (T::decode(&text).expect("a table that ships with specplan is well formed"), scatter(&text))
        });
        table
    }

    /// How far its samples lie apart; none where it does not say, or was not looked at yet.
    pub(super) fn scatter(&self) -> Option<Scatter> {
        self.0.decoded.get().and_then(|(_, scatter)| *scatter)
    }
}

impl<T> PartialEq for Lazy<T> {
    /// Equal if their text is.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.raw == other.0.raw
    }
}
