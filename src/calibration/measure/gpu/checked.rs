//! Which kernels have been compared with the host in this process.

use std::collections::BTreeMap;

use super::super::{Check, Failure, FailureKind};
use super::random::distance;

/// Relative error, as length of the difference over length of the reference, up to which a bf16 kernel is right.
///
/// Each input and output is rounded to 8 bits (2^-9), and sums are taken in another order than the host's; a wrong index
/// or a hole gives errors of order 1.
pub(super) const TOLERANCE: f64 = 8e-3;

/// Kernels by name, and how they compared.
#[derive(Debug, Default)]
pub(super) struct Checked(BTreeMap<String, Result<Check, Failure>>);

impl Checked {
    /// Runs `test` unless it has been run under this name; fails as it failed then.
    pub(super) fn once(
        &mut self,
        name: &str,
        test: impl FnOnce() -> Result<Check, Failure>,
    ) -> Result<Check, Failure> {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let result = test();
        self.0.insert(name.to_owned(), result.clone());
        result
    }
}

/// Compares a result with its reference.
pub(super) fn close(what: &str, got: &[f32], want: &[f32]) -> Result<Check, Failure> {
    let off = distance(got, want);
    if off < TOLERANCE {
        return Ok(Check::WithinTolerance);
    }
    Err(wrong(format!("{what} is off by {off:.2e} of its size, the tolerance is {TOLERANCE:.0e}")))
}

/// A wrong result.
pub(super) fn wrong(because: impl Into<String>) -> Failure {
    Failure::new(FailureKind::WrongResult, because)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_tested_once_and_stays_wrong() {
        let mut checked = Checked::default();
        assert!(checked.once("a", || close("a", &[1.0, 2.0], &[1.0, 3.0])).is_err());
        assert!(checked.once("a", || Ok(Check::Exact)).is_err());
        assert_eq!(checked.once("b", || close("b", &[1.0, 2.001], &[1.0, 2.0])), Ok(Check::WithinTolerance));
    }

    #[test]
    fn a_hole_or_no_number_is_wrong() {
        assert_eq!(close("a", &[f32::NAN], &[1.0]).unwrap_err().kind, FailureKind::WrongResult);
        assert!(close("a", &[0.0, 1.0, 1.0, 1.0], &[1.0; 4]).is_err());
    }
}
