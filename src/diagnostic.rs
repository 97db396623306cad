//! What is wrong with what a person wrote: collected, sorted by place, drawn with the line and a fix.
//!
//! A [`Diagnostic`] is a plain value; [`render`] is the only place that turns it into text. Every kind of
//! error has a [`Code`], and [`codes`] holds a paragraph about each.

pub mod codes;
mod collected;
mod message;
mod render;
mod secret;
mod source;
mod suggest;

pub use codes::{Code, ENTRIES};
pub use collected::Diagnostics;
pub use message::{Diagnostic, Edit, Help, Label, LabelKind, Severity};
pub use render::{render, render_all};
pub use secret::masked;
pub use source::{Place, SourceKind, SourceText};
pub use suggest::{closest, similar};
