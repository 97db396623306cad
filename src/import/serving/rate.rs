//! Which of its definitions an SGLang server's `accept rate` follows, told by the numbers.
//!
//! ```text
//! version 1, early                       absent
//! version 2                              length / (steps + 1)
//! version 3, sglang PR#13212, Nov 2025   length / draft tokens          the same as 2 for a chain
//! version 4, sglang PR#23530, Apr 2026   (length - 1) / (draft tokens - 1)
//! JAX port                               length / steps
//! ```
//!
//! Both numbers are printed with two decimals. A whole number n stays possible while [length ± .005]/n meets
//! [rate ± .005], or [length - 1 ± .005]/(n - 1) does. What all lines of a stretch leave over names form and n; where more
//! than one is left the flags decide, and without flags it stays ambiguous. The accept length itself never changed its
//! meaning, so nothing else depends on this.

use serde::Serialize;

use super::flags::ServerFlags;
use super::printed::Printed;

/// Largest number of rows that is considered.
const MOST: u32 = 127;

/// What the rate of a stretch turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateForm {
    /// No rate was printed.
    Absent,
    /// Accept length over the rows of a verify pass, root included (versions 2 and 3).
    LengthOverRows {
        /// Rows, n.
        rows: u32,
    },
    /// Accept length over draft steps (the JAX port).
    LengthOverSteps {
        /// Draft steps, n.
        steps: u32,
    },
    /// Accepted over drafted tokens, without bonus and root (version 4).
    DraftsOverDrafted {
        /// Rows of a verify pass, root included: n.
        rows: u32,
    },
    /// More than one reading is left, and no flags were met that decide.
    Ambiguous {
        /// Possible n of length / n.
        over: Vec<u32>,
        /// Possible n of (length - 1) / (n - 1).
        drafts: Vec<u32>,
    },
}

impl RateForm {
    /// The definition in words and numbers.
    pub fn words(&self) -> String {
        let list = |ns: &[u32]| ns.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Absent => "none is printed".to_owned(),
            Self::LengthOverRows { rows } => {
                format!("accept length / {rows}: over the rows of a verify pass (before sglang PR#23530)")
            }
            Self::LengthOverSteps { steps } => {
                format!("accept length / {steps}: over the draft steps (JAX port)")
            }
            Self::DraftsOverDrafted { rows } => {
                format!("(accept length - 1) / {}: accepted over drafted tokens (sglang PR#23530)", rows - 1)
            }
            Self::Ambiguous { over, drafts } => {
                let mut readings = Vec::new();
                if !over.is_empty() {
                    readings.push(format!("accept length / n with n = {}", list(over)));
                }
                if !drafts.is_empty() {
                    readings.push(format!("(accept length - 1) / (n - 1) with n = {}", list(drafts)));
                }
                format!("ambiguous: {}", readings.join(", or "))
            }
        }
    }

    /// Rows of a verify pass, where the form tells.
    pub fn rows(&self) -> Option<u32> {
        match self {
            Self::LengthOverRows { rows } | Self::DraftsOverDrafted { rows } => Some(*rows),
            Self::LengthOverSteps { steps } => Some(steps + 1),
            Self::Absent | Self::Ambiguous { .. } => None,
        }
    }
}

/// A stretch of lines that one definition explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RateSegment {
    /// First line of it.
    pub from: u64,
    /// Last line of it.
    pub to: u64,
    /// Lines with an accept length.
    pub lines: u64,
    /// What the rate is.
    pub form: RateForm,
}

/// The readings that are still possible.
#[derive(Debug, Clone)]
pub(super) struct Readings {
    over: u128,
    drafts: u128,
    rated: u64,
    lines: u64,
    from: u64,
    to: u64,
    jax: bool,
    last: Option<(Printed, Printed)>,
}

impl Default for Readings {
    fn default() -> Self {
        // n from 1 for length / n, from 2 for (length - 1) / (n - 1).
        let all = u128::MAX >> (127 - MOST);
        Self { over: all & !1, drafts: all & !3, rated: 0, lines: 0, from: 0, to: 0, jax: false, last: None }
    }
}

impl Readings {
    /// Takes a line in. False if no reading is left; then nothing is changed.
    pub(super) fn add(&mut self, line: u64, length: Printed, rate: Option<Printed>, jax: bool) -> bool {
        if let Some(rate) = rate
            && self.last != Some((length, rate))
        {
            let over = left(self.over, |n| meets(length, 0.0, f64::from(n), rate));
            let drafts = left(self.drafts, |n| meets(length, 1.0, f64::from(n - 1), rate));
            if over == 0 && drafts == 0 {
                return false;
            }
            (self.over, self.drafts, self.last) = (over, drafts, Some((length, rate)));
        }
        self.rated += u64::from(rate.is_some());
        self.lines += 1;
        self.jax |= jax;
        self.from = if self.from == 0 { line } else { self.from };
        self.to = line;
        true
    }

    /// Closes the stretch; none without lines.
    pub(super) fn close(&self, flags: &ServerFlags) -> Option<RateSegment> {
        let form = if self.rated == 0 { RateForm::Absent } else { self.form(flags) };
        (self.lines > 0).then_some(RateSegment { from: self.from, to: self.to, lines: self.lines, form })
    }

    fn form(&self, flags: &ServerFlags) -> RateForm {
        let (over, drafts) = (numbers(self.over), numbers(self.drafts));
        if let Some(steps) = flags.steps.filter(|steps| self.jax && over.contains(steps)) {
            return RateForm::LengthOverSteps { steps };
        }
        let length_over = |n: u32| match (self.jax, flags.steps) {
            (true, _) => RateForm::LengthOverSteps { steps: n },
            // A chain's rows follow from its steps, and n = steps is then the JAX port's.
            (false, Some(steps)) if steps == n && flags.rows().is_some_and(|rows| rows != n) => {
                RateForm::LengthOverSteps { steps: n }
            }
            _ => RateForm::LengthOverRows { rows: n },
        };
        match (&over[..], &drafts[..]) {
            ([n], []) => return length_over(*n),
            ([], [n]) => return RateForm::DraftsOverDrafted { rows: *n },
            _ => {}
        }
        let mut readings = Vec::new();
        if let Some(rows) = flags.rows() {
            if drafts.contains(&rows) {
                readings.push(RateForm::DraftsOverDrafted { rows });
            }
            if over.contains(&rows) {
                readings.push(RateForm::LengthOverRows { rows });
            }
        }
        if let Some(steps) = flags.steps {
            let reading = length_over(steps + 1);
            if over.contains(&(steps + 1)) && !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        match (&readings[..], self.jax) {
            ([reading], _) => reading.clone(),
            _ => RateForm::Ambiguous { over, drafts },
        }
    }
}

/// The members of a set for which a reading holds.
fn left(set: u128, holds: impl Fn(u32) -> bool) -> u128 {
    let (mut rest, mut kept) = (set, set);
    while rest != 0 {
        let n = rest.trailing_zeros();
        rest &= rest - 1;
        if !holds(n) {
            kept &= !(1 << n);
        }
    }
    kept
}

/// Whether (length - less)/n could have been printed as `rate`.
fn meets(length: Printed, less: f64, n: f64, rate: Printed) -> bool {
    let slack = rate.half + 1e-9;
    let low = (length.value - length.half - less).max(0.0) / n;
    let high = (length.value + length.half - less) / n;
    low <= rate.value + slack && high >= rate.value - slack
}

fn numbers(mut set: u128) -> Vec<u32> {
    let mut numbers = Vec::new();
    while set != 0 {
        numbers.push(set.trailing_zeros());
        set &= set - 1;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pairs: &[(&str, &str)], flags: &ServerFlags) -> RateForm {
        let mut readings = Readings::default();
        for (line, (length, rate)) in pairs.iter().enumerate() {
            let number = |text| Printed::parse(text).expect("a number");
            assert!(
                readings.add(line as u64 + 1, number(length), Some(number(rate)), false),
                "{length} {rate}"
            );
        }
        readings.close(flags).expect("lines").form
    }

    #[test]
    fn logged_and_computed_pairs_tell_their_definition() {
        let none = ServerFlags::default();
        // sglang#11948 (0.5.3.post3), and sglang PR#23803.
        for pair in [("1.95", "0.49"), ("1.80", "0.45"), ("2.05", "0.51")] {
            assert_eq!(form(&[pair], &none), RateForm::LengthOverRows { rows: 4 }, "{pair:?}");
        }
        for pair in [("2.94", "0.65"), ("2.80", "0.60")] {
            assert_eq!(form(&[pair], &none), RateForm::DraftsOverDrafted { rows: 4 }, "{pair:?}");
        }
    }

    #[test]
    fn one_pair_may_be_ambiguous_and_flags_or_more_lines_decide() {
        let none = ServerFlags::default();
        let ambiguous = RateForm::Ambiguous { over: vec![13], drafts: vec![6] };
        assert_eq!(form(&[("1.67", "0.13")], &none), ambiguous);
        let flags =
            ServerFlags { steps: Some(5), topk: Some(1), draft_tokens: Some(6), ..ServerFlags::default() };
        assert_eq!(form(&[("1.67", "0.13")], &flags), RateForm::DraftsOverDrafted { rows: 6 });
        // (3.1 - 1)/5 = 0.42.
        assert_eq!(
            form(&[("1.67", "0.13"), ("3.10", "0.42")], &none),
            RateForm::DraftsOverDrafted { rows: 6 }
        );
        let tree =
            ServerFlags { steps: Some(5), topk: Some(4), draft_tokens: Some(8), ..ServerFlags::default() };
        // Version 2 divides by steps + 1, version 3 by draft tokens.
        assert_eq!(form(&[("3.00", "0.50")], &tree), RateForm::LengthOverRows { rows: 6 });
        assert_eq!(form(&[("3.20", "0.40")], &tree), RateForm::LengthOverRows { rows: 8 });
    }

    #[test]
    fn steps_of_the_jax_port_are_known_by_its_flags() {
        let flags =
            ServerFlags { steps: Some(3), topk: Some(1), draft_tokens: Some(4), ..ServerFlags::default() };
        assert_eq!(form(&[("1.95", "0.65")], &flags), RateForm::LengthOverSteps { steps: 3 });
    }

    #[test]
    fn lines_of_the_jax_port_are_over_steps_where_flags_say_how_many() {
        let number = |text| Printed::parse(text).expect("a number");
        let closed = |flags: &ServerFlags| {
            let mut readings = Readings::default();
            assert!(readings.add(1, number("1.50"), Some(number("0.50")), true));
            readings.close(flags).expect("a line").form
        };
        let chain = |steps, rows| ServerFlags {
            steps: Some(steps),
            topk: Some(1),
            draft_tokens: Some(rows),
            ..ServerFlags::default()
        };
        assert_eq!(closed(&chain(3, 4)), RateForm::LengthOverSteps { steps: 3 });
        // 1.5 / 7 is not 0.50: the flags are not of these lines.
        assert!(matches!(closed(&chain(7, 8)), RateForm::Ambiguous { .. }));
        assert!(matches!(closed(&ServerFlags::default()), RateForm::Ambiguous { .. }));
    }

    #[test]
    fn a_pair_that_fits_no_reading_is_refused_and_a_stretch_without_rates_says_so() {
        let mut readings = Readings::default();
        let number = |text| Printed::parse(text).expect("a number");
        assert!(readings.add(1, number("1.95"), Some(number("0.49")), false));
        assert!(!readings.add(2, number("2.94"), Some(number("0.65")), false), "another definition");
        assert_eq!(readings.close(&ServerFlags::default()).expect("a line").lines, 1);
        let mut early = Readings::default();
        assert!(early.add(1, number("1.95"), None, false));
        assert_eq!(early.close(&ServerFlags::default()).expect("a line").form, RateForm::Absent);
        assert_eq!(Readings::default().close(&ServerFlags::default()), None);
    }

    #[test]
    fn nothing_accepted_says_little() {
        let form = form(&[("1.00", "0.00")], &ServerFlags::default());
        assert!(matches!(form, RateForm::Ambiguous { drafts, .. } if drafts.len() > 100));
    }
}
