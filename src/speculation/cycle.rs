//! One draft/verify cycle, put together from priced passes.
//!
//! ```text
//! draft   = (S - 1) draft steps + 1 draft extend          (SGLang: S draft forwards per cycle), or a lookup
//! GPUs    = draft + verify
//! host    = hidden work + what the host issues meanwhile: eager issue, graph launches
//! cycle   = max(GPUs, host) + exposed work
//! ```
//!
//! Without an overlap scheduler all host work is exposed and simply adds. With one, the host prepares the next
//! cycle while the GPUs run, so hidden work costs nothing until the host becomes the longer clock; the same thread
//! issues the passes, which is why eager issue counts against it. What must wait for results (accept lengths copied back)
//! stays exposed. The baseline step follows the same rule. Left out: the first cycle of a run has nothing to hide behind.

use crate::cost::{CollectiveTotal, PricedPass};
use crate::runtime::Execution;
use crate::sourced::{Source, Sourced};
use crate::units::{AcceptLength, Seconds};

use super::acceptance::Acceptance;
use super::shape::DraftShape;

/// How a cycle drafts.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a cycle holds one, and boxing would allocate in every evaluation"
)]
pub enum DraftWork {
    /// A head or a small model on the GPUs: S - 1 decode passes, then one extend over the accepted tokens.
    Passes {
        /// One decode pass of the drafter; none for a single step.
        step: Option<PricedPass>,
        /// The extend pass.
        extend: PricedPass,
    },
    /// Lookup on the host, n-gram drafts: host time per cycle, before verify can start.
    Lookup(Sourced<Seconds>),
}

/// Host work of a cycle or a step, over and above the issue of its passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostWork {
    /// What the GPUs wait for.
    pub exposed: Sourced<Seconds>,
    /// What an overlap scheduler does while they run.
    pub hidden: Sourced<Seconds>,
}

impl HostWork {
    /// Without overlap: all of it exposed.
    pub const fn exposed(time: Sourced<Seconds>) -> Self {
        Self { exposed: time, hidden: Sourced::new(Seconds::ZERO, time.source) }
    }
}

/// A cycle and the baseline step beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// The draft's shape.
    pub shape: DraftShape,
    /// The law of accepted tokens.
    pub acceptance: Acceptance,
    /// One decode step without speculation.
    pub baseline: PricedPass,
    /// Host work around it.
    pub baseline_host: HostWork,
    /// The verify pass.
    pub verify: PricedPass,
    /// Drafting.
    pub draft: DraftWork,
    /// Host work of the cycle.
    pub host: HostWork,
}

impl Cycle {
    /// Requests B.
    pub const fn batch(&self) -> u32 {
        self.verify.batch.requests
    }

    /// The mean accept length.
    pub fn accept_length(&self) -> Sourced<AcceptLength> {
        self.acceptance.accept_length(self.shape)
    }

    /// All draft passes of a cycle, or the lookup.
    pub fn draft_time(&self) -> Sourced<Seconds> {
        match &self.draft {
            DraftWork::Lookup(time) => *time,
            DraftWork::Passes { step, extend } => match (step, self.shape.steps.saturating_sub(1)) {
                (Some(step), repeats @ 1..) => add(scale(step.time, f64::from(repeats)), extend.time),
                _ => extend.time,
            },
        }
    }

    /// The whole cycle.
    pub fn time(&self) -> Sourced<Seconds> {
        let gpus = add(self.draft_time(), self.verify.time);
        let issue = self.draft_busy() + host_busy(&self.verify);
        race(gpus, issue, self.host)
    }

    /// What the cycle takes beyond draft and verify: exposed work, and hidden work where the host is the longer clock.
    pub fn host_time(&self) -> Sourced<Seconds> {
        let gpus = self.draft_time().value + self.verify.time.value;
        let exposed = self.host.exposed;
        let visible = (self.time().value - gpus).max(exposed.value);
        // What becomes visible shifts the range with the value.
        let shift = visible - exposed.value;
        exposed.map(|time| time + shift)
    }

    /// Drafting and host work together: the cycle without verify.
    pub fn draft_host_time(&self) -> Sourced<Seconds> {
        add(self.draft_time(), self.host_time())
    }

    /// The step without speculation.
    pub fn baseline_time(&self) -> Sourced<Seconds> {
        race(self.baseline.time, host_busy(&self.baseline), self.baseline_host)
    }

    /// All-reduces of the verify pass.
    pub const fn allreduce(&self) -> CollectiveTotal {
        self.verify.allreduce
    }

    fn draft_busy(&self) -> Seconds {
        match &self.draft {
            DraftWork::Lookup(time) => time.value,
            DraftWork::Passes { step, extend } => {
                let repeats = f64::from(self.shape.steps.saturating_sub(1));
                let steps = step.as_ref().map_or(Seconds::ZERO, |step| host_busy(step) * repeats);
                steps + host_busy(extend)
            }
        }
    }
}

/// How long the host is busy with issuing a pass.
fn host_busy(pass: &PricedPass) -> Seconds {
    match pass.execution {
        Execution::Eager => pass.issue_time,
        Execution::Graph => pass.launch,
    }
}

fn race(gpus: Sourced<Seconds>, issue: Seconds, host: HostWork) -> Sourced<Seconds> {
    // Without hidden work the passes' own times already contain their race against the issue.
    let clock = if host.hidden.value > Seconds::ZERO && issue + host.hidden.value > gpus.value {
        Sourced {
            source: gpus.source.combine(host.hidden.source),
            ..host.hidden.map(|hidden| issue + hidden)
        }
    } else {
        gpus
    };
    add(clock, host.exposed)
}

/// A sum; ranges add in quadrature, as independent ones do.
fn add(a: Sourced<Seconds>, b: Sourced<Seconds>) -> Sourced<Seconds> {
    let value = a.value + b.value;
    let source = if b.value == Seconds::ZERO { a.source } else { derived(a.source.combine(b.source)) };
    let sum = Sourced { value, source, spread: None, extrapolated: a.extrapolated || b.extrapolated };
    if a.spread.is_none() && b.spread.is_none() {
        return sum;
    }
    let ends = |x: Sourced<Seconds>| {
        x.spread.map_or((0.0, 0.0), |s| ((x.value - s.low).get(), (s.high - x.value).get()))
    };
    let ((down_a, up_a), (down_b, up_b)) = (ends(a), ends(b));
    let low = value - Seconds::new(down_a.hypot(down_b));
    sum.with_spread(low.max(Seconds::ZERO), value + Seconds::new(up_a.hypot(up_b)))
}

fn scale(time: Sourced<Seconds>, factor: f64) -> Sourced<Seconds> {
    time.map(|t| t * factor)
}

/// A sum is no measurement any more.
const fn derived(source: Source) -> Source {
    match source {
        Source::Measured | Source::Given => Source::Derived,
        other => other,
    }
}

#[cfg(test)]
#[path = "cycle_tests.rs"]
mod tests;
