//! placeholder
pub struct Libraries;
pub struct Missing;
